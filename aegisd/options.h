// The command line of aegisd.
#pragma once

#include <expected>
#include <string>

namespace aegis {

struct Options {
    std::string config_file = AEGIS_SYSCONFDIR "/aegisd.toml";
    bool check_config = false;
};

// On --help, --version and errors the text has been printed, and the error is the exit status: 0, or 2 for usage.
std::expected<Options, int> parse_options(int argc, char** argv);

} // namespace aegis
