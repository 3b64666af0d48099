// Cables as the InfiniBand tools list them, by GUID, on the way to a Discovery.
#pragma once

#include "lib/discovery.h"

#include <string>
#include <vector>

namespace aegis {

struct InfinibandPort {
    enum class Owner : std::uint8_t { sw, adapter, router } owner = Owner::adapter;
    std::string guid;      // of the node; of a switch the one that names it
    std::string port_guid; // of the port, where the tool gives it
    std::string port;      // decimal
    std::string description;
};

struct InfinibandCable {
    InfinibandPort near;
    std::optional<InfinibandPort> far; // absent: nothing connected
    double rate_bps = 0;
    int line = 0;
};

// Every switch port of `cables` as a link, each cable once; switches without cables come from `lone_switches`.
Discovery discovery_of(const std::vector<InfinibandCable>& cables, const std::vector<InfinibandPort>& lone_switches,
                       const std::string& file);

} // namespace aegis
