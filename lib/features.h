// The features of a placement, each in [0,1], higher is worse (control-theory 5.4).
//
//   frag  leaves left partly used, created minus removed, / leaves used; below 0 counts as 0. A leaf is partly used
//         if the job could have some of its nodes but not all: 0 < idle < nodes. Created: it was not, and nodes are left
//         idle; removed: it was, and none is left.
//   span  (leaves - fewest possible) / max(1, most possible - fewest possible), within [0,1]
//   now   .5 mean + .5 max over the leaves used of k(a) P
#pragma once

#include "lib/footprint.h"
#include "lib/pressure_view.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace aegis {

enum class Feature : std::uint8_t { frag, span, now };
inline constexpr std::size_t feature_count = 3;
using Features = std::array<double, feature_count>; // by Feature

std::string_view to_string(Feature feature);

// What `frag` needs of a leaf, counted among the nodes that Slurm would consider for the job at all.
struct LeafUse {
    std::uint32_t nodes = 0;
    std::uint32_t idle = 0; // the job could have them now
};

// Fewest and most leaves any placement of this job could use.
struct SpanRange {
    std::uint32_t fewest = 1;
    std::uint32_t most = 1;
};

// `use` and `view` by LeafIndex; the order of the footprint does not matter. An empty footprint has no features: all 0.
Features features_of(const Footprint& footprint, const std::vector<LeafUse>& use, SpanRange range,
                     const PressureView& view);

} // namespace aegis
