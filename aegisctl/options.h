// The command line of aegisctl: CLI11 stays behind this.
#pragma once

namespace aegis {

// Parses and runs the subcommand; returns the exit status.
int run_command_line(int argc, const char* const* argv);

} // namespace aegis
