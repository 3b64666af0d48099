#include "lib/fabric_map.h"

#include "lib/natural_order.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>
#include <span>
#include <unordered_map>

namespace aegis {

namespace {

// A cable after the rules had their say.
struct Cable {
    const DiscoveredLink* link;
    PeerKind kind;
    std::string peer; // a node as Slurm names it, or a switch as discovered
    std::string rail;
};

std::string end_text(std::string_view sw, std::string_view port) { return fmt::format("{}/{}", sw, port); }

std::string list_text(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

class Mapper {
public:
    Mapper(const Discovery& discovery, const FabricRules& rules, SwitchNaming naming) : discovery_(discovery), rules_(rules), naming_(naming) {}

    FabricMap run() {
        read_tree();
        resolve_cables();
        if (map_.topology.empty()) leaves_from_cables();
        for (const DiscoveredSwitch& sw : discovery_.switches) find_leaves(sw);
        for (const Cable& cable : cables_) map_cable(cable);
        std::ranges::sort(map_.ports, [](const MappedPort& a, const MappedPort& b) {
            return a.sw != b.sw ? naturally_before(a.sw, b.sw) : naturally_before(a.port, b.port);
        });
        drop_doubles();
        return std::move(map_);
    }

private:
    void report(Severity severity, FindingKind kind, const ConfigPlace& place, std::string subject, std::string fact, std::string meaning) {
        map_.findings.push_back({severity, kind, place, std::move(subject), std::move(fact), std::move(meaning)});
    }

    // Slurm's tree: every link without a port.
    void read_tree() {
        std::unordered_map<std::string_view, std::size_t> position;
        for (const DiscoveredSwitch& sw : discovery_.switches) switch_by_name_.emplace(sw.name, &sw);
        for (const DiscoveredLink& link : discovery_.links) {
            if (link.is_cable()) continue;
            const auto [found, fresh] = position.emplace(link.sw, map_.topology.size());
            if (fresh) {
                const auto sw = switch_by_name_.find(link.sw);
                map_.topology.push_back({sw == switch_by_name_.end() ? link.place.line : sw->second->place.line, link.sw, {}, {}});
            }
            TopologyLine& line = map_.topology[found->second];
            if (link.peer_kind == PeerKind::sw) {
                line.switches.push_back(link.peer);
                continue;
            }
            line.nodes.push_back(link.peer);
            leaf_of_node_.emplace(link.peer, link.sw);
            leaf_names_.insert(link.sw);
        }
        map_.topology_is_slurms = !map_.topology.empty();
    }

    // The node of Slurm's that a host of the cables is.
    std::string node_name(const std::string& host) const {
        if (auto named = rules_.name(NameOf::node, host)) return *named;
        if (!map_.topology_is_slurms || leaf_of_node_.contains(host)) return host;
        const std::string first_label = host.substr(0, host.find('.'));
        return leaf_of_node_.contains(first_label) ? first_label : host;
    }

    void resolve_cables() {
        std::map<std::string, std::size_t> others;
        for (const DiscoveredLink& link : discovery_.links) {
            if (!link.is_cable()) continue;
            const CableLabels labels = rules_.labels(link.sw, link.peer_kind == PeerKind::sw ? "" : adapter_of(link));
            const std::string& fabric = labels.fabric.empty() ? link.fabric : labels.fabric;
            if (!fabric.empty() && fabric != "compute") {
                ++others[fabric];
                continue;
            }
            Cable cable{&link, link.peer_kind, link.peer, labels.rail.empty() ? link.rail : labels.rail};
            if (cable.kind == PeerKind::node || cable.kind == PeerKind::unknown) {
                const std::string node = node_name(link.peer);
                const bool is_node = cable.kind == PeerKind::node || leaf_of_node_.contains(node) || rules_.name(NameOf::node, link.peer);
                if (is_node) {
                    cable.kind = PeerKind::node;
                    cable.peer = node;
                } else if (map_.topology_is_slurms) {
                    cable.kind = PeerKind::sw; // no node of Slurm's: what is left is a switch
                }
            }
            cables_.push_back(std::move(cable));
        }
        for (const auto& [fabric, count] : others)
            report(Severity::info, FindingKind::ignored_input, {}, fabric, fmt::format("{} cables belong to the {} fabric", count, fabric),
                   "they take no part in placement");
    }

    // "HCA-4/1" is adapter HCA-4.
    static std::string adapter_of(const DiscoveredLink& link) { return link.peer_port.substr(0, link.peer_port.find('/')); }

    void leaves_from_cables() {
        std::map<std::string, std::string> parent; // leaf switches, joined by the nodes they share
        const auto root = [&](std::string sw) {
            while (parent.at(sw) != sw) sw = parent.at(sw);
            return sw;
        };
        std::map<std::string, std::set<std::string>> switches_of_node;
        for (const Cable& cable : cables_) {
            if (cable.kind != PeerKind::node && cable.kind != PeerKind::host) continue;
            parent.emplace(cable.link->sw, cable.link->sw);
            if (cable.kind == PeerKind::node) switches_of_node[cable.peer].insert(cable.link->sw);
        }
        for (const auto& [node, switches] : switches_of_node)
            for (const std::string& sw : switches) {
                const std::string a = root(*switches.begin()), b = root(sw);
                if (a != b) parent[std::max(a, b)] = std::min(a, b);
            }
        std::map<std::string, std::set<std::string>> nodes_of_leaf;
        for (const auto& [node, switches] : switches_of_node) nodes_of_leaf[root(*switches.begin())].insert(node);
        for (const auto& [sw, first] : parent) own_leaf_.emplace(sw, topology_name(root(sw)));
        for (const auto& [first, nodes] : nodes_of_leaf) {
            TopologyLine line{0, topology_name(first), {nodes.begin(), nodes.end()}, {}};
            std::ranges::sort(line.nodes, naturally_before);
            for (const std::string& node : line.nodes) leaf_of_node_.emplace(node, line.name);
            leaf_names_.insert(line.name);
            map_.topology.push_back(std::move(line));
        }
        std::ranges::sort(map_.topology, [](const TopologyLine& a, const TopologyLine& b) { return naturally_before(a.name, b.name); });
    }

    // A name that topology.conf can hold: the short one, without blanks, commas and brackets.
    std::string topology_name(const std::string& sw) const {
        const auto found = switch_by_name_.find(sw);
        std::string name = rules_.name(NameOf::leaf, sw).value_or(found != switch_by_name_.end() && !found->second->also_named.empty() ? found->second->also_named : sw);
        for (char& c : name)
            if (c == ' ' || c == ',' || c == '[' || c == ']' || c == '=' || c == '#' || c == '"') c = '_';
        return name;
    }

    // Which leaves a switch of the cables serves.
    void find_leaves(const DiscoveredSwitch& sw) {
        bool cabled = false;
        std::map<std::string, std::size_t> nodes_on; // leaf -> nodes
        for (const Cable& cable : cables_of(sw.name)) {
            cabled = true;
            if (cable.kind != PeerKind::node) continue;
            if (const auto leaf = leaf_of_node_.find(cable.peer); leaf != leaf_of_node_.end()) ++nodes_on[leaf->second];
        }
        if (!cabled && !far_ends_.contains(sw.name)) return; // a switch of Slurm's tree only
        map_.telemetry_name[sw.name] = telemetry_name(sw);
        std::vector<std::string> leaves;
        if (const auto named = leaf_by_rule(sw)) {
            if (!leaf_names_.contains(*named)) {
                report(Severity::error, FindingKind::unmapped_switch, sw.place, sw.name, fmt::format("a rule maps it to leaf {}, which the topology does not have", *named),
                       "its ports count for no leaf: correct the rule");
                return;
            }
            leaves = {*named};
            for (const auto& [leaf, count] : nodes_on)
                if (leaf != *named)
                    report(Severity::error, FindingKind::contradiction, sw.place, sw.name,
                           fmt::format("a rule maps it to leaf {}, but {} of its nodes stand on {} in the topology", *named, count, leaf),
                           "the rule stands for its trunks; check which of the two is out of date");
        } else if (!nodes_on.empty()) {
            for (const auto& [leaf, count] : nodes_on) leaves.push_back(leaf);
            const std::string same = same_named_leaf(sw);
            if (!same.empty() && !nodes_on.contains(same))
                report(Severity::error, FindingKind::contradiction, sw.place, sw.name,
                       fmt::format("it is named like leaf {}, but the nodes on it stand on {} in the topology", same, list_text(leaves)),
                       "the nodes decide: its trunks count for their leaf. Slurm's topology may be out of date");
        } else if (const std::string same = same_named_leaf(sw); !same.empty()) {
            leaves = {same};
        } else if (const auto own = own_leaf_.find(sw.name); own != own_leaf_.end() && leaf_names_.contains(own->second)) {
            leaves = {own->second};
        }
        if (leaves.size() > 1)
            report(Severity::info, FindingKind::shared_switch, sw.place, sw.name, fmt::format("it serves the leaves {}", list_text(leaves)),
                   "a pressed trunk of it counts against all of them");
        if (!leaves.empty()) map_.leaves_of[sw.name] = std::move(leaves);
    }

    std::span<const Cable> cables_of(const std::string& sw) {
        if (!sorted_) {
            std::ranges::stable_sort(cables_, {}, [](const Cable& cable) -> const std::string& { return cable.link->sw; });
            for (const Cable& cable : cables_)
                if (cable.kind == PeerKind::sw) far_ends_.insert(cable.peer);
            sorted_ = true;
        }
        const auto range = std::ranges::equal_range(cables_, sw, {}, [](const Cable& cable) -> const std::string& { return cable.link->sw; });
        return {range.begin(), range.end()};
    }

    std::optional<std::string> leaf_by_rule(const DiscoveredSwitch& sw) const {
        if (!map_.topology_is_slurms) return std::nullopt; // it has named the leaf already
        if (auto named = rules_.name(NameOf::leaf, sw.name)) return named;
        return sw.also_named.empty() ? std::nullopt : rules_.name(NameOf::leaf, sw.also_named);
    }

    // The leaf that has one of the switch's names, as its own or as its second name (Topograph's comments).
    std::string same_named_leaf(const DiscoveredSwitch& sw) {
        if (leaf_by_any_name_.empty())
            for (const DiscoveredSwitch& leaf : discovery_.switches)
                if (leaf_names_.contains(leaf.name)) {
                    leaf_by_any_name_.emplace(leaf.name, leaf.name);
                    if (!leaf.also_named.empty()) leaf_by_any_name_.emplace(leaf.also_named, leaf.name);
                }
        for (const std::string& name : {sw.name, sw.also_named, sw.name.substr(0, sw.name.find('.'))})
            if (const auto found = leaf_by_any_name_.find(name); !name.empty() && found != leaf_by_any_name_.end()) return found->second;
        return {};
    }

    std::string telemetry_name(const DiscoveredSwitch& sw) const {
        if (auto named = rules_.name(NameOf::sw, sw.name)) return *named;
        switch (naming_) {
        case SwitchNaming::as_discovered: break;
        case SwitchNaming::short_name:
            if (!sw.also_named.empty()) return sw.also_named;
            break;
        case SwitchNaming::guid:
            if (!sw.id.empty()) return "0x" + sw.id;
            break;
        }
        return sw.name;
    }

    // SONiC's alias and name: telemetry counts by name.
    std::string port_name(const std::string& port, const std::string& also) const {
        if (auto named = rules_.name(NameOf::port, port)) return *named;
        const bool is_sonic_name = also.starts_with("Ethernet") && also.find_first_not_of("0123456789", 8) == also.npos && also.size() > 8;
        return is_sonic_name && !port.starts_with("Ethernet") ? also : port;
    }

    const std::vector<std::string>& leaves_of(const std::string& sw) const {
        static const std::vector<std::string> none;
        const auto found = map_.leaves_of.find(sw);
        return found == map_.leaves_of.end() ? none : found->second;
    }

    void add_port(const std::string& sw, const std::string& port, std::vector<std::string> leaves, bool trunk, const Cable& cable) {
        const auto known = map_.telemetry_name.find(sw);
        map_.ports.push_back({known != map_.telemetry_name.end() ? known->second : rules_.name(NameOf::sw, sw).value_or(sw), port, std::move(leaves), trunk,
                              cable.link->rate_bps, trunk ? "" : cable.rail, cable.link->place});
    }

    void map_cable(const Cable& cable) {
        const DiscoveredLink& link = *cable.link;
        const std::string port = port_name(link.port, link.port_also_named);
        switch (cable.kind) {
        case PeerKind::none:
        case PeerKind::device: return;
        case PeerKind::sw: map_trunk(cable, port); return;
        case PeerKind::node: {
            map_.rails.push_back({cable.peer, link.sw, link.port, cable.rail, link.place});
            const auto leaf = leaf_of_node_.find(cable.peer);
            if (leaf != leaf_of_node_.end())
                add_port(link.sw, port, {leaf->second}, false, cable);
            else
                map_edge(cable, port, fmt::format("it leads to {}, which the topology does not have", cable.peer));
            return;
        }
        case PeerKind::host: map_edge(cable, port, "it leads to a host without a name"); return;
        case PeerKind::unknown: map_edge(cable, port, fmt::format("whether {} behind it is a switch or a node is not known", link.peer)); return;
        }
    }

    // A port to something that is not on any leaf: it belongs to the switch's leaf if there is just one.
    void map_edge(const Cable& cable, const std::string& port, std::string why) {
        const auto& leaves = leaves_of(cable.link->sw);
        if (leaves.size() == 1)
            add_port(cable.link->sw, port, leaves, false, cable);
        else
            report(Severity::warning, FindingKind::unmapped_port, cable.link->place, end_text(cable.link->sw, cable.link->port),
                   fmt::format("{}, and the switch serves {} leaves", why, leaves.empty() ? "no" : "several"),
                   "its counters are read and count for no leaf");
    }

    void map_trunk(const Cable& cable, const std::string& port) {
        const DiscoveredLink& link = *cable.link;
        map_.trunks.push_back({link.sw, cable.peer, link.place});
        const auto &near = leaves_of(link.sw), &far = leaves_of(cable.peer);
        if (near.empty() && far.empty()) {
            map_.ports_above_leaves += link.peer_port.empty() ? 1 : 2;
            return;
        }
        add_port(link.sw, port, near.empty() ? far : near, true, cable);
        if (!link.peer_port.empty()) add_port(cable.peer, port_name(link.peer_port, link.peer_port_also_named), far.empty() ? near : far, true, cable);
    }

    // Rules may give two switches one name, and a Linux bridge shows two neighbours behind one port.
    void drop_doubles() {
        std::vector<MappedPort> kept;
        for (MappedPort& port : map_.ports) {
            if (!kept.empty() && kept.back().sw == port.sw && kept.back().port == port.port) {
                if (kept.back().leaves != port.leaves || kept.back().trunk != port.trunk)
                    report(Severity::error, FindingKind::contradiction, port.place, end_text(port.sw, port.port),
                           fmt::format("this port is mapped to {} and to {}", list_text(kept.back().leaves), list_text(port.leaves)),
                           "the first one stands; do two switches have one name in telemetry?");
                continue;
            }
            kept.push_back(std::move(port));
        }
        map_.ports = std::move(kept);
    }

    const Discovery& discovery_;
    const FabricRules& rules_;
    SwitchNaming naming_;
    FabricMap map_;
    std::unordered_map<std::string, const DiscoveredSwitch*> switch_by_name_;
    std::unordered_map<std::string, std::string> leaf_of_node_;
    std::unordered_map<std::string, std::string> leaf_by_any_name_;
    std::map<std::string, std::string> own_leaf_; // without a topology: leaf switch -> leaf
    std::set<std::string> leaf_names_;
    std::set<std::string> far_ends_; // switches at the far end of a cable
    std::vector<Cable> cables_;
    bool sorted_ = false;
};

} // namespace

FabricMap map_fabric(const Discovery& discovery, const FabricRules& rules, SwitchNaming naming) { return Mapper(discovery, rules, naming).run(); }

} // namespace aegis
