#include "lib/signal_names.h"

#include <iterator>

namespace aegis {

static_assert(std::size(signal_names) == static_cast<std::size_t>(Signal::transmit_wait) + 1);
static_assert(std::size(kind_names) == static_cast<std::size_t>(Kind::peak) + 1);

std::string_view to_string(Signal signal) { return signal_names[static_cast<std::size_t>(signal)]; }
std::string_view to_string(Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::string_view unit_of(Signal signal) {
    switch (signal) {
    case Signal::queue_depth:
    case Signal::bytes: return "bytes";
    case Signal::ecn_marked_packets:
    case Signal::packets:
    case Signal::drops: return "packets";
    case Signal::pfc_pause: return "frames";
    case Signal::transmit_wait: return "ticks";
    }
    return {};
}

} // namespace aegis
