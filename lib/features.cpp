#include "lib/features.h"

#include <algorithm>

namespace aegis {

std::string_view to_string(Feature feature) {
    switch (feature) {
    case Feature::frag: return "frag";
    case Feature::span: return "span";
    case Feature::now: return "now";
    }
    return {};
}

Features features_of(const Footprint& footprint, const std::vector<LeafUse>& use, SpanRange range,
                     const PressureView& view) {
    Features features{};
    if (footprint.empty()) return features;
    int created = 0, removed = 0;
    double sum = 0, most = 0;
    for (const LeafShare& share : footprint) {
        const LeafUse& leaf = use[at(share.leaf)];
        const bool partly_before = leaf.idle > 0 && leaf.idle < leaf.nodes;
        const bool partly_after = leaf.idle > share.nodes;
        created += !partly_before && partly_after;
        removed += partly_before && !partly_after;
        const double pressure = view.leaves[at(share.leaf)].believed();
        sum += pressure;
        most = std::max(most, pressure);
    }
    const auto leaves = static_cast<double>(footprint.size());
    const double fewest = range.fewest, widest = range.most;
    features[static_cast<std::size_t>(Feature::frag)] = std::max(0, created - removed) / leaves;
    features[static_cast<std::size_t>(Feature::span)] =
        std::clamp((leaves - fewest) / std::max(1.0, widest - fewest), 0.0, 1.0);
    features[static_cast<std::size_t>(Feature::now)] = .5 * sum / leaves + .5 * most;
    return features;
}

} // namespace aegis
