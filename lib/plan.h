// The search for placements: leaf sets with room for a job, the cheapest first.
//
// Seeds that look at the fabric from different sides - coolest leaves, fewest leaves at rising pressure thresholds,
// partly used leaves, S1's own leaves - are scored, and the best of them improved by exchanging, leaving out and
// adding leaves while that lowers the cost. The search knows nothing of what the cost is made of. Its
// effort is bounded by a count of steps, never by time: the same question has the same answer everywhere.
#pragma once

#include "lib/features.h"
#include "lib/footprint.h"
#include "lib/pressure_view.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace aegis {

// What a job may use of one leaf. One component holds the leaves that a plan may join.
struct LeafRoom {
    LeafIndex leaf{};
    std::uint32_t room = 0;  // nodes this job could get there
    std::uint32_t nodes = 0; // nodes it could get there on an empty cluster; above `room`: the leaf is partly used
    std::uint32_t component = 0;
};

struct PlanTask {
    const std::vector<LeafRoom>& rooms; // leaves without room may be there or not
    std::uint32_t nodes = 0;            // at least 1
    std::uint32_t spare = 0;            // room a placement has beyond that
    const Footprint& s1;                // its leaf set is never among the answers
    const PressureView& view;
};

// Lower is better; must not depend on the order of the leaves.
using PlacementCost = std::function<double(const Footprint&)>;

struct CostedPlacement {
    Footprint footprint; // exactly `nodes` nodes: the roomiest leaves are filled first, each gets at least one
    double cost = 0;
};

// At most `keep` placements with distinct leaf sets, cheapest first, each within one component.
// Empty where no component has room for the job, or only S1's own leaves have.
std::vector<CostedPlacement> best_placements(const PlanTask& task, const PlacementCost& cost, std::uint32_t keep);

// How few and how many leaves a placement of so many nodes can use; {1, 1} where no component has room.
SpanRange span_range(const std::vector<LeafRoom>& rooms, std::uint32_t nodes);

} // namespace aegis
