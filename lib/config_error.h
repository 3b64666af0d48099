// An error an operator reads: file, line, key, value and what was expected.
#pragma once

#include <string>
#include <vector>

namespace aegis {

struct ConfigPlace {
    std::string file;
    int line = 0; // from 1; 0 where there is no line
};

struct ConfigError {
    ConfigPlace place;
    std::string key;      // dotted, e.g. "source.interval"; empty where there is none
    std::string value;    // as written
    std::string expected; // "a duration from 200ms to 1h"
};

using ConfigErrors = std::vector<ConfigError>;

// "aegisd.toml:12: source.interval = "5": expected a duration from 200ms to 1h"
std::string to_string(const ConfigError& error);

} // namespace aegis
