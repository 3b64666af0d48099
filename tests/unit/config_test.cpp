#include "lib/config.h"
#include "lib/settings.h"

#include <catch2/catch.hpp>

using namespace aegis;
using namespace std::chrono_literals;

namespace {

Config good(std::string_view text) {
    auto config = parse_config(text, "aegisd.toml");
    if (!config)
        for (const ConfigError& error : config.error()) UNSCOPED_INFO(to_string(error));
    REQUIRE(config.has_value());
    return *config;
}

} // namespace

TEST_CASE("an empty file is the defaults, and they are those of the header") {
    Config config = good("");
    Config header;
    CHECK(config.initial_mode == header.initial_mode);
    CHECK(config.select.slurm_user == header.select.slurm_user);
    CHECK(config.select.deadline == header.select.deadline);
    CHECK(config.select.lease == header.select.lease);
    CHECK(config.placement.policy == header.placement.policy);
    CHECK(config.placement.margin == header.placement.margin);
    CHECK(config.placement.spare_nodes == header.placement.spare_nodes);
    CHECK(config.pressure.mark_limit == header.pressure.mark_limit);
    CHECK(config.pressure.queue_min_bytes == header.pressure.queue_min_bytes);
    CHECK(config.pressure.queue_max_bytes == header.pressure.queue_max_bytes);
    CHECK(config.pressure.fast == header.pressure.fast);
    CHECK(config.pressure.slow == header.pressure.slow);
    CHECK(config.freshness.fresh == header.freshness.fresh);
    CHECK(config.freshness.lagged == header.freshness.lagged);
    CHECK(config.freshness.stale == header.freshness.stale);
    CHECK(config.freshness.tau == header.freshness.tau);
    CHECK(config.log.level == header.log.level);
    CHECK(config.select.socket.ends_with("/select.socket"));
    CHECK(config.control.socket.ends_with("/control.socket"));
    CHECK(config.fabric.topology == "/etc/slurm/topology.conf");
    CHECK(config.store.directory.ends_with("/aegis"));
    CHECK(config.ports.empty());
    CHECK(config.sources.empty());
}

TEST_CASE("every scalar setting is taken from the file") {
    Config config = good(R"(
initial_mode = "steer"
[select]
socket = "/run/x/select.socket"
slurm_user = "slurmuser"
deadline = "0.5ms"
lease = "1m"
[control]
socket = "/run/x/control.socket"
[fabric]
topology = "/etc/topology.conf"
[placement]
policy = "vanilla"
margin = 1
spare_nodes = 3
[pressure]
mark_limit = 0.05
queue_min = "100KB"
queue_max = "1MiB"
fast = "2s"
slow = "2m"
[freshness]
fresh = "1500ms"
lagged = "30s"
stale = "1h"
tau = "2m"
[store]
directory = "/srv/aegis"
[log]
level = "debug"
)");
    CHECK(config.initial_mode == Mode::steer);
    CHECK(config.select.socket == "/run/x/select.socket");
    CHECK(config.select.slurm_user == "slurmuser");
    CHECK(config.select.deadline == 500us);
    CHECK(config.select.lease == 60s);
    CHECK(config.control.socket == "/run/x/control.socket");
    CHECK(config.fabric.topology == "/etc/topology.conf");
    CHECK(config.placement.policy == "vanilla");
    CHECK(config.placement.margin == 1.0);
    CHECK(config.placement.spare_nodes == 3);
    CHECK(config.pressure.mark_limit == 0.05);
    CHECK(config.pressure.queue_min_bytes == 100'000);
    CHECK(config.pressure.queue_max_bytes == 1'048'576);
    CHECK(config.pressure.fast == 2s);
    CHECK(config.pressure.slow == 120s);
    CHECK(config.freshness.fresh == 1500ms);
    CHECK(config.freshness.lagged == 30s);
    CHECK(config.freshness.stale == 1h);
    CHECK(config.freshness.tau == 2min);
    CHECK(config.store.directory == "/srv/aegis");
    CHECK(config.log.level == "debug");
}

TEST_CASE("a source and its metrics carry the lines they stand on") {
    Config config = good(R"([[source]]
name = "leaves"
type = "prometheus"
url = "http://[::1]:9100/metrics"
interval = "15s"
body_limit = "1MB"

[[source.metric]]
name = "switch_port_tx_bytes_total"
signal = "bytes"
kind = "counter"
factor = 4
switch_label = "switch"
match = { direction = "tx", unit = "b" }
counter_bits = 32

[[source.metric]]
name = "queue:depth"
signal = "queue_depth"
kind = "peak"
switch = "leaf1"
port_label = "ifname"
queue_label = "queue"

[[source]]
name = "spines"
type = "prometheus"
url = "http://spine/metrics"
[[source.metric]]
name = "m"
signal = "packets"
kind = "counter"
switch_label = "s"
)");
    REQUIRE(config.sources.size() == 2);
    const SourceConfig& source = config.sources[0];
    CHECK(source.place.file == "aegisd.toml");
    CHECK(source.place.line == 1);
    CHECK(source.name == "leaves");
    CHECK(source.type == "prometheus");
    CHECK(source.url == "http://[::1]:9100/metrics");
    CHECK(source.interval == 15s);
    CHECK(source.timeout == 10s);
    CHECK(source.body_limit_bytes == 1'000'000);
    REQUIRE(source.metrics.size() == 2);
    const MetricMapping& bytes = source.metrics[0];
    CHECK(bytes.place.line == 8);
    CHECK(bytes.signal == Signal::bytes);
    CHECK(bytes.kind == Kind::counter);
    CHECK(bytes.factor == 4);
    CHECK(bytes.switch_label == "switch");
    CHECK(bytes.sw.empty());
    CHECK(bytes.port_label == "port");
    CHECK_FALSE(bytes.queue_label.has_value());
    CHECK(bytes.match == std::vector<std::pair<std::string, std::string>>{{"direction", "tx"}, {"unit", "b"}});
    CHECK(bytes.wraps_at == 4294967296.0);
    const MetricMapping& depth = source.metrics[1];
    CHECK(depth.signal == Signal::queue_depth);
    CHECK(depth.kind == Kind::peak);
    CHECK(depth.factor == 1);
    CHECK(depth.sw == "leaf1");
    CHECK(depth.port_label == "ifname");
    CHECK(depth.queue_label == "queue");
    CHECK_FALSE(depth.wraps_at.has_value());
    CHECK(config.sources[1].interval == 1s);
    CHECK(config.sources[1].timeout == 800ms);
}

TEST_CASE("ports are expanded, and a leaf without a name of its own is the switch") {
    Config config = good(R"(
[[ports]]
switch = "leaf1"
ports = "swp[1-3],eth0"
rate = "100Gbit"
[[ports]]
switch = "spine1"
leaf = "tor7"
ports = ["Ethernet1/1", "Ethernet1/[3-4]"]
kind = "node"
)");
    REQUIRE(config.ports.size() == 2);
    CHECK(config.ports[0].place.line == 2);
    CHECK(config.ports[0].ports == std::vector<std::string>{"swp1", "swp2", "swp3", "eth0"});
    CHECK(config.ports[0].leaves == std::vector<std::string>{"leaf1"});
    CHECK(config.ports[0].trunk);
    CHECK(config.ports[0].rate_bps == 1e11);
    CHECK(config.ports[1].ports == std::vector<std::string>{"Ethernet1/1", "Ethernet1/3", "Ethernet1/4"});
    CHECK(config.ports[1].leaves == std::vector<std::string>{"tor7"});
    CHECK_FALSE(config.ports[1].trunk);
    CHECK(config.ports[1].rate_bps == 0);
}

TEST_CASE("a mapping may name what OpenTelemetry calls metrics and attributes") {
    const Config config = good(R"([[source]]
name = "a"
type = "otlp"
url = "http://127.0.0.1:4318"
[[source.metric]]
name = "switch.queue/marked-packets"
signal = "ecn_marked_packets"
kind = "counter"
switch_label = "net.host.name"
match = { "net.peer.name" = "x" }
)");
    const MetricMapping& metric = config.sources[0].metrics[0];
    CHECK(metric.name == "switch.queue/marked-packets");
    CHECK(metric.switch_label == "net.host.name");
    CHECK(metric.match == std::vector<std::pair<std::string, std::string>>{{"net.peer.name", "x"}});
}

TEST_CASE("two mappings may share a name when they match different samples") {
    Config config = good(R"([[source]]
name = "a"
type = "prometheus"
url = "http://h/metrics"
[[source.metric]]
name = "packets"
signal = "packets"
kind = "counter"
switch_label = "s"
match = { ecn = "0" }
[[source.metric]]
name = "packets"
signal = "ecn_marked_packets"
kind = "counter"
switch_label = "s"
match = { ecn = "1" }
)");
    CHECK(config.sources[0].metrics.size() == 2);
}
