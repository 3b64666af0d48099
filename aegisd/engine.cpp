#include "aegisd/engine.h"

#include "aegisd/decision_json.h"

#include <spdlog/spdlog.h>
#include <utility>

namespace aegis {

namespace {

std::int64_t microseconds(EventTime time) { return time.time_since_epoch().count(); }

FabricStatePointer nothing_measured(SitePointer site) {
    return std::make_shared<const FabricState>(FabricState{std::move(site), {}});
}

PlacementParameters parameters_of(const Config::Placement& placement) {
    PlacementParameters parameters;
    parameters.margin = placement.margin;
    parameters.spare_nodes = placement.spare_nodes;
    return parameters;
}

PlacementRow row_of(const Decision& decision, const Ask& ask, const JobFacts& facts) {
    PlacementRow row;
    row.job_key = ask.job_key;
    row.job_id = ask.job_id;
    row.job_name = facts.name;
    row.user = facts.user;
    row.account = facts.account;
    row.partition = facts.partition;
    row.mode = to_string(decision.mode);
    row.policy = decision.policy;
    row.policy_hash = decision.policy_hash;
    row.reason = to_string(decision.reason);
    row.nodes = static_cast<std::uint32_t>(ask.s1.count());
    row.plans = decision.plans;
    row.offered = decision.offers_plans();
    return row;
}

} // namespace

std::expected<Engine, StoreError> Engine::start(SitePointer site, Store store) {
    const auto last = store.last_mode();
    if (!last) return std::unexpected(last.error());
    const Mode mode = last->value_or(site->config.initial_mode);
    return Engine(std::move(site), std::move(store), mode);
}

Engine::Engine(SitePointer site, Store store, Mode mode)
    : site_(std::move(site)), store_(std::move(store)), mode_(mode), state_(nothing_measured(site_)),
      view_(view_of(*state_, site_->loaded_at)) {}

void Engine::adopt(SitePointer site, EventTime now) {
    site_ = std::move(site);
    observe(nothing_measured(site_), now);
}

void Engine::observe(FabricStatePointer state, EventTime now) {
    if (state->site != site_) return;
    state_ = std::move(state);
    tick(now);
}

void Engine::tick(EventTime now) { view_ = view_of(*state_, now); }

Advice Engine::ask(const Ask& ask, const JobFacts& facts, const NodeTable& table, EventTime now) {
    ++asks_;
    if (mode_ == Mode::off) return {}; // asked before the plugin heard of it
    return record(decide_on(ask, table), ask, facts, table, now);
}

Decision Engine::decide_on(const Ask& ask, const NodeTable& table) const {
    const PlacementParameters parameters = parameters_of(site_->config.placement);
    return decide({ask, table, site_->fabric, view_, site_->policy, parameters, mode_});
}

OneNodeAdvice Engine::one_node_advice(const NodeTable& table) const {
    return aegis::one_node_advice(table, view_, site_->policy, site_->config.placement.margin);
}

void Engine::note_kept(const Ask& ask, const JobFacts& facts, const NodeTable& table, EventTime decided) {
    ++kept_unasked_;
    if (mode_ == Mode::off) return; // kept before the plugin heard of it
    const Advice advice = record(decide_on(ask, table), ask, facts, table, decided);
    if (advice.decision == 0) return; // status() says why
    OutcomeRow row;
    row.decision = advice.decision;
    row.time_us = microseconds(decided);
    row.result = "kept";
    row.inner_calls = 1;
    row.nodes = table.hostlist(ask.s1);
    record_outcome(row);
}

Advice Engine::record(const Decision& decision, const Ask& ask, const JobFacts& facts, const NodeTable& table,
                      EventTime now) {
    PlacementRow row = row_of(decision, ask, facts);
    row.time_us = microseconds(now);
    row.s1 = table.hostlist(ask.s1);
    row.detail = decision_json(decision, site_->fabric, site_->config.placement.margin);
    const auto id = store_.record_placement(row);
    if (!id) {
        note_write(std::unexpected(id.error()));
        return {};
    }
    note_write({});
    if (!decision.offers_plans()) return {*id, {}};
    ++plans_offered_;
    return {*id, decision.plan_nodes};
}

void Engine::record_outcome(const OutcomeRow& row) {
    if (row.result == "plan_1" || row.result == "plan_2") ++plans_accepted_;
    const auto result = store_.record_outcome(row);
    if (!result) ++events_lost_;
    note_write(result);
}

void Engine::record_job_begin(const JobEventRow& row) {
    const auto result = store_.record_job_begin(row);
    if (!result) ++events_lost_;
    note_write(result);
}

void Engine::record_job_end(const JobEventRow& row) {
    const auto result = store_.record_job_end(row);
    if (!result) ++events_lost_;
    note_write(result);
}

void Engine::note_write(const std::expected<void, StoreError>& result) {
    if (result) {
        if (write_error_) spdlog::info("{}: can be written again: advice is given again", store_.path());
        write_error_.reset();
    } else {
        if (!write_error_)
            spdlog::error("{}: placement goes on as stock Slurm until this is mended", result.error().text);
        write_error_ = result.error().text;
    }
}

void Engine::note_sync(const std::optional<StoreError>& error) {
    if (error && !sync_error_)
        spdlog::error("{}: decisions survive a crash of aegisd, but not a loss of power", error->text);
    if (!error && sync_error_) spdlog::info("{}: is synced to disk again", store_.path());
    sync_error_ = error ? std::optional(error->text) : std::nullopt;
}

std::expected<ModeChange, StoreError> Engine::set_mode(Mode mode, const std::string& actor, const std::string& reason,
                                                       EventTime now) {
    ModeChange change{mode_, mode, {}};
    if (mode == mode_) return change;
    const auto recorded = store_.record_mode(
        {microseconds(now), std::string(to_string(mode_)), std::string(to_string(mode)), actor, reason});
    note_write(recorded);
    if (!recorded) {
        if (mode > mode_) return std::unexpected(recorded.error());
        change.warning = "not recorded, a restart of aegisd would return to mode " + std::string(to_string(mode_)) +
                         ": " + recorded.error().text;
    }
    spdlog::info("mode {} -> {} by {}{}", to_string(mode_), to_string(mode), actor,
                 reason.empty() ? std::string() : ": " + reason);
    mode_ = mode;
    return change;
}

EngineStatus Engine::status() const {
    EngineStatus status;
    status.mode = mode_;
    status.store_path = store_.path();
    status.store_error = write_error_ ? write_error_ : sync_error_;
    status.asks = asks_;
    status.kept_unasked = kept_unasked_;
    status.plans_offered = plans_offered_;
    status.plans_accepted = plans_accepted_;
    status.events_lost = events_lost_;
    return status;
}

} // namespace aegis
