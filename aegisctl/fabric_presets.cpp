// aegisctl fabric presets: what exporters call our signals, as a [[source]] with preset = "NAME" reads them. aegisd need not run.
#include "aegisctl/commands.h"
#include "aegisctl/output.h"
#include "aegisctl/words.h"
#include "lib/presets.h"
#include "lib/signal_names.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace aegis {

namespace json = boost::json;

namespace {

constexpr Column metric_columns[] = {
    {"PRESET", "preset", as_text}, {"TYPE", "type", as_text}, {"CHECKED", "verified", as_yes},       {"METRIC", "name", as_text},
    {"SIGNAL", "signal", as_text}, {"KIND", "kind", as_text}, {"UNIT", "shown_unit", as_text}, {"LIMIT", "limit", as_text},
};

constexpr Column latency_columns[] = {
    {"LATENCY OF", "name", as_text}, {"CHECKED", "verified", as_yes}, {"METRIC", "metric", as_text}, {"SHAPE", "shape", as_text},
    {"UNIT", "unit", as_text},       {"LABELS", "labels", as_text},   {"SERVED AT", "served_at", as_text},
};

std::string_view latency_unit(double seconds) { return seconds == 1 ? "s" : seconds == 1e-3 ? "ms" : "us"; }

json::value or_null(std::string_view text) { return text.empty() ? json::value(nullptr) : json::value(text); }

json::object metric_json(const PresetMetric& metric) {
    return {{"name", metric.name},
            {"signal", to_string(metric.signal)},
            {"kind", to_string(metric.kind)},
            {"unit", unit_of(metric.signal)},
            {"factor", metric.factor},
            {"wraps_at", metric.wraps_at ? json::value(*metric.wraps_at) : nullptr},
            {"saturates_at", metric.saturates_at ? json::value(*metric.saturates_at) : nullptr},
            {"switch_label", or_null(metric.switch_label)},
            {"port_label", or_null(metric.port_label)},
            {"queue_label", or_null(metric.queue_label)},
            {"match_label", or_null(metric.match_label)},
            {"match_value", or_null(metric.match_value)}};
}

json::object preset_json(const Preset& preset) {
    json::array metrics;
    for (const PresetMetric& metric : preset.metrics) metrics.push_back(metric_json(metric));
    return {{"name", preset.name}, {"type", to_string(preset.via)}, {"verified", preset.verified}, {"note", preset.note}, {"metrics", std::move(metrics)}};
}

json::object latency_json(const LatencyPreset& preset) {
    return {{"name", preset.name},
            {"metric", preset.metric},
            {"shape", to_string(preset.shape)},
            {"unit", latency_unit(preset.seconds_per_unit)},
            {"seconds_per_unit", preset.seconds_per_unit},
            {"labels", preset.labels},
            {"served_at", or_null(preset.port_and_path)},
            {"verified", preset.verified},
            {"note", preset.note}};
}

// One row a metric; what only a person reads is worked out here.
void add_rows(json::array& rows, const json::object& preset) {
    for (const json::value& metric : preset.at("metrics").as_array()) {
        json::object row = metric.as_object();
        row["preset"] = preset.at("name");
        row["type"] = preset.at("type");
        row["verified"] = preset.at("verified");
        const double factor = row["factor"].to_number<double>();
        row["shown_unit"] = factor == 1 ? text_at(metric, "unit") : fmt::format("{} {}", factor, text_at(metric, "unit"));
        row["limit"] = find(metric, "saturates_at") ? "stops at 2^32-1" : find(metric, "wraps_at") ? "wraps at 2^32" : "64 bits";
        if (text_at(metric, "kind") != "counter") row["limit"] = "-";
        rows.push_back(std::move(row));
    }
}

} // namespace

json::object presets_document(const std::optional<std::string>& name) {
    json::array all, latency;
    for (const Preset& preset : presets())
        if (!name || *name == preset.name) all.push_back(preset_json(preset));
    for (const LatencyPreset& preset : latency_presets())
        if (!name || *name == preset.name) latency.push_back(latency_json(preset));
    return {{"presets", std::move(all)}, {"latency", std::move(latency)}};
}

std::string presets_text(const json::value& document, bool with_notes) {
    json::array rows;
    std::string notes;
    const auto note = [&](const json::value& preset) {
        if (with_notes) notes += fmt::format("\n{}: {}\n", text_at(preset, "name"), text_at(preset, "note"));
    };
    for (const json::value& preset : list_at(document, "presets")) {
        add_rows(rows, preset.as_object());
        note(preset);
    }
    const json::array& latency = list_at(document, "latency");
    for (const json::value& preset : latency) note(preset);
    std::string text = rows.empty() ? std::string() : table_text(metric_columns, rows);
    if (!rows.empty() && !latency.empty()) text += "\n";
    if (!latency.empty()) text += table_text(latency_columns, latency);
    return text + notes;
}

int run_fabric_presets(const std::optional<std::string>& name, bool json) {
    const json::object document = presets_document(name);
    if (document.at("presets").as_array().empty() && document.at("latency").as_array().empty()) {
        fmt::print(stderr, "no preset \"{}\"; \"aegisctl fabric presets\" lists all\n", printable(name.value_or("")));
        return static_cast<int>(Exit::failed);
    }
    if (json)
        print_document(document);
    else
        std::fputs(presets_text(document, name.has_value()).c_str(), stdout);
    return static_cast<int>(Exit::ok);
}

} // namespace aegis
