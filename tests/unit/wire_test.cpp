#include "lib/wire.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <random>
#include <rapidcheck.h>
#include <string>
#include <vector>

namespace {

using Bytes = std::vector<std::uint8_t>;

aegis_bytes view(const std::string& text) { return {text.data(), static_cast<std::uint32_t>(text.size())}; }
std::string text(const aegis_bytes& bytes) { return {bytes.data, bytes.length}; }

struct Nodes {
    std::uint32_t count;
    Bytes bytes;

    aegis_nodes view() const { return {count, bytes.data()}; }
    bool operator==(const aegis_nodes& other) const {
        return count == other.count && std::equal(bytes.begin(), bytes.end(), other.bytes);
    }
};

Nodes nodes_of(std::uint32_t count, const std::function<bool(std::uint32_t)>& member) {
    Nodes nodes{count, Bytes((count + 7) / 8)};
    for (std::uint32_t i = 0; i < count; i++)
        if (member(i)) nodes.bytes[i / 8] |= static_cast<std::uint8_t>(1u << (i % 8));
    return nodes;
}

Nodes any_nodes(std::uint32_t count) {
    return nodes_of(count, [](std::uint32_t) { return *rc::gen::arbitrary<bool>(); });
}

std::uint32_t any_count() { return *rc::gen::inRange<std::uint32_t>(1, 200); }

std::string any_key() { return *rc::gen::element<std::string>("7", "100_3", "9+1", std::string(63, 'x')); }

// A frame, cut to its payload after its header was checked against `type` and `request`.
Bytes payload_of(const Bytes& frame, aegis_type type, std::uint64_t request = 0) {
    aegis_header header;
    REQUIRE(aegis_frame_length(frame.data(), frame.size(), &header) == static_cast<std::int64_t>(frame.size()));
    CHECK(header.version == AEGIS_WIRE_VERSION);
    CHECK(header.type == type);
    CHECK(header.request == request);
    CHECK(header.length == frame.size() - AEGIS_HEADER_BYTES);
    return {frame.begin() + AEGIS_HEADER_BYTES, frame.end()};
}

template <class Encode> Bytes framed(Encode encode) {
    Bytes frame(AEGIS_HEADER_BYTES + AEGIS_ASK_PAYLOAD_MAX);
    const std::int64_t length = encode(frame.data(), frame.size());
    REQUIRE(length > 0);
    frame.resize(static_cast<std::size_t>(length));
    return frame;
}

template <class Encode> std::int64_t code_of(Encode encode) {
    Bytes frame(AEGIS_HEADER_BYTES + AEGIS_ASK_PAYLOAD_MAX);
    return encode(frame.data(), frame.size());
}

// One good message of every type, as encoder and decoder; what must hold for all of them is tested on these.
struct Specimen {
    std::string name;
    aegis_type type;
    std::function<std::int64_t(std::uint8_t*, std::size_t)> encode;
    std::function<int(const std::uint8_t*, std::size_t)> decode;
    std::function<bool(const std::uint8_t*, std::size_t)> zeroed_after_failure;
};

template <class Message>
Specimen specimen(std::string name, aegis_type type, std::function<std::int64_t(std::uint8_t*, std::size_t)> encode,
                  int (*decode)(const std::uint8_t*, std::size_t, Message*)) {
    return {std::move(name), type, std::move(encode),
            [decode](const std::uint8_t* data, std::size_t size) {
                Message message;
                return decode(data, size, &message);
            },
            [decode](const std::uint8_t* data, std::size_t size) {
                Message message, zero;
                std::memset(&message, 0xaa, sizeof message);
                std::memset(&zero, 0, sizeof zero);
                return decode(data, size, &message) < 0 && std::memcmp(&message, &zero, sizeof zero) == 0;
            }};
}

const std::vector<Specimen>& specimens() {
    static const std::string key = "100_3", facts = "SLURM_JOB_NAME=train\n", release = "0.1.0", table = "n[00-12]";
    static const Nodes candidates = nodes_of(13, [](auto i) { return i != 4; });
    static const Nodes s1 = nodes_of(13, [](auto i) { return i < 2; });
    static const Nodes idle = nodes_of(13, [](auto i) { return i < 9; });
    static const std::vector<Specimen> all = {
        specimen<aegis_hello>("HELLO", AEGIS_HELLO,
                              [](auto* out, auto size) {
                                  aegis_hello m{0x160508, 1, 2, 13, view(release), view(table)};
                                  return aegis_encode_hello(out, size, &m);
                              },
                              aegis_decode_hello),
        specimen<aegis_welcome>("WELCOME", AEGIS_WELCOME,
                                [](auto* out, auto size) {
                                    aegis_welcome m{AEGIS_ACCEPTED, AEGIS_MODE_STEER, 2000, 5000, 2};
                                    return aegis_encode_welcome(out, size, &m);
                                },
                                aegis_decode_welcome),
        specimen<aegis_ask>("ASK", AEGIS_ASK,
                            [](auto* out, auto size) {
                                aegis_ask m{2,         1,  3,           2, AEGIS_ASK_HAS_IDLE,
                                            view(key), 103, 5, view(facts), candidates.view(), s1.view(),
                                            idle.view()};
                                return aegis_encode_ask(out, size, 9, &m);
                            },
                            aegis_decode_ask),
        specimen<aegis_advice>("ADVICE", AEGIS_ADVICE,
                               [](auto* out, auto size) {
                                   aegis_advice m{77, AEGIS_PLANS, 2, {candidates.view(), idle.view()}};
                                   return aegis_encode_advice(out, size, 9, &m);
                               },
                               aegis_decode_advice),
        specimen<aegis_calm>("CALM", AEGIS_CALM,
                             [](auto* out, auto size) {
                                 aegis_calm m{2, 2500, candidates.view(), idle.view()};
                                 return aegis_encode_calm(out, size, &m);
                             },
                             aegis_decode_calm),
        specimen<aegis_outcome>("OUTCOME", AEGIS_OUTCOME,
                                [](auto* out, auto size) {
                                    aegis_outcome m{77, AEGIS_RESULT_PLAN_2, 3, 0, 0, 120, s1.view()};
                                    return aegis_encode_outcome(out, size, &m);
                                },
                                aegis_decode_outcome),
        specimen<aegis_job_event>("JOB_BEGIN", AEGIS_JOB_BEGIN,
                                  [](auto* out, auto size) {
                                      aegis_job_event m{view(key), 103, 1};
                                      return aegis_encode_job_event(out, size, AEGIS_JOB_BEGIN, &m);
                                  },
                                  aegis_decode_job_event),
        specimen<aegis_job_event>("JOB_END", AEGIS_JOB_END,
                                  [](auto* out, auto size) {
                                      aegis_job_event m{view(key), 103, 2};
                                      return aegis_encode_job_event(out, size, AEGIS_JOB_END, &m);
                                  },
                                  aegis_decode_job_event),
        specimen<aegis_counters>("PING", AEGIS_PING,
                                 [](auto* out, auto size) {
                                     aegis_counters m{};
                                     m.job_tests = 5;
                                     return aegis_encode_ping(out, size, 9, &m);
                                 },
                                 aegis_decode_ping),
    };
    return all;
}

std::uint64_t request_of(aegis_type type) {
    return type == AEGIS_ASK || type == AEGIS_ADVICE || type == AEGIS_PING ? 9 : 0;
}

} // namespace

TEST_CASE("wire: a HELLO arrives as it was sent") {
    CHECK(rc::check("hello", [] {
        const std::string release = any_key().substr(0, AEGIS_RELEASE_MAX);
        const std::string table = *rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '~'));
        const aegis_hello sent{*rc::gen::arbitrary<std::uint32_t>(),
                               *rc::gen::arbitrary<std::uint32_t>(),
                               *rc::gen::arbitrary<std::uint64_t>(),
                               *rc::gen::inRange<std::uint32_t>(0, AEGIS_NODES_MAX + 1),
                               view(release),
                               view(table)};
        const Bytes payload = payload_of(
            framed([&](auto* out, auto size) { return aegis_encode_hello(out, size, &sent); }), AEGIS_HELLO);
        aegis_hello got;
        RC_ASSERT(aegis_decode_hello(payload.data(), payload.size(), &got) == 0);
        RC_ASSERT(got.slurm_version == sent.slurm_version);
        RC_ASSERT(got.pid == sent.pid);
        RC_ASSERT(got.table_hash == sent.table_hash);
        RC_ASSERT(got.node_count == sent.node_count);
        RC_ASSERT(text(got.release) == release);
        RC_ASSERT(text(got.node_table) == table);
    }));
}

TEST_CASE("wire: a WELCOME arrives as it was sent") {
    CHECK(rc::check("welcome", [] {
        const aegis_welcome sent{*rc::gen::inRange<std::uint8_t>(0, 3), *rc::gen::inRange<std::uint8_t>(0, 3),
                                 *rc::gen::arbitrary<std::uint32_t>(), *rc::gen::arbitrary<std::uint32_t>(),
                                 *rc::gen::arbitrary<std::uint64_t>()};
        const Bytes payload = payload_of(
            framed([&](auto* out, auto size) { return aegis_encode_welcome(out, size, &sent); }), AEGIS_WELCOME);
        aegis_welcome got;
        RC_ASSERT(aegis_decode_welcome(payload.data(), payload.size(), &got) == 0);
        RC_ASSERT(got.status == sent.status);
        RC_ASSERT(got.mode == sent.mode);
        RC_ASSERT(got.deadline_us == sent.deadline_us);
        RC_ASSERT(got.lease_ms == sent.lease_ms);
        RC_ASSERT(got.table_hash == sent.table_hash);
    }));
}

TEST_CASE("wire: an ASK arrives as it was sent") {
    CHECK(rc::check("ask", [] {
        const std::string key = any_key(), facts = *rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '~'));
        const std::uint32_t count = any_count();
        const Nodes candidates = any_nodes(count);
        const Nodes s1 = nodes_of(count, [&](auto i) {
            return (candidates.bytes[i / 8] >> (i % 8) & 1) && *rc::gen::arbitrary<bool>();
        });
        const bool has_idle = *rc::gen::arbitrary<bool>();
        const Nodes idle = any_nodes(has_idle ? count : 0);
        const auto request = *rc::gen::arbitrary<std::uint64_t>();
        const aegis_ask sent{*rc::gen::arbitrary<std::uint64_t>(),
                             *rc::gen::arbitrary<std::uint32_t>(),
                             *rc::gen::arbitrary<std::uint32_t>(),
                             *rc::gen::arbitrary<std::uint32_t>(),
                             (has_idle ? std::uint32_t{AEGIS_ASK_HAS_IDLE} : 0) |
                                 (*rc::gen::arbitrary<bool>() ? std::uint32_t{AEGIS_ASK_KEPT} : 0),
                             view(key),
                             *rc::gen::arbitrary<std::uint32_t>(),
                             *rc::gen::arbitrary<std::uint64_t>(),
                             view(facts),
                             candidates.view(),
                             s1.view(),
                             idle.view()};
        const Bytes payload = payload_of(
            framed([&](auto* out, auto size) { return aegis_encode_ask(out, size, request, &sent); }), AEGIS_ASK,
            request);
        aegis_ask got;
        RC_ASSERT(aegis_decode_ask(payload.data(), payload.size(), &got) == 0);
        RC_ASSERT(got.table_hash == sent.table_hash);
        RC_ASSERT(got.min_nodes == sent.min_nodes);
        RC_ASSERT(got.max_nodes == sent.max_nodes);
        RC_ASSERT(got.req_nodes == sent.req_nodes);
        RC_ASSERT(got.flags == sent.flags);
        RC_ASSERT(got.job_id == sent.job_id);
        RC_ASSERT(got.time_us == sent.time_us);
        RC_ASSERT(text(got.job_key) == key);
        RC_ASSERT(text(got.facts) == facts);
        RC_ASSERT(candidates == got.candidates);
        RC_ASSERT(s1 == got.s1);
        RC_ASSERT(idle == got.idle);
    }));
}

TEST_CASE("wire: an ADVICE arrives as it was sent") {
    CHECK(rc::check("advice", [] {
        const std::uint32_t count = any_count();
        const std::vector<Nodes> plans{any_nodes(count), any_nodes(count)};
        const auto plan_count = *rc::gen::inRange<std::uint8_t>(0, AEGIS_PLANS_MAX + 1);
        const auto request = *rc::gen::arbitrary<std::uint64_t>();
        const aegis_advice sent{*rc::gen::arbitrary<std::uint64_t>(),
                                static_cast<std::uint8_t>(plan_count > 0 ? AEGIS_PLANS : AEGIS_KEEP),
                                plan_count,
                                {plans[0].view(), plans[1].view()}};
        const Bytes payload = payload_of(
            framed([&](auto* out, auto size) { return aegis_encode_advice(out, size, request, &sent); }), AEGIS_ADVICE,
            request);
        aegis_advice got;
        RC_ASSERT(aegis_decode_advice(payload.data(), payload.size(), &got) == 0);
        RC_ASSERT(got.decision == sent.decision);
        RC_ASSERT(got.verdict == sent.verdict);
        RC_ASSERT(got.plan_count == plan_count);
        for (unsigned i = 0; i < plan_count; i++) RC_ASSERT(plans[i] == got.plans[i]);
    }));
}

TEST_CASE("wire: a CALM arrives as it was sent") {
    CHECK(rc::check("calm", [] {
        const std::uint32_t count = any_count();
        const Nodes calm = any_nodes(count), inviting = any_nodes(count);
        const aegis_calm sent{*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<std::uint32_t>(), calm.view(),
                              inviting.view()};
        const Bytes payload = payload_of(
            framed([&](auto* out, auto size) { return aegis_encode_calm(out, size, &sent); }), AEGIS_CALM);
        aegis_calm got;
        RC_ASSERT(aegis_decode_calm(payload.data(), payload.size(), &got) == 0);
        RC_ASSERT(got.table_hash == sent.table_hash);
        RC_ASSERT(got.valid_ms == sent.valid_ms);
        RC_ASSERT(calm == got.calm);
        RC_ASSERT(inviting == got.inviting);
    }));
}

TEST_CASE("wire: an OUTCOME arrives as it was sent") {
    CHECK(rc::check("outcome", [] {
        const Nodes chosen = any_nodes(any_count());
        const aegis_outcome sent{*rc::gen::inRange<std::uint64_t>(1, UINT64_MAX),
                                 *rc::gen::inRange<std::uint8_t>(0, 5),
                                 *rc::gen::inRange<std::uint8_t>(1, 5),
                                 *rc::gen::arbitrary<std::int32_t>(),
                                 *rc::gen::arbitrary<std::int32_t>(),
                                 *rc::gen::arbitrary<std::uint32_t>(),
                                 chosen.view()};
        const Bytes payload = payload_of(
            framed([&](auto* out, auto size) { return aegis_encode_outcome(out, size, &sent); }), AEGIS_OUTCOME);
        aegis_outcome got;
        RC_ASSERT(aegis_decode_outcome(payload.data(), payload.size(), &got) == 0);
        RC_ASSERT(got.decision == sent.decision);
        RC_ASSERT(got.result == sent.result);
        RC_ASSERT(got.inner_calls == sent.inner_calls);
        RC_ASSERT(got.s1_rc == sent.s1_rc);
        RC_ASSERT(got.final_rc == sent.final_rc);
        RC_ASSERT(got.waited_us == sent.waited_us);
        RC_ASSERT(chosen == got.chosen);
    }));
}

TEST_CASE("wire: JOB_BEGIN and JOB_END arrive as they were sent") {
    CHECK(rc::check("job event", [] {
        const std::string key = any_key();
        const aegis_type type = *rc::gen::element(AEGIS_JOB_BEGIN, AEGIS_JOB_END);
        const aegis_job_event sent{view(key), *rc::gen::arbitrary<std::uint32_t>(),
                                   *rc::gen::arbitrary<std::uint64_t>()};
        const Bytes payload = payload_of(
            framed([&](auto* out, auto size) { return aegis_encode_job_event(out, size, type, &sent); }), type);
        aegis_job_event got;
        RC_ASSERT(aegis_decode_job_event(payload.data(), payload.size(), &got) == 0);
        RC_ASSERT(text(got.job_key) == key);
        RC_ASSERT(got.job_id == sent.job_id);
        RC_ASSERT(got.time_us == sent.time_us);
    }));
}

TEST_CASE("wire: every counter of a PING arrives in its own place") {
    // all fields of the struct are distinct numbers, so two that change places would show
    aegis_counters sent;
    auto* words = reinterpret_cast<std::uint64_t*>(&sent);
    static_assert(sizeof sent == 35 * 8, "a counter was added: it must travel too");
    for (std::uint64_t i = 0; i < 34; i++) words[i] = (i + 1) * UINT64_C(0x0101010101010101);
    sent.breaker_open = 1;
    sent.breaker_wait_ms = 5000;
    const Bytes payload = payload_of(
        framed([&](auto* out, auto size) { return aegis_encode_ping(out, size, 4, &sent); }), AEGIS_PING, 4);
    aegis_counters got;
    REQUIRE(aegis_decode_ping(payload.data(), payload.size(), &got) == 0);
    CHECK(std::memcmp(&got, &sent, sizeof sent) == 0);
}

TEST_CASE("wire: a PONG has no payload and echoes the request") {
    const Bytes frame = framed([](auto* out, auto size) { return aegis_encode_pong(out, size, 4); });
    const Bytes payload = payload_of(frame, AEGIS_PONG, 4);
    CHECK(aegis_decode_pong(payload.data(), payload.size()) == 0);
    CHECK(aegis_decode_pong(frame.data(), 1) == AEGIS_WIRE_LENGTH_BAD);
}

TEST_CASE("wire: the layout on the wire is the documented one") {
    // written by hand from aegis-protocol(7), so that encoder and decoder cannot agree on something else
    const Bytes frame = framed([](auto* out, auto size) {
        const aegis_welcome m{AEGIS_REFUSED_NODE_TABLE, AEGIS_MODE_OBSERVE, 2000, 5000, 0x1122334455667788};
        return aegis_encode_welcome(out, size, &m);
    });
    CHECK(frame == Bytes{'A', 'E', 'G', 'S', 2, 0, 2, 0, 18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                         2, 1, 0xd0, 7, 0, 0, 0x88, 0x13, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11});
}

TEST_CASE("wire: every truncation is refused and leaves a zeroed message") {
    for (const Specimen& s : specimens()) {
        INFO(s.name);
        const Bytes payload = payload_of(framed(s.encode), s.type, request_of(s.type));
        REQUIRE(s.decode(payload.data(), payload.size()) == 0);
        for (std::size_t size = 0; size < payload.size(); size++) {
            INFO("cut to " << size);
            const Bytes cut(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(size)); // ASan sees its end
            CHECK(s.decode(cut.data(), size) < 0);
            CHECK(s.zeroed_after_failure(cut.data(), size));
        }
    }
}

TEST_CASE("wire: a trailing byte is refused") {
    for (const Specimen& s : specimens()) {
        INFO(s.name);
        Bytes payload = payload_of(framed(s.encode), s.type, request_of(s.type));
        payload.push_back(0);
        CHECK(s.decode(payload.data(), payload.size()) == AEGIS_WIRE_LENGTH_BAD);
        CHECK(s.zeroed_after_failure(payload.data(), payload.size()));
    }
}

TEST_CASE("wire: an encoder without enough space says so and writes nothing behind the end") {
    for (const Specimen& s : specimens()) {
        INFO(s.name);
        const Bytes frame = framed(s.encode);
        for (std::size_t size = 0; size < frame.size(); size++) {
            Bytes small(size + 1, 0xee);
            CHECK(s.encode(small.data(), size) == AEGIS_WIRE_NO_SPACE);
            CHECK(small[size] == 0xee);
        }
    }
}

TEST_CASE("wire: a frame is not ready before its last byte") {
    for (const Specimen& s : specimens()) {
        const Bytes frame = framed(s.encode);
        for (std::size_t size = 0; size < frame.size(); size++) {
            aegis_header header;
            CHECK(aegis_frame_length(frame.data(), size, &header) == 0);
        }
    }
}

TEST_CASE("wire: a bad header is refused as soon as it can be told") {
    const Bytes good = framed([](auto* out, auto size) { return aegis_encode_pong(out, size, 4); });
    aegis_header header;
    const auto with = [&](std::size_t at, std::uint8_t value) {
        Bytes bad = good;
        bad[at] = value;
        return aegis_frame_length(bad.data(), bad.size(), &header);
    };
    CHECK(with(0, 'B') == AEGIS_WIRE_MAGIC_BAD);
    CHECK(with(3, 0) == AEGIS_WIRE_MAGIC_BAD);
    CHECK(aegis_frame_length(reinterpret_cast<const std::uint8_t*>("GET "), 1, &header) == AEGIS_WIRE_MAGIC_BAD);
    CHECK(with(4, 1) == AEGIS_WIRE_VERSION_BAD);
    CHECK(header.version == 1); // still readable, so that the peer can be answered
    CHECK(header.type == AEGIS_PONG);
    CHECK(with(6, 0) == AEGIS_WIRE_TYPE_BAD);
    CHECK(with(6, 11) == AEGIS_WIRE_TYPE_BAD);
    CHECK(with(7, 1) == AEGIS_WIRE_TYPE_BAD);
    CHECK(with(11, 0xff) == AEGIS_WIRE_LENGTH_BAD);
}

TEST_CASE("wire: a length over the bound of its type is refused at the header") {
    const auto code = [](aegis_type type, std::uint32_t length) {
        Bytes header_bytes = framed([](auto* out, auto size) { return aegis_encode_pong(out, size, 0); });
        header_bytes[6] = static_cast<std::uint8_t>(type);
        for (unsigned i = 0; i < 4; i++) header_bytes[8 + i] = static_cast<std::uint8_t>(length >> (8 * i));
        aegis_header header;
        return aegis_frame_length(header_bytes.data(), header_bytes.size(), &header);
    };
    CHECK(code(AEGIS_HELLO, AEGIS_PAYLOAD_MAX) == 0);
    CHECK(code(AEGIS_HELLO, AEGIS_PAYLOAD_MAX + 1) == AEGIS_WIRE_LENGTH_BAD);
    CHECK(code(AEGIS_ASK, AEGIS_ASK_PAYLOAD_MAX) == 0);
    CHECK(code(AEGIS_ASK, AEGIS_ASK_PAYLOAD_MAX + 1) == AEGIS_WIRE_LENGTH_BAD);
    CHECK(code(AEGIS_ADVICE, AEGIS_ADVICE_PAYLOAD_MAX) == 0);
    CHECK(code(AEGIS_ADVICE, AEGIS_ADVICE_PAYLOAD_MAX + 1) == AEGIS_WIRE_LENGTH_BAD);
    CHECK(code(AEGIS_CALM, AEGIS_CALM_PAYLOAD_MAX) == 0);
    CHECK(code(AEGIS_CALM, AEGIS_CALM_PAYLOAD_MAX + 1) == AEGIS_WIRE_LENGTH_BAD);
    CHECK(code(AEGIS_OUTCOME, AEGIS_OUTCOME_PAYLOAD_MAX + 1) == AEGIS_WIRE_LENGTH_BAD);
    for (aegis_type type : {AEGIS_WELCOME, AEGIS_JOB_BEGIN, AEGIS_JOB_END, AEGIS_PING, AEGIS_PONG})
        CHECK(code(type, 513) == AEGIS_WIRE_LENGTH_BAD);
}

TEST_CASE("wire: the largest messages fit their bounds, one step further is refused") {
    const std::string key(AEGIS_JOB_KEY_MAX, 'k'), facts(AEGIS_FACTS_MAX, 'f');
    const Nodes all = nodes_of(AEGIS_NODES_MAX, [](auto) { return true; });
    aegis_ask ask{1,   1, 1, 1, AEGIS_ASK_HAS_IDLE, view(key), 1, 1, view(facts), all.view(), all.view(),
                  all.view()};
    const auto encode = [&](auto* out, auto size) { return aegis_encode_ask(out, size, 1, &ask); };
    CHECK(code_of(encode) == AEGIS_HEADER_BYTES + AEGIS_ASK_PAYLOAD_MAX);
    const std::string long_key(AEGIS_JOB_KEY_MAX + 1, 'k'), long_facts(AEGIS_FACTS_MAX + 1, 'f');
    ask.job_key = view(long_key);
    CHECK(code_of(encode) == AEGIS_WIRE_LENGTH_BAD);
    ask.job_key = view(key);
    ask.facts = view(long_facts);
    CHECK(code_of(encode) == AEGIS_WIRE_LENGTH_BAD);
    ask.facts = view(facts);
    ask.candidates.count = AEGIS_NODES_MAX + 1;
    CHECK(code_of(encode) == AEGIS_WIRE_LENGTH_BAD);

    aegis_advice advice{1, AEGIS_PLANS, 2, {all.view(), all.view()}};
    const auto encode_advice = [&](auto* out, auto size) { return aegis_encode_advice(out, size, 1, &advice); };
    CHECK(code_of(encode_advice) == AEGIS_HEADER_BYTES + AEGIS_ADVICE_PAYLOAD_MAX);
    advice.plan_count = 3;
    CHECK(code_of(encode_advice) == AEGIS_WIRE_LENGTH_BAD);

    aegis_calm calm{1, 2500, all.view(), all.view()};
    const auto encode_calm = [&](auto* out, auto size) { return aegis_encode_calm(out, size, &calm); };
    CHECK(code_of(encode_calm) == AEGIS_HEADER_BYTES + AEGIS_CALM_PAYLOAD_MAX);
    calm.inviting.count++;
    CHECK(code_of(encode_calm) == AEGIS_WIRE_LENGTH_BAD);

    const std::string release(AEGIS_RELEASE_MAX, 'r'), table(AEGIS_NODE_TABLE_MAX, 't');
    aegis_hello hello{1, 1, 1, AEGIS_NODES_MAX, view(release), view(table)};
    Bytes big(AEGIS_HEADER_BYTES + AEGIS_PAYLOAD_MAX);
    CHECK(aegis_encode_hello(big.data(), big.size(), &hello) > AEGIS_NODE_TABLE_MAX);
    hello.node_count++;
    CHECK(aegis_encode_hello(big.data(), big.size(), &hello) == AEGIS_WIRE_LENGTH_BAD);
}

TEST_CASE("wire: a length field that points past the payload is refused without reading there") {
    const Bytes frame = framed(specimens()[0].encode);
    const Bytes payload = payload_of(frame, AEGIS_HELLO);
    for (std::size_t at : {20u, 29u}) { // of the release, of the table
        for (std::uint32_t length : {0xffffffffu, std::uint32_t{AEGIS_NODE_TABLE_MAX}, 31u}) {
            Bytes bad = payload;
            for (unsigned i = 0; i < 4; i++) bad[at + i] = static_cast<std::uint8_t>(length >> (8 * i));
            aegis_hello hello;
            CHECK(aegis_decode_hello(bad.data(), bad.size(), &hello) < 0);
        }
    }
}

TEST_CASE("wire: spare bits of a node set must be zero") {
    const std::string key = "7";
    Nodes nodes = nodes_of(13, [](auto) { return true; });
    aegis_outcome outcome{1, AEGIS_RESULT_KEPT, 1, 0, 0, 0, nodes.view()};
    const auto encode = [&](auto* out, auto size) { return aegis_encode_outcome(out, size, &outcome); };
    Bytes payload = payload_of(framed(encode), AEGIS_OUTCOME);
    payload.back() |= 0x20; // bit 13 of 13
    CHECK(aegis_decode_outcome(payload.data(), payload.size(), &outcome) == AEGIS_WIRE_VALUE_BAD);
    nodes.bytes[1] |= 0x80;
    outcome = {1, AEGIS_RESULT_KEPT, 1, 0, 0, 0, nodes.view()};
    CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
}

TEST_CASE("wire: fields outside their enum or at odds with one another are refused both ways") {
    const std::string key = "7";
    const Nodes two = nodes_of(2, [](auto) { return true; }), one = nodes_of(2, [](auto i) { return i == 0; });
    const Nodes three = nodes_of(3, [](auto) { return true; }), none = nodes_of(0, [](auto) { return false; });

    SECTION("welcome") {
        for (auto [status, mode] : {std::pair{3, 0}, {0, 3}}) {
            const aegis_welcome m{static_cast<std::uint8_t>(status), static_cast<std::uint8_t>(mode), 0, 0, 0};
            CHECK(code_of([&](auto* o, auto s) { return aegis_encode_welcome(o, s, &m); }) == AEGIS_WIRE_VALUE_BAD);
        }
    }
    SECTION("ask") {
        const aegis_ask good{1, 1, 1, 1, 0, view(key), 7, 0, {nullptr, 0}, two.view(), one.view(), none.view()};
        aegis_ask m = good;
        const auto encode = [&](auto* o, auto s) { return aegis_encode_ask(o, s, 1, &m); };
        CHECK(code_of(encode) > 0);
        m.flags = 8;
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
        m = good;
        m.flags = AEGIS_ASK_HAS_IDLE; // promised and missing
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
        m = good;
        m.idle = two.view(); // there and not promised
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
        m = good;
        m.s1 = three.view(); // of another table
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
        m = good;
        m.candidates = one.view(), m.s1 = two.view(); // S1 outside the candidates
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
        m = good;
        m.candidates = m.s1 = none.view();
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
        m = good;
        for (const std::string& bad : {std::string("7 8"), std::string("7\n"), std::string("7\x80"), std::string("7\0", 2)}) {
            m.job_key = view(bad);
            CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
        }
        m.job_key = {nullptr, 0};
        CHECK(code_of(encode) == AEGIS_WIRE_LENGTH_BAD);
        m = good;
        const std::string nul("a\0b", 3);
        m.facts = view(nul);
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
    }
    SECTION("advice") {
        aegis_advice m{1, AEGIS_KEEP, 1, {two.view(), two.view()}};
        const auto encode = [&](auto* o, auto s) { return aegis_encode_advice(o, s, 1, &m); };
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
        m.verdict = AEGIS_PLANS, m.plan_count = 0;
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
        m.plan_count = 2, m.plans[1] = three.view();
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
        m.plan_count = 1, m.plans[0] = none.view();
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
        m.plans[0] = two.view(), m.verdict = 2;
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
    }
    SECTION("calm") {
        aegis_calm m{1, 2500, two.view(), two.view()};
        const auto encode = [&](auto* o, auto s) { return aegis_encode_calm(o, s, &m); };
        CHECK(code_of(encode) > 0);
        m.inviting = three.view(); // of another table
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
        m.calm = m.inviting = none.view();
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
    }
    SECTION("outcome") {
        aegis_outcome m{1, 5, 1, 0, 0, 0, none.view()};
        const auto encode = [&](auto* o, auto s) { return aegis_encode_outcome(o, s, &m); };
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
        m.result = AEGIS_RESULT_LOST;
        CHECK(code_of(encode) > 0);
        for (std::uint8_t calls : {0, 5}) {
            m.inner_calls = calls;
            CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
        }
        m.inner_calls = 4, m.decision = 0;
        CHECK(code_of(encode) == AEGIS_WIRE_VALUE_BAD);
    }
    SECTION("job event of another type") {
        const aegis_job_event m{view(key), 7, 0};
        CHECK(code_of([&](auto* o, auto s) { return aegis_encode_job_event(o, s, AEGIS_PING, &m); }) ==
              AEGIS_WIRE_TYPE_BAD);
    }
    SECTION("counters") {
        aegis_counters m{};
        m.breaker_open = 2;
        CHECK(code_of([&](auto* o, auto s) { return aegis_encode_ping(o, s, 1, &m); }) == AEGIS_WIRE_VALUE_BAD);
    }
}

TEST_CASE("wire: random and mutated bytes never make a decoder misbehave") {
    // ASan and UBSan watch this one.
    std::mt19937_64 random{20240607};
    for (const Specimen& s : specimens()) {
        const Bytes good = payload_of(framed(s.encode), s.type, request_of(s.type));
        for (int round = 0; round < 3000; round++) {
            Bytes bytes = good;
            if (round % 3 == 0) {
                bytes.resize(random() % 300);
                for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
            } else {
                for (unsigned hits = 1 + random() % 3; hits > 0; hits--)
                    bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
                if (round % 3 == 2) bytes.resize(random() % (bytes.size() + 1));
            }
            const Bytes exact(bytes); // no spare capacity behind its end
            if (s.decode(exact.data(), exact.size()) != 0) CHECK(s.zeroed_after_failure(exact.data(), exact.size()));
            aegis_header header;
            CHECK(aegis_frame_length(exact.data(), exact.size(), &header) <=
                  static_cast<std::int64_t>(exact.size()));
        }
    }
}

TEST_CASE("wire: histogram buckets double from 4 us, and the last one takes the rest") {
    CHECK(aegis_bucket_of(0) == 0);
    CHECK(aegis_bucket_of(3) == 0);
    CHECK(aegis_bucket_of(4) == 1);
    for (unsigned k = 0; k + 1 < AEGIS_BUCKETS; k++) {
        CHECK(aegis_bucket_of((UINT64_C(1) << (k + 2)) - 1) == k);
        CHECK(aegis_bucket_of(UINT64_C(1) << (k + 2)) == k + 1);
    }
    CHECK(aegis_bucket_of(UINT64_MAX) == AEGIS_BUCKETS - 1);
}

TEST_CASE("wire: the table hash is FNV-1a of text and little-endian count") {
    // reference: FNV-1a 64 test vectors (Noll): "" is the offset basis, "a" is af63dc4c8601ec8c
    const std::uint64_t prime = 0x100000001b3;
    const auto four_zeros = [&](std::uint64_t hash) { return hash * prime * prime * prime * prime; };
    CHECK(aegis_table_hash("", 0, 0) == four_zeros(0xcbf29ce484222325));
    CHECK(aegis_table_hash("a", 1, 0) == four_zeros(0xaf63dc4c8601ec8c));
    CHECK(aegis_table_hash("n[0-1]", 6, 2) != aegis_table_hash("n[0-1]", 6, 3));
}
