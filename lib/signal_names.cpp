#include "lib/signal_names.h"

namespace aegis {

std::string_view to_string(Signal signal) {
    switch (signal) {
    case Signal::queue_depth: return "queue_depth";
    case Signal::ecn_marked_packets: return "ecn_marked_packets";
    case Signal::packets: return "packets";
    case Signal::bytes: return "bytes";
    case Signal::drops: return "drops";
    case Signal::pfc_pause: return "pfc_pause";
    case Signal::transmit_wait: return "transmit_wait";
    }
    return {};
}

std::string_view to_string(Kind kind) {
    switch (kind) {
    case Kind::counter: return "counter";
    case Kind::snapshot: return "snapshot";
    case Kind::peak: return "peak";
    }
    return {};
}

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
