// The rows. Order within a section is the order of the example file and of the man page.
#include "lib/settings.h"
#include "lib/signal_names.h"

#include <array>

namespace aegis {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using enum SettingType;
using enum Presence;

// In the order of the enumerations they stand for.
constexpr std::string_view modes[] = {"off", "observe", "steer"};
constexpr std::string_view port_kinds[] = {"node", "trunk"};
constexpr std::string_view log_levels[] = {"debug", "info", "warning", "error"};
constexpr std::string_view source_types[] = {"prometheus", "promql", "otlp", "sonic"};
constexpr std::string_view port_names[] = {"name", "alias"};
constexpr std::string_view history_ports[] = {"trunk", "all", "none"};
constexpr std::string_view policies[] = {"vanilla", "default"};

const Setting<Config> scalars[] = {
    {{"initial_mode", choice, defaulted, "observe", "", "", modes,
      "The mode after installation. Once \"aegisctl mode\" has been used, the mode it set is remembered and this line no "
      "longer counts."},
     +[](Config& c) -> Mode& { return c.initial_mode; }},

    {{"select.socket", path, defaulted, AEGIS_RUNDIR "/select.socket", "", "", {},
      "Where the plugin in slurmctld connects. Give the plugin the same path."},
     +[](Config& c) -> std::string& { return c.select.socket; }},
    {{"select.slurm_user", word, defaulted, "slurm", "", "", {},
      "SlurmUser of slurm.conf: besides root and the user aegisd runs as, the only one that may connect to either socket."},
     +[](Config& c) -> std::string& { return c.select.slurm_user; }},
    {{"select.deadline", duration, defaulted, "2ms", "200us", "10ms", {},
      "How long slurmctld's scheduling thread waits for advice on a job that is about to start. After that Slurm's own "
      "choice stands."},
     +[](Config& c) -> microseconds& { return c.select.deadline; }},
    {{"select.lease", duration, defaulted, "30s", "1s", "10m", {},
      "A plugin that has not heard from aegisd for this long stops asking until it does."},
     +[](Config& c) -> milliseconds& { return c.select.lease; }},

    {{"control.socket", path, defaulted, AEGIS_RUNDIR "/control.socket", "", "", {}, "Where aegisctl connects."},
     +[](Config& c) -> std::string& { return c.control.socket; }},

    {{"fabric.topology", path, defaulted, "/etc/slurm/topology.conf", "", "", {},
      "Slurm's topology.conf: which nodes stand on which leaf. Read again on reload."},
     +[](Config& c) -> std::string& { return c.fabric.topology; }},
    {{"fabric.ports", path, optional, "the [[ports]] of this file are all there are", "", "", {},
      "A file of further [[ports]], such as \"aegisctl fabric import\" writes. Read again on reload."},
     +[](Config& c) -> std::optional<std::string>& { return c.fabric.ports; }},

    {{"placement.policy", choice, defaulted, "default", "", "", policies,
      "The policy in force. \"vanilla\" always keeps Slurm's choice; \"default\" weighs fragmentation, span and pressure."},
     +[](Config& c) -> std::string& { return c.placement.policy; }},
    {{"placement.margin", number, defaulted, "0.05", "0", "1", {},
      "How much lower the cost of a plan must be than that of Slurm's choice before it is offered. Costs lie between 0 and 1."},
     +[](Config& c) -> double& { return c.placement.margin; }},
    {{"placement.spare_nodes", count, defaulted, "0", "0", "1024", {},
      "Idle nodes a plan holds beyond those the job needs, for jobs with demands that aegisd cannot see."},
     +[](Config& c) -> std::uint32_t& { return c.placement.spare_nodes; }},

    {{"pressure.mark_limit", share, defaulted, "2%", "0.01%", "50%", {},
      "The share of packets with an ECN mark that is still acceptable. The marking term reaches its maximum at five times this."},
     +[](Config& c) -> double& { return c.pressure.mark_limit; }},
    {{"pressure.queue_min", size, defaulted, "180KiB", "0B", "1GB", {},
      "Queue depth at which the switches begin to mark (K_min of their ECN profile). Below it a queue is no pressure."},
     +[](Config& c) -> double& { return c.pressure.queue_min_bytes; }},
    {{"pressure.queue_max", size, defaulted, "300KB", "1B", "1GB", {},
      "Queue depth at which the queue term reaches its maximum. More than queue_min."},
     +[](Config& c) -> double& { return c.pressure.queue_max_bytes; }},
    {{"pressure.fast", duration, defaulted, "5s", "1s", "1m", {}, "Time constant of the fast average of all signals."},
     +[](Config& c) -> milliseconds& { return c.pressure.fast; }},
    {{"pressure.slow", duration, defaulted, "1m", "5s", "1h", {}, "Time constant of the slow average. Longer than fast."},
     +[](Config& c) -> milliseconds& { return c.pressure.slow; }},

    {{"freshness.fresh", duration, defaulted, "5s", "500ms", "10m", {}, "Telemetry up to this age is fresh and fully believed."},
     +[](Config& c) -> milliseconds& { return c.freshness.fresh; }},
    {{"freshness.lagged", duration, defaulted, "1m", "1s", "1h", {},
      "Up to this age it is lagged: believed less with age, but never below one fifth. More than fresh."},
     +[](Config& c) -> milliseconds& { return c.freshness.lagged; }},
    {{"freshness.stale", duration, defaulted, "3m", "2s", "1d", {},
      "Up to this age it is stale and fades out; after that it is dark and counts for nothing. More than lagged."},
     +[](Config& c) -> milliseconds& { return c.freshness.stale; }},
    {{"freshness.tau", duration, defaulted, "90s", "10s", "10m", {}, "How fast belief decays with age: by e in this time."},
     +[](Config& c) -> milliseconds& { return c.freshness.tau; }},

    {{"store.directory", path, defaulted, AEGIS_STATEDIR, "", "", {},
      "The directory of decisions.db and telemetry.db. It must exist and be on a local disk: SQLite's locks do not hold over NFS."},
     +[](Config& c) -> std::string& { return c.store.directory; }},

    {{"history.ports", choice, defaulted, "trunk", "", "", history_ports,
      "Whose history is kept: of ports between switches, of all mapped ports, or of none. A port costs 5.4 KB of memory."},
     +[](Config& c) -> std::string& { return c.history.ports; }},
    {{"history.keep_10s", duration, defaulted, "7d", "1h", "366d", {},
      "How long roll-ups of ten seconds are kept. A port writes 8,640 of them a day, some 60 bytes each."},
     +[](Config& c) -> milliseconds& { return c.history.keep_10s; }},
    {{"history.keep_5min", duration, defaulted, "365d", "1d", "3660d", {},
      "How long roll-ups of five minutes are kept. A port writes 288 of them a day."},
     +[](Config& c) -> milliseconds& { return c.history.keep_5min; }},

    {{"log.level", choice, defaulted, "info", "", "", log_levels, "The least important messages that are still logged."},
     +[](Config& c) -> std::string& { return c.log.level; }},
};

const Setting<SourceConfig> sources[] = {
    {{"name", word, required, "", "", "", {}, "A name of your choice, shown by aegisctl. No two sources share one.", "\"leaves\""},
     +[](SourceConfig& s) -> std::string& { return s.name; }},
    {{"type", choice, required, "", "", "", source_types,
      "\"prometheus\": an exporter is scraped; text format 0.0.4. \"promql\": a Prometheus, Thanos or VictoriaMetrics server is asked for "
      "each metric and for the age of its samples. \"otlp\": OpenTelemetry exporters push to this machine, path /v1/metrics; only "
      "on a loopback address. \"sonic\": the COUNTERS_DB of a SONiC switch, in Redis; it needs no [[source.metric]]. A switch with several "
      "ASICs has a database for each: one [[source]] for each, with the same switch.", "\"prometheus\""},
     +[](SourceConfig& s) -> std::string& { return s.type; }},
    {{"url", url, required, "", "", "", {}, "What to scrape; for promql the server, for otlp the address and port to listen on, as in http://127.0.0.1:4318; for "
      "sonic the socket of Redis, unix:///var/run/redis/redis.sock, or redis://host:6379, which is best the end of an SSH tunnel.", "\"http://exporter:9100/metrics\""},
     +[](SourceConfig& s) -> std::string& { return s.url; }},
    {{"interval", duration, defaulted, "1s", "200ms", "1h", {}, "How often. Exporters that push choose that themselves."},
     +[](SourceConfig& s) -> milliseconds& { return s.interval; }},
    {{"timeout", duration, optional, "four fifths of interval, at most 10s", "50ms", "1m", {},
      "When to give up on one answer. Shorter than interval.", "\"800ms\""},
     +[](SourceConfig& s) -> milliseconds& { return s.timeout; }},
    {{"body_limit", size, defaulted, "32MiB", "1KiB", "1GiB", {}, "A longer answer is refused as a whole."},
     +[](SourceConfig& s) -> std::uint64_t& { return s.body_limit_bytes; }},
    {{"preset", word, optional, "only [[source.metric]] says what to read", "", "", {},
      "The exporter's metrics by name: \"aegisctl fabric presets\" lists them. A [[source.metric]] with the name of one of them changes what it "
      "says, another one is read as well."},
     +[](SourceConfig& s) -> std::optional<std::string>& { return s.preset; }},
    {{"switch", text, optional, "labels say it", "", "", {},
      "The switch's name, as [[ports]] has it. Required with type \"sonic\"; with a preset, where the exporter serves one switch."},
     +[](SourceConfig& s) -> std::string& { return s.sw; }},
    {{"port_names", choice, defaulted, "name", "", "", port_names,
      "For sonic: \"name\" is Ethernet0, \"alias\" what the switch calls it in LLDP, such as etp1. As [[ports]] has them."},
     +[](SourceConfig& s) -> bool& { return s.port_aliases; }},
    {{"username", text, optional, "the default user", "", "", {}, "For sonic: the user of Redis, with password_file."},
     +[](SourceConfig& s) -> std::optional<std::string>& { return s.username; }},
    {{"password_file", path, optional, "no password is sent", "", "", {},
      "For sonic: a file whose only line is the password of Redis. It is read for each connection. Only with unix://, or on a loopback address."},
     +[](SourceConfig& s) -> std::optional<std::string>& { return s.password_file; }},
};

const Setting<MetricMapping> metrics[] = {
    {{"name", metric_name, required, "", "", "", {}, "The metric's exact name.", "\"switch_port_transmit_bytes_total\""},
     +[](MetricMapping& m) -> std::string& { return m.name; }},
    {{"signal", choice, required, "", "", "", signal_names,
      "What it measures: queue_depth and bytes are in bytes, ecn_marked_packets, packets and drops in packets, pfc_pause in "
      "frames, transmit_wait in ticks of the device.", "\"bytes\""},
     +[](MetricMapping& m) -> Signal& { return m.signal; }},
    {{"kind", choice, required, "", "", "", kind_names,
      "\"counter\" only grows, \"snapshot\" is the value at the moment of reading, \"peak\" the largest value since the last "
      "reading. The exporter's own TYPE line is not believed.", "\"counter\""},
     +[](MetricMapping& m) -> Kind& { return m.kind; }},
    {{"factor", number, defaulted, "1", "1e-9", "1e9", {},
      "The value times this is in the signal's unit: 4 for an InfiniBand exporter that counts 4-byte words."},
     +[](MetricMapping& m) -> double& { return m.factor; }},
    {{"switch_label", label_name, optional, "switch says it", "", "", {},
      "The label whose value is the switch's name. Either this or switch.", "\"switch\""},
     +[](MetricMapping& m) -> std::string& { return m.switch_label; }},
    {{"switch", text, optional, "switch_label says it", "", "", {},
      "The switch's name, where an exporter serves one switch and does not name it."},
     +[](MetricMapping& m) -> std::string& { return m.sw; }},
    {{"port_label", label_name, defaulted, "port", "", "", {}, "The label whose value is the port's name."},
     +[](MetricMapping& m) -> std::string& { return m.port_label; }},
    {{"queue_label", label_name, optional, "the metric is per port", "", "", {},
      "The label whose value is the number of the queue."},
     +[](MetricMapping& m) -> std::optional<std::string>& { return m.queue_label; }},
    {{"match", labels, optional, "all samples of that name", "", "", {},
      "Only samples whose labels have these values: { direction = \"tx\" }.", "{ class = \"gpu\" }"},
     +[](MetricMapping& m) -> std::vector<std::pair<std::string, std::string>>& { return m.match; }},
    {{"counter_bits", width, defaulted, "64", "", "", {},
      "The width of the counter in the switch. 32 makes a fall from near 2^32 to near 0 a wrap; otherwise it is a reset."},
     +[](MetricMapping& m) -> std::optional<double>& { return m.wraps_at; }},
};

const Setting<PortGroup> port_groups[] = {
    {{"switch", text, required, "", "", "", {}, "The switch as telemetry names it.", "\"sw-a1\""},
     +[](PortGroup& p) -> std::string& { return p.sw; }},
    {{"ports", hostlist, required, "", "", "", {}, "Its ports as telemetry names them.", "\"swp[49-52]\""},
     +[](PortGroup& p) -> std::vector<std::string>& { return p.ports; }},
    {{"leaf", hostlist, optional, "the value of switch", "", "", {},
      "The leaf as topology.conf names it; several, as in leaf[1-2], where the switch serves nodes of several. For ports of a "
      "spine: the leaf at the other end.", "\"tor1\""},
     +[](PortGroup& p) -> std::vector<std::string>& { return p.leaves; }},
    {{"kind", choice, defaulted, "trunk", "", "", port_kinds,
      "\"trunk\" leads to another switch, \"node\" to a node. Where a leaf has trunks, they alone make its pressure."},
     +[](PortGroup& p) -> bool& { return p.trunk; }},
    {{"rate", rate, optional, "unknown: load is no part of the pressure", "1Mbit", "10Tbit", {}, "Line rate of each port.", "\"100Gbit\""},
     +[](PortGroup& p) -> double& { return p.rate_bps; }},
};

constexpr SectionInfo sections[] = {
    {"", "Above any table."},
    {"select", "The conversation with the plugin in slurmctld."},
    {"control", "The conversation with aegisctl."},
    {"fabric", "Where nodes stand. Which switch port belongs to which leaf is told by [[ports]], here or in a file of their own."},
    {"placement", "How a placement is chosen."},
    {"pressure", "When a link is pressed."},
    {"freshness", "How telemetry is believed as it ages. Age counts from the event, not from its arrival."},
    {"store", "What is remembered."},
    {"history", "What links did: the last ten minutes by seconds in memory, older times in telemetry.db. Shown by aegisctl fabric history."},
    {"log", "Messages go to standard error, where systemd collects them."},
    {"[ports]", "Which switch ports are whose. One table for each group of ports that share switch, leaf, kind and rate; a port "
                "stands in one table only. Ports that telemetry shows and no table names are counted and reported."},
    {"[source]", "Where counters come from. One table a source."},
    {"[source.metric]", "How one metric of the source above becomes a signal. One table a metric; two tables may share a name if "
                        "their match differs."},
};

} // namespace

std::span<const Setting<Config>> scalar_settings() { return scalars; }
std::span<const Setting<SourceConfig>> source_settings() { return sources; }
std::span<const Setting<MetricMapping>> metric_settings() { return metrics; }
std::span<const Setting<PortGroup>> ports_settings() { return port_groups; }
std::span<const SectionInfo> setting_sections() { return sections; }

} // namespace aegis
