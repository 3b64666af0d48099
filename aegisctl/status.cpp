// aegisctl status: is all well, and if not, where.
#include "aegisctl/commands.h"
#include "aegisctl/output.h"
#include "aegisctl/words.h"
#include "lib/wire.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace aegis {

namespace json = boost::json;

namespace {

constexpr Column source_columns[] = {
    {"SOURCE", "name", as_text},
    {"STATE", "state", as_text},
    {"AGE", "age_ms", as_age, Align::right},
    {"POLLS", "polls", as_count, Align::right},
    {"FAILED", "failures", as_count, Align::right},
    {"SERIES", "series", as_count, Align::right},
    {"UNMAPPED", "unmapped_series", as_count, Align::right},
    {"REFUSED", "refused_samples", as_count, Align::right},
    {"LAST FAILURE", "last_failure", as_text},
};

std::string line(std::string_view name, std::string_view text) { return fmt::format("{:<10} {}\n", name, text); }

std::string ago(const json::value& document, std::string_view path, std::int64_t now_us) {
    const auto then = number_at(document, path);
    return then ? age_text(std::max(0.0, (static_cast<double>(now_us) - *then) / 1000)) : "-";
}

std::string counted(const json::value& document, std::string_view path) { return as_count(find(document, path)); }

std::string late(const json::value& document, std::string_view path) {
    return fmt::format("{:.1f}ms", number_at(document, path).value_or(0) / 1000);
}

// Bucket k holds values below 2^(k+2) us, so a quantile is known to a power of two: its upper bound is given.
std::string quantile_text(const json::array& buckets, double share) {
    double total = 0, seen = 0;
    for (const json::value& bucket : buckets) total += bucket.is_number() ? bucket.to_number<double>() : 0;
    if (total == 0) return "-";
    for (std::size_t k = 0; k < buckets.size(); ++k) {
        seen += buckets[k].is_number() ? buckets[k].to_number<double>() : 0;
        if (seen < share * total) continue;
        const std::uint64_t bound = std::uint64_t{4} << k;
        // the last bucket has no upper bound
        return k + 1 < buckets.size() ? fmt::format("<{}us", bound) : fmt::format(">={}us", bound / 2);
    }
    return "-";
}

std::string plugin_text(const json::value& plugin, std::int64_t now_us) {
    std::string text = line("plugin", fmt::format("{} {}, Slurm {}, Aegis {}, {} nodes",
                                                  flag_at(plugin, "connected") ? "connected for" : "NOT CONNECTED, last seen",
                                                  flag_at(plugin, "connected") ? ago(plugin, "since_us", now_us)
                                                                               : ago(plugin, "last_ping_us", now_us) + " ago",
                                                  text_at(plugin, "slurm_version"), text_at(plugin, "release"),
                                                  counted(plugin, "node_count")));
    if (number_at(plugin, "unmapped_nodes").value_or(0) > 0)
        text += line("", fmt::format("{} of them on no leaf of the fabric", counted(plugin, "unmapped_nodes")));
    const json::value* counters = find(plugin, "counters");
    if (!counters) return text;
    const json::value& c = *counters;
    text += line("  breaker", number_at(c, "breaker_open").value_or(0) > 0
                                  ? fmt::format("OPEN for {}: Slurm places without advice; opened {} times",
                                                as_age(find(c, "breaker_wait_ms")), counted(c, "breaker_opened"))
                                  : fmt::format("closed; opened {} times", counted(c, "breaker_opened")));
    text += line("  asked", fmt::format("{} of {} job tests, {} kept unasked; keep {}, plans {}", counted(c, "asks"), counted(c, "job_tests"),
                                        counted(c, "kept_unasked"), counted(c, "advice_keep"), counted(c, "advice_plans")));
    text += line("  plans", fmt::format("accepted {}, refused by Slurm {}, restored {}, jobs lost {}", counted(c, "plans_accepted"),
                                        counted(c, "plans_refused"), counted(c, "restored"), counted(c, "losses")));
    text += line("  failed", fmt::format("timeouts {}, late answers {}, sends {}, malformed {}, events dropped {}; connects {}",
                                         counted(c, "timeouts"), counted(c, "late_answers"), counted(c, "send_failures"),
                                         counted(c, "malformed"), counted(c, "events_dropped"), counted(c, "connects")));
    const json::array& buckets = list_at(c, "added_us");
    const double tests = number_at(c, "job_tests").value_or(0);
    const std::string mean = tests > 0 ? fmt::format("{:.1f}us", number_at(c, "added_us_total").value_or(0) / tests) : "-";
    const json::array quantiles{json::object{{"p50", quantile_text(buckets, .5)},
                                             {"p90", quantile_text(buckets, .9)},
                                             {"p99", quantile_text(buckets, .99)},
                                             {"p999", quantile_text(buckets, .999)},
                                             {"max", fmt::format("{}us", text_at(c, "added_us_max"))},
                                             {"mean", mean}}};
    constexpr Column columns[] = {
        {"ADDED TO A JOB TEST  P50", "p50", as_text, Align::right}, {"P90", "p90", as_text, Align::right},
        {"P99", "p99", as_text, Align::right},                      {"P99.9", "p999", as_text, Align::right},
        {"MAX", "max", as_text, Align::right},                      {"MEAN", "mean", as_text, Align::right},
    };
    return text + table_text(columns, quantiles, 2);
}

} // namespace

std::string status_text(const json::value& status, std::int64_t now_us) {
    std::string text = line("aegisd", fmt::format("{}, pid {}, up {}", text_at(status, "version"), text_at(status, "pid"),
                                                  ago(status, "started_us", now_us)));
    text += line("mode", text_at(status, "mode"));
    text += line("policy", fmt::format("{} ({})", text_at(status, "policy"), text_at(status, "policy_hash")));
    text += line("config", fmt::format("{}, read {} ago", text_at(status, "config_file"), ago(status, "config_loaded_us", now_us)));
    if (find(status, "last_reload_error"))
        text += line("", fmt::format("LAST RELOAD REFUSED, this is still the one before: {}", text_at(status, "last_reload_error")));
    text += line("fabric", fmt::format("{} leaves, {} links, {} unmapped ports", counted(status, "fabric.leaves"),
                                       counted(status, "fabric.links"), counted(status, "fabric.unmapped_ports")));
    text += line("store", flag_at(status, "store.ok")
                              ? fmt::format("{}, {} placements", text_at(status, "store.path"), counted(status, "store.placements"))
                              : fmt::format("FAILED, Slurm places without advice: {}", text_at(status, "store.error")));
    if (number_at(status, "store.events_lost").value_or(0) > 0)
        text += line("", fmt::format("{} outcomes and job events could not be recorded", counted(status, "store.events_lost")));
    if (find(status, "history"))
        text += line("history", flag_at(status, "history.ok")
                                    ? fmt::format("{}, {} roll-ups written", text_at(status, "history.path"), counted(status, "history.rows_written"))
                                    : fmt::format("NOT WRITTEN, {} roll-ups wait in memory: {}", counted(status, "history.rows_waiting"),
                                                  text_at(status, "history.error")));
    if (number_at(status, "history.rows_lost").value_or(0) > 0)
        text += line("", fmt::format("{} roll-ups were lost while it could not be written", counted(status, "history.rows_lost")));
    if (number_at(status, "tick.window").value_or(0) > 0)
        text += line("engine", fmt::format("ticks late by {} (p50), {} (p99), {} at most; of the last {} seconds", late(status, "tick.late_p50_us"),
                                           late(status, "tick.late_p99_us"), late(status, "tick.late_window_max_us"), counted(status, "tick.window")));
    text += line("advice", fmt::format("{} asks, {} jobs kept unasked, plans offered {}, accepted {}", counted(status, "asks"),
                                       counted(status, "kept_unasked"), counted(status, "plans_offered"), counted(status, "plans_accepted")));
    const auto refused = number_at(status, "protocol_errors.frames_refused").value_or(0) +
                         number_at(status, "protocol_errors.peers_refused").value_or(0);
    if (refused > 0)
        text += line("refused", fmt::format("{} malformed frames, {} peers without the right to connect",
                                            counted(status, "protocol_errors.frames_refused"),
                                            counted(status, "protocol_errors.peers_refused")));
    const json::value* plugin = find(status, "plugin");
    text += plugin ? plugin_text(*plugin, now_us) : line("plugin", "has not connected since aegisd started");
    const json::array& sources = list_at(status, "sources");
    text += "\n";
    text += sources.empty() ? "no telemetry sources: pressure is unknown everywhere\n" : table_text(source_columns, sources);
    return text;
}

int run_status(const Asking& asking) {
    return ask_and_print(asking, {{"command", "status"}},
                         [](const json::value& status) { return status_text(status, wall_clock_us()); });
}

} // namespace aegis
