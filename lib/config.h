// The configuration of aegisd: aegisd.toml, parsed and checked as a whole.
//
// lib/settings.h holds the one table of scalar settings; parser, example file, man page and
// `aegisctl config show` all read it. Tables that repeat ([[source]], [[source.metric]], [[ports]]) are described there too.
// Parsing reports every error it finds, each with file, line, key, value and what was expected; nothing is
// half-applied. Files named inside (topology.conf, the port table) are read by the caller: lib/ does no I/O.
#pragma once

#include "lib/config_error.h"
#include "lib/fabric.h"
#include "lib/freshness.h"
#include "lib/mode.h"
#include "lib/pressure.h"
#include "lib/sample.h"

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aegis {

// How one exported metric becomes series: [[source.metric]].
struct MetricMapping {
    ConfigPlace place;
    std::string name; // metric name, exact
    Signal signal{};
    Kind kind{};
    double factor = 1;                     // value * factor is in the signal's unit
    std::string switch_label;              // label that names the switch, or
    std::string sw;                        // ... the switch itself, for an exporter per switch
    std::string port_label = "port";
    std::optional<std::string> queue_label;
    std::vector<std::pair<std::string, std::string>> match; // only samples whose labels have these values
    std::optional<double> wraps_at;        // counter_bits = 32
};

// [[source]].
struct SourceConfig {
    ConfigPlace place;
    std::string name;
    std::string type; // one of the choices of the settings table
    std::string url;  // http://host:port/path; for a SONiC switch unix:///path or redis://host:port
    std::chrono::milliseconds interval{1000};
    std::chrono::milliseconds timeout{800};
    std::uint64_t body_limit_bytes = 32u << 20;
    std::string sw;            // of type "sonic": the switch that the database is of
    bool port_aliases = false; // ... whose ports go by alias
    std::optional<std::string> username, password_file; // the file is read for each connection, its content never kept or logged
    std::optional<std::string> preset; // its metrics come first in `metrics`; the site's own of the same name change them
    std::vector<MetricMapping> metrics;
};

struct Config {
    Mode initial_mode = Mode::observe; // until `aegisctl mode` has been used once; then the store knows
    struct Select {
        std::string socket;              // where the plugin connects
        std::string slurm_user = "slurm"; // beside root, the only user that may connect
        std::chrono::microseconds deadline{2000};
        std::chrono::milliseconds lease{30000};
    } select;
    struct Control {
        std::string socket; // where aegisctl connects
    } control;
    struct FabricFiles {
        std::string topology;             // path of Slurm's topology.conf
        std::optional<std::string> ports; // path of a port table beside the [[ports]] of aegisd.toml
    } fabric;
    struct Placement {
        std::string policy = "default";
        double margin = 0.05;
        std::uint32_t spare_nodes = 0;
    } placement;
    PressureParameters pressure;
    FreshnessLimits freshness;
    struct StoreFiles {
        std::string directory; // decisions.db and telemetry.db live here
    } store;
    struct HistorySettings {
        std::string ports = "trunk"; // of which links: "trunk", "all" or "none"
        std::chrono::milliseconds keep_10s = std::chrono::hours(24 * 7);
        std::chrono::milliseconds keep_5min = std::chrono::hours(24 * 365);
    } history;
    struct Log {
        std::string level = "info";
    } log;
    std::vector<PortGroup> ports;
    std::vector<SourceConfig> sources;
};

std::expected<Config, ConfigErrors> parse_config(std::string_view text, const std::string& file);

// A port table: a file of [[ports]] and nothing else, aegis-fabric.toml(5). An empty one is good.
std::expected<std::vector<PortGroup>, ConfigErrors> parse_port_table(std::string_view text, const std::string& file);

} // namespace aegis
