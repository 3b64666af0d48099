#include "aegisd/control_commands.h"

#include "aegisd/clock.h"
#include "aegisd/control_json.h"
#include "aegisd/history_json.h"
#include "lib/settings.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

namespace aegis {

namespace json = boost::json;

namespace {

constexpr std::int64_t decisions_max = 10'000;
constexpr std::int64_t links_max = 10'000;
constexpr std::size_t reason_max_bytes = 1000;

json::object success(json::object result) { return {{"ok", true}, {"result", std::move(result)}}; }

json::object store_failure(const StoreError& error) { return ControlCommands::failure(Refusal::failed, error.text); }

std::string user_name(uid_t uid) {
    if (const passwd* entry = ::getpwuid(uid)) return entry->pw_name;
    return fmt::format("uid {}", uid);
}

// An argument that is absent or null is absent; one of another type is an error that names it.
std::expected<std::optional<std::string>, std::string> text_argument(const json::object& request, std::string_view name) {
    const json::value* value = request.if_contains(name);
    if (!value || value->is_null()) return std::nullopt;
    if (!value->is_string()) return std::unexpected(fmt::format("{}: expected text", name));
    return std::string(value->as_string());
}

std::expected<std::optional<std::int64_t>, std::string> number_argument(const json::object& request, std::string_view name,
                                                                        std::int64_t lowest, std::int64_t highest) {
    const json::value* value = request.if_contains(name);
    if (!value || value->is_null()) return std::nullopt;
    if (!value->is_int64() || value->as_int64() < lowest || value->as_int64() > highest)
        return std::unexpected(fmt::format("{}: expected a whole number from {} to {}", name, lowest, highest));
    return value->as_int64();
}

std::expected<DecisionFilter, std::string> filter_of(const json::object& request) {
    DecisionFilter filter;
    const auto job = text_argument(request, "job"), user = text_argument(request, "user"),
               policy = text_argument(request, "policy");
    const auto since = number_argument(request, "since_us", 0, INT64_MAX);
    const auto limit = number_argument(request, "limit", 1, decisions_max);
    for (const auto& argument : {job, user, policy})
        if (!argument) return std::unexpected(argument.error());
    for (const auto& argument : {since, limit})
        if (!argument) return std::unexpected(argument.error());
    filter.job = *job;
    filter.user = *user;
    filter.policy = *policy;
    filter.since_us = *since;
    if (*limit) filter.limit = static_cast<std::uint32_t>(**limit);
    return filter;
}

// One line in the log and in the store, whatever was typed.
std::string one_line(std::string text) {
    text.resize(std::min(text.size(), reason_max_bytes));
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    return text;
}

} // namespace

ControlCommands::ControlCommands(const Collector& collector, const HistoryWriter& writer, EnginePort engine, EventTime started)
    : collector_(collector), writer_(writer), engine_(std::move(engine)), started_(started) {}

json::object ControlCommands::failure(Refusal code, std::string_view text) {
    return {{"ok", false}, {"code", static_cast<int>(code)}, {"error", text}};
}

void ControlCommands::run(const json::object& request, uid_t caller, std::uint64_t peers_refused, Done done) {
    const json::value* command = request.if_contains("command");
    if (!command || !command->is_string()) return done(failure(Refusal::failed, "command: expected text"));
    const std::string_view name = command->as_string();
    if (name == "status") return status(peers_refused, std::move(done));
    if (name == "mode") return mode(request, caller, std::move(done));
    if (name == "decisions") return decisions(request, std::move(done));
    if (name == "explain") return explain(request, std::move(done));
    if (name == "fabric") return fabric(std::move(done));
    if (name == "fabric_top") return fabric_top(request, std::move(done));
    if (name == "history") return history(request, std::move(done));
    if (name == "policies") return policies(std::move(done));
    if (name == "config") return config(std::move(done));
    done(failure(Refusal::failed, fmt::format("command: \"{}\" is not known to this aegisd", name)));
}

void ControlCommands::status(std::uint64_t peers_refused, Done done) {
    engine_.snapshot([this, peers_refused, done = std::move(done)](EngineSnapshot snapshot) {
        const EventTime now = wall_clock();
        const Site& site = *snapshot.site;
        const Telemetry& telemetry = collector_.telemetry();
        json::array sources;
        // The reader may fail where the writer does not; then the number is unknown, and nothing else.
        const auto reader = store();
        const auto placements = reader ? (*reader)->placements() : std::unexpected(reader.error());
        for (const SourceState& source : telemetry.sources())
            sources.push_back(source_json(source, site.config.freshness, now));
        json::object result{
            {"version", AEGIS_VERSION},
            {"pid", ::getpid()},
            {"started_us", started_.time_since_epoch().count()},
            {"mode", to_string(snapshot.engine.mode)},
            {"policy", site.policy.name},
            {"policy_hash", site.policy.hash()},
            {"config_file", site.file},
            {"config_loaded_us", site.loaded_at.time_since_epoch().count()},
            {"last_reload_error", last_reload_error_ ? json::value(*last_reload_error_) : nullptr},
            {"plugin", plugin_json(snapshot.select.plugin)},
            {"sources", std::move(sources)},
            {"fabric", json::object{{"leaves", site.fabric.leaves().size()},
                                    {"links", site.fabric.links().size()},
                                    {"unmapped_ports", telemetry.unmapped_ports().size()}}},
            {"store", json::object{{"path", snapshot.engine.store_path},
                                   {"ok", !snapshot.engine.store_error},
                                   {"error", snapshot.engine.store_error ? json::value(*snapshot.engine.store_error) : nullptr},
                                   {"placements", placements ? json::value(*placements) : nullptr},
                                   {"events_lost", snapshot.engine.events_lost}}},
            {"history", history_status_json(writer_.status())},
            {"tick", tick_json(snapshot.tick)},
            {"asks", snapshot.engine.asks},
            {"kept_unasked", snapshot.engine.kept_unasked},
            {"plans_offered", snapshot.engine.plans_offered},
            {"plans_accepted", snapshot.engine.plans_accepted},
            {"protocol_errors", json::object{{"frames_refused", snapshot.select.frames_refused},
                                             {"peers_refused", snapshot.select.peers_refused + peers_refused}}},
        };
        done(success(std::move(result)));
    });
}

void ControlCommands::mode(const json::object& request, uid_t caller, Done done) {
    const auto name = text_argument(request, "mode"), reason = text_argument(request, "reason");
    for (const auto& argument : {name, reason})
        if (!argument) return done(failure(Refusal::failed, argument.error()));
    const std::optional<Mode> mode = name->has_value() ? mode_from(**name) : std::nullopt;
    if (!mode) return done(failure(Refusal::failed, "mode: expected one of off, observe, steer"));
    const json::value* dry_run = request.if_contains("dry_run");
    if (dry_run && !dry_run->is_bool()) return done(failure(Refusal::failed, "dry_run: expected true or false"));

    const auto answer = [done](const ModeChange& change) {
        json::object result{{"from", to_string(change.from)},
                            {"to", to_string(change.to)},
                            {"changed", change.from != change.to}};
        if (change.warning) result["warning"] = *change.warning;
        done(success(std::move(result)));
    };
    if (dry_run && dry_run->as_bool())
        return engine_.snapshot([answer, to = *mode](EngineSnapshot snapshot) {
            answer({snapshot.engine.mode, to, {}});
        });
    engine_.set_mode(*mode, user_name(caller), one_line(reason->value_or("")), [answer, done](EnginePort::ModeResult change) {
        if (!change)
            return done(failure(Refusal::failed, "mode is unchanged, it could not be recorded: " + change.error().text));
        answer(*change);
    });
}

std::expected<Store*, StoreError> ControlCommands::store() {
    if (!store_) {
        auto opened = Store::open(collector_.telemetry().site()->config.store.directory, StoreAccess::read_only);
        if (!opened) return std::unexpected(opened.error());
        store_ = std::move(*opened);
    }
    return &*store_;
}

void ControlCommands::decisions(const json::object& request, Done done) {
    const auto filter = filter_of(request);
    if (!filter) return done(failure(Refusal::failed, filter.error()));
    const auto reader = store();
    if (!reader) return done(store_failure(reader.error()));
    const auto rows = (*reader)->decisions(*filter);
    if (!rows) return done(store_failure(rows.error()));
    json::array list;
    for (const DecisionRow& row : *rows) list.push_back(decision_row_json(row));
    done(success({{"decisions", std::move(list)}}));
}

void ControlCommands::explain(const json::object& request, Done done) {
    const auto job = text_argument(request, "job");
    const auto id = number_argument(request, "decision", 1, INT64_MAX);
    if (!job) return done(failure(Refusal::failed, job.error()));
    if (!id) return done(failure(Refusal::failed, id.error()));
    if (job->has_value() == id->has_value())
        return done(failure(Refusal::failed, "explain: expected either a job or a decision"));
    const auto reader = store();
    if (!reader) return done(store_failure(reader.error()));
    if (*id) {
        const auto row = (*reader)->decision(static_cast<std::uint64_t>(**id));
        if (!row) return done(store_failure(row.error()));
        if (!*row) return done(failure(Refusal::failed, fmt::format("no decision {} is recorded", **id)));
        return done(success(explained_json(**row)));
    }
    DecisionFilter filter;
    filter.job = **job;
    filter.limit = 1;
    const auto rows = (*reader)->decisions(filter);
    if (!rows) return done(store_failure(rows.error()));
    if (rows->empty()) return done(failure(Refusal::failed, fmt::format("no decision about job {} is recorded", **job)));
    done(success(explained_json(rows->front())));
}

void ControlCommands::fabric(Done done) {
    engine_.snapshot([this, done = std::move(done)](EngineSnapshot snapshot) {
        done(success(fabric_json(snapshot, collector_.telemetry().unmapped_ports(), wall_clock())));
    });
}

void ControlCommands::fabric_top(const json::object& request, Done done) {
    const auto limit = number_argument(request, "limit", 1, links_max);
    if (!limit) return done(failure(Refusal::failed, limit.error()));
    engine_.snapshot([this, limit = static_cast<std::size_t>(limit->value_or(20)), done = std::move(done)](EngineSnapshot snapshot) {
        done(success(fabric_top_json(snapshot, collector_.history(), limit, wall_clock())));
    });
}

void ControlCommands::history(const json::object& request, Done done) {
    const auto failed = [&](std::string_view text) { done(failure(Refusal::failed, text)); };
    const auto name = text_argument(request, "link");
    const auto since = number_argument(request, "since_us", 0, INT64_MAX), step = number_argument(request, "step_s", 1, 366 * 86'400);
    if (!name) return failed(name.error());
    for (const auto& argument : {since, step})
        if (!argument) return failed(argument.error());
    if (!name->has_value()) return failed("link: expected \"switch/port\"");
    HistoryQuestion question{**name, {}, *step};
    if (*since) question.since_s = **since / 1'000'000;

    const Site& site = *collector_.telemetry().site();
    const auto plan = plan_history(question, site.config.history.keep_10s, wall_clock());
    if (!plan) return failed(plan.error());
    const Link* link = nullptr;
    // a port's name may have slashes, and so may a switch's
    for (std::size_t slash = question.link.find('/'); slash != std::string::npos && !link; slash = question.link.find('/', slash + 1))
        if (const auto index = site.fabric.link_of_port(question.link.substr(0, slash), question.link.substr(slash + 1)))
            link = &site.fabric.links()[at(*index)];
    const SecondBins* bins = collector_.history().seconds_of(question.link);
    if (!plan->resolution && bins)
        return done(success(history_json(*plan, question.link, link, site.fabric, seconds_between(*bins, plan->since_s, plan->until_s))));
    if (!plan->resolution && link)
        return failed(fmt::format("{}: no history is kept of this link: history.ports = \"{}\"", question.link, site.config.history.ports));

    if (!telemetry_store_) {
        auto opened = TelemetryStore::open(site.config.store.directory, StoreAccess::read_only);
        if (!opened) return done(store_failure(opened.error()));
        telemetry_store_ = std::move(*opened);
    }
    const auto known = telemetry_store_->knows(question.link);
    const auto rows = telemetry_store_->read(question.link, plan->resolution.value_or(Resolution::ten_seconds), plan->since_s, plan->until_s);
    if (!known || !rows) {
        telemetry_store_.reset(); // a file that was replaced is opened anew
        return done(store_failure((known ? rows.error() : known.error())));
    }
    if (!link && !*known) return failed(fmt::format("{}: no such link; \"aegisctl fabric show --links\" lists them", question.link));
    done(success(history_json(*plan, question.link, link, site.fabric, *rows)));
}

void ControlCommands::policies(Done done) {
    json::array list;
    for (const Policy& policy : built_in_policies())
        list.push_back(policy_json(policy, policy.name == collector_.telemetry().site()->policy.name));
    done(success({{"policies", std::move(list)}}));
}

void ControlCommands::config(Done done) {
    const Site& site = *collector_.telemetry().site();
    json::array settings;
    for (const Setting<Config>& setting : scalar_settings()) {
        const auto value = written(setting, site.config);
        settings.push_back(json::object{{"key", setting.info.key},
                                        {"value", value ? json::value(*value) : nullptr},
                                        {"default", setting.info.presence == Presence::defaulted
                                                        ? json::value(setting.info.fallback)
                                                        : nullptr},
                                        {"unit", unit_name(setting.info.type)}});
    }
    done(success({{"file", site.file}, {"settings", std::move(settings)}}));
}

} // namespace aegis
