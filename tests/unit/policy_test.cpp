#include "lib/policy.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <set>

using namespace aegis;

TEST_CASE("vanilla always keeps and is always there") {
    const Policy* vanilla = find_policy("vanilla");
    REQUIRE(vanilla);
    CHECK(vanilla->keeps_always());
    CHECK_FALSE(find_policy("Vanilla"));
    CHECK_FALSE(find_policy(""));
}

TEST_CASE("the default policy is the published weights of the features there are, on the simplex") {
    const Policy* policy = find_policy("default");
    REQUIRE(policy);
    CHECK_FALSE(policy->keeps_always());
    const std::array published{.15, .20, .15}; // frag, span, now
    for (std::size_t i = 0; i < feature_count; ++i) {
        CHECK(policy->weights[i] == Approx(published[i] / .5));
        CHECK(policy->weights[i] <= .5);
    }
    CHECK(std::accumulate(policy->weights.begin(), policy->weights.end(), 0.0) == Approx(1));
}

TEST_CASE("the hash of a policy changes with its name and any weight, and with nothing else") {
    const Policy policy{"default", {.3, .4, .3}};
    CHECK(policy.hash() == find_policy("default")->hash());
    // FNV-1a of "default\nfrag=0.3\nspan=0.4\nnow=0.3", computed apart.
    CHECK(policy.hash() == "cbd428acd98e68cb");
    std::set<std::string> hashes{policy.hash()};
    for (const Policy& other : {Policy{"defaults", {.3, .4, .3}}, Policy{"default", {.4, .3, .3}}, Policy{"default", {.3, .4, .3000001}}})
        CHECK(hashes.insert(other.hash()).second);
}
