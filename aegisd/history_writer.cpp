#include "aegisd/history_writer.h"

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <spdlog/spdlog.h>

namespace aegis {

namespace {

// One transaction holds SQLite's write lock and this many rows, 20 ms or so.
constexpr std::size_t rows_a_transaction = 2'000;
// Twice what 1,000 links bring in a second is 200; pruning must also catch up after a shorter keep has been set.
constexpr std::uint32_t pruned_a_second = 2'000;

} // namespace

HistoryWriter::HistoryWriter(Settings settings) : settings_(std::move(settings)) {
    status_.path = TelemetryStore::path_in(settings_.directory);
}

void HistoryWriter::start() {
    thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

void HistoryWriter::stop() {
    if (thread_.joinable()) {
        thread_.request_stop();
        thread_.join();
    } else if (status().waiting > 0) {
        write_once();
    }
}

void HistoryWriter::keep(std::chrono::milliseconds keep_10s, std::chrono::milliseconds keep_5min) {
    const std::lock_guard lock(mutex_);
    settings_.keep_10s = keep_10s;
    settings_.keep_5min = keep_5min;
}

void HistoryWriter::hand_over(std::vector<RollUpRow> rows, EventTime now) {
    const std::lock_guard lock(mutex_);
    now_s_ = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
    waiting_.insert(waiting_.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
    bound();
}

HistoryWriterStatus HistoryWriter::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

void HistoryWriter::run(std::stop_token stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    while (true) {
        {
            std::unique_lock lock(mutex);
            stopped.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
        }
        write_once();
        if (stop.stop_requested()) return;
    }
}

void HistoryWriter::write_once() {
    std::expected<void, StoreError> result;
    if (!store_) {
        auto opened = TelemetryStore::open(settings_.directory, StoreAccess::read_write);
        if (opened)
            store_ = std::move(*opened);
        else
            result = std::unexpected(opened.error());
    }
    if (store_) result = write_waiting();
    if (store_ && result) result = prune();
    if (!result) store_.reset(); // what is wrong may be mended by another file under this name
    note(result);
}

std::expected<void, StoreError> HistoryWriter::write_waiting() {
    while (true) {
        std::vector<RollUpRow> rows;
        {
            const std::lock_guard lock(mutex_);
            const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), rows_a_transaction));
            rows.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
            waiting_.erase(waiting_.begin(), end);
        }
        if (rows.empty()) return {};
        const auto written = store_->write(rows);
        const std::lock_guard lock(mutex_);
        if (!written) {
            waiting_.insert(waiting_.begin(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
            bound();
            return written;
        }
        status_.waiting = waiting_.size();
        status_.written += rows.size();
    }
}

// With the lock held.
void HistoryWriter::bound() {
    if (waiting_.size() > settings_.rows_max) {
        const std::size_t excess = waiting_.size() - settings_.rows_max;
        status_.lost += excess;
        waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(excess));
    }
    status_.waiting = waiting_.size();
}

std::expected<void, StoreError> HistoryWriter::prune() {
    std::int64_t now_s = 0, fine_s = 0, coarse_s = 0;
    {
        const std::lock_guard lock(mutex_);
        now_s = now_s_;
        fine_s = std::chrono::floor<std::chrono::seconds>(settings_.keep_10s).count();
        coarse_s = std::chrono::floor<std::chrono::seconds>(settings_.keep_5min).count();
    }
    if (now_s == 0) return {}; // nothing has come yet: what time it is, is not known
    auto fine = store_->prune(Resolution::ten_seconds, now_s - fine_s, pruned_a_second);
    if (!fine) return std::unexpected(fine.error());
    auto coarse = store_->prune(Resolution::five_minutes, now_s - coarse_s, pruned_a_second);
    if (!coarse) return std::unexpected(coarse.error());
    return {};
}

void HistoryWriter::note(const std::expected<void, StoreError>& result) {
    const std::lock_guard lock(mutex_);
    const bool was_failing = status_.error.has_value();
    status_.error = result ? std::nullopt : std::optional(result.error().text);
    if (!result && !was_failing) spdlog::warn("{}: history waits in memory; placement goes on", result.error().text);
    if (result && was_failing) spdlog::info("{}: can be written again", status_.path);
}

} // namespace aegis
