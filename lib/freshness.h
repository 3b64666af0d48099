// How old telemetry is, and how far it is to be believed (control-theory 3.5 and 5.3).
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace aegis {

enum class Freshness : std::uint8_t { fresh, lagged, stale, dark };

struct FreshnessLimits {
    std::chrono::milliseconds fresh{5000};   // up to here: fresh
    std::chrono::milliseconds lagged{60000}; // up to here: lagged
    std::chrono::milliseconds stale{180000}; // up to here: stale, then dark
    std::chrono::milliseconds tau{90000};    // decay time of the confidence, control-theory 5.3
};

Freshness freshness_of(std::chrono::milliseconds age, const FreshnessLimits& limits);

// The weight k(a) of a pressure of this age: 1 while fresh; exp(-a/tau), not below 0.2, while lagged;
// exp(-a/tau) while stale; 0 in the dark.
double confidence_of(std::chrono::milliseconds age, const FreshnessLimits& limits);

std::string_view to_string(Freshness freshness);

} // namespace aegis
