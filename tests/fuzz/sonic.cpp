// Whatever stands in a switch's COUNTERS_DB: names of ports and queues, object ids, capabilities and values, polled twice.
//
// A line is a letter and words between tabs: "p Ethernet0 oid:1" for a port, q a queue, v a VOQ, o the queue's port, i its index, t its
// type, a an alias, h the host, s a time stamp, d what is disabled, x a value. From the first empty line on it is the second poll.
#include "lib/sonic_counters.h"

#include <cmath>
#include <cstdlib>
#include <string>

using namespace aegis;

namespace {

std::string_view until(std::string_view& text, char end) {
    const std::size_t at = text.find(end);
    const std::string_view part = text.substr(0, at);
    text = at == text.npos ? std::string_view() : text.substr(at + 1);
    return part;
}

struct Database {
    SonicMaps maps;
    SonicHash stamps;
    std::vector<std::string> values;
};

void read(std::string_view line, Database& database) {
    const std::string_view kind = until(line, '\t');
    std::pair<std::string, std::string> pair;
    pair.first = until(line, '\t');
    pair.second = line;
    SonicMaps& maps = database.maps;
    switch (kind.empty() ? '\0' : kind[0]) {
    case 'p': maps.ports.push_back(pair); break;
    case 'q': maps.queues.push_back(pair); break;
    case 'v': maps.voqs.push_back(pair); break;
    case 'o': maps.queue_ports.push_back(pair); break;
    case 'i': maps.queue_indices.push_back(pair); break;
    case 't': maps.queue_types.push_back(pair); break;
    case 'a': maps.aliases.push_back(pair); break;
    case 'h': maps.hostname = pair.first; break;
    case 's': database.stamps.push_back(pair); break;
    case 'd':
        maps.ecn_supported = pair.first == "ecn";
        maps.ports_disabled = pair.first == "ports";
        maps.queues_disabled = pair.first == "queues";
        maps.watermarks_disabled = pair.first == "watermarks";
        break;
    case 'x': database.values.push_back(pair.first); break;
    default: break;
    }
}

void poll(SonicCounters& counters, const Database& database, EventTime now, std::uint32_t& series) {
    counters.take_maps(database.maps);
    counters.begin(now, database.stamps);
    std::size_t next = 0;
    const auto value = [&]() -> std::optional<std::string_view> {
        if (database.values.empty()) return std::nullopt;
        return database.values[next++ % database.values.size()];
    };
    for (std::size_t i = 0; i < counters.objects().size(); ++i) {
        std::vector<std::optional<std::string_view>> row(SonicCounters::fields(counters.objects()[i].table).size());
        for (auto& field : row) field = value();
        counters.take(i, row);
    }
    for (std::size_t i = 0; i < counters.objects().size(); ++i)
        if (counters.wants_periodic(i)) counters.take_periodic(i, value());
    const Batch batch = counters.finish();
    series += static_cast<std::uint32_t>(batch.announced.size());
    for (const Reading& reading : batch.readings)
        if (!std::isfinite(reading.value) || reading.value < 0 || static_cast<std::uint32_t>(reading.series) >= series) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size);
    SonicCounters counters({"fuzz", "leaf1", size % 2 == 1});
    std::uint32_t series = 0;
    Database database;
    EventTime now{std::chrono::seconds(1'700'000'000)};
    while (!text.empty()) {
        const std::string_view line = until(text, '\n');
        if (!line.empty()) {
            read(line, database);
            continue;
        }
        poll(counters, database, now, series);
        now += std::chrono::seconds(1);
        database = {};
    }
    poll(counters, database, now, series);
    return 0;
}
