#include "lib/freshness.h"

#include <algorithm>
#include <cmath>

namespace aegis {

namespace {

constexpr double lagged_floor = 0.2; // control-theory 5.3: one minute late is still better than nothing

} // namespace

Freshness freshness_of(std::chrono::milliseconds age, const FreshnessLimits& limits) {
    if (age <= limits.fresh) return Freshness::fresh;
    if (age <= limits.lagged) return Freshness::lagged;
    if (age <= limits.stale) return Freshness::stale;
    return Freshness::dark;
}

double confidence_of(std::chrono::milliseconds age, const FreshnessLimits& limits) {
    const double decayed = std::exp(-static_cast<double>(age.count()) / static_cast<double>(limits.tau.count()));
    switch (freshness_of(age, limits)) {
    case Freshness::fresh: return 1;
    case Freshness::lagged: return std::max(decayed, lagged_floor);
    case Freshness::stale: return decayed;
    case Freshness::dark: return 0;
    }
    return 0;
}

std::string_view to_string(Freshness freshness) {
    switch (freshness) {
    case Freshness::fresh: return "fresh";
    case Freshness::lagged: return "lagged";
    case Freshness::stale: return "stale";
    case Freshness::dark: return "dark";
    }
    return {};
}

} // namespace aegis
