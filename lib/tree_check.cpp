#include "lib/tree_check.h"

#include "lib/name_groups.h"

#include <fmt/format.h>
#include <set>

namespace aegis {

Findings check_tree(const std::vector<TopologyLine>& topology, const std::string& file) {
    Findings findings;
    NameGroups groups;
    std::set<std::string> has_parent;
    for (const TopologyLine& line : topology)
        for (const std::string& child : line.switches) {
            groups.join(line.name, child);
            has_parent.insert(child);
        }
    if (has_parent.empty()) return findings; // a flat file: all leaves count as joined
    std::map<std::string, std::vector<std::string>> parts;
    for (const TopologyLine& line : topology) {
        if (line.nodes.empty()) continue;
        if (has_parent.contains(line.name))
            parts[groups.root(line.name)].push_back(line.name);
        else
            findings.push_back({Severity::warning, FindingKind::no_uplinks, {file, file.empty() ? 0 : line.line}, line.name,
                                "no switch stands above it in Slurm's topology", "no job can span it and another leaf, and no plan will join it with one"});
    }
    if (parts.size() > 1)
        findings.push_back({Severity::warning, FindingKind::parted_fabric, {file, 0}, "topology",
                            fmt::format("Slurm's tree has {} parts: {}", parts.size(), groups_text(parts)),
                            "no job can span two parts, and plans never join leaves of two"});
    return findings;
}

} // namespace aegis
