// What `fabric top` and `fabric history` are told: links by pressure, and the past of one link in even steps.
//
// A step in which nothing was read has nulls, never zeros.
#pragma once

#include "aegisd/history.h"
#include "aegisd/snapshot.h"

#include <boost/json/object.hpp>
#include <expected>
#include <functional>
#include <string>

namespace aegis {

// The `limit` links with the highest believed pressure, with what is known of their last minute.
boost::json::object fabric_top_json(const EngineSnapshot& snapshot, const History& history, std::size_t limit, EventTime now);

struct HistoryQuestion {
    std::string link; // "switch/port"
    std::optional<std::int64_t> since_s, step_s;
};

// How the answer is made: from memory, or from telemetry.db in one of its resolutions; the step is a multiple of `width_s`.
struct HistoryPlan {
    std::optional<Resolution> resolution; // absent: memory
    std::int64_t width_s = 1, step_s = 1, since_s = 0, until_s = 0;
};

// Errors name the argument and what was expected. `keep_10s` is the setting.
std::expected<HistoryPlan, std::string> plan_history(const HistoryQuestion& question, std::chrono::milliseconds keep_10s, EventTime now);

// `link` is null where the fabric does not have it any more.
boost::json::object history_json(const HistoryPlan& plan, const std::string& name, const Link* link, const Fabric& fabric,
                                 const std::vector<RollUpAt>& rows);

// The seconds of [since_s, until_s) that are known.
std::vector<RollUpAt> seconds_between(const SecondBins& bins, std::int64_t since_s, std::int64_t until_s);

} // namespace aegis
