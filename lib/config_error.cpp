#include "lib/config_error.h"

#include <fmt/format.h>

namespace aegis {

std::string to_string(const ConfigError& error) {
    std::string text = error.place.file;
    if (error.place.line > 0) text += fmt::format(":{}", error.place.line);
    text += ": ";
    if (!error.key.empty()) {
        text += error.key;
        if (!error.value.empty()) text += fmt::format(" = {}", error.value);
        text += ": ";
    }
    return text + "expected " + error.expected;
}

} // namespace aegis
