#include "lib/port_changes.h"

#include "lib/hostlist.h"
#include "lib/natural_order.h"
#include "lib/quantity.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace aegis {

namespace {

struct NaturalOrder {
    bool operator()(const std::string& a, const std::string& b) const { return naturally_before(a, b); }
};

struct Entry {
    std::string text;
    ConfigPlace place;
};

using Table = std::map<std::string, Entry, NaturalOrder>;

std::string text_of(const PortGroup& group) {
    std::vector<std::string> leaves = group.leaves;
    std::ranges::sort(leaves, naturally_before);
    return fmt::format("{} {}, {}", group.trunk ? "trunk of" : "node port of", fold_hostlist(leaves),
                       group.rate_bps > 0 ? rate_text(group.rate_bps) : "rate unknown");
}

Table table_of(const std::vector<PortGroup>& groups) {
    Table table;
    for (const PortGroup& group : groups) {
        const std::string text = text_of(group);
        for (const std::string& port : group.ports) table.emplace(fmt::format("{}/{}", group.sw, port), Entry{text, group.place});
    }
    return table;
}

} // namespace

PortChanges port_changes(const std::vector<PortGroup>& before, const std::vector<PortGroup>& after) {
    const Table old_table = table_of(before), new_table = table_of(after);
    PortChanges changes;
    for (const auto& [port, entry] : new_table) {
        const auto old = old_table.find(port);
        if (old == old_table.end())
            changes.added.push_back({port, "", entry.text, entry.place});
        else if (old->second.text != entry.text)
            changes.changed.push_back({port, old->second.text, entry.text, entry.place});
    }
    for (const auto& [port, entry] : old_table)
        if (!new_table.contains(port)) changes.removed.push_back({port, entry.text, "", entry.place});
    return changes;
}

} // namespace aegis
