#include "lib/histogram.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <rapidcheck.h>

using namespace aegis;
using namespace std::chrono_literals;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr EventTime noon{std::chrono::microseconds{1'800'000'000'000'000}};

Histogram of_samples(const std::vector<double>& bounds, const std::vector<double>& samples) {
    Histogram histogram{bounds, std::vector<double>(bounds.size() + 1, 0)};
    for (const double sample : samples) {
        std::size_t bucket = 0;
        while (bucket < bounds.size() && sample > bounds[bucket]) ++bucket;
        ++histogram.counts[bucket];
    }
    return histogram;
}

ExponentialHistogram exponential_of_samples(int scale, const std::vector<double>& samples) {
    std::vector<std::pair<int, double>> indices;
    ExponentialHistogram histogram{scale, 0, 0, 0, {}};
    int low = std::numeric_limits<int>::max(), high = std::numeric_limits<int>::min();
    std::vector<int> of;
    for (const double sample : samples) {
        if (sample == 0) { ++histogram.zero_count; continue; }
        const int index = static_cast<int>(std::ceil(std::log2(sample) * std::exp2(scale))) - 1; // data model, "upper inclusive"
        of.push_back(index);
        low = std::min(low, index);
        high = std::max(high, index);
    }
    if (of.empty()) return histogram;
    histogram.offset = low;
    histogram.counts.assign(static_cast<std::size_t>(high - low + 1), 0);
    for (const int index : of) ++histogram.counts[static_cast<std::size_t>(index - low)];
    return histogram;
}

std::vector<double> some_samples() {
    std::vector<double> samples;
    for (const int thousandth : *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3000))))
        samples.push_back(thousandth / 1000.0);
    return samples;
}

double ranked(std::vector<double> samples, double q) {
    std::sort(samples.begin(), samples.end());
    return samples[static_cast<std::size_t>(std::max(1.0, std::ceil(q * static_cast<double>(samples.size())))) - 1];
}

const std::vector<double> bounds = {0.005, 0.1, 0.18, 0.5, 1, 2.5};

} // namespace

TEST_CASE("a bucket bound is read in every spelling exporters use") {
    CHECK(parse_bucket_bound("1") == 1.0);
    CHECK(parse_bucket_bound("1.0") == 1.0);
    CHECK(parse_bucket_bound("2.5e-05") == 2.5e-05);
    CHECK(parse_bucket_bound("+Inf") == infinity);
    for (const char* bad : {"", "NaN", "-Inf", "1s", " 1", "1e999"}) CHECK_FALSE(parse_bucket_bound(bad));
}

TEST_CASE("cumulative buckets in any order become counts of each bucket") {
    const auto histogram = from_cumulative_buckets({{infinity, 100}, {0.5, 23}, {0.1, 20}, {1, 23}});
    REQUIRE(histogram);
    CHECK(*histogram == Histogram{{0.1, 0.5, 1}, {20, 3, 0, 77}});
}

TEST_CASE("buckets that cannot be a histogram are refused with the reason") {
    CHECK(from_cumulative_buckets({{0.1, 20}}).error() == "it has no +Inf bucket");
    CHECK(from_cumulative_buckets({}).error() == "it has no +Inf bucket");
    CHECK(from_cumulative_buckets({{0.1, 20}, {0.1, 21}, {infinity, 30}}).error() == "a bound occurs twice or is no number");
    CHECK(from_cumulative_buckets({{0.1, 20}, {0.5, 19}, {infinity, 30}}).error() == "its counts fall as bounds rise");
    CHECK_FALSE(from_cumulative_buckets({{0.1, std::nan("")}, {infinity, 30}}));
}

TEST_CASE("with 77 % of a service above the last finite bucket p99 is at least that bound and never a number") {
    const Histogram histogram{{1, 10, 30}, {10, 8, 5, 77}};
    CHECK(quantile(histogram, 0.99) == QuantileInterval{30, std::nullopt});
    CHECK(quantile(histogram, 0.10) == QuantileInterval{0, 1});
    CHECK(quantile(histogram, 0.23) == QuantileInterval{10, 30});
}

TEST_CASE("too few samples give no quantile") {
    CHECK_FALSE(quantile(Histogram{{1}, {0, 0}}, 0.5));
    CHECK_FALSE(quantile(Histogram{{1}, {298, 0}}, 0.99, 299));
    CHECK(quantile(Histogram{{1}, {299, 0}}, 0.99, 299));
}

TEST_CASE("the interval holds the quantile of the samples themselves") {
    CHECK(rc::check("quantile interval", [] {
        const auto samples = some_samples();
        const double q = *rc::gen::inRange(1, 1001) / 1000.0;
        const auto interval = quantile(of_samples(bounds, samples), q);
        RC_ASSERT(interval.has_value());
        const double truth = ranked(samples, q);
        RC_ASSERT(truth >= interval->lower);
        RC_ASSERT((interval->upper ? truth <= *interval->upper : truth > bounds.back()));
    }));
}

TEST_CASE("exceedances enclose the true number and meet where the limit is a bound") {
    CHECK(rc::check("exceedances", [] {
        const auto samples = some_samples();
        const bool aligned = *rc::gen::arbitrary<bool>();
        const double limit = aligned ? *rc::gen::elementOf(bounds) : *rc::gen::inRange(0, 3000) / 1000.0;
        const auto above = static_cast<double>(
            std::count_if(samples.begin(), samples.end(), [&](double sample) { return sample > limit; }));
        const auto found = exceedances(of_samples(bounds, samples), limit);
        RC_ASSERT(found.n == static_cast<double>(samples.size()));
        RC_ASSERT(found.optimistic <= above);
        RC_ASSERT(found.pessimistic >= above);
        if (aligned) RC_ASSERT(found.optimistic == found.pessimistic);
    }));
}

TEST_CASE("a limit above all bounds leaves the last bucket in doubt") {
    CHECK(exceedances(Histogram{{1, 2}, {5, 3, 2}}, 10) == Exceedances{10, 0, 2});
}

TEST_CASE("replicas with the same buckets merge to the histogram of all samples") {
    CHECK(rc::check("merge", [] {
        auto left = some_samples();
        const auto right = some_samples();
        const auto sum = merged(of_samples(bounds, left), of_samples(bounds, right));
        left.insert(left.end(), right.begin(), right.end());
        RC_ASSERT(sum == of_samples(bounds, left));
    }));
}

TEST_CASE("replicas with different buckets merge on the bounds they share") {
    CHECK(rc::check("merge of different bounds", [] {
        auto left = some_samples();
        const auto right = some_samples();
        const auto sum = merged(of_samples({0.1, 0.18, 1, 2.5}, left), of_samples({0.05, 0.18, 0.5, 1}, right));
        left.insert(left.end(), right.begin(), right.end());
        RC_ASSERT(sum == of_samples({0.18, 1}, left));
    }));
}

TEST_CASE("exponential buckets become bounds that hold their samples") {
    CHECK(rc::check("exponential quantile", [] {
        const auto samples = some_samples();
        const int scale = *rc::gen::inRange(-3, 7);
        const double q = *rc::gen::inRange(1, 1001) / 1000.0;
        const auto interval = quantile(explicit_buckets(exponential_of_samples(scale, samples)), q);
        RC_ASSERT(interval.has_value());
        const double truth = ranked(samples, q), tolerance = 1e-9 * truth; // log2 rounds at a bound
        RC_ASSERT(interval->upper.has_value());
        RC_ASSERT(truth >= interval->lower - tolerance);
        RC_ASSERT(truth <= *interval->upper + tolerance);
        if (truth > 0) RC_ASSERT(*interval->upper <= truth * std::exp2(std::exp2(-scale)) * (1 + 1e-9));
    }));
}

TEST_CASE("the first example of the data model: scale 0 has powers of two") {
    const ExponentialHistogram histogram{0, 1, 0, -1, {2, 3}};
    CHECK(explicit_buckets(histogram) == Histogram{{0, 0.5, 1, 2}, {1, 0, 2, 3, 0}});
}

TEST_CASE("a coarser scale holds the same samples in merged buckets") {
    CHECK(rc::check("downscale", [] {
        std::vector<double> samples; // away from bounds, where log2 would round either way
        for (const int n : *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 2000))) samples.push_back(n * 1.000003 / 97);
        const int scale = *rc::gen::inRange(0, 7), steps = *rc::gen::inRange(0, 5);
        const auto fine = exponential_of_samples(scale, samples);
        RC_ASSERT(downscaled(fine, scale - steps) == exponential_of_samples(scale - steps, samples) || samples.empty());
    }));
}

TEST_CASE("exponential histograms of two scales merge and their sum minus one part is the other") {
    CHECK(rc::check("merge and difference", [] {
        const auto a = exponential_of_samples(*rc::gen::inRange(-2, 6), some_samples());
        const auto b = exponential_of_samples(*rc::gen::inRange(-2, 6), some_samples());
        const auto sum = merged(a, b);
        RC_ASSERT(sum.scale == std::min(a.scale, b.scale));
        const auto back = difference(sum, b);
        RC_ASSERT(back.has_value());
        RC_ASSERT(quantile(explicit_buckets(*back), 0.5) == quantile(explicit_buckets(downscaled(a, sum.scale)), 0.5));
        RC_ASSERT(explicit_buckets(*back).total() == explicit_buckets(a).total());
    }));
}

TEST_CASE("buckets far apart are kept on a coarser scale within the bound") {
    const ExponentialHistogram tiny{20, 0, 0, -1'000'000, {1}}, huge{20, 0, 0, 1'000'000, {2}};
    const auto sum = merged(tiny, huge);
    CHECK(sum.counts.size() <= exponential_buckets_max);
    CHECK(explicit_buckets(sum).total() == 3);
    CHECK(quantile(explicit_buckets(sum), 1.0)->upper >= std::exp2(1'000'001.0 / (1 << 20)));
}

TEST_CASE("an index beyond every double ends in the last bucket") {
    const auto histogram = explicit_buckets(ExponentialHistogram{-10, 0, 0, 5, {4}});
    CHECK(histogram.counts.back() == 4);
    CHECK_FALSE(quantile(histogram, 0.5)->upper);
}

TEST_CASE("two readings of a cumulative histogram give what happened between them") {
    CumulativeHistogram<Histogram> counter;
    CHECK(counter.read({{1}, {10, 2}}, noon).event == CounterEvent::first);
    const auto step = counter.read({{1}, {15, 2}}, noon + 10s);
    CHECK(step.event == CounterEvent::advanced);
    CHECK(step.delta == Histogram{{1}, {5, 0}});
    CHECK(step.interval == 10s);
    CHECK(counter.read({{1}, {15, 2}}, noon + 10s).event == CounterEvent::duplicate);
    CHECK(counter.read({{1}, {14, 2}}, noon + 9s).event == CounterEvent::out_of_order);
}

TEST_CASE("a restarted service never looks like requests") {
    CumulativeHistogram<Histogram> counter;
    counter.read({{1, 2}, {100, 100, 5}}, noon);
    SECTION("one bucket shrank although the total grew") {
        CHECK(counter.read({{1, 2}, {500, 3, 0}}, noon + 1s).event == CounterEvent::reset);
        const auto step = counter.read({{1, 2}, {501, 3, 0}}, noon + 2s);
        CHECK(step.delta == Histogram{{1, 2}, {1, 0, 0}});
    }
    SECTION("its buckets are others now") { CHECK(counter.read({{1, 3}, {100, 100, 5}}, noon + 1s).event == CounterEvent::reset); }
    SECTION("it says itself that it began anew") {
        CHECK(counter.read({{1, 2}, {200, 200, 9}}, noon + 1s, noon).event == CounterEvent::reset);
        CHECK(counter.read({{1, 2}, {201, 200, 9}}, noon + 2s, noon).event == CounterEvent::advanced);
    }
    SECTION("nothing was heard for too long") {
        CHECK(counter.read({{1, 2}, {200, 200, 9}}, noon + 11min).event == CounterEvent::gap);
    }
}

TEST_CASE("a cumulative exponential histogram that changed its scale still gives the difference") {
    CumulativeHistogram<ExponentialHistogram> counter;
    counter.read({1, 0, 0, 0, {1, 1}}, noon);                         // (1, sqrt 2], (sqrt 2, 2]
    const auto step = counter.read({0, 1, 0, 0, {3, 4}}, noon + 10s); // (1, 2], (2, 4]
    REQUIRE(step.event == CounterEvent::advanced);
    CHECK(step.delta == Histogram{{0, 1, 2, 4}, {1, 0, 1, 4, 0}});
}
