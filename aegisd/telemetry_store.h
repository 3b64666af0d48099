// telemetry.db: what the links did, in roll-ups of ten seconds and of five minutes. SQLite, WAL, beside decisions.db.
//
// Nothing that decides waits for it: it is written by a thread of its own (history_writer.h), read by the control server through
// another connection. Each write is one transaction, in which a roll-up of ten seconds is also added to its five minutes, so
// that the two agree after any crash. A roll-up written for a stretch that has one already is merged with it.
// About 60 bytes a row: 100 leaf-spine ports need 360 MB for a week of ten seconds and 630 MB for a year of five minutes.
// A file that is damaged, emptied or written by a newer release is an error that names it. One TelemetryStore belongs to one thread.
#pragma once

#include "aegisd/store.h"
#include "lib/roll_up.h"

#include <chrono>
#include <span>
#include <string_view>

namespace aegis {

enum class Resolution { ten_seconds, five_minutes };
constexpr std::chrono::seconds width_of(Resolution resolution) {
    switch (resolution) {
    case Resolution::ten_seconds: return std::chrono::seconds(10);
    case Resolution::five_minutes: return std::chrono::minutes(5);
    }
    return {};
}

struct RollUpRow {
    std::string link; // "switch/port"
    std::int64_t start_s = 0; // since the epoch, a multiple of ten
    RollUp amounts;
};

struct RollUpAt {
    std::int64_t start_s = 0;
    RollUp amounts;
};

class TelemetryStore {
public:
    static std::expected<TelemetryStore, StoreError> open(const std::string& directory, StoreAccess access);
    static std::string path_in(const std::string& directory) { return directory + "/telemetry.db"; }

    std::expected<void, StoreError> write(std::span<const RollUpRow> rows); // of ten seconds; all or none
    // Removes rows that begin before `before_s`, oldest first, at most `limit`; how many.
    std::expected<std::uint64_t, StoreError> prune(Resolution resolution, std::int64_t before_s, std::uint32_t limit);
    // Rows that begin in [since_s, until_s), oldest first. Costs a look-up a stretch, whatever other links there are.
    std::expected<std::vector<RollUpAt>, StoreError> read(std::string_view link, Resolution resolution, std::int64_t since_s, std::int64_t until_s);
    std::expected<bool, StoreError> knows(std::string_view link);

    const std::string& path() const;

    TelemetryStore(TelemetryStore&&) noexcept;
    TelemetryStore& operator=(TelemetryStore&&) noexcept;
    ~TelemetryStore();

private:
    struct Impl;
    explicit TelemetryStore(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace aegis
