// aegisctl fabric history: what one link did, in even steps.
#include "aegisctl/commands.h"
#include "aegisctl/output.h"
#include "aegisctl/words.h"
#include "lib/quantity.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace aegis {

namespace json = boost::json;

namespace {

constexpr Column history_columns[] = {
    {"FROM", "time_us", as_time},
    {"LOAD", "load", as_percent, Align::right},
    {"MARKS", "mark_rate", as_percent, Align::right},
    {"BYTES", "bytes", as_bytes, Align::right},
    {"PACKETS", "packets", as_count, Align::right},
    {"DROPS", "drops", as_count, Align::right},
    {"PAUSES", "pause_frames", as_count, Align::right},
    {"DEPTH PEAK", "depth_peak_bytes", as_bytes, Align::right},
    {"DEPTH MEAN", "depth_bytes", as_bytes, Align::right},
    {"PRESSURE", "pressure", as_fraction, Align::right},
    {"MAX", "pressure_max", as_fraction, Align::right},
};

} // namespace

std::string history_text(const json::value& history) {
    std::string leaves;
    for (const json::value& leaf : list_at(history, "leaves")) leaves += (leaves.empty() ? " of " : ", ") + as_text(&leaf);
    const double step_ms = number_at(history, "step_s").value_or(0) * 1000;
    return fmt::format("{}{}, steps of {}, from {}; a dash is what nobody delivered\n\n", text_at(history, "link"), leaves, age_text(step_ms),
                       text_at(history, "from")) +
           table_text(history_columns, list_at(history, "points"));
}

int run_fabric_history(const Asking& asking, const FabricHistoryArguments& arguments) {
    json::object request{{"command", "history"}, {"link", arguments.link}};
    if (arguments.since) {
        const auto since = since_us(*arguments.since, wall_clock_us());
        if (!since)
            return report({Exit::usage, fmt::format("--since {}: expected a duration like 10m, or a local time like 2026-12-01T05:10",
                                                    *arguments.since)});
        request["since_us"] = *since;
    }
    if (arguments.step) {
        const auto step = duration_from(*arguments.step);
        if (!step || *step < std::chrono::seconds(1) || *step % std::chrono::seconds(1) != std::chrono::seconds(0))
            return report({Exit::usage, fmt::format("--step {}: expected a duration of whole seconds like 10s or 5m", *arguments.step)});
        request["step_s"] = std::chrono::duration_cast<std::chrono::seconds>(*step).count();
    }
    return ask_and_print(asking, request, history_text);
}

} // namespace aegis
