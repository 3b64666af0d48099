// What an InfiniBand node description tells: whose adapter it is.
#pragma once

#include "lib/discovery.h"

#include <string>
#include <string_view>

namespace aegis {

struct InfinibandEnd {
    PeerKind kind = PeerKind::host; // node, host or device
    std::string node;               // with PeerKind::node
    std::string adapter;            // "HCA-1", "mlx5_0"; empty: not given
};

// `description` of a channel adapter.
InfinibandEnd infiniband_end(std::string_view description);

// "MF0;leaf-01:MQM9701/U1" -> "leaf-01". Chips inside a director ("/L01/U1") keep their place. Anything else: unchanged.
std::string short_switch_name(std::string_view description);

} // namespace aegis
