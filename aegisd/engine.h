// The engine: what aegisd knows of the fabric at this moment, in which mode it is, and the answer to an ask.
//
// One thread owns it: the one that answers Slurm. Nothing here waits for a network or reads the store at length.
// Only engine.cpp knows the order of the stages: link states -> view -> decision -> record -> advice.
// Invariant: an advice that carries plans has its row committed before it leaves. If the store fails, the advice is
// to keep, status() says why, and the next ask tries again.
#pragma once

#include "aegisd/job_facts.h"
#include "aegisd/site.h"
#include "aegisd/store.h"
#include "aegisd/telemetry.h"
#include "lib/decision.h"
#include "lib/mode.h"
#include "lib/one_node.h"
#include "lib/pressure_view.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace aegis {

struct Advice {
    std::uint64_t decision = 0;      // 0: nothing was recorded
    std::vector<NodeSet> plan_nodes; // empty: keep
};

struct ModeChange {
    Mode from{}, to{};
    std::optional<std::string> warning; // in force, but not recorded: a restart would not know
};

struct EngineStatus {
    Mode mode{};
    std::string store_path;
    std::optional<std::string> store_error;
    std::uint64_t asks = 0, kept_unasked = 0, plans_offered = 0, plans_accepted = 0, events_lost = 0;
};

class Engine {
public:
    // The mode is the last one recorded, else the configured one. A store that cannot tell is an error: starting in a
    // mode the administrator has left would be worse than not starting.
    static std::expected<Engine, StoreError> start(SitePointer site, Store store);

    void adopt(SitePointer site, EventTime now);                // after a reload; what was measured comes with observe()
    void observe(FabricStatePointer state, EventTime now);      // of another site than the adopted one: ignored
    void tick(EventTime now);                                   // once a second, so that what is not seen anew grows old
    Advice ask(const Ask& ask, const JobFacts& facts, const NodeTable& table, EventTime now);
    OneNodeAdvice one_node_advice(const NodeTable& table) const; // by the view of now
    void note_kept(const Ask& ask, const JobFacts& facts, const NodeTable& table, EventTime decided); // by that advice, unasked

    void record_outcome(const OutcomeRow& row);
    void record_job_begin(const JobEventRow& row);
    void record_job_end(const JobEventRow& row);
    void note_sync(const std::optional<StoreError>& error); // from the thread that syncs

    // A lower mode always takes effect, recorded or not: it is how an administrator stops us. A higher one only if
    // the store took it.
    std::expected<ModeChange, StoreError> set_mode(Mode mode, const std::string& actor, const std::string& reason,
                                                   EventTime now);

    Mode mode() const { return mode_; }
    const SitePointer& site() const { return site_; }
    const FabricStatePointer& fabric_state() const { return state_; }
    const PressureView& view() const { return view_; }
    EngineStatus status() const;

private:
    Engine(SitePointer site, Store store, Mode mode);
    Decision decide_on(const Ask& ask, const NodeTable& table) const;
    Advice record(const Decision& decision, const Ask& ask, const JobFacts& facts, const NodeTable& table, EventTime now);
    void note_write(const std::expected<void, StoreError>& result);

    SitePointer site_;
    Store store_;
    Mode mode_;
    FabricStatePointer state_;
    PressureView view_;
    std::optional<std::string> write_error_, sync_error_;
    std::uint64_t asks_ = 0, kept_unasked_ = 0, plans_offered_ = 0, plans_accepted_ = 0, events_lost_ = 0;
};

} // namespace aegis
