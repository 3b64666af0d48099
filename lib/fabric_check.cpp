#include "lib/fabric_check.h"

#include "lib/name_groups.h"
#include "lib/tree_check.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace aegis {

namespace {

class Checker {
public:
    explicit Checker(const FabricCheckInput& input) : discovery_(input.discovery), map_(input.map), input_(input) {
        for (const TopologyLine& line : map_.topology)
            for (const std::string& node : line.nodes) leaf_of_node_.emplace(node, line.name);
    }

    Findings run() {
        findings_ = discovery_.findings;
        std::ranges::copy(map_.findings, std::back_inserter(findings_));
        check_nodes();
        check_rails();
        std::ranges::move(check_tree(map_.topology, tree_file()), std::back_inserter(findings_));
        if (!map_.trunks.empty()) check_cables();
        check_telemetry();
        gravest_first(findings_);
        return std::move(findings_);
    }

private:
    void report(Severity severity, FindingKind kind, const ConfigPlace& place, std::string subject, std::string fact, std::string meaning) {
        findings_.push_back({severity, kind, place, std::move(subject), std::move(fact), std::move(meaning)});
    }

    std::string tree_file() const {
        const auto branch = std::ranges::find_if_not(discovery_.links, &DiscoveredLink::is_cable);
        return map_.topology_is_slurms && branch != discovery_.links.end() ? branch->place.file : std::string();
    }

    void check_nodes() {
        std::set<std::string> cabled;
        std::map<std::string, const NodeRail*> strangers;
        for (const NodeRail& rail : map_.rails) {
            cabled.insert(rail.node);
            if (!leaf_of_node_.contains(rail.node)) strangers.emplace(rail.node, &rail);
        }
        std::set<std::string> nodes(input_.slurm_nodes.begin(), input_.slurm_nodes.end());
        std::vector<std::string> on_no_leaf, without_cable;
        for (const std::string& node : nodes)
            if (!leaf_of_node_.contains(node)) on_no_leaf.push_back(node);
        for (const auto& [node, leaf] : leaf_of_node_) nodes.insert(node);
        for (const std::string& node : nodes)
            if (!cabled.contains(node)) without_cable.push_back(node);
        if (!on_no_leaf.empty())
            report(Severity::warning, FindingKind::unmapped_node, {}, short_hostlist(on_no_leaf), fmt::format("{} nodes of Slurm stand on no leaf", on_no_leaf.size()),
                   "a job that Slurm would start on one of them is never steered");
        // Without a single cable the map is Slurm's tree alone, and that is said once.
        const bool any_cable = std::ranges::any_of(discovery_.links, &DiscoveredLink::is_cable);
        if (any_cable && !without_cable.empty())
            report(Severity::warning, FindingKind::unmapped_node, {}, short_hostlist(without_cable), fmt::format("{} nodes have no cable in any input", without_cable.size()),
                   "they are placed by the leaf Slurm has them on; the load of their own ports is not seen");
        if (!any_cable)
            report(Severity::warning, FindingKind::unmapped_port, {}, "cables", "no input tells which port leads where",
                   "Slurm's leaves are known but no port of theirs: add LLDP, ibnetdiscover or NetQ output, or write [[ports]] by hand");
        for (const auto& [node, rail] : strangers)
            report(Severity::warning, FindingKind::unknown_to_slurm, rail->place, node, fmt::format("it is cabled to {}/{} but Slurm's topology does not have it", rail->sw, rail->port),
                   "if it is a node of Slurm under another name, map it with a rule; storage and login hosts can be left");
    }

    void check_rails() {
        std::map<std::pair<std::string, std::string>, std::map<std::string, const NodeRail*>> switches_of; // node, rail
        std::map<std::string, std::set<std::string>> switches_of_node;
        for (const NodeRail& rail : map_.rails) {
            if (!rail.rail.empty()) switches_of[{rail.node, rail.rail}].emplace(rail.sw, &rail);
            switches_of_node[rail.node].insert(rail.sw);
        }
        for (const auto& [key, switches] : switches_of) {
            if (switches.size() < 2) continue;
            std::vector<std::string> names;
            for (const auto& [sw, rail] : switches) names.push_back(sw);
            report(Severity::error, FindingKind::two_leaves_one_rail, switches.rbegin()->second->place, key.first,
                   fmt::format("its rail {} is cabled to {}", key.second, fmt::join(names, " and ")),
                   "its traffic cannot be charged to one leaf: two hosts of one name, or an old entry. Discover again");
        }
        std::map<std::string, std::map<std::size_t, std::vector<std::string>>> nodes_by_rails; // leaf -> rails -> nodes
        for (const auto& [node, switches] : switches_of_node)
            if (const auto leaf = leaf_of_node_.find(node); leaf != leaf_of_node_.end()) nodes_by_rails[leaf->second][switches.size()].push_back(node);
        for (const auto& [leaf, by_rails] : nodes_by_rails) {
            if (by_rails.size() < 2) continue;
            std::string text;
            for (const auto& [rails, nodes] : by_rails) text += fmt::format("{}{} on {} switches: {}", text.empty() ? "" : "; ", nodes.size(), rails, short_hostlist(nodes));
            report(Severity::warning, FindingKind::uneven_rails, {}, leaf, fmt::format("its nodes have different numbers of rails: {}", text),
                   "a dead cable or a host that is not named; the leaf's pressure is the worst of all its switches, whatever rails a node has");
        }
    }

    // The cables: leaves that no trunk leads away from, and trunks that do not meet.
    void check_cables() {
        NameGroups groups;
        std::set<std::string> has_trunk;
        for (const SwitchTrunk& trunk : map_.trunks) {
            groups.join("switch " + trunk.a, "switch " + trunk.b);
            has_trunk.insert(trunk.a);
            has_trunk.insert(trunk.b);
        }
        std::set<std::string> leaves;
        for (const auto& [sw, names] : map_.leaves_of) {
            if (!has_trunk.contains(sw)) {
                report(Severity::warning, FindingKind::no_uplinks, {}, sw, fmt::format("no cable leads from it to another switch (leaf {})", fmt::join(names, ", ")),
                       "traffic that leaves it is not seen on any trunk: its pressure comes from its node ports, or is unknown");
                continue;
            }
            for (const std::string& leaf : names) {
                groups.join("switch " + sw, "leaf " + leaf);
                leaves.insert(leaf);
            }
        }
        std::map<std::string, std::vector<std::string>> parts;
        for (const std::string& leaf : leaves) parts[groups.root("leaf " + leaf)].push_back(leaf);
        if (parts.size() > 1)
            report(map_.topology_is_slurms ? Severity::error : Severity::warning, FindingKind::parted_fabric, {}, "cables",
                   fmt::format("the trunks fall into {} parts that no cable joins: {}", parts.size(), groups_text(parts)),
                   map_.topology_is_slurms ? "if Slurm's tree joins them under one root, jobs may be spread over networks that do not meet"
                                           : "give each part its own top switch in topology.conf, so that no job spans two");
    }

    void check_telemetry() {
        std::set<std::string> switches;
        std::set<std::pair<std::string, std::string>> ports;
        for (const MappedPort& port : map_.ports) {
            switches.insert(port.sw);
            ports.emplace(port.sw, port.port);
        }
        for (const auto& [discovered, name] : map_.telemetry_name) switches.insert(name);
        std::set<std::string> strangers;
        for (const auto& [sw, port] : input_.telemetry_ports) {
            if (!switches.contains(sw))
                strangers.insert(sw);
            else if (!ports.contains({sw, port}))
                report(Severity::info, FindingKind::telemetry_only, {}, fmt::format("{}/{}", sw, port), "telemetry delivers this port, and no cable is known at it",
                       "its counters are read and count for no leaf");
        }
        for (const std::string& sw : strangers)
            report(Severity::warning, FindingKind::telemetry_only, {}, sw, "telemetry delivers this switch, and no input names it",
                   "its counters are read and count for no leaf: is it called otherwise in telemetry? Map it with a rule of switch");
    }

    const Discovery& discovery_;
    const FabricMap& map_;
    const FabricCheckInput& input_;
    std::map<std::string, std::string> leaf_of_node_;
    Findings findings_;
};

} // namespace

Findings check_fabric(const FabricCheckInput& input) { return Checker(input).run(); }

} // namespace aegis
