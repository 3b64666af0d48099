// SONiC's COUNTERS_DB, decoded: what a switch says of its ports and queues, as readings (telemetry.md 2.4).
//
// Shared by Redis and gNMI, which carry the same fields. One SonicCounters stands for one database, that is one
// ASIC: object ids of two ASICs collide, so a multi-ASIC switch has one SonicCounters per namespace.
//
// What comes from where. Each signal of a port comes from one scope, so that a sum over a link never counts twice:
//   queues   depth (watermark: peak; occupancy: snapshot, only lossless queues have it), packets, ECN marks
//   ports    bytes, drops, PFC pause frames received (queue = priority); packets where no queue of the port counts them,
//            and ECN marks where no queue of the port has them
//   VOQs     depth only: their packets pass an egress queue again
// SAI_PORT_STAT_IF_OUT_QLEN is not read: its unit differs between chips.
//
// Unknown is not zero. A field that is absent, empty or "N/A" gives no reading, nor does an ECN counter that
// the capability table calls unsupported, nor any counter of a disabled group (its last value stays in the
// database). A text that is no number, and 2^64-1, are refused and counted.
//
// Values are dated by COUNTERS:TIME_STAMP where the image writes it: the moment syncd read the chip, by the switch's
// own monotonic clock. A value that was not read anew is not delivered again. Elsewhere a value has the time of the poll.
#pragma once

#include "lib/sample.h"
#include "lib/sonic_clock.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace aegis {

using SonicHash = std::vector<std::pair<std::string, std::string>>; // fields and values of one Redis hash

// The hashes that say what the object ids stand for; one that a database does not have is empty.
struct SonicMaps {
    SonicHash ports;         // COUNTERS_PORT_NAME_MAP: Ethernet0 -> oid
    SonicHash queues;        // COUNTERS_QUEUE_NAME_MAP: Ethernet0:3 -> oid
    SonicHash voqs;          // COUNTERS_VOQ_NAME_MAP: host|asic|Ethernet0:3 -> oid
    SonicHash queue_ports;   // COUNTERS_QUEUE_PORT_MAP: oid of the queue -> oid of its port
    SonicHash queue_indices; // COUNTERS_QUEUE_INDEX_MAP: oid -> 3
    SonicHash queue_types;   // COUNTERS_QUEUE_TYPE_MAP: oid -> SAI_QUEUE_TYPE_UNICAST
    SonicHash aliases;       // Ethernet0 -> etp1, from PORT_TABLE of APPL_DB
    std::string hostname;    // DEVICE_METADATA|localhost of CONFIG_DB

    // QUEUE_COUNTER_CAPABILITIES|WRED_ECN_QUEUE_ECN_MARKED_PKT_COUNTER of STATE_DB; absent on older images
    std::optional<bool> ecn_supported;
    // FLEX_COUNTER_TABLE|<group> of CONFIG_DB has FLEX_COUNTER_STATUS = disable
    bool ports_disabled = false, queues_disabled = false, watermarks_disabled = false, ecn_disabled = false;
};

enum class SonicTable : std::uint8_t { queue, voq, port }; // in the order in which a poll must take them

struct SonicObject {
    SonicTable table{};
    std::string oid;
    std::string sw; // may differ from the switch asked: a VOQ leads to a port of another line card
    std::string port;
    std::optional<unsigned> queue;
};

// "Ethernet0:3", "host|Ethernet0:3" or "host|asic|Ethernet0:3".
struct SonicQueueName {
    std::string_view host; // empty but for a VOQ
    std::string_view port;
    unsigned queue = 0;
    bool operator==(const SonicQueueName&) const = default;
};
std::optional<SonicQueueName> parse_sonic_queue_name(std::string_view name);

struct SonicNaming {
    std::string source;
    std::string sw;            // the switch, as the fabric map names it
    bool port_aliases = false; // ports by alias (what LLDP advertises) instead of EthernetN
};

class SonicCounters {
public:
    explicit SonicCounters(SonicNaming naming) : naming_(std::move(naming)) {}

    // Objects whose name leads to another oid than before (breakout, restart of syncd) begin new series.
    void take_maps(const SonicMaps& maps);

    // Queues first, then VOQs, then ports.
    const std::vector<SonicObject>& objects() const { return objects_; }
    // Queues whose name and port maps contradict each other or lead to no port: left over from a breakout, not read.
    std::size_t contradictions() const { return contradictions_; }

    // Fields of COUNTERS:<oid>, in the order in which take() wants their values.
    static std::span<const char* const> fields(SonicTable table);
    // The field of PERIODIC_WATERMARKS:<oid> that take_periodic() wants.
    static constexpr const char* periodic_field = "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES";

    // One poll: begin, take each object in order, take_periodic for those that want it, finish.
    void begin(EventTime polled_at, const SonicHash& time_stamps);
    void take(std::size_t object, std::span<const std::optional<std::string_view>> values);
    // COUNTERS had no watermark for this queue in this poll.
    bool wants_periodic(std::size_t object) const;
    void take_periodic(std::size_t object, std::optional<std::string_view> value);
    Batch finish();

private:
    static constexpr std::size_t slots = 12; // fields of a port, the longest row

    struct State { // of objects_ at the same position
        std::array<std::optional<SeriesIndex>, slots> series;
        bool no_watermark = false;
    };
    struct PortSeen { // in this poll, by queues of the port
        bool packets = false, marks = false;
    };
    struct Group {
        bool disabled = false;
        bool stamped = false; // the image dates this group
        bool repeated = false; // ... and has not read it anew since the last poll
        std::uint64_t last_stamp = 0;
        EventTime time{};
    };
    enum GroupId : std::uint8_t { port_group, queue_group, watermark_group, ecn_group, pfc_watchdog_group, group_count };

    std::optional<double> number(std::optional<std::string_view> text);
    void deliver(std::size_t object, std::size_t slot, Signal signal, Kind kind, std::optional<unsigned> queue,
                 double value, GroupId group);
    bool usable(GroupId group) const { return !groups_[group].disabled && !groups_[group].repeated; }
    void take_queue(std::size_t object, std::span<const std::optional<std::string_view>> values);
    void take_port(std::size_t object, std::span<const std::optional<std::string_view>> values);

    SonicNaming naming_;
    std::vector<SonicObject> objects_;
    std::vector<State> states_;
    std::unordered_map<std::string, std::size_t> port_position_; // by EthernetN: where its PortSeen is
    std::vector<std::size_t> port_of_;                           // by object: position of its port's PortSeen
    std::vector<PortSeen> seen_;
    std::size_t contradictions_ = 0;
    bool ecn_supported_ = true;

    SonicClock clock_;
    std::array<Group, group_count> groups_;
    std::uint32_t next_series_ = 0;
    Batch batch_;
};

} // namespace aegis
