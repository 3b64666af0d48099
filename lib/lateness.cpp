#include "lib/lateness.h"

#include <algorithm>

namespace aegis {

void Lateness::add(std::chrono::microseconds late) {
    window_[count_++ % window_size] = late;
    largest_ = std::max(largest_, late);
}

Lateness::Summary Lateness::summary() const {
    Summary summary;
    summary.count = count_;
    summary.window = std::min<std::uint64_t>(count_, window_size);
    summary.largest = largest_;
    if (summary.window == 0) return summary;
    auto sorted = window_;
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(summary.window);
    std::sort(sorted.begin(), end);
    const auto ranked = [&](std::size_t percent) { return sorted[(percent * summary.window + 99) / 100 - 1]; };
    summary.p50 = ranked(50);
    summary.p99 = ranked(99);
    summary.largest_of_window = *(end - 1);
    return summary;
}

} // namespace aegis
