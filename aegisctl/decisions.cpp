// aegisctl decisions: what was decided lately, newest first.
#include "aegisctl/commands.h"
#include "aegisctl/output.h"
#include "aegisctl/words.h"
#include "lib/quantity.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <ctime>
#include <fmt/format.h>

namespace aegis {

namespace json = boost::json;

namespace {

constexpr Column columns[] = {
    {"DECISION", "decision", as_text, Align::right},
    {"TIME", "time_us", as_time},
    {"JOB", "job_key", as_text},
    {"NAME", "job_name", as_text},
    {"USER", "user", as_text},
    {"NODES", "nodes", as_count, Align::right},
    {"MODE", "mode", as_text},
    {"POLICY", "policy", as_text},
    {"REASON", "reason", as_text},
    {"RESULT", "outcome.result", as_text},
    {"SLURM CHOSE", "s1", as_text},
    {"RUNS ON", "outcome.nodes", as_text},
};

} // namespace

std::optional<std::int64_t> since_us(const std::string& text, std::int64_t now_us) {
    if (const auto ago = duration_from(text)) return std::max<std::int64_t>(0, now_us - ago->count());
    for (const char* format : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"}) {
        std::tm parts{};
        parts.tm_isdst = -1; // summer time as the zone has it
        const char* end = strptime(text.c_str(), format, &parts);
        if (!end || *end != '\0') continue;
        const std::time_t seconds = std::mktime(&parts);
        if (seconds < 0) return std::nullopt;
        return std::int64_t{seconds} * 1'000'000;
    }
    return std::nullopt;
}

std::string decisions_text(const json::value& result) {
    const json::array& rows = list_at(result, "decisions");
    return rows.empty() ? "no decisions recorded\n" : table_text(columns, rows);
}

int run_decisions(const Asking& asking, const DecisionsArguments& arguments) {
    json::object request{{"command", "decisions"}, {"limit", arguments.limit}};
    if (arguments.job) request["job"] = *arguments.job;
    if (arguments.user) request["user"] = *arguments.user;
    if (arguments.policy) request["policy"] = *arguments.policy;
    if (arguments.since) {
        const auto since = since_us(*arguments.since, wall_clock_us());
        if (!since)
            return report({Exit::usage, fmt::format("--since {}: expected a duration like 10m, or a local time like 2026-12-01T05:10",
                                                    *arguments.since)});
        request["since_us"] = *since;
    }
    return ask_and_print(asking, request, decisions_text);
}

} // namespace aegis
