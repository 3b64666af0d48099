// What the configuration calls signals and kinds, and the unit a signal is in.
#pragma once

#include "lib/sample.h"

#include <string_view>

namespace aegis {

// In the order of the enumerations.
inline constexpr std::string_view signal_names[] = {"queue_depth", "ecn_marked_packets", "packets",      "bytes",
                                                    "drops",       "pfc_pause",          "transmit_wait"};
inline constexpr std::string_view kind_names[] = {"counter", "snapshot", "peak"};

std::string_view to_string(Signal signal);
std::string_view to_string(Kind kind);
std::string_view unit_of(Signal signal);

} // namespace aegis
