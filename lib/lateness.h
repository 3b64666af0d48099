// How late something that is due at fixed times really comes: the engine's tick, which answers Slurm between two ticks.
//
// Quantiles are exact over the newest `window_size` times, the largest one is since the beginning. By nearest
// rank: the p99 of fewer than 100 is the largest.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace aegis {

class Lateness {
public:
    static constexpr std::size_t window_size = 600; // ten minutes of seconds

    struct Summary {
        std::uint64_t count = 0; // since the beginning
        std::size_t window = 0;  // that the quantiles are of; 0: they say nothing
        std::chrono::microseconds p50{0}, p99{0}, largest_of_window{0}, largest{0};
    };

    void add(std::chrono::microseconds late);
    Summary summary() const;

private:
    std::array<std::chrono::microseconds, window_size> window_{};
    std::uint64_t count_ = 0;
    std::chrono::microseconds largest_{0};
};

} // namespace aegis
