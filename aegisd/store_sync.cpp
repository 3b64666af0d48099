#include "aegisd/store_sync.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace aegis {

StoreSync::StoreSync(Store store, Report report)
    : store_(std::move(store)), report_(std::move(report)), thread_([this](std::stop_token stop) { run(stop); }) {}

void StoreSync::stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void StoreSync::run(std::stop_token stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    while (true) {
        {
            std::unique_lock lock(mutex);
            stopped.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
        }
        const auto synced = store_.sync();
        report_(synced ? std::nullopt : std::optional(synced.error()));
        if (stop.stop_requested()) return;
    }
}

} // namespace aegis
