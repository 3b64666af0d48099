#include "lib/port_table_check.h"

#include "lib/name_groups.h"
#include "lib/port_changes.h"
#include "lib/tree_check.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>

namespace aegis {

namespace {

Finding warning(FindingKind kind, ConfigPlace place, std::string subject, std::string fact, std::string meaning) {
    return {Severity::warning, kind, std::move(place), std::move(subject), std::move(fact), std::move(meaning)};
}

std::map<std::string, std::vector<std::string>> by_switch(const std::vector<SwitchPort>& ports) {
    std::map<std::string, std::vector<std::string>> groups;
    for (const auto& [sw, port] : ports) groups[sw].push_back(port);
    return groups;
}

} // namespace

SwitchPort split_port(std::string_view text, const std::set<std::string>& switches) {
    for (std::size_t slash = text.rfind('/'); slash != text.npos && slash > 0; slash = text.rfind('/', slash - 1))
        if (switches.contains(std::string(text.substr(0, slash)))) return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
    const std::size_t slash = std::min(text.find('/'), text.size());
    return {std::string(text.substr(0, slash)), std::string(text.substr(std::min(slash + 1, text.size())))};
}

Findings check_port_table(const std::vector<TopologyLine>& topology, const std::string& topology_file, const std::vector<PortGroup>& ports) {
    Findings findings;
    std::set<std::string> any, trunks;
    for (const PortGroup& group : ports) {
        any.insert(group.leaves.begin(), group.leaves.end());
        if (group.trunk) trunks.insert(group.leaves.begin(), group.leaves.end());
        if (group.trunk && group.rate_bps <= 0)
            findings.push_back({Severity::info, FindingKind::rate_unknown, group.place, group.sw,
                                fmt::format("the rate of {} of its trunk ports is not given", group.ports.size()),
                                "their load is no part of the pressure: marks and queues alone tell it"});
    }
    for (const TopologyLine& line : topology) {
        if (line.nodes.empty() || trunks.contains(line.name)) continue;
        if (any.contains(line.name))
            findings.push_back(warning(FindingKind::no_uplinks, {topology_file, line.line}, line.name, "only ports to nodes are mapped to it, none to another switch",
                                       "its pressure is that of its worst node port, which says little of the network above it"));
        else
            findings.push_back(warning(FindingKind::leaf_without_ports, {topology_file, line.line}, line.name, "no port is mapped to it",
                                       "it counts as calm whatever happens there, so jobs may be moved to it and never away from it"));
    }
    std::ranges::move(check_tree(topology, topology_file), std::back_inserter(findings));
    return findings;
}

Findings check_live(const LiveFabric& live) {
    Findings findings;
    if (!live.nodes_on_no_leaf.empty())
        findings.push_back(warning(FindingKind::unmapped_node, {}, short_hostlist(live.nodes_on_no_leaf),
                                   fmt::format("{} nodes of Slurm stand on no leaf", live.nodes_on_no_leaf.size()),
                                   "a job that Slurm would start on one of them is never steered"));
    for (const auto& [sw, ports] : by_switch(live.unmapped_ports))
        findings.push_back(warning(FindingKind::telemetry_only, {}, sw, fmt::format("telemetry delivers {} ports of it that no [[ports]] names: {}", ports.size(), short_hostlist(ports)),
                                   "their counters are read and count for no leaf"));
    for (const auto& [sw, ports] : by_switch(live.unmeasured_ports))
        findings.push_back(warning(FindingKind::not_measured, {}, sw, fmt::format("{} mapped ports of it were never delivered by telemetry: {}", ports.size(), short_hostlist(ports)),
                                   "they count as calm: is the switch, or the port, called otherwise in telemetry?"));
    return findings;
}

Findings compare_tables(const std::vector<PortGroup>& in_use, const std::vector<PortGroup>& discovered) {
    Findings findings;
    const PortChanges changes = port_changes(in_use, discovered);
    const auto add = [&](const PortChanges::Change& change, Severity severity, std::string fact, std::string meaning) {
        findings.push_back({severity, FindingKind::table_differs, change.place, change.port, std::move(fact), std::move(meaning)});
    };
    for (const auto& change : changes.changed)
        add(change, Severity::error, fmt::format("the table in use has it as {}, the cables as {}", change.from, change.to),
            "its counters may be charged to the wrong leaf: import again, or correct the inputs");
    for (const auto& change : changes.added)
        add(change, Severity::warning, fmt::format("the cables have it as {}, the table in use does not have it", change.to),
            "its counters count for no leaf until the table is imported again");
    for (const auto& change : changes.removed)
        add(change, Severity::warning, fmt::format("the table in use has it as {}, and no cable is known at it", change.from),
            "if the cable is gone, so is the reason to charge the leaf");
    return findings;
}

} // namespace aegis
