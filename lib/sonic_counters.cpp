#include "lib/sonic_counters.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace aegis {

namespace {

constexpr std::array queue_fields{
    "SAI_QUEUE_STAT_PACKETS",
    "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS",
    "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES",
    "SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES",
};
enum QueueSlot : std::size_t { queue_packets, queue_marks, queue_peak, queue_occupancy };

constexpr std::array port_fields{
    "SAI_PORT_STAT_IF_OUT_OCTETS",     "SAI_PORT_STAT_IF_OUT_UCAST_PKTS", "SAI_PORT_STAT_IF_OUT_NON_UCAST_PKTS",
    "SAI_PORT_STAT_IF_OUT_DISCARDS",   "SAI_PORT_STAT_ECN_MARKED_PACKETS",
    "SAI_PORT_STAT_PFC_0_RX_PKTS",     "SAI_PORT_STAT_PFC_1_RX_PKTS",     "SAI_PORT_STAT_PFC_2_RX_PKTS",
    "SAI_PORT_STAT_PFC_3_RX_PKTS",     "SAI_PORT_STAT_PFC_4_RX_PKTS",     "SAI_PORT_STAT_PFC_5_RX_PKTS",
    "SAI_PORT_STAT_PFC_6_RX_PKTS",     "SAI_PORT_STAT_PFC_7_RX_PKTS",
};
enum PortField : std::size_t { port_octets, port_unicast, port_other, port_discards, port_marked, port_pause };
enum PortSlot : std::size_t { slot_bytes, slot_packets, slot_drops, slot_marks, slot_pause };
constexpr unsigned priorities = 8;
static_assert(port_fields.size() == port_pause + priorities);

// FLEX_COUNTER group and counter type, as syncd joins them. Older images keep the space in the type's name.
struct StampName {
    std::string_view instance, type;
};
constexpr std::array stamp_names{
    StampName{"PORT_STAT_COUNTER", "Port Counter"},
    StampName{"QUEUE_STAT_COUNTER", "Queue Counter"},
    StampName{"QUEUE_WATERMARK_STAT_COUNTER", "Queue Counter"},
    StampName{"WRED_ECN_QUEUE_STAT_COUNTER", "Queue Counter"},
    StampName{"PFC_WD", "Queue Counter"},
};

bool names_group(std::string_view field, StampName group) {
    constexpr std::string_view ending = "_time_stamp";
    if (field.size() != group.instance.size() + 1 + group.type.size() + ending.size()) return false;
    if (!field.starts_with(group.instance) || !field.ends_with(ending)) return false;
    const auto type = field.substr(group.instance.size() + 1, group.type.size());
    return field[group.instance.size()] == '_' &&
           std::equal(type.begin(), type.end(), group.type.begin(),
                      [](char written, char wanted) { return written == wanted || (wanted == ' ' && written == '_'); });
}

std::optional<std::uint64_t> unsigned_of(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::unordered_map<std::string_view, std::string_view> lookup(const SonicHash& hash) {
    std::unordered_map<std::string_view, std::string_view> map;
    map.reserve(hash.size());
    for (const auto& [field, value] : hash) map.emplace(field, value);
    return map;
}

std::optional<std::string_view> find(const std::unordered_map<std::string_view, std::string_view>& map,
                                     std::string_view key) {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
}

} // namespace

std::optional<SonicQueueName> parse_sonic_queue_name(std::string_view name) {
    SonicQueueName parsed;
    if (const auto bar = name.rfind('|'); bar != std::string_view::npos) {
        parsed.host = name.substr(0, name.find('|'));
        name.remove_prefix(bar + 1);
        if (parsed.host.empty()) return std::nullopt;
    }
    const auto colon = name.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    const auto queue = unsigned_of(name.substr(colon + 1));
    if (!queue || *queue > std::numeric_limits<std::uint16_t>::max()) return std::nullopt;
    parsed.port = name.substr(0, colon);
    parsed.queue = static_cast<unsigned>(*queue);
    return parsed;
}

std::span<const char* const> SonicCounters::fields(SonicTable table) {
    switch (table) {
    case SonicTable::queue:
    case SonicTable::voq: return queue_fields;
    case SonicTable::port: return port_fields;
    }
    return {};
}

void SonicCounters::take_maps(const SonicMaps& maps) {
    struct Before {
        std::string oid;
        State state;
    };
    std::unordered_map<std::string, Before> before;
    const auto key_of = [](const SonicObject& object) {
        return std::to_string(static_cast<int>(object.table)) + '/' + object.sw + '/' + object.port + '/' +
               (object.queue ? std::to_string(*object.queue) : "");
    };
    for (std::size_t i = 0; i < objects_.size(); ++i) before.emplace(key_of(objects_[i]), Before{objects_[i].oid, states_[i]});

    objects_.clear();
    states_.clear();
    port_of_.clear();
    port_position_.clear();
    contradictions_ = 0;
    ecn_supported_ = maps.ecn_supported.value_or(true);
    groups_[port_group].disabled = maps.ports_disabled;
    groups_[queue_group].disabled = maps.queues_disabled;
    groups_[watermark_group].disabled = maps.watermarks_disabled;
    groups_[ecn_group].disabled = maps.ecn_disabled;

    const auto alias = lookup(maps.aliases);
    const auto displayed = [&](std::string_view port) {
        const auto found = naming_.port_aliases ? find(alias, port) : std::nullopt;
        return std::string(found && !found->empty() ? *found : port);
    };
    const auto position = [&](std::string_view port) {
        return port_position_.try_emplace(std::string(port), port_position_.size()).first->second;
    };
    const auto add = [&](SonicObject object, std::string_view sonic_port) {
        State state;
        const auto known = before.find(key_of(object));
        if (known != before.end() && known->second.oid == object.oid) state = known->second.state;
        port_of_.push_back(position(sonic_port));
        objects_.push_back(std::move(object));
        states_.push_back(state);
    };

    std::unordered_map<std::string_view, std::string_view> port_by_oid;
    for (const auto& [name, oid] : maps.ports) port_by_oid.emplace(oid, name);
    const auto queue_port = lookup(maps.queue_ports);
    const auto queue_index = lookup(maps.queue_indices);
    const auto queue_type = lookup(maps.queue_types);

    const auto add_queues = [&](const SonicHash& names, SonicTable listed_in) {
        for (const auto& [name, oid] : names) {
            const auto parsed = parse_sonic_queue_name(name);
            if (!parsed || oid.empty()) {
                ++contradictions_;
                continue;
            }
            const auto type = find(queue_type, oid);
            const bool voq = listed_in == SonicTable::voq || (type && type->ends_with("_VOQ"));
            if (const auto port_oid = find(queue_port, oid); port_oid && !voq && !port_by_oid.empty()) {
                const auto port = find(port_by_oid, *port_oid);
                if (port != parsed->port) {
                    ++contradictions_;
                    continue;
                }
            }
            const auto index = find(queue_index, oid);
            if (index && unsigned_of(*index) != parsed->queue) {
                ++contradictions_;
                continue;
            }
            const bool local = parsed->host.empty() || parsed->host == maps.hostname;
            add({voq ? SonicTable::voq : SonicTable::queue, oid, local ? naming_.sw : std::string(parsed->host),
                 local ? displayed(parsed->port) : std::string(parsed->port), parsed->queue},
                parsed->port);
        }
    };
    add_queues(maps.queues, SonicTable::queue);
    add_queues(maps.voqs, SonicTable::voq);
    for (const auto& [name, oid] : maps.ports)
        if (!name.empty() && !oid.empty()) add({SonicTable::port, oid, naming_.sw, displayed(name), std::nullopt}, name);
}

void SonicCounters::begin(EventTime polled_at, const SonicHash& time_stamps) {
    batch_ = Batch{};
    batch_.source = naming_.source;
    batch_.polled_at = polled_at;
    seen_.assign(port_position_.size(), {});

    std::array<std::optional<std::uint64_t>, group_count> stamps;
    std::uint64_t newest = 0;
    for (const auto& [field, value] : time_stamps)
        for (std::size_t group = 0; group < group_count; ++group)
            if (names_group(field, stamp_names[group])) stamps[group] = unsigned_of(value);
    for (const auto& stamp : stamps) newest = std::max(newest, stamp.value_or(0));
    if (newest > 0) clock_.observe(polled_at, newest);

    for (std::size_t id = 0; id < group_count; ++id) {
        Group& group = groups_[id];
        const auto stamp = stamps[id].value_or(0);
        group.stamped = stamp > 0;
        group.repeated = group.stamped && stamp == group.last_stamp;
        group.last_stamp = stamp;
        group.time = group.stamped ? clock_.time_of(stamp) : polled_at;
    }
}

std::optional<double> SonicCounters::number(std::optional<std::string_view> text) {
    if (!text || text->empty() || *text == "N/A") return std::nullopt;
    const auto value = unsigned_of(*text);
    if (!value || *value == std::numeric_limits<std::uint64_t>::max()) {
        ++batch_.refused;
        return std::nullopt;
    }
    return static_cast<double>(*value);
}

void SonicCounters::deliver(std::size_t object, std::size_t slot, Signal signal, Kind kind,
                            std::optional<unsigned> queue, double value, GroupId group) {
    auto& series = states_[object].series[slot];
    if (!series) {
        series = SeriesIndex{next_series_++};
        batch_.announced.push_back(
            Series{naming_.source, objects_[object].sw, objects_[object].port, queue, signal, kind, std::nullopt});
    }
    batch_.readings.push_back({*series, value, groups_[group].time});
}

void SonicCounters::take(std::size_t object, std::span<const std::optional<std::string_view>> values) {
    switch (objects_[object].table) {
    case SonicTable::queue:
    case SonicTable::voq: return take_queue(object, values);
    case SonicTable::port: return take_port(object, values);
    }
}

void SonicCounters::take_queue(std::size_t object, std::span<const std::optional<std::string_view>> values) {
    const SonicObject& queue = objects_[object];
    PortSeen& seen = seen_[port_of_[object]];
    if (queue.table == SonicTable::queue) {
        if (const auto packets = number(values[queue_packets])) {
            seen.packets |= !groups_[queue_group].disabled;
            if (usable(queue_group))
                deliver(object, queue_packets, Signal::packets, Kind::counter, queue.queue, *packets, queue_group);
        }
        if (const auto marks = ecn_supported_ ? number(values[queue_marks]) : std::nullopt) {
            // Images before the WRED group read marks together with the other queue counters.
            const GroupId group = groups_[ecn_group].stamped || groups_[ecn_group].disabled ? ecn_group : queue_group;
            seen.marks |= !groups_[group].disabled;
            if (usable(group))
                deliver(object, queue_marks, Signal::ecn_marked_packets, Kind::counter, queue.queue, *marks, group);
        }
    }
    const auto peak = number(values[queue_peak]);
    states_[object].no_watermark = !peak;
    if (peak && usable(watermark_group))
        deliver(object, queue_peak, Signal::queue_depth, Kind::peak, queue.queue, *peak, watermark_group);
    if (const auto depth = number(values[queue_occupancy]); depth && usable(pfc_watchdog_group))
        deliver(object, queue_occupancy, Signal::queue_depth, Kind::snapshot, queue.queue, *depth, pfc_watchdog_group);
}

void SonicCounters::take_port(std::size_t object, std::span<const std::optional<std::string_view>> values) {
    if (!usable(port_group)) return;
    const PortSeen& seen = seen_[port_of_[object]];
    const auto counter = [&](std::size_t slot, Signal signal, std::optional<double> value,
                             std::optional<unsigned> priority = std::nullopt) {
        if (value) deliver(object, slot, signal, Kind::counter, priority, *value, port_group);
    };
    counter(slot_bytes, Signal::bytes, number(values[port_octets]));
    if (!seen.packets) {
        const auto unicast = number(values[port_unicast]), other = number(values[port_other]);
        if (unicast && other) counter(slot_packets, Signal::packets, *unicast + *other);
    }
    counter(slot_drops, Signal::drops, number(values[port_discards]));
    if (!seen.marks) counter(slot_marks, Signal::ecn_marked_packets, number(values[port_marked]));
    for (unsigned priority = 0; priority < priorities; ++priority)
        counter(slot_pause + priority, Signal::pfc_pause, number(values[port_pause + priority]), priority);
}

bool SonicCounters::wants_periodic(std::size_t object) const {
    // With the group disabled the periodic table is only cleared, never raised: its zeros mean nothing.
    return objects_[object].table != SonicTable::port && states_[object].no_watermark &&
           !groups_[watermark_group].disabled;
}

void SonicCounters::take_periodic(std::size_t object, std::optional<std::string_view> value) {
    const auto peak = number(value);
    if (!peak) return;
    // The periodic table is filled by a script of its own, which leaves no stamp: dated by the poll.
    auto& group = groups_[watermark_group];
    const EventTime kept = std::exchange(group.time, batch_.polled_at);
    deliver(object, queue_peak, Signal::queue_depth, Kind::peak, objects_[object].queue, *peak, watermark_group);
    group.time = kept;
}

Batch SonicCounters::finish() {
    if (objects_.empty())
        batch_.failure = "COUNTERS_PORT_NAME_MAP is empty: the switch is still starting, or this is not its COUNTERS_DB";
    return std::move(batch_);
}

} // namespace aegis
