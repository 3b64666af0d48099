// decisions.db: what was decided, what became of it, and in which mode the system was. SQLite, WAL.
//
// A placement row is committed (visible to any other process, safe against kill -9) before record_placement()
// returns; sync() makes commits safe against power loss and is called once a second from another thread with its own
// connection. A file that is damaged, emptied or written by a newer release is an error that names it: never a fresh start.
// Another process's lock is waited for 1 ms at most, then it is an error; a full disk is an error until there is room again.
// One Store belongs to one thread; several may be open on one directory.
#pragma once

#include "lib/mode.h"

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace aegis {

// What went wrong with which file; `errno_value` where the system said so (ENOSPC, EIO …), else 0.
struct StoreError {
    std::string text;
    int errno_value = 0;
};

struct PlacementRow {
    std::int64_t time_us = 0; // since the epoch
    std::string job_key;
    std::uint32_t job_id = 0;
    std::string job_name, user, account, partition; // as far as the plugin knew them
    std::string mode, policy, policy_hash, reason;
    std::uint32_t nodes = 0;  // how many S1 has
    std::uint32_t plans = 0;  // plans that beat S1 by the margin
    bool offered = false;     // and were sent to Slurm
    std::string s1;           // hostlist
    std::string detail;       // JSON: features, weights, ages, alternatives
};

struct OutcomeRow {
    std::uint64_t decision = 0;
    std::int64_t time_us = 0;
    std::string result; // kept, plan_1, plan_2, restored, lost
    std::uint32_t inner_calls = 0;
    std::int32_t s1_rc = 0, final_rc = 0;
    std::uint32_t waited_us = 0;
    std::string nodes; // hostlist of the nodes Slurm chose
};

struct JobEventRow {
    std::string job_key;
    std::uint32_t job_id = 0;
    std::int64_t time_us = 0;
};

struct ModeRow {
    std::int64_t time_us = 0;
    std::string from, to, actor, reason;
};

struct DecisionRow {
    std::uint64_t id = 0;
    PlacementRow placement;
    std::optional<OutcomeRow> outcome;
    std::optional<std::int64_t> began_us, ended_us;
};

// Newest first; an absent field does not restrict.
struct DecisionFilter {
    std::optional<std::string> job{}; // a job key, a plain job id, or the id of an array for all its tasks
    std::optional<std::string> user{};
    std::optional<std::string> policy{};
    std::optional<std::int64_t> since_us{};
    std::uint32_t limit = 20;
};

enum class StoreAccess { read_write, read_only };

class Store {
public:
    // The directory must exist; read_write creates the file in it and migrates an older schema, read_only does neither.
    static std::expected<Store, StoreError> open(const std::string& directory, StoreAccess access);

    std::expected<std::uint64_t, StoreError> record_placement(const PlacementRow& row);
    std::expected<void, StoreError> record_outcome(const OutcomeRow& row); // a second one for a decision changes nothing
    std::expected<void, StoreError> record_job_begin(const JobEventRow& row);
    std::expected<void, StoreError> record_job_end(const JobEventRow& row);
    std::expected<void, StoreError> record_mode(const ModeRow& row);

    std::expected<std::optional<Mode>, StoreError> last_mode();
    std::expected<std::optional<DecisionRow>, StoreError> decision(std::uint64_t id);
    std::expected<std::vector<DecisionRow>, StoreError> decisions(const DecisionFilter& filter);
    std::expected<std::vector<ModeRow>, StoreError> mode_history(std::uint32_t limit); // newest first
    std::expected<std::uint64_t, StoreError> placements(); // how many are recorded; reads the whole index, not for the decision path

    std::expected<void, StoreError> sync(); // WAL to disk; when it has grown, into the database

    const std::string& path() const;

    Store(Store&&) noexcept;
    Store& operator=(Store&&) noexcept;
    ~Store();

private:
    struct Impl;
    explicit Store(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace aegis
