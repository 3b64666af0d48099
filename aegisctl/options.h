// The command line of aegisctl: CLI11 stays behind this.
#pragma once

#include <string>
#include <vector>

namespace aegis {

// Parses and runs the subcommand; returns the exit status.
int run_command_line(int argc, const char* const* argv);

// "status", "config check" ...: what the bash completion must know. Tested against it.
std::vector<std::string> subcommand_names();

} // namespace aegis
