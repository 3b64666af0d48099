// The mode of the whole system.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace aegis {

enum class Mode : std::uint8_t {
    off,     // the plugin does not ask
    observe, // asks and logs, never steers
    steer,   // advice may restrict the nodes of a starting job
};

std::string_view to_string(Mode mode);
std::optional<Mode> mode_from(std::string_view text);

} // namespace aegis
