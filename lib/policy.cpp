#include "lib/policy.h"

#include <algorithm>
#include <fmt/format.h>

namespace aegis {

bool Policy::keeps_always() const {
    return std::ranges::all_of(weights, [](double weight) { return weight == 0; });
}

// FNV-1a over text, not over memory: shortest decimal form, the same on every machine.
std::string Policy::hash() const {
    std::string text = name;
    for (std::size_t i = 0; i < feature_count; ++i)
        text += fmt::format("\n{}={}", to_string(static_cast<Feature>(i)), weights[i]);
    std::uint64_t hash = 14695981039346656037u;
    for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return fmt::format("{:016x}", hash);
}

const std::vector<Policy>& built_in_policies() {
    // Control-theory 5.4 gives frag .15, span .20, now .15; the other four features come with the ledger, the
    // contracts and the tenants. Divided by their sum, .50.
    static const std::vector<Policy> policies{
        {"vanilla", {0, 0, 0}},
        {"default", {.30, .40, .30}},
    };
    return policies;
}

const Policy* find_policy(std::string_view name) {
    const auto found = std::ranges::find(built_in_policies(), name, &Policy::name);
    return found == built_in_policies().end() ? nullptr : &*found;
}

} // namespace aegis
