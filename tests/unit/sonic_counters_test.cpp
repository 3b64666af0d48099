#include "lib/sonic_counters.h"

#include <catch2/catch.hpp>

#include <map>

using namespace aegis;
using namespace std::chrono_literals;

namespace {

constexpr EventTime noon{std::chrono::microseconds{1'800'000'000'000'000}};
using Row = std::map<std::string, std::string>;
using Database = std::map<std::string, Row>; // oid -> fields of COUNTERS; "P" + oid -> of PERIODIC_WATERMARKS

SonicMaps one_port() {
    SonicMaps maps;
    maps.ports = {{"Ethernet0", "oid:0x1000000000012"}};
    maps.queues = {{"Ethernet0:3", "oid:0x15000000000357"}, {"Ethernet0:4", "oid:0x15000000000358"}};
    maps.queue_ports = {{"oid:0x15000000000357", "oid:0x1000000000012"}, {"oid:0x15000000000358", "oid:0x1000000000012"}};
    maps.queue_indices = {{"oid:0x15000000000357", "3"}, {"oid:0x15000000000358", "4"}};
    maps.queue_types = {{"oid:0x15000000000357", "SAI_QUEUE_TYPE_UNICAST"}};
    maps.aliases = {{"Ethernet0", "etp1"}};
    maps.hostname = "leaf-01";
    return maps;
}

Batch poll(SonicCounters& counters, const Database& database, EventTime at, const SonicHash& stamps = {}) {
    counters.begin(at, stamps);
    for (std::size_t i = 0; i < counters.objects().size(); ++i) {
        const SonicObject& object = counters.objects()[i];
        const auto row = database.find(object.oid);
        std::vector<std::optional<std::string_view>> values;
        for (const char* field : SonicCounters::fields(object.table)) {
            values.emplace_back();
            if (row != database.end())
                if (const auto value = row->second.find(field); value != row->second.end()) values.back() = value->second;
        }
        counters.take(i, values);
    }
    for (std::size_t i = 0; i < counters.objects().size(); ++i)
        if (counters.wants_periodic(i)) {
            const auto row = database.find("P" + counters.objects()[i].oid);
            counters.take_periodic(i, row == database.end() ? std::nullopt
                                                            : std::optional<std::string_view>(row->second.begin()->second));
        }
    return counters.finish();
}

// "port/queue signal kind" -> value
std::map<std::string, double> named(const std::vector<Series>& series, const Batch& batch) {
    static constexpr const char* signals[] = {"depth", "marked", "packets", "bytes", "drops", "pause", "wait"};
    static constexpr const char* kinds[] = {"counter", "snapshot", "peak"};
    std::map<std::string, double> out;
    for (const Reading& reading : batch.readings) {
        const Series& s = series.at(static_cast<std::size_t>(reading.series));
        out[s.sw + '/' + s.port + (s.queue ? ':' + std::to_string(*s.queue) : "") + ' ' +
            signals[static_cast<int>(s.signal)] + ' ' + kinds[static_cast<int>(s.kind)]] = reading.value;
    }
    return out;
}

const Database busy = {
    {"oid:0x15000000000357",
     {{"SAI_QUEUE_STAT_PACKETS", "60"},
      {"SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", "39"},
      {"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES", "184320"},
      {"SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES", "1024"}}},
    {"oid:0x15000000000358", {{"SAI_QUEUE_STAT_PACKETS", "82"}}},
    {"oid:0x1000000000012",
     {{"SAI_PORT_STAT_IF_OUT_OCTETS", "9007199254740993"},
      {"SAI_PORT_STAT_IF_OUT_UCAST_PKTS", "10"},
      {"SAI_PORT_STAT_IF_OUT_NON_UCAST_PKTS", "5"},
      {"SAI_PORT_STAT_IF_OUT_DISCARDS", "7"},
      {"SAI_PORT_STAT_ECN_MARKED_PACKETS", "1"},
      {"SAI_PORT_STAT_PFC_3_RX_PKTS", "203"}}},
    {"Poid:0x15000000000358", {{"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES", "288"}}},
};

} // namespace

TEST_CASE("a queue key names its port and index, with the host and ASIC of a chassis or without") {
    CHECK(parse_sonic_queue_name("Ethernet0:3") == SonicQueueName{"", "Ethernet0", 3});
    CHECK(parse_sonic_queue_name("host|asic0|Ethernet16:12") == SonicQueueName{"host", "Ethernet16", 12});
    CHECK(parse_sonic_queue_name("testsw|Ethernet0:0") == SonicQueueName{"testsw", "Ethernet0", 0});
    for (const char* bad : {"", "Ethernet0", "Ethernet0:", ":3", "Ethernet0:x", "Ethernet0:3 ", "|Ethernet0:3", "Ethernet0:70000"})
        CHECK_FALSE(parse_sonic_queue_name(bad));
}

TEST_CASE("depth, packets and marks come from queues, bytes, drops and pause from ports, each once") {
    SonicCounters counters({"sonic", "leaf1"});
    counters.take_maps(one_port());
    const Batch batch = poll(counters, busy, noon);
    CHECK_FALSE(batch.failure);
    CHECK(batch.refused == 0);
    CHECK(named(batch.announced, batch) == std::map<std::string, double>{
                                               {"leaf1/Ethernet0:3 packets counter", 60},
                                               {"leaf1/Ethernet0:3 marked counter", 39},
                                               {"leaf1/Ethernet0:3 depth peak", 184320},
                                               {"leaf1/Ethernet0:3 depth snapshot", 1024},
                                               {"leaf1/Ethernet0:4 packets counter", 82},
                                               {"leaf1/Ethernet0:4 depth peak", 288}, // PERIODIC, as COUNTERS has none
                                               {"leaf1/Ethernet0 bytes counter", 9007199254740992.0},
                                               {"leaf1/Ethernet0 drops counter", 7},
                                               {"leaf1/Ethernet0:3 pause counter", 203},
                                           });
    for (const Reading& reading : batch.readings) CHECK(reading.time == noon);
}

TEST_CASE("a switch without a queue map still tells packets and marks by port") {
    SonicMaps maps = one_port();
    maps.queues.clear();
    SonicCounters counters({"sonic", "leaf1"});
    counters.take_maps(maps);
    const Batch batch = poll(counters, busy, noon);
    const auto values = named(batch.announced, batch);
    CHECK(values.at("leaf1/Ethernet0 packets counter") == 15);
    CHECK(values.at("leaf1/Ethernet0 marked counter") == 1);
}

TEST_CASE("series are announced once and keep their index") {
    SonicCounters counters({"sonic", "leaf1"});
    counters.take_maps(one_port());
    const Batch first = poll(counters, busy, noon);
    counters.take_maps(one_port());
    const Batch second = poll(counters, busy, noon + 1s);
    CHECK(second.announced.empty());
    CHECK(named(first.announced, second) == named(first.announced, first));
}

TEST_CASE("a new object id behind an old name begins new series, also when its value is larger") {
    SonicCounters counters({"sonic", "leaf1"});
    counters.take_maps(one_port());
    const Batch first = poll(counters, busy, noon);
    SonicMaps maps = one_port();
    maps.queues[0].second = "oid:0x15000000000999";
    maps.queue_ports[0].first = maps.queue_indices[0].first = "oid:0x15000000000999";
    Database database = busy;
    database["oid:0x1000000000012"].erase("SAI_PORT_STAT_ECN_MARKED_PACKETS");
    database["oid:0x15000000000999"] = {{"SAI_QUEUE_STAT_PACKETS", "5000000"}};
    counters.take_maps(maps);
    const Batch second = poll(counters, database, noon + 1s);
    REQUIRE(second.announced.size() == 1);
    CHECK(second.announced[0] == Series{"sonic", "leaf1", "Ethernet0", 3, Signal::packets, Kind::counter, {}});
    CHECK(second.readings[0].series == SeriesIndex(first.announced.size()));
}

TEST_CASE("queues whose maps contradict each other are not read but counted") {
    SonicMaps maps = one_port();
    maps.queue_ports[0].second = "oid:0x1000000000777"; // a port that breakout removed
    maps.queue_indices[1].second = "5";
    SonicCounters counters({"sonic", "leaf1"});
    counters.take_maps(maps);
    CHECK(counters.contradictions() == 2);
    REQUIRE(counters.objects().size() == 1);
    CHECK(counters.objects()[0].table == SonicTable::port);
}

TEST_CASE("an unsupported ECN counter is unknown although the database says 0") {
    SonicMaps maps = one_port();
    maps.ecn_supported = false;
    Database database = busy;
    database["oid:0x15000000000357"]["SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS"] = "0";
    database["oid:0x1000000000012"].erase("SAI_PORT_STAT_ECN_MARKED_PACKETS");
    SonicCounters counters({"sonic", "leaf1"});
    counters.take_maps(maps);
    for (const Series& series : poll(counters, database, noon).announced) CHECK(series.signal != Signal::ecn_marked_packets);
}

TEST_CASE("what a disabled group left in the database is not read") {
    SonicMaps maps = one_port();
    maps.watermarks_disabled = maps.queues_disabled = maps.ecn_disabled = true;
    SonicCounters counters({"sonic", "leaf1"});
    counters.take_maps(maps);
    const Batch batch = poll(counters, busy, noon);
    const auto values = named(batch.announced, batch);
    CHECK(values.count("leaf1/Ethernet0:3 depth peak") == 0);
    CHECK(values.count("leaf1/Ethernet0:4 depth peak") == 0); // neither from PERIODIC, which is only cleared
    CHECK(values.count("leaf1/Ethernet0:3 packets counter") == 0);
    CHECK(values.count("leaf1/Ethernet0:3 marked counter") == 0);
    CHECK(values.at("leaf1/Ethernet0 packets counter") == 15); // the port's own count stands in
    CHECK(values.at("leaf1/Ethernet0:3 depth snapshot") == 1024);
}

TEST_CASE("stamps date values by when the chip was read, in both spellings of the stamp's name") {
    const std::string spelling = GENERATE(as<std::string>{}, "Queue Counter", "Queue_Counter");
    SonicCounters counters({"sonic", "leaf1"});
    counters.take_maps(one_port());
    const auto stamps = [&](std::uint64_t port_s, std::uint64_t queue_s) {
        return SonicHash{{"PORT_STAT_COUNTER_Port_Counter_time_stamp", std::to_string(port_s) + "000000000"},
                         {"QUEUE_STAT_COUNTER_" + spelling + "_time_stamp", std::to_string(queue_s) + "000000000"},
                         {"QUEUE_WATERMARK_STAT_COUNTER_" + spelling + "_time_stamp", "1000000000"},
                         {"RIF_STAT_COUNTER_Rif_Counter_time_stamp", "77000000000"}};
    };
    const Batch first = poll(counters, busy, noon, stamps(5000, 4993));
    for (const Reading& reading : first.readings) {
        const Series& series = first.announced.at(static_cast<std::size_t>(reading.series));
        INFO(series.port << " " << static_cast<int>(series.signal));
        if (series.signal == Signal::packets || series.signal == Signal::ecn_marked_packets)
            CHECK(reading.time == noon - 7s);
        else if (series.signal == Signal::queue_depth && series.kind == Kind::peak && series.queue == 3u)
            CHECK(reading.time == noon - 4999s); // disabled long ago; its value is still there
        else
            CHECK(reading.time == noon);
    }

    const Batch second = poll(counters, busy, noon + 1s, stamps(5001, 4993));
    for (const Reading& reading : second.readings) { // only what was read anew, and what is not stamped
        const Series& series = first.announced.at(static_cast<std::size_t>(reading.series));
        INFO(series.port << " " << static_cast<int>(series.signal));
        CHECK((series.signal != Signal::packets && series.signal != Signal::ecn_marked_packets));
        CHECK(reading.time == noon + 1s);
    }
    CHECK(second.readings.size() == 5); // bytes, drops, pause; occupancy; periodic peak of queue 4
}

TEST_CASE("absent, empty and N/A are no value; other texts and 2^64-1 are refused and counted") {
    SonicCounters counters({"sonic", "leaf1"});
    counters.take_maps(one_port());
    const Database odd = {{"oid:0x15000000000357",
                           {{"SAI_QUEUE_STAT_PACKETS", ""},
                            {"SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", "N/A"},
                            {"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES", "-1"},
                            {"SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES", "18446744073709551615"}}},
                          {"oid:0x15000000000358", {{"SAI_QUEUE_STAT_PACKETS", "12cells"}}},
                          {"oid:0x1000000000012", {{"SAI_PORT_STAT_IF_OUT_OCTETS", "18446744073709551616"}}}};
    const Batch batch = poll(counters, odd, noon);
    CHECK(batch.readings.empty());
    CHECK(batch.refused == 4);
}

TEST_CASE("ports carry their alias where the fabric map names them so") {
    SonicCounters counters({"sonic", "leaf1", true});
    SonicMaps maps = one_port();
    maps.ports.emplace_back("Ethernet4", "oid:0x1000000000013"); // has no alias
    counters.take_maps(maps);
    CHECK(counters.objects()[0].port == "etp1");
    CHECK(counters.objects()[3].port == "Ethernet4");
}

TEST_CASE("a virtual output queue tells only depth, of the port it leads to") {
    SonicMaps maps = one_port();
    maps.queues.clear();
    maps.voqs = {{"leaf-01|asic0|Ethernet0:3", "oid:0x15000000000357"}, {"lc2|asic0|Ethernet96:4", "oid:0x15000000000358"}};
    Database database = busy;
    database["oid:0x15000000000358"]["SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES"] = "99";
    SonicCounters counters({"sonic", "leaf1"});
    counters.take_maps(maps);
    const Batch batch = poll(counters, database, noon);
    const auto values = named(batch.announced, batch);
    CHECK(values.at("leaf1/Ethernet0:3 depth peak") == 184320);
    CHECK(values.at("lc2/Ethernet96:4 depth peak") == 99);
    CHECK(values.count("leaf1/Ethernet0:3 packets counter") == 0);
    CHECK(values.at("leaf1/Ethernet0 packets counter") == 15);
}

TEST_CASE("a database without ports is a failure that says what may be wrong") {
    SonicCounters counters({"sonic", "leaf1"});
    SonicMaps maps;
    maps.ports = {{"", ""}}; // as an image writes it before its ports are up
    counters.take_maps(maps);
    const Batch batch = poll(counters, busy, noon);
    REQUIRE(batch.failure);
    CHECK(batch.failure->find("COUNTERS_PORT_NAME_MAP") != std::string::npos);
}
