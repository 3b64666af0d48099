#include "aegisd/options.h"

#include <CLI/CLI.hpp>

namespace aegis {

namespace {
constexpr int usage_error = 2;
}

std::expected<Options, int> parse_options(int argc, char** argv) {
    Options options;
    CLI::App app{"Congestion-aware placement for Slurm: reads switch counters, advises the plugin in slurmctld.", "aegisd"};
    bool foreground = false;
    app.add_option("-c,--config", options.config_file, "configuration to read")->capture_default_str();
    app.add_flag("--check-config", options.check_config, "read the configuration, say what is wrong with it, and exit");
    app.add_flag("--foreground", foreground, "accepted for service files: aegisd never runs in any other way");
    app.set_version_flag("-V,--version", "aegisd " AEGIS_VERSION);
    app.footer("SIGHUP reads the configuration again; SIGTERM ends. See aegisd(8).");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return std::unexpected(app.exit(error) == 0 ? 0 : usage_error);
    }
    return options;
}

} // namespace aegis
