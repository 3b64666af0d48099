#include "lib/mode.h"

namespace aegis {

std::string_view to_string(Mode mode) {
    switch (mode) {
    case Mode::off: return "off";
    case Mode::observe: return "observe";
    case Mode::steer: return "steer";
    }
    return {};
}

std::optional<Mode> mode_from(std::string_view text) {
    for (Mode mode : {Mode::off, Mode::observe, Mode::steer})
        if (text == to_string(mode)) return mode;
    return std::nullopt;
}

} // namespace aegis
