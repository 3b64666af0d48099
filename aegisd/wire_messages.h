// Between the frames of lib/wire.h and the values the engine works with. Conversions only: bounds were checked by the
// decoders, agreement with the node table is checked by the caller.
#pragma once

#include "aegisd/store.h"
#include "lib/decision.h"
#include "lib/mode.h"
#include "lib/node_set.h"
#include "lib/one_node.h"
#include "lib/sample.h"
#include "lib/wire.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aegis {

using Frame = std::vector<std::uint8_t>;

std::string_view text_of(const aegis_bytes& bytes);
NodeSet node_set_of(const aegis_nodes& nodes);
std::vector<std::uint8_t> bytes_of(const NodeSet& nodes); // as struct aegis_nodes wants them

Ask ask_of(const aegis_ask& message);
EventTime time_of(const aegis_ask& message); // of the job test
JobEventRow job_event_of(const aegis_job_event& message);
std::string_view result_name(std::uint8_t result); // enum aegis_result as the store has it

Frame welcome_frame(aegis_welcome_status status, Mode mode, std::uint32_t deadline_us, std::uint32_t lease_ms,
                    std::uint64_t table_hash);
Frame advice_frame(std::uint64_t request, std::uint64_t decision, const std::vector<NodeSet>& plans);
Frame calm_frame(std::uint64_t table_hash, std::chrono::milliseconds valid, const OneNodeAdvice& advice);
Frame pong_frame(std::uint64_t request);

// "22.05.8" from SLURM_VERSION_NUMBER.
std::string slurm_version_text(std::uint32_t version);

// "a length over its bound …" from enum aegis_wire_error.
std::string_view wire_error_text(std::int64_t error);

} // namespace aegis
