// The thread that writes telemetry.db: roll-ups are handed over and written once a second, old ones pruned a few at a time.
//
// Nothing waits for it. What cannot be written - disk full, file locked, damaged, of a newer release - stays in memory up to a bound,
// beyond which the oldest rows are lost and counted; status() says why, and the log once. It is tried again every second, so
// a file that is mended or moved away is used from then on.
#pragma once

#include "aegisd/telemetry_store.h"
#include "lib/sample.h"

#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

namespace aegis {

struct HistoryWriterStatus {
    std::string path;
    std::optional<std::string> error;
    std::uint64_t written = 0, waiting = 0, lost = 0; // rows
};

class HistoryWriter {
public:
    struct Settings {
        std::string directory;
        std::chrono::milliseconds keep_10s = std::chrono::hours(24 * 7);
        std::chrono::milliseconds keep_5min = std::chrono::hours(24 * 365);
        std::size_t rows_max = 200'000; // that wait: some 40 MB, hours of a small fabric
    };

    explicit HistoryWriter(Settings settings); // does not write by itself before start()
    ~HistoryWriter() { stop(); }

    void start();
    void stop(); // after a last write
    void keep(std::chrono::milliseconds keep_10s, std::chrono::milliseconds keep_5min);
    void hand_over(std::vector<RollUpRow> rows, EventTime now);
    HistoryWriterStatus status() const;

    void write_once(); // what the thread does once a second

private:
    void run(std::stop_token stop);
    std::expected<void, StoreError> write_waiting();
    void bound();
    std::expected<void, StoreError> prune();
    void note(const std::expected<void, StoreError>& result);

    std::optional<TelemetryStore> store_; // of the thread that writes
    mutable std::mutex mutex_;            // of all below
    Settings settings_;
    HistoryWriterStatus status_;
    std::deque<RollUpRow> waiting_;
    std::int64_t now_s_ = 0;
    std::jthread thread_;
};

} // namespace aegis
