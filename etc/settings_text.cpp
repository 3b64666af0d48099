// At build time: the example configuration, or the manual with the settings put where it says @SETTINGS@.
#include "lib/settings_text.h"

#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "example") == 0) {
        fmt::print("{}", aegis::example_config());
        return 0;
    }
    if (argc == 2 && std::strcmp(argv[1], "manual") == 0) {
        for (std::string line; std::getline(std::cin, line);)
            fmt::print("{}", line == "@SETTINGS@" ? aegis::settings_mdoc() : line + "\n");
        return 0;
    }
    fmt::print(stderr, "usage: settings_text example | settings_text manual <aegisd.toml.5.in\n");
    return 2;
}
