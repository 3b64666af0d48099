#include "lib/pressure.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <rapidcheck.h>
#include <vector>

using namespace aegis;
using namespace std::chrono_literals;

namespace {

constexpr double rate_bps = 100e9;

LinkInterval interval(std::chrono::microseconds length, std::optional<double> marked, std::optional<double> packets,
                      std::optional<double> bytes, std::optional<double> depth) {
    return {length, marked, packets, bytes, depth};
}

double seconds(std::chrono::microseconds time) { return static_cast<double>(time.count()) / 1e6; }

// The slow way, from the whole history (control-theory 5.2): a reading that ended `age` seconds ago and lasted dt has the
// weight exp(-age/T) (1 - exp(-dt/T)); an average is the weighted mean of the readings there were.
class Reference {
public:
    Reference(PressureParameters p) : p_(p) {}
    void add(const LinkInterval& i) { history_.push_back(i); }

    double pressure() const {
        const double fast = one(seconds(p_.fast)), slow = one(seconds(p_.slow));
        return std::max(.7 * fast + .3 * slow, slow);
    }

private:
    template <class Value> std::optional<double> mean(double T, Value value) const {
        double age = 0, sum = 0, weight = 0;
        std::chrono::microseconds silence{0};
        for (auto i = history_.rbegin(); i != history_.rend() && seconds(silence) <= 3 * T; ++i) { // older ones are forgotten
            const double dt = seconds(i->length);
            if (const std::optional<double> v = value(*i)) {
                silence = 0us;
                sum += std::exp(-age / T) * (1 - std::exp(-dt / T)) * *v;
                weight += std::exp(-age / T) * (1 - std::exp(-dt / T));
            } else {
                silence += i->length;
            }
            age += dt;
        }
        if (weight == 0) return std::nullopt;
        return sum / weight;
    }
    double one(double T) const {
        const auto both = [](const LinkInterval& i) { return i.marked_packets && i.packets && *i.marked_packets <= *i.packets; };
        const auto m = mean(T, [&](const LinkInterval& i) { return both(i) ? std::optional(*i.marked_packets / seconds(i.length)) : std::nullopt; });
        const auto p = mean(T, [&](const LinkInterval& i) { return both(i) ? std::optional(*i.packets / seconds(i.length)) : std::nullopt; });
        const auto b = mean(T, [&](const LinkInterval& i) { return i.bytes ? std::optional(*i.bytes / seconds(i.length)) : std::nullopt; });
        const auto q = mean(T, [&](const LinkInterval& i) { return i.depth_bytes; });
        const auto clip = [](double x) { return std::min(1.0, std::max(0.0, x)); };
        const double e = m ? clip(*m / (*p + 1e4) / (5 * p_.mark_limit)) : 0;
        const double d = q ? clip((*q - p_.queue_min_bytes) / (p_.queue_max_bytes - p_.queue_min_bytes)) : 0;
        const double u = b ? clip((*b * 8 / rate_bps - .6) / .35) : 0;
        return 1 - (1 - .8 * e) * (1 - .6 * d) * (1 - .5 * u);
    }
    PressureParameters p_;
    std::vector<LinkInterval> history_;
};

LinkInterval any_interval() {
    const auto maybe = [](double scale) -> std::optional<double> {
        if (*rc::gen::inRange(0, 4) == 0) return std::nullopt;
        return scale * *rc::gen::inRange(0, 101) / 100;
    };
    const auto length = std::chrono::milliseconds(*rc::gen::inRange(50, 9000));
    const double s = seconds(length);
    return interval(length, maybe(2e5 * s), maybe(1e6 * s), maybe(rate_bps / 8 * s), maybe(400'000));
}

} // namespace

TEST_CASE("the noisy-OR is 0 for an idle link and .96 with all terms at their limits") {
    CHECK(pressure_of({0, 0, 0}) == 0);
    CHECK(pressure_of({1, 0, 0}) == Approx(.8));
    CHECK(pressure_of({0, 1, 0}) == Approx(.6));
    CHECK(pressure_of({0, 0, 1}) == Approx(.5));
    CHECK(pressure_of({1, 1, 1}) == Approx(.96));
}

TEST_CASE("a constant load has its closed form from the first interval on, however long the intervals are") {
    LinkPressure link({}, rate_bps);
    // 5 % marks of 1 M packets/s, depth half way up the ramp, 77.5 % of the line rate.
    const double e = 5e4 / (1e6 + 1e4) / .1, expected = 1 - (1 - .8 * e) * (1 - .6 * .5) * (1 - .5 * .5);
    for (const auto length : {1000ms, 250ms, 7000ms, 1000ms}) {
        const double s = seconds(length);
        link.add(interval(length, 5e4 * s, 1e6 * s, .775 * rate_bps / 8 * s, 242'160.));
        CHECK(link.pressure() == Approx(expected));
        CHECK(link.fast().phi_q == Approx(.5));
        CHECK(link.slow().phi_u == Approx(.5));
        CHECK(link.load() == Approx(.775));
        CHECK(link.mark_rate() == Approx(5e4 / 1.01e6));
        CHECK(link.depth_bytes() == Approx(242'160));
    }
}

TEST_CASE("after a step the averages follow 1 - exp(-t/T)") {
    LinkPressure link({}, rate_bps);
    for (int i = 0; i < 1000; ++i) link.add(interval(1s, {}, {}, 0., {}));
    for (int i = 0; i < 5; ++i) link.add(interval(1s, {}, {}, rate_bps / 8, {}));
    CHECK(link.load() == Approx(1 - std::exp(-1))); // 5 s fast
}

TEST_CASE("a link without any signal is unknown and without pressure") {
    LinkPressure link({}, rate_bps);
    CHECK_FALSE(link.known());
    link.add(interval(1s, {}, {}, {}, {}));
    link.add(interval(1s, {}, 1e6, {}, {})); // packets alone tell of no congestion
    link.add(interval(0s, 1., 1., 1., 1e6)); // no time passed
    CHECK_FALSE(link.known());
    CHECK(link.pressure() == 0);
}

TEST_CASE("bytes tell nothing where the line rate is unknown") {
    LinkPressure link({}, 0);
    link.add(interval(1s, {}, {}, 1e9, {}));
    CHECK_FALSE(link.known());
    CHECK(link.load() == 0);
    CHECK(link.fast().phi_u == 0);
}

TEST_CASE("an absent signal contributes nothing, and is not taken for a zero") {
    LinkPressure without({}, rate_bps), with({}, rate_bps);
    for (int i = 0; i < 20; ++i) {
        without.add(interval(1s, 1e5, 1e6, {}, {}));
        with.add(interval(1s, 1e5, 1e6, 0., 0.));
    }
    CHECK(without.known());
    CHECK(without.pressure() == Approx(with.pressure()));
    // Every second interval lacks the marks: the rate seen in the others stands.
    LinkPressure gaps({}, rate_bps);
    for (int i = 0; i < 100; ++i) gaps.add(interval(1s, i % 2 ? std::optional(1e5) : std::nullopt, 1e6, {}, {}));
    CHECK(gaps.mark_rate() == Approx(1e5 / 1.01e6));
}

TEST_CASE("a signal that stays away is forgotten: after 15 s by the fast, after 3 min by the slow average") {
    LinkPressure link({}, rate_bps);
    for (int i = 0; i < 300; ++i) link.add(interval(1s, 1e5, 1e6, {}, {}));
    const double before = link.pressure();
    for (int i = 0; i < 15; ++i) link.add(interval(1s, {}, {}, {}, {}));
    CHECK(link.pressure() == Approx(before));
    link.add(interval(1s, {}, {}, {}, {}));
    CHECK(link.fast() == PressureTerms{});
    CHECK(link.pressure() == Approx(pressure_of(link.slow())));
    for (int i = 0; i < 164; ++i) link.add(interval(1s, {}, {}, {}, {}));
    CHECK(link.known());
    link.add(interval(1s, {}, {}, {}, {}));
    CHECK_FALSE(link.known());
    CHECK(link.pressure() == 0);
}

TEST_CASE("on a link that falls idle the mark term decays and never blows up") {
    LinkPressure link({}, rate_bps);
    for (int i = 0; i < 60; ++i) link.add(interval(1s, 1e5, 1e6, {}, {}));
    double before = link.pressure();
    for (int i = 0; i < 900; ++i) {
        link.add(interval(1s, 0., 0., {}, {}));
        REQUIRE(link.pressure() <= before);
        before = link.pressure();
    }
    CHECK(before < 1e-3);
    LinkPressure nearly_idle({}, rate_bps);
    nearly_idle.add(interval(1s, 1., 1., {}, {})); // one packet, marked
    CHECK(nearly_idle.mark_rate() < 2e-4);
}

TEST_CASE("more marks than packets is a contradiction, not a mark rate") {
    LinkPressure link({}, rate_bps);
    link.add(interval(1s, 2e6, 1e6, {}, {}));
    CHECK_FALSE(link.known());
    CHECK(link.mark_rate() == 0);
}

TEST_CASE("the pressure of any history is that of the slow reference, and within its range") {
    CHECK(rc::check("against the weighted mean of the whole history", [] {
        LinkPressure link({}, rate_bps);
        Reference reference{PressureParameters{}};
        const int length = *rc::gen::inRange(1, 40);
        for (int i = 0; i < length; ++i) {
            const LinkInterval next = any_interval();
            link.add(next);
            reference.add(next);
            RC_ASSERT(link.pressure() >= 0 && link.pressure() <= .96 + 1e-12);
            RC_ASSERT(std::abs(link.pressure() - reference.pressure()) < 1e-5);
        }
    }));
}

TEST_CASE("more marks, more depth or more load never lower the pressure") {
    CHECK(rc::check("monotone in each signal", [] {
        LinkPressure link({}, rate_bps), more({}, rate_bps);
        const int signal = *rc::gen::inRange(0, 3), length = *rc::gen::inRange(1, 30);
        for (int i = 0; i < length; ++i) {
            LinkInterval next = any_interval();
            if (next.marked_packets && next.packets) next.packets = std::max(*next.packets, 4 * *next.marked_packets);
            link.add(next);
            const double factor = 1 + *rc::gen::inRange(0, 300) / 100.0;
            if (signal == 0 && next.marked_packets) *next.marked_packets *= factor;
            if (signal == 1 && next.depth_bytes) *next.depth_bytes *= factor;
            if (signal == 2 && next.bytes) *next.bytes *= factor;
            more.add(next);
        }
        RC_ASSERT(more.pressure() >= link.pressure() - 1e-12);
    }));
}
