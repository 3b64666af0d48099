// aegisd: congestion-aware placement for Slurm. See aegisd(8), ARCHITECTURE.md.
#include "aegisd/daemon.h"
#include "aegisd/options.h"

int main(int argc, char** argv) {
    const auto options = aegis::parse_options(argc, argv);
    if (!options) return options.error();
    if (options->check_config) return aegis::check_config(options->config_file);
    return aegis::run_daemon(options->config_file);
}
