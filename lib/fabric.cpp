#include "lib/fabric.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace aegis {

namespace {

// Which switches hang together, directly or through others.
class UnionFind {
public:
    explicit UnionFind(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0u); }

    std::size_t root(std::size_t i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }
    void join(std::size_t a, std::size_t b) { parent_[root(a)] = root(b); }

private:
    std::vector<std::size_t> parent_;
};

// Component of each topology line, numbered from 0 in the order of their first leaves.
std::vector<std::uint32_t> components_of(const std::vector<TopologyLine>& topology) {
    std::unordered_map<std::string_view, std::size_t> position;
    for (std::size_t i = 0; i < topology.size(); ++i) position.emplace(topology[i].name, i);
    UnionFind joined(topology.size());
    bool flat = true;
    for (std::size_t i = 0; i < topology.size(); ++i)
        for (const std::string& child : topology[i].switches) {
            flat = false;
            if (const auto found = position.find(child); found != position.end()) joined.join(i, found->second);
        }
    std::vector<std::uint32_t> components(topology.size(), 0);
    if (flat) return components;
    std::unordered_map<std::size_t, std::uint32_t> number;
    for (std::size_t i = 0; i < topology.size(); ++i)
        if (!topology[i].nodes.empty())
            components[i] = number.emplace(joined.root(i), static_cast<std::uint32_t>(number.size())).first->second;
    return components;
}

std::string port_key(std::string_view sw, std::string_view port) {
    std::string key(sw);
    key += '\0';
    key += port;
    return key;
}

} // namespace

std::expected<Fabric, ConfigErrors> Fabric::build(const std::vector<TopologyLine>& topology,
                                                  const std::vector<PortGroup>& ports) {
    Fabric fabric;
    ConfigErrors errors;
    const std::vector<std::uint32_t> components = components_of(topology);
    for (std::size_t i = 0; i < topology.size(); ++i) {
        const TopologyLine& line = topology[i];
        if (line.nodes.empty()) continue;
        const LeafIndex leaf{static_cast<std::uint32_t>(fabric.leaves_.size())};
        fabric.leaf_by_name_.emplace(line.name, leaf);
        for (const std::string& node : line.nodes) fabric.leaf_by_node_.emplace(node, leaf);
        fabric.leaves_.push_back({line.name, line.nodes, {}, components[i]});
    }

    std::vector<const PortGroup*> group_of_link; // where a link was mapped first
    for (const PortGroup& group : ports) {
        std::vector<LeafIndex> leaves;
        for (const std::string& name : group.leaves) {
            if (const auto leaf = fabric.leaf_named(name); !leaf)
                errors.push_back({group.place, "ports.leaf", name,
                                  fmt::format("one of the {} leaves in the topology file", fabric.leaves_.size())});
            else if (std::ranges::find(leaves, *leaf) == leaves.end()) // named twice counts once
                leaves.push_back(*leaf);
        }
        if (leaves.empty()) continue;
        if (group.ports.empty()) errors.push_back({group.place, "ports.ports", "", "at least one port"});
        for (const std::string& port : group.ports) {
            const LinkIndex link{static_cast<std::uint32_t>(fabric.links_.size())};
            const auto [first, fresh] = fabric.link_by_port_.emplace(port_key(group.sw, port), link);
            if (!fresh) {
                const ConfigPlace& place = group_of_link[at(first->second)]->place;
                errors.push_back({group.place, "ports.ports", fmt::format("{}/{}", group.sw, port),
                                  fmt::format("a port mapped once: {}:{} maps it too", place.file, place.line)});
                continue;
            }
            group_of_link.push_back(&group);
            fabric.links_.push_back({group.sw, port, leaves, group.trunk, group.rate_bps});
            for (const LeafIndex leaf : leaves) fabric.leaves_[at(leaf)].links.push_back(link);
        }
    }
    if (!errors.empty()) return std::unexpected(std::move(errors));
    return fabric;
}

std::optional<LeafIndex> Fabric::leaf_of_node(std::string_view node) const {
    const auto found = leaf_by_node_.find(node);
    return found == leaf_by_node_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<LeafIndex> Fabric::leaf_named(std::string_view leaf) const {
    const auto found = leaf_by_name_.find(leaf);
    return found == leaf_by_name_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<LinkIndex> Fabric::link_of_port(std::string_view sw, std::string_view port) const {
    const auto found = link_by_port_.find(port_key(sw, port));
    return found == link_by_port_.end() ? std::nullopt : std::optional(found->second);
}

} // namespace aegis
