#include "aegisd/wire_messages.h"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace aegis;

namespace {

NodeSet set_of(std::size_t count, std::initializer_list<std::size_t> members) {
    NodeSet set(count);
    for (std::size_t i : members) set.set(i);
    return set;
}

} // namespace

TEST_CASE("a node set survives the way to bytes and back, bit i in byte i/8") {
    CHECK(rc::check("bytes_of and node_set_of are inverse", [](const std::vector<bool>& bits) {
        NodeSet set(bits.size());
        for (std::size_t i = 0; i < bits.size(); ++i) set.set(i, bits[i]);
        const std::vector<std::uint8_t> bytes = bytes_of(set);
        RC_ASSERT(bytes.size() == (bits.size() + 7) / 8);
        for (std::size_t i = 0; i < bits.size(); ++i) RC_ASSERT((bytes[i / 8] >> i % 8 & 1) == bits[i]);
        RC_ASSERT(node_set_of({static_cast<std::uint32_t>(bits.size()), bytes.data()}) == set);
    }));
}

TEST_CASE("an ask without knowledge of idle nodes takes the candidates for idle") {
    const auto candidates = bytes_of(set_of(70, {0, 3, 69})), s1 = bytes_of(set_of(70, {3}));
    aegis_ask message{};
    message.job_key = {"100_3", 5};
    message.job_id = 103;
    message.min_nodes = 1;
    message.candidates = {70, candidates.data()};
    message.s1 = {70, s1.data()};
    const Ask ask = ask_of(message);
    CHECK(ask.job_key == "100_3");
    CHECK(ask.candidates == set_of(70, {0, 3, 69}));
    CHECK(ask.idle == ask.candidates);
    message.flags = AEGIS_ASK_HAS_IDLE;
    message.idle = message.s1;
    CHECK(ask_of(message).idle == ask.s1);
}

TEST_CASE("an ask that is a report says so, and when it was decided") {
    const auto one = bytes_of(set_of(70, {3}));
    aegis_ask message{};
    message.job_key = {"7", 1};
    message.time_us = 1796122800000123;
    message.candidates = message.s1 = {70, one.data()};
    CHECK_FALSE(ask_of(message).kept);
    message.flags = AEGIS_ASK_KEPT;
    CHECK(ask_of(message).kept);
    CHECK(time_of(message).time_since_epoch().count() == 1796122800000123);
}

TEST_CASE("a calm frame decodes to the same sets") {
    const OneNodeAdvice advice{set_of(100, {1, 2}), set_of(100, {99})};
    const Frame frame = calm_frame(42, std::chrono::milliseconds(2500), advice);
    aegis_header header{};
    REQUIRE(aegis_frame_length(frame.data(), frame.size(), &header) == static_cast<std::int64_t>(frame.size()));
    CHECK(header.type == AEGIS_CALM);
    aegis_calm calm{};
    REQUIRE(aegis_decode_calm(frame.data() + AEGIS_HEADER_BYTES, header.length, &calm) == 0);
    CHECK(calm.table_hash == 42);
    CHECK(calm.valid_ms == 2500);
    CHECK(node_set_of(calm.calm) == advice.calm);
    CHECK(node_set_of(calm.inviting) == advice.inviting);
}

TEST_CASE("advice with plans decodes to the same plans") {
    const std::vector<NodeSet> plans{set_of(100, {1, 2}), set_of(100, {99})};
    const Frame frame = advice_frame(7, 42, plans);
    aegis_header header{};
    REQUIRE(aegis_frame_length(frame.data(), frame.size(), &header) == static_cast<std::int64_t>(frame.size()));
    CHECK(header.type == AEGIS_ADVICE);
    CHECK(header.request == 7);
    aegis_advice advice{};
    REQUIRE(aegis_decode_advice(frame.data() + AEGIS_HEADER_BYTES, header.length, &advice) == 0);
    CHECK(advice.decision == 42);
    CHECK(advice.verdict == AEGIS_PLANS);
    REQUIRE(advice.plan_count == 2);
    CHECK(node_set_of(advice.plans[1]) == plans[1]);
}

TEST_CASE("advice without plans is to keep") {
    const Frame frame = advice_frame(7, 0, {});
    aegis_advice advice{};
    REQUIRE(aegis_decode_advice(frame.data() + AEGIS_HEADER_BYTES, frame.size() - AEGIS_HEADER_BYTES, &advice) == 0);
    CHECK(advice.verdict == AEGIS_KEEP);
    CHECK(advice.decision == 0);
}

TEST_CASE("Slurm's version number reads as on its tin") {
    CHECK(slurm_version_text(0x160508) == "22.05.8");
    CHECK(slurm_version_text(0x190b07) == "25.11.7");
}
