// What recording a placement costs the thread that decides: one commit to the WAL, alone and with the once-a-second sync beside it.
//
// Directory: AEGIS_BENCH_DIR, else the working directory; it should be on the kind of disk the store will be on.
#include "aegisd/store.h"

#include <algorithm>
#include <atomic>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace aegis;
using Clock = std::chrono::steady_clock;

class Directory {
public:
    Directory() {
        const char* base = std::getenv("AEGIS_BENCH_DIR");
        path_ = fmt::format("{}/store-bench-{}", base ? base : ".", getpid());
        std::filesystem::create_directory(path_);
    }
    ~Directory() { std::filesystem::remove_all(path_); }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

// As long as a real one: eight placements compared over two or three leaves each.
PlacementRow placement(std::uint32_t job) {
    std::string alternatives;
    for (int i = 0; i < 8; ++i)
        alternatives += fmt::format(R"({}{{"leaves":[{{"leaf":"tor{}","nodes":2}}],"features":{{"frag":0.5,"span":0.25,"now":0.8312}},"cost":0.4{}}})",
                                    i ? "," : "", i, i);
    return {.time_us = 1'796'126'400'000'000 + job, .job_key = std::to_string(job), .job_id = job, .job_name = "train-llm", .user = "ada",
            .account = "physics", .partition = "gpu", .mode = "steer", .policy = "default", .policy_hash = "cbd428acd98e68cb",
            .reason = "better_plan", .nodes = 2, .plans = 2, .offered = true, .s1 = "n[0001-0002]",
            .detail = fmt::format(R"({{"weights":{{"frag":0.3,"span":0.4,"now":0.3}},"alternatives":[{}]}})", alternatives)};
}

double percentile(std::vector<double>& sorted_us, double share) {
    return sorted_us.empty() ? 0 : sorted_us[static_cast<std::size_t>(share * static_cast<double>(sorted_us.size() - 1))];
}

// Argument: how often a second another connection syncs. 0: never.
void record_placement(benchmark::State& state) {
    Directory directory;
    auto store = Store::open(directory.path(), StoreAccess::read_write);
    auto syncer = Store::open(directory.path(), StoreAccess::read_write);
    if (!store || !syncer) return state.SkipWithError((store ? syncer : store).error().text.c_str());
    std::atomic<bool> stop = false;
    std::thread syncing([&] {
        while (state.range(0) > 0 && !stop) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1000 / state.range(0)));
            if (!syncer->sync()) return;
        }
    });
    std::vector<double> each_us;
    std::uint32_t job = 0;
    for (auto _ : state) {
        const PlacementRow row = placement(++job);
        const auto begin = Clock::now();
        auto id = store->record_placement(row);
        const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
        if (!id) {
            state.SkipWithError(id.error().text.c_str());
            break;
        }
        each_us.push_back(took.count());
        state.SetIterationTime(took.count() / 1e6);
    }
    stop = true;
    syncing.join();
    (void)store->sync();
    std::ranges::sort(each_us);
    state.counters["p50_us"] = percentile(each_us, .5);
    state.counters["p99_us"] = percentile(each_us, .99);
    state.counters["max_us"] = percentile(each_us, 1);
}
BENCHMARK(record_placement)->Arg(0)->Arg(1)->Arg(10)->Iterations(20'000)->UseManualTime()->Unit(benchmark::kMicrosecond);

// 100,000 placements, filled once: Google Benchmark calls a benchmark several times to find how often to repeat it.
class FilledStore {
public:
    FilledStore() : store_(Store::open(directory_.path(), StoreAccess::read_write)) {
        for (std::uint32_t job = 1; store_ && job <= 100'000; ++job) {
            auto id = store_->record_placement(placement(job));
            if (id && job % 5000 == 0) (void)store_->sync();
            if (!id) store_ = std::unexpected(id.error());
        }
    }
    std::expected<Store, StoreError>& store() { return store_; }

private:
    Directory directory_;
    std::expected<Store, StoreError> store_;
};

// What aegisctl asks.
void list_decisions(benchmark::State& state, const DecisionFilter& filter) {
    static FilledStore filled;
    auto& store = filled.store();
    if (!store) return state.SkipWithError(store.error().text.c_str());
    for (auto _ : state) {
        auto rows = store->decisions(filter);
        if (!rows) state.SkipWithError(rows.error().text.c_str());
        benchmark::DoNotOptimize(rows);
    }
}
BENCHMARK_CAPTURE(list_decisions, latest, DecisionFilter{})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(list_decisions, of_job, DecisionFilter{.job = "50000"})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(list_decisions, of_nobody, DecisionFilter{.user = "nobody"})->Unit(benchmark::kMicrosecond);

} // namespace

BENCHMARK_MAIN();
