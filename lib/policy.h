// A policy is a named, hashed weight vector over the features (control-theory 5.4).
#pragma once

#include "lib/features.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace aegis {

struct Policy {
    std::string name;
    std::array<double, feature_count> weights{}; // on the simplex, each at most .5; all 0 for vanilla
    bool keeps_always() const;                   // vanilla: Slurm's own choice stands
    std::string hash() const;                    // 16 hex digits over name and weights
};

// `vanilla`, and `default`: the weights of 5.4 for the features this release computes, renormalised.
const std::vector<Policy>& built_in_policies();
const Policy* find_policy(std::string_view name);

} // namespace aegis
