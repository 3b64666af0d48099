// What a decision sees of the fabric: one row per leaf, an immutable snapshot.
#pragma once

#include "lib/freshness.h"
#include "lib/ids.h"
#include "lib/pressure.h"

#include <chrono>
#include <optional>
#include <vector>

namespace aegis {

struct LeafPressure {
    std::optional<LinkIndex> worst_link;  // whose pressure this is; absent: nothing measured yet
    double pressure = 0;                  // of the worst trunk, or of the worst port where no trunk is mapped
    PressureTerms terms;                  // of that link, fast
    std::chrono::milliseconds age{0};     // since the newest event of that link's series
    Freshness freshness = Freshness::dark;
    double confidence = 0;                // k(a), 0 for a leaf that is not measured

    double believed() const { return confidence * pressure; }
};

struct PressureView {
    std::vector<LeafPressure> leaves; // by LeafIndex
};

} // namespace aegis
