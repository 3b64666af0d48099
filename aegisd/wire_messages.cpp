#include "aegisd/wire_messages.h"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <cassert>
#include <fmt/format.h>
#include <iterator>

namespace aegis {

namespace {

aegis_nodes nodes_in(const std::vector<std::uint8_t>& bytes, std::size_t count) {
    return {static_cast<std::uint32_t>(count), bytes.data()};
}

void fit(Frame& frame, std::int64_t length) {
    assert(length > 0); // our own messages are within their bounds
    frame.resize(static_cast<std::size_t>(length));
}

} // namespace

std::string_view text_of(const aegis_bytes& bytes) { return {bytes.data, bytes.length}; }

NodeSet node_set_of(const aegis_nodes& nodes) {
    std::vector<std::uint64_t> blocks((nodes.count + 63u) / 64u);
    const std::size_t size = (nodes.count + 7u) / 8u;
    for (std::size_t i = 0; i < size; ++i) blocks[i / 8] |= std::uint64_t{nodes.bytes[i]} << (8 * (i % 8));
    NodeSet set(blocks.begin(), blocks.end());
    set.resize(nodes.count);
    return set;
}

std::vector<std::uint8_t> bytes_of(const NodeSet& nodes) {
    std::vector<std::uint64_t> blocks;
    blocks.reserve(nodes.num_blocks());
    boost::to_block_range(nodes, std::back_inserter(blocks));
    std::vector<std::uint8_t> bytes((nodes.size() + 7) / 8);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(blocks[i / 8] >> (8 * (i % 8)));
    return bytes;
}

Ask ask_of(const aegis_ask& message) {
    Ask ask;
    ask.job_key = text_of(message.job_key);
    ask.job_id = message.job_id;
    ask.min_nodes = message.min_nodes;
    ask.max_nodes = message.max_nodes;
    ask.req_nodes = message.req_nodes;
    ask.candidates = node_set_of(message.candidates);
    ask.s1 = node_set_of(message.s1);
    ask.idle = message.flags & AEGIS_ASK_HAS_IDLE ? node_set_of(message.idle) : ask.candidates;
    ask.kept = message.flags & AEGIS_ASK_KEPT;
    return ask;
}

EventTime time_of(const aegis_ask& message) {
    return EventTime(std::chrono::microseconds(static_cast<std::int64_t>(message.time_us)));
}

JobEventRow job_event_of(const aegis_job_event& message) {
    return {std::string(text_of(message.job_key)), message.job_id, static_cast<std::int64_t>(message.time_us)};
}

std::string_view result_name(std::uint8_t result) {
    switch (static_cast<aegis_result>(result)) {
    case AEGIS_RESULT_KEPT: return "kept";
    case AEGIS_RESULT_PLAN_1: return "plan_1";
    case AEGIS_RESULT_PLAN_2: return "plan_2";
    case AEGIS_RESULT_RESTORED: return "restored";
    case AEGIS_RESULT_LOST: return "lost";
    }
    return {};
}

Frame welcome_frame(aegis_welcome_status status, Mode mode, std::uint32_t deadline_us, std::uint32_t lease_ms,
                    std::uint64_t table_hash) {
    static_assert(static_cast<int>(Mode::off) == AEGIS_MODE_OFF && static_cast<int>(Mode::observe) == AEGIS_MODE_OBSERVE &&
                  static_cast<int>(Mode::steer) == AEGIS_MODE_STEER);
    aegis_welcome message{};
    message.status = static_cast<std::uint8_t>(status);
    message.mode = static_cast<std::uint8_t>(mode);
    message.deadline_us = deadline_us;
    message.lease_ms = lease_ms;
    message.table_hash = table_hash;
    Frame frame(AEGIS_HEADER_BYTES + 64);
    fit(frame, aegis_encode_welcome(frame.data(), frame.size(), &message));
    return frame;
}

Frame advice_frame(std::uint64_t request, std::uint64_t decision, const std::vector<NodeSet>& plans) {
    aegis_advice message{};
    message.decision = decision;
    message.plan_count = static_cast<std::uint8_t>(std::min<std::size_t>(plans.size(), AEGIS_PLANS_MAX));
    message.verdict = message.plan_count ? AEGIS_PLANS : AEGIS_KEEP;
    std::vector<std::uint8_t> bytes[AEGIS_PLANS_MAX];
    std::size_t size = AEGIS_HEADER_BYTES + 64;
    for (std::size_t i = 0; i < message.plan_count; ++i) {
        bytes[i] = bytes_of(plans[i]);
        message.plans[i] = nodes_in(bytes[i], plans[i].size());
        size += bytes[i].size();
    }
    Frame frame(size);
    fit(frame, aegis_encode_advice(frame.data(), frame.size(), request, &message));
    return frame;
}

Frame calm_frame(std::uint64_t table_hash, std::chrono::milliseconds valid, const OneNodeAdvice& advice) {
    const auto calm = bytes_of(advice.calm), inviting = bytes_of(advice.inviting);
    aegis_calm message{};
    message.table_hash = table_hash;
    message.valid_ms = static_cast<std::uint32_t>(valid.count());
    message.calm = nodes_in(calm, advice.calm.size());
    message.inviting = nodes_in(inviting, advice.inviting.size());
    Frame frame(AEGIS_HEADER_BYTES + 64 + calm.size() + inviting.size());
    fit(frame, aegis_encode_calm(frame.data(), frame.size(), &message));
    return frame;
}

Frame pong_frame(std::uint64_t request) {
    Frame frame(AEGIS_HEADER_BYTES);
    fit(frame, aegis_encode_pong(frame.data(), frame.size(), request));
    return frame;
}

std::string slurm_version_text(std::uint32_t version) {
    return fmt::format("{}.{:02}.{}", version >> 16, version >> 8 & 0xff, version & 0xff);
}

std::string_view wire_error_text(std::int64_t error) {
    switch (static_cast<aegis_wire_error>(error)) {
    case AEGIS_WIRE_SHORT: return "a message shorter than its fields";
    case AEGIS_WIRE_MAGIC_BAD: return "bytes that are no frame of the Aegis protocol";
    case AEGIS_WIRE_VERSION_BAD: return "another version of the protocol";
    case AEGIS_WIRE_TYPE_BAD: return "a message of unknown type";
    case AEGIS_WIRE_LENGTH_BAD: return "a length over its bound or not matching the message";
    case AEGIS_WIRE_VALUE_BAD: return "a field outside its range";
    case AEGIS_WIRE_NO_SPACE: return "a buffer too small";
    }
    return "an unknown error";
}

} // namespace aegis
