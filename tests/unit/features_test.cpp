#include "lib/features.h"
#include "lib/score.h"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace aegis;

namespace {

PressureView view_of(const std::vector<double>& pressures) {
    PressureView view;
    for (double pressure : pressures) view.leaves.push_back({LinkIndex{0}, pressure, {}, {}, Freshness::fresh, 1});
    return view;
}

double feature(Feature which, const Footprint& footprint, const std::vector<LeafUse>& use, SpanRange range = {1, 4},
               const std::vector<double>& pressures = {0, 0, 0, 0}) {
    return features_of(footprint, use, range, view_of(pressures))[static_cast<std::size_t>(which)];
}

constexpr LeafIndex a{0}, b{1}, c{2};

} // namespace

TEST_CASE("frag counts leaves left partly used, less those it fills up, per leaf used") {
    const std::vector<LeafUse> use{{8, 8}, {8, 3}, {8, 8}, {8, 0}};
    CHECK(feature(Feature::frag, {{a, 8}}, use) == 0);           // filled whole
    CHECK(feature(Feature::frag, {{a, 4}}, use) == 1);           // an empty leaf broken into
    CHECK(feature(Feature::frag, {{b, 2}}, use) == 0);           // was partly used, still is
    CHECK(feature(Feature::frag, {{a, 4}, {b, 3}}, use) == 0);   // one created, one filled up
    CHECK(feature(Feature::frag, {{b, 3}}, use) == 0);           // below 0 counts as 0
    CHECK(feature(Feature::frag, {{a, 4}, {c, 8}}, use) == .5);
    CHECK(feature(Feature::frag, {{a, 4}, {b, 1}, {c, 1}}, use) == Approx(2. / 3));
}

TEST_CASE("span is where the leaves used lie between fewest and most") {
    const std::vector<LeafUse> use{{8, 8}, {8, 8}, {8, 8}};
    CHECK(feature(Feature::span, {{a, 1}}, use, {1, 3}) == 0);
    CHECK(feature(Feature::span, {{a, 1}, {b, 1}}, use, {1, 3}) == .5);
    CHECK(feature(Feature::span, {{a, 1}, {b, 1}, {c, 1}}, use, {1, 3}) == 1);
    CHECK(feature(Feature::span, {{a, 1}, {b, 1}, {c, 1}}, use, {1, 2}) == 1); // Slurm went where no plan may
    CHECK(feature(Feature::span, {{a, 1}, {b, 1}}, use, {2, 2}) == 0);
}

TEST_CASE("now is half the mean and half the largest believed pressure") {
    const std::vector<LeafUse> use{{8, 8}, {8, 8}, {8, 8}};
    CHECK(feature(Feature::now, {{a, 1}, {b, 7}}, use, {1, 3}, {.2, .6, .9}) == Approx(.5 * .4 + .5 * .6));
    PressureView old = view_of({.8});
    old.leaves[0].confidence = .25;
    CHECK(features_of({{a, 1}}, use, {1, 3}, old)[2] == Approx(.2));
    CHECK(features_of({}, use, {1, 3}, old) == Features{});
}

TEST_CASE("every feature of every placement lies in [0,1], and so does its cost") {
    CHECK(rc::check("ranges", [] {
        std::vector<LeafUse> use;
        std::vector<double> pressures;
        Footprint footprint;
        const std::uint32_t leaves = *rc::gen::inRange(1u, 12u);
        for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
            const std::uint32_t nodes = *rc::gen::inRange(1u, 20u);
            use.push_back({nodes, *rc::gen::inRange(0u, nodes + 1)});
            pressures.push_back(*rc::gen::inRange(0, 97) / 100.0);
            if (*rc::gen::arbitrary<bool>()) footprint.push_back({LeafIndex{leaf}, *rc::gen::inRange(1u, nodes + 1)});
        }
        const std::uint32_t fewest = *rc::gen::inRange(1u, 12u);
        const Features features = features_of(footprint, use, {fewest, fewest + *rc::gen::inRange(0u, 5u)}, view_of(pressures));
        for (double f : features) RC_ASSERT(f >= 0 && f <= 1);
        for (const Policy& policy : built_in_policies()) {
            RC_ASSERT(cost_of(features, policy) >= 0);
            RC_ASSERT(cost_of(features, policy) <= 1 + 1e-12);
        }
    }));
}
