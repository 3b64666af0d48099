#include "aegisd/control_json.h"

#include "lib/hostlist.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

namespace aegis {

namespace json = boost::json;

namespace {

std::int64_t microseconds(EventTime time) { return time.time_since_epoch().count(); }

template <class T> json::value or_null(const std::optional<T>& value) {
    return value ? json::value(*value) : json::value(nullptr);
}

json::object counters_json(const aegis_counters& counters) {
    json::object object{
        {"job_tests", counters.job_tests},
        {"asks", counters.asks},
        {"kept_unasked", counters.kept_unasked},
        {"advice_keep", counters.advice_keep},
        {"advice_plans", counters.advice_plans},
        {"plans_accepted", counters.plans_accepted},
        {"plans_refused", counters.plans_refused},
        {"restored", counters.restored},
        {"losses", counters.losses},
        {"timeouts", counters.timeouts},
        {"late_answers", counters.late_answers},
        {"send_failures", counters.send_failures},
        {"malformed", counters.malformed},
        {"breaker_opened", counters.breaker_opened},
        {"connects", counters.connects},
        {"events_dropped", counters.events_dropped},
        {"added_us_total", counters.added_us_total},
        {"added_us_max", counters.added_us_max},
        {"breaker_open", counters.breaker_open},
        {"breaker_wait_ms", counters.breaker_wait_ms},
    };
    json::array buckets;
    for (std::uint64_t count : counters.added_us) buckets.push_back(count);
    object["added_us"] = std::move(buckets);
    return object;
}

json::object outcome_json(const OutcomeRow& outcome) {
    return {{"result", outcome.result},
            {"nodes", outcome.nodes},
            {"inner_calls", outcome.inner_calls},
            {"waited_us", outcome.waited_us},
            {"time_us", outcome.time_us}};
}

json::object link_json(const Link& link, const LinkState* state) {
    json::object object{{"link", link.sw + "/" + link.port}, {"trunk", link.trunk}, {"rate_bps", link.rate_bps}};
    const bool known = state && state->known;
    object["known"] = known;
    object["pressure"] = known ? json::value(state->pressure) : nullptr;
    object["mark_rate"] = known ? json::value(state->mark_rate) : nullptr;
    object["load"] = known ? json::value(state->load) : nullptr;
    object["depth_bytes"] = known ? or_null(state->depth_bytes) : nullptr;
    return object;
}

} // namespace

json::value plugin_json(const std::optional<PluginStatus>& plugin) {
    if (!plugin) return nullptr;
    return json::object{
        {"connected", plugin->connected},
        {"slurm_version", slurm_version_text(plugin->slurm_version)},
        {"release", plugin->release},
        {"node_count", plugin->table->size()},
        {"node_table_hash", fmt::format("{:016x}", plugin->table->hash())},
        {"unmapped_nodes", plugin->table->unmapped().count()},
        {"since_us", microseconds(plugin->since)},
        {"last_ping_us", plugin->last_ping ? json::value(microseconds(*plugin->last_ping)) : nullptr},
        {"counters", counters_json(plugin->counters)},
    };
}

json::object tick_json(const Lateness::Summary& tick) {
    const auto or_unknown = [&](std::chrono::microseconds late) { return tick.window > 0 ? json::value(late.count()) : nullptr; };
    return {{"count", tick.count},
            {"window", tick.window},
            {"late_p50_us", or_unknown(tick.p50)},
            {"late_p99_us", or_unknown(tick.p99)},
            {"late_window_max_us", or_unknown(tick.largest_of_window)},
            {"late_max_us", or_unknown(tick.largest)}};
}

json::object source_json(const SourceState& source, const FreshnessLimits& limits, EventTime now) {
    json::value age_ms = nullptr;
    Freshness state = Freshness::dark;
    if (source.newest) {
        const auto age = age_of(*source.newest, now);
        age_ms = age.count();
        state = freshness_of(age, limits);
    }
    json::object events;
    for (std::size_t i = 0; i < counter_event_count; ++i)
        events[to_string(static_cast<CounterEvent>(i))] = source.events[i];
    return {
        {"name", source.name},
        {"type", source.type},
        {"url", source.url},
        {"state", to_string(state)},
        {"age_ms", std::move(age_ms)},
        {"polls", source.polls},
        {"failures", source.failures},
        {"last_failure", or_null(source.last_failure)},
        {"last_failure_us", source.last_failure ? json::value(microseconds(source.last_failure_at)) : nullptr},
        {"series", source.series},
        {"unmapped_series", source.unmapped_series},
        {"refused_samples", source.refused_samples},
        {"events", std::move(events)},
    };
}

json::object decision_row_json(const DecisionRow& row) {
    const PlacementRow& placement = row.placement;
    return {
        {"decision", row.id},
        {"time_us", placement.time_us},
        {"job_key", placement.job_key},
        {"job_id", placement.job_id},
        {"job_name", placement.job_name},
        {"user", placement.user},
        {"account", placement.account},
        {"partition", placement.partition},
        {"mode", placement.mode},
        {"policy", placement.policy},
        {"policy_hash", placement.policy_hash},
        {"reason", placement.reason},
        {"nodes", placement.nodes},
        {"plans", placement.plans},
        {"offered", placement.offered},
        {"s1", placement.s1},
        {"outcome", row.outcome ? json::value(outcome_json(*row.outcome)) : nullptr},
    };
}

json::object explained_json(const DecisionRow& row) {
    json::object object = decision_row_json(row);
    object["began_us"] = or_null(row.began_us);
    object["ended_us"] = or_null(row.ended_us);
    json::error_code failure;
    json::value detail = json::parse(row.placement.detail, failure);
    object["detail"] = failure ? json::value(nullptr) : std::move(detail);
    return object;
}

json::object fabric_json(const EngineSnapshot& snapshot, const std::set<std::string>& unmapped_ports, EventTime now) {
    const Fabric& fabric = snapshot.site->fabric;
    const std::vector<LinkState>& states = snapshot.fabric->links;
    json::array leaves;
    for (std::size_t i = 0; i < fabric.leaves().size(); ++i) {
        const Leaf& leaf = fabric.leaves()[i];
        const LeafPressure& pressure = snapshot.view.leaves[i];
        json::array links;
        for (LinkIndex index : leaf.links)
            links.push_back(link_json(fabric.links()[at(index)], states.empty() ? nullptr : &states[at(index)]));
        const Link* worst = pressure.worst_link ? &fabric.links()[at(*pressure.worst_link)] : nullptr;
        // as old as it is now, not as it was at the last tick
        const bool dated = worst && !states.empty();
        const auto age = dated ? age_of(states[at(*pressure.worst_link)].newest, now) : pressure.age;
        leaves.push_back(json::object{
            {"leaf", leaf.name},
            {"nodes", fold_hostlist(leaf.nodes)},
            {"component", leaf.component},
            {"pressure", pressure.pressure},
            {"confidence", pressure.confidence},
            {"freshness", to_string(pressure.freshness)},
            {"age_ms", worst ? json::value(age.count()) : nullptr},
            {"worst_link", worst ? json::value(worst->sw + "/" + worst->port) : nullptr},
            {"links", std::move(links)},
        });
    }
    json::array ports;
    for (const std::string& port : unmapped_ports) ports.push_back(json::string(port));
    const auto& plugin = snapshot.select.plugin;
    return {{"leaves", std::move(leaves)},
            {"unmapped_nodes", plugin ? plugin->table->hostlist(plugin->table->unmapped()) : std::string()},
            {"unmapped_ports", std::move(ports)}};
}

json::object policy_json(const Policy& policy, bool in_force) {
    json::object weights;
    for (std::size_t i = 0; i < feature_count; ++i) weights[to_string(static_cast<Feature>(i))] = policy.weights[i];
    return {{"name", policy.name},
            {"hash", policy.hash()},
            {"weights", std::move(weights)},
            {"in_force", in_force},
            {"built_in", true}};
}

json::object history_status_json(const HistoryWriterStatus& status) {
    return {{"path", status.path},
            {"ok", !status.error},
            {"error", or_null(status.error)},
            {"rows_written", status.written},
            {"rows_waiting", status.waiting},
            {"rows_lost", status.lost}};
}

} // namespace aegis
