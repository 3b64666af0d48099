// Candidate leaf sets for a job, from several seeds: coolest leaf first, fewest leaves, S1's own leaves.
#pragma once

#include "lib/footprint.h"
#include "lib/pressure_view.h"

#include <cstdint>
#include <vector>

namespace aegis {

// What the planner may use of one leaf.
struct LeafRoom {
    LeafIndex leaf{};
    std::uint32_t room = 0;      // nodes this job could get there
    std::uint32_t component = 0; // from the fabric
};

// Distinct footprints of exactly `nodes` nodes each; leaves of one component only. Order carries no meaning.
// Empty where no component has room for the job.
std::vector<Footprint> candidate_placements(const std::vector<LeafRoom>& rooms, std::uint32_t nodes,
                                            const Footprint& s1, const PressureView& view);

} // namespace aegis
