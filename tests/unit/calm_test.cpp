#include "plugin/calm.h"

#include <catch2/catch.hpp>
#include <memory>

namespace {

constexpr std::uint64_t hash = 7, second = 1000000;

// Eleven nodes, so that the last byte is not full; bit i of a number is node i.
struct Bits {
    std::uint8_t bytes[2];
    explicit Bits(unsigned members) : bytes{static_cast<std::uint8_t>(members), static_cast<std::uint8_t>(members >> 8)} {}
    aegis_nodes view() const { return {11, bytes}; }
};

struct Known {
    std::unique_ptr<calm> state = std::make_unique<calm>();

    Known(unsigned calm_nodes, unsigned inviting, std::uint32_t valid_ms = 2500) {
        const Bits a(calm_nodes), b(inviting);
        const aegis_calm message{hash, valid_ms, a.view(), b.view()};
        calm_take(state.get(), &message, second);
    }
    bool keeps(unsigned s1, unsigned candidates, unsigned idle, std::uint64_t now_us = second, std::uint64_t table = hash) const {
        const Bits a(candidates), b(s1), c(idle);
        const aegis_ask ask{table, 1, 1, 1, AEGIS_ASK_HAS_IDLE, {"1", 1}, 1, 0, {nullptr, 0}, a.view(), b.view(), c.view()};
        return calm_keeps(state.get(), &ask, now_us);
    }
};

constexpr unsigned all = 0x7ff;

} // namespace

TEST_CASE("calm: nothing known keeps nothing") {
    Known known(all, 0);
    CHECK(known.keeps(1, all, all));
    calm_forget(known.state.get());
    CHECK_FALSE(known.keeps(1, all, all));
}

TEST_CASE("calm: a job on a calm node is kept, wherever else it could go") {
    const Known known(0x400, 0x0ff);
    CHECK(known.keeps(0x400, all, all));
    CHECK_FALSE(known.keeps(0x200, all, all));
}

TEST_CASE("calm: a job on a node that is not calm is kept where no inviting candidate is idle") {
    const Known known(0, 0x00f);
    CHECK_FALSE(known.keeps(0x100, all, 0x008));
    CHECK(known.keeps(0x100, all, 0x7f0));   // the inviting ones are busy
    CHECK(known.keeps(0x100, 0x7f0, 0x00f)); // or no candidates
}

TEST_CASE("calm: who does not know the idle nodes counts all candidates") {
    const Known known(0, 0x00f);
    const Bits candidates(0x108), s1(0x100);
    aegis_ask ask{hash, 1, 1, 1, 0, {"1", 1}, 1, 0, {nullptr, 0}, candidates.view(), s1.view(), {0, nullptr}};
    CHECK_FALSE(calm_keeps(known.state.get(), &ask, second));
    ask.candidates = s1.view();
    CHECK(calm_keeps(known.state.get(), &ask, second));
}

TEST_CASE("calm: jobs of several nodes are always asked about") {
    const Known known(all, 0);
    CHECK_FALSE(known.keeps(0x003, all, all));
    CHECK_FALSE(known.keeps(0x401, all, all));
}

TEST_CASE("calm: it is for one node table and ends with its time, at most 5 s") {
    CHECK_FALSE(Known(all, 0).keeps(1, all, all, second, hash + 1));
    CHECK(Known(all, 0, 2500).keeps(1, all, all, second + 2499999));
    CHECK_FALSE(Known(all, 0, 2500).keeps(1, all, all, second + 2500000));
    CHECK(Known(all, 0, UINT32_MAX).keeps(1, all, all, second + 4999999));
    CHECK_FALSE(Known(all, 0, UINT32_MAX).keeps(1, all, all, second + 5000000));
    CHECK_FALSE(Known(all, 0, 0).keeps(1, all, all));
}
