// Whatever stands in aegisd.toml or topology.conf: read, or refused with errors that can be told.
#include "lib/config.h"

#include <string>

using namespace aegis;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (data[0] % 2) {
        const auto config = parse_config(text, "a.toml");
        if (!config)
            for (const ConfigError& error : config.error()) (void)to_string(error);
        return 0;
    }
    const auto topology = parse_topology(text, "topology.conf");
    if (topology) (void)Fabric::build(*topology, {});
    return 0;
}
