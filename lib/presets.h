// Presets: what the exporters that sites already run call our signals (telemetry.md 1.2, 2.1 and 3).
//
// A [[source]] with preset = "NAME" begins with the rows of that preset; every field of a row can be overridden.
// Kind and unit are ours, never the exporter's TYPE line. A row that was not checked against the exporter's output or
// source is marked unverified and says so wherever presets are listed.
//
// Not here, because no source of ours can read them: Cisco NX-API, Junos UDP sensors, BroadView, Arista LANZ.
#pragma once

#include "lib/config.h"
#include "lib/sample.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace aegis {

enum class PresetVia : std::uint8_t { prometheus, otlp, sonic_redis, gnmi }; // "prometheus" by scrape or PromQL

struct PresetMetric {
    std::string_view name;         // of the metric; of a gNMI leaf; of a field of COUNTERS_DB
    Signal signal{};
    Kind kind{};
    double factor = 1;             // value * factor is in the signal's unit
    std::string_view switch_label; // empty: the exporter does not name the switch, the site does (switch = "...")
    std::string_view port_label;
    std::string_view queue_label;  // empty: counted by port
    std::optional<double> wraps_at;
    std::optional<double> saturates_at; // this value and above: stopped counting, unknown
    std::string_view match_label, match_value; // empty, or only samples with this label value
};

struct Preset {
    std::string_view name;
    PresetVia via{};
    bool verified = false;
    std::string_view note; // what an operator should know
    std::span<const PresetMetric> metrics;
};

enum class LatencyShape : std::uint8_t { classic_histogram, summary, mean_counter };

// Where a service shows its latency.
struct LatencyPreset {
    std::string_view name;
    std::string_view metric;      // without _bucket, _sum and _count
    LatencyShape shape{};
    double seconds_per_unit = 1;
    std::string_view labels;      // those that tell models, methods or clusters apart
    std::string_view port_and_path; // where it is served by default; empty: as the site has it
    bool verified = false;
    std::string_view note;
};

// A row as a [[source.metric]] of a source of that switch; empty: the exporter's label names it.
MetricMapping mapping_of(const PresetMetric& metric, const std::string& sw);

std::span<const Preset> presets();
std::span<const LatencyPreset> latency_presets();
const Preset* preset_named(std::string_view name);
const LatencyPreset* latency_preset_named(std::string_view name);

std::string_view to_string(PresetVia via);
std::string_view to_string(LatencyShape shape);

} // namespace aegis
