#include "plugin/steer.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

namespace {

// Slurm and aegisd in one: answers from a script, and a diary of what was done to them.
struct Fake {
    std::vector<int> rcs;               // of the inner tests, in order
    bool preempts = false;              // Slurm chose jobs to preempt
    std::optional<unsigned> plan_count{}; // nothing: no opinion
    std::vector<bool> fits{};           // are enough candidates left on plan i
    std::string diary{};                // T test, t test without preemption, A ask, 1 2 restrict, R restore
    unsigned tests = 0;
    advice reply{};
};

const steer_ports fake_ports = {
    .test =
        [](void* self, bool with_preemption) {
            auto& fake = *static_cast<Fake*>(self);
            fake.diary += with_preemption ? 'T' : 't';
            return fake.rcs.at(fake.tests++);
        },
    .preempts = [](void* self) { return static_cast<Fake*>(self)->preempts; },
    .ask = [](void* self) -> const advice* {
        auto& fake = *static_cast<Fake*>(self);
        fake.diary += 'A';
        if (!fake.plan_count) return nullptr;
        fake.reply.decision = 7;
        fake.reply.plan_count = *fake.plan_count;
        fake.reply.plans[0][0] = 1;
        fake.reply.plans[1][0] = 2;
        return &fake.reply;
    },
    .restrict_to =
        [](void* self, const std::uint8_t* plan) {
            auto& fake = *static_cast<Fake*>(self);
            fake.diary += static_cast<char>('0' + plan[0]);
            return static_cast<bool>(fake.fits.at(plan[0] - 1u));
        },
    .restore = [](void* self) { static_cast<Fake*>(self)->diary += 'R'; },
};

struct Run {
    int rc;
    steer_outcome outcome;
};

Run run(Fake& fake) {
    Run result{};
    result.rc = steer(&fake_ports, &fake, &result.outcome);
    return result;
}

} // namespace

TEST_CASE("steer: what Slurm cannot start is returned as it is, and nobody is asked") {
    Fake fake{.rcs = {2015}, .plan_count = 1, .fits = {true}};
    const Run result = run(fake);
    CHECK(result.rc == 2015);
    CHECK(fake.diary == "T");
    CHECK_FALSE(result.outcome.advised);
}

TEST_CASE("steer: once Slurm has chosen jobs to preempt, it is never tested again") {
    Fake fake{.rcs = {0}, .preempts = true, .plan_count = 1, .fits = {true}};
    const Run result = run(fake);
    CHECK(result.rc == 0);
    CHECK(fake.diary == "T");
    CHECK_FALSE(result.outcome.advised);
}

TEST_CASE("steer: without an opinion Slurm's choice stands") {
    Fake fake{.rcs = {0}};
    const Run result = run(fake);
    CHECK(result.rc == 0);
    CHECK(fake.diary == "TA");
    CHECK_FALSE(result.outcome.advised);
}

TEST_CASE("steer: keep leaves Slurm's choice, and is an outcome") {
    Fake fake{.rcs = {0}, .plan_count = 0};
    const Run result = run(fake);
    CHECK(result.rc == 0);
    CHECK(fake.diary == "TA");
    CHECK(result.outcome.advised);
    CHECK(result.outcome.result == AEGIS_RESULT_KEPT);
    CHECK(result.outcome.inner_calls == 1);
}

TEST_CASE("steer: the first plan that Slurm accepts is final, and nothing touches it afterwards") {
    Fake fake{.rcs = {0, 0}, .plan_count = 2, .fits = {true, true}};
    const Run result = run(fake);
    CHECK(result.rc == 0);
    CHECK(fake.diary == "TA1t");
    CHECK(result.outcome.result == AEGIS_RESULT_PLAN_1);
    CHECK(result.outcome.inner_calls == 2);
}

TEST_CASE("steer: the second plan is tried when Slurm refuses the first") {
    Fake fake{.rcs = {0, -1, 0}, .plan_count = 2, .fits = {true, true}};
    const Run result = run(fake);
    CHECK(result.rc == 0);
    CHECK(fake.diary == "TA1t2t");
    CHECK(result.outcome.result == AEGIS_RESULT_PLAN_2);
    CHECK(result.outcome.plans_refused == 1);
}

TEST_CASE("steer: when no plan works Slurm chooses again from all candidates, preemption included") {
    Fake fake{.rcs = {0, -1, -1, 0}, .plan_count = 2, .fits = {true, true}};
    const Run result = run(fake);
    CHECK(result.rc == 0);
    CHECK(fake.diary == "TA1t2tRT");
    CHECK(result.outcome.result == AEGIS_RESULT_RESTORED);
    CHECK(result.outcome.inner_calls == 4);
    CHECK(result.outcome.plans_refused == 2);
}

TEST_CASE("steer: a plan with too few candidates costs no inner test") {
    Fake fake{.rcs = {0, 0}, .plan_count = 2, .fits = {false, false}};
    const Run result = run(fake);
    CHECK(fake.diary == "TA12RT");
    CHECK(result.outcome.result == AEGIS_RESULT_RESTORED);
    CHECK(result.outcome.inner_calls == 2);
}

TEST_CASE("steer: a last test that fails is reported as a loss, with Slurm's own code") {
    Fake fake{.rcs = {0, -1, 2016}, .plan_count = 1, .fits = {true}};
    const Run result = run(fake);
    CHECK(result.rc == 2016);
    CHECK(fake.diary == "TA1tRT");
    CHECK(result.outcome.result == AEGIS_RESULT_LOST);
    CHECK(result.outcome.s1_rc == 0);
    CHECK(result.outcome.final_rc == 2016);
}

TEST_CASE("steer: over all combinations the promises of steer.h hold") {
    unsigned cases = 0;
    for (unsigned bits = 0; bits < 512; bits++) {
        const auto bit = [&](unsigned i) { return (bits >> i & 1) != 0; };
        const unsigned plans = bits >> 6 & 3;
        if (plans == 3) continue;
        Fake fake{.rcs = {bit(0) ? 0 : -1, bit(1) ? 0 : -2, bit(2) ? 0 : -3, bit(3) ? 0 : -4},
                  .preempts = bit(8),
                  .plan_count = plans,
                  .fits = {bit(4), bit(5)}};
        const Run result = run(fake);
        INFO(fake.diary);
        cases++;
        CHECK(fake.tests <= 4);
        CHECK(result.outcome.inner_calls == fake.tests);
        CHECK(fake.diary[0] == 'T');
        // the last thing done is an inner test, or a question that changes nothing
        CHECK(std::string("TtA").find(fake.diary.back()) != std::string::npos);
        // the code returned is that of the last inner test
        CHECK(result.rc == fake.rcs[fake.tests - 1]);
        // preemptees chosen, or Slurm's own failure: one test only
        if (fake.rcs[0] != 0 || fake.preempts) CHECK(fake.tests == 1);
        // a job Slurm would start starts, unless Slurm itself refuses the same call the second time
        if (fake.rcs[0] == 0 && result.rc != 0) {
            CHECK(result.outcome.result == AEGIS_RESULT_LOST);
            CHECK(fake.diary.substr(fake.diary.size() - 2) == "RT");
        }
        // a test on a plan is always preceded by restricting to it, and never sees the preemption lists
        for (std::size_t i = 1; i < fake.diary.size(); i++)
            if (fake.diary[i - 1] == '1' || fake.diary[i - 1] == '2') CHECK(fake.diary[i] != 'T');
    }
    CHECK(cases == 384);
}
