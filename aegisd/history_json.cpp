#include "aegisd/history_json.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <fmt/format.h>

namespace aegis {

namespace json = boost::json;

namespace {

constexpr std::int64_t recent_seconds = 60;
constexpr std::int64_t points_max = 2'000;
constexpr std::int64_t points_wanted = 60;
constexpr std::int64_t steps[] = {1, 10, 30, 60, 300, 900, 3'600, 21'600, 86'400, 604'800};
constexpr std::int64_t five_minutes = width_of(Resolution::five_minutes).count(), ten_seconds = width_of(Resolution::ten_seconds).count();

template <class T> json::value or_null(const std::optional<T>& value) { return value ? json::value(*value) : json::value(nullptr); }

json::array leaves_json(const Link& link, const Fabric& fabric) {
    json::array leaves;
    for (LeafIndex leaf : link.leaves) leaves.push_back(json::string(fabric.leaves()[at(leaf)].name));
    return leaves;
}

json::array recent_json(const SecondBins* bins, std::int64_t now_s) {
    json::array recent;
    for (std::int64_t second = now_s - recent_seconds; bins && second < now_s; ++second)
        recent.push_back(or_null(bins->at(second).pressure.max()));
    return recent;
}

json::object point_json(std::int64_t start_s, const RollUp& amounts, double rate_bps) {
    const double seconds = static_cast<double>(amounts.covered_us) / 1e6;
    json::value load = nullptr, mark_rate = nullptr;
    if (amounts.bytes && rate_bps > 0 && seconds > 0) load = 8 * static_cast<double>(*amounts.bytes) / seconds / rate_bps;
    if (amounts.marked_packets && amounts.packets && *amounts.packets > 0)
        mark_rate = std::min(1.0, static_cast<double>(*amounts.marked_packets) / static_cast<double>(*amounts.packets));
    return {{"time_us", start_s * 1'000'000},
            {"covered_us", amounts.covered_us},
            {"bytes", or_null(amounts.bytes)},
            {"packets", or_null(amounts.packets)},
            {"marked_packets", or_null(amounts.marked_packets)},
            {"drops", or_null(amounts.drops)},
            {"pause_frames", or_null(amounts.pauses)},
            {"wait_ticks", or_null(amounts.waits)},
            {"load", std::move(load)},
            {"mark_rate", std::move(mark_rate)},
            {"depth_peak_bytes", or_null(amounts.peak_bytes)},
            {"depth_bytes", or_null(amounts.depth_bytes.mean())},
            {"depth_max_bytes", or_null(amounts.depth_bytes.max())},
            {"pressure", or_null(amounts.pressure.mean())},
            {"pressure_max", or_null(amounts.pressure.max())}};
}

} // namespace

json::object fabric_top_json(const EngineSnapshot& snapshot, const History& history, std::size_t limit, EventTime now) {
    const Fabric& fabric = snapshot.site->fabric;
    const FreshnessLimits& limits = snapshot.site->config.freshness;
    const std::vector<LinkState>& states = snapshot.fabric->links;
    struct Place {
        double believed;
        std::size_t link;
    };
    std::vector<Place> places;
    for (std::size_t i = 0; i < states.size(); ++i)
        if (states[i].known) places.push_back({confidence_of(age_of(states[i].newest, now), limits) * states[i].pressure, i});
    const std::size_t known = places.size();
    const auto more_pressed = [&](const Place& a, const Place& b) {
        if (a.believed != b.believed) return a.believed > b.believed;
        if (states[a.link].load != states[b.link].load) return states[a.link].load > states[b.link].load;
        return a.link < b.link;
    };
    const std::size_t shown = std::min(limit, known);
    std::ranges::partial_sort(places, places.begin() + static_cast<std::ptrdiff_t>(shown), more_pressed);
    places.resize(shown);

    const std::int64_t now_s = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
    json::array links;
    for (const Place& place : places) {
        const Link& link = fabric.links()[place.link];
        const LinkState& state = states[place.link];
        const auto age = age_of(state.newest, now);
        const std::string name = link.sw + "/" + link.port;
        links.push_back(json::object{{"link", name},
                                     {"leaves", leaves_json(link, fabric)},
                                     {"trunk", link.trunk},
                                     {"rate_bps", link.rate_bps},
                                     {"pressure", state.pressure},
                                     {"confidence", confidence_of(age, limits)},
                                     {"mark_rate", state.mark_rate},
                                     {"load", link.rate_bps > 0 ? json::value(state.load) : nullptr},
                                     {"depth_bytes", or_null(state.depth_bytes)},
                                     {"freshness", to_string(freshness_of(age, limits))},
                                     {"age_ms", age.count()},
                                     {"recent_pressure", recent_json(history.seconds_of(name), now_s)}});
    }
    return {{"time_us", now.time_since_epoch().count()},
            {"links", std::move(links)},
            {"links_known", known},
            {"links_mapped", fabric.links().size()}};
}

std::expected<HistoryPlan, std::string> plan_history(const HistoryQuestion& question, std::chrono::milliseconds keep_10s, EventTime now) {
    HistoryPlan plan;
    plan.until_s = std::chrono::ceil<std::chrono::seconds>(now).time_since_epoch().count();
    plan.since_s = question.since_s.value_or(plan.until_s - SecondBins::length);
    if (plan.since_s >= plan.until_s) return std::unexpected("since: expected a time that has passed");
    const std::int64_t span = plan.until_s - plan.since_s;
    const bool in_memory = span <= SecondBins::length;
    const bool kept_fine = span <= std::chrono::floor<std::chrono::seconds>(keep_10s).count();
    const std::int64_t finest = in_memory ? 1 : kept_fine ? ten_seconds : five_minutes;
    const auto fits = [&](std::int64_t step) { return step % finest == 0 && span / step <= points_wanted; };
    const auto wanted = std::ranges::find_if(steps, fits);
    plan.step_s = question.step_s.value_or(wanted == std::end(steps) ? *std::rbegin(steps) : *wanted);
    if (plan.step_s % finest != 0)
        return std::unexpected(fmt::format("step: {} s: that far back it must be a multiple of {} s", plan.step_s, finest));
    if (span / plan.step_s > points_max)
        return std::unexpected(fmt::format("step: {} s: these are {} steps; expected at most {}", plan.step_s, span / plan.step_s, points_max));
    if (!in_memory) plan.resolution = plan.step_s % five_minutes == 0 ? Resolution::five_minutes : Resolution::ten_seconds;
    plan.width_s = plan.resolution ? width_of(*plan.resolution).count() : 1;
    plan.since_s = plan.since_s / plan.step_s * plan.step_s;
    return plan;
}

json::object history_json(const HistoryPlan& plan, const std::string& name, const Link* link, const Fabric& fabric,
                          const std::vector<RollUpAt>& rows) {
    json::array points;
    auto row = rows.begin();
    for (std::int64_t start = plan.since_s; start < plan.until_s; start += plan.step_s) {
        RollUp amounts;
        for (; row != rows.end() && row->start_s < start + plan.step_s; ++row)
            if (row->start_s >= start) merge(amounts, row->amounts);
        points.push_back(point_json(start, amounts, link ? link->rate_bps : 0));
    }
    return {{"link", name},
            {"leaves", link ? json::value(leaves_json(*link, fabric)) : nullptr},
            {"rate_bps", link ? json::value(link->rate_bps) : nullptr},
            {"from", plan.resolution ? "telemetry.db" : "memory"},
            {"width_s", plan.width_s},
            {"step_s", plan.step_s},
            {"points", std::move(points)}};
}

std::vector<RollUpAt> seconds_between(const SecondBins& bins, std::int64_t since_s, std::int64_t until_s) {
    std::vector<RollUpAt> rows;
    for (std::int64_t second = since_s; second < until_s; ++second)
        if (RollUp known = bins.at(second); known != RollUp{}) rows.push_back({second, known});
    return rows;
}

} // namespace aegis
