// The life of aegisd: what is started in which order, and stopped in the opposite one.
#pragma once

#include <string>

namespace aegis {

// Runs until SIGTERM or SIGINT. The exit status: 0, or 1 after an error that has been logged.
int run_daemon(const std::string& config_file);

// Prints every error, or that there is none. The exit status: 0 or 1.
int check_config(const std::string& config_file);

} // namespace aegis
