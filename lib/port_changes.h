// What a new port table changes against an old one, port by port.
#pragma once

#include "lib/fabric.h"

#include <string>
#include <vector>

namespace aegis {

struct PortChanges {
    struct Change {
        std::string port;     // "switch/port"
        std::string from, to; // "trunk of l1, 100Gbit"; empty: not in that table
        ConfigPlace place;    // of the new one; of the old one where it is removed
        bool operator==(const Change& other) const { return port == other.port && from == other.from && to == other.to; }
    };
    std::vector<Change> added, removed, changed; // in natural order
    bool empty() const { return added.empty() && removed.empty() && changed.empty(); }
};

// The order of ports within a table, and how they are grouped, is no change.
PortChanges port_changes(const std::vector<PortGroup>& before, const std::vector<PortGroup>& after);

} // namespace aegis
