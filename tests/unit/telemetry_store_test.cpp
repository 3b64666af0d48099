// telemetry.db and the thread that writes it, on a real file system.
#include "aegisd/history_writer.h"
#include "aegisd/sqlite.h"
#include "aegisd/telemetry_store.h"
#include "tests/unit/temporary_directory.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <rapidcheck.h>

using namespace aegis;
namespace fs = std::filesystem;

namespace {

class Directory : public TemporaryDirectory {
public:
    std::string file() const { return path() + "/telemetry.db"; }
};

TelemetryStore opened(const Directory& directory, StoreAccess access = StoreAccess::read_write) {
    auto store = TelemetryStore::open(directory.path(), access);
    if (!store) FAIL(store.error().text);
    return std::move(*store);
}

RollUp bytes(std::int64_t amount) {
    RollUp amounts;
    amounts.bytes = amount;
    return amounts;
}

std::vector<RollUpAt> rows_of(TelemetryStore& store, std::string_view link, Resolution resolution, std::int64_t since = 0,
                              std::int64_t until = 2'000'000) {
    auto rows = store.read(link, resolution, since, until);
    if (!rows) FAIL(rows.error().text);
    return *rows;
}

} // namespace

TEST_CASE("roll-ups come back as they were written, a link at a time, and add up in their five minutes") {
    Directory directory;
    TelemetryStore store = opened(directory);
    RollUp full = bytes(5);
    full.covered_us = 9'900'000;
    full.packets = 0;
    full.peak_bytes = 300;
    full.depth_bytes = {2, 30, 20};
    full.pressure = {10, 2.5, .75};
    const std::vector<RollUpRow> rows{{"sw1/p1", 900, full}, {"sw1/p2", 900, bytes(1)}, {"sw1/p1", 910, bytes(7)}, {"sw1/p1", 1200, bytes(9)}};
    REQUIRE(store.write(rows));
    const auto fine = rows_of(store, "sw1/p1", Resolution::ten_seconds);
    REQUIRE(fine.size() == 3);
    CHECK(fine[0].start_s == 900);
    CHECK(fine[0].amounts == full);
    CHECK_FALSE(fine[1].amounts.packets);
    const auto coarse = rows_of(store, "sw1/p1", Resolution::five_minutes);
    REQUIRE(coarse.size() == 2);
    CHECK(coarse[0].amounts.bytes == 12);
    CHECK(coarse[0].amounts.packets == 0);
    CHECK(coarse[0].amounts.peak_bytes == 300);
    CHECK(coarse[0].amounts.pressure == full.pressure);
    CHECK(coarse[1].start_s == 1200);
    CHECK(rows_of(store, "sw1/p1", Resolution::ten_seconds, 901, 1200).size() == 1);
    CHECK(rows_of(store, "nowhere", Resolution::ten_seconds).empty());
    CHECK(*store.knows("sw1/p2"));
    CHECK_FALSE(*store.knows("nowhere"));
}

TEST_CASE("what the file makes of roll-ups is what merging them makes") {
    CHECK(rc::check("SQL against merge()", [] {
        Directory directory;
        TelemetryStore store = opened(directory);
        std::map<std::int64_t, RollUp> fine, coarse;
        std::vector<RollUpRow> rows;
        const int count = *rc::gen::inRange(1, 25);
        for (int i = 0; i < count; ++i) {
            RollUp amounts;
            const auto maybe = [](std::int64_t most) {
                return *rc::gen::inRange(0, 3) ? std::optional(*rc::gen::inRange<std::int64_t>(0, most)) : std::nullopt;
            };
            amounts.bytes = maybe(1'000'000'000'000'000);
            amounts.marked_packets = maybe(3);
            amounts.peak_bytes = maybe(1000);
            amounts.covered_us = *rc::gen::inRange(0, 10'000'000);
            if (*rc::gen::arbitrary<bool>()) amounts.pressure = Gauge::of(*rc::gen::inRange(0, 5) / 4.0);
            const std::int64_t start = 10 * *rc::gen::inRange(0, 60);
            rows.push_back({"a/b", start, amounts});
            merge(fine[start], amounts);
            merge(coarse[start / 300 * 300], amounts);
        }
        const std::size_t half = rows.size() / 2;
        RC_ASSERT(store.write(std::span(rows).first(half)).has_value());
        RC_ASSERT(store.write(std::span(rows).subspan(half)).has_value());
        for (const auto& [resolution, model] : {std::pair(Resolution::ten_seconds, fine), std::pair(Resolution::five_minutes, coarse)}) {
            const auto read = store.read("a/b", resolution, 0, 1000);
            RC_ASSERT(read.has_value());
            RC_ASSERT(read->size() == model.size());
            for (const RollUpAt& row : *read) RC_ASSERT(row.amounts == model.at(row.start_s));
        }
    }));
}

TEST_CASE("pruning takes the oldest rows, so many and no more") {
    Directory directory;
    TelemetryStore store = opened(directory);
    std::vector<RollUpRow> rows;
    for (int i = 0; i < 100; ++i) rows.push_back({i % 2 ? "a/1" : "a/2", 10 * (i / 2), bytes(1)});
    REQUIRE(store.write(rows));
    CHECK(store.prune(Resolution::ten_seconds, 300, 20) == 20u);
    CHECK(rows_of(store, "a/1", Resolution::ten_seconds).front().start_s == 100);
    CHECK(store.prune(Resolution::ten_seconds, 300, 1000) == 40u);
    CHECK(store.prune(Resolution::ten_seconds, 300, 1000) == 0u);
    CHECK(rows_of(store, "a/1", Resolution::ten_seconds).front().start_s == 300);
    CHECK(rows_of(store, "a/1", Resolution::five_minutes).size() == 2);
}

TEST_CASE("telemetry.db that is damaged or of a newer release is refused by name and left as it is") {
    Directory directory;
    SECTION("no database") {
        std::ofstream(directory.file()) << "these are not the bytes of a database";
        const auto store = TelemetryStore::open(directory.path(), StoreAccess::read_write);
        REQUIRE_FALSE(store);
        CHECK(store.error().text.starts_with(directory.file() + ": damaged"));
        CHECK(fs::file_size(directory.file()) == 37);
    }
    SECTION("newer") {
        opened(directory);
        REQUIRE(Connection::open(directory.file(), SQLITE_OPEN_READWRITE)->execute("PRAGMA user_version = 99"));
        const auto store = TelemetryStore::open(directory.path(), StoreAccess::read_write);
        REQUIRE_FALSE(store);
        CHECK(store.error().text.find("newer release (schema 99") != std::string::npos);
    }
    SECTION("missing directory") {
        const auto store = TelemetryStore::open(directory.path() + "/gone", StoreAccess::read_write);
        REQUIRE_FALSE(store);
        CHECK(store.error().errno_value == ENOENT);
    }
}

TEST_CASE("the writer writes what it is handed before it stops") {
    Directory directory;
    {
        HistoryWriter writer({.directory = directory.path()});
        writer.hand_over({{"sw/p", 1'700'000'000, bytes(3)}}, EventTime(std::chrono::seconds(1'700'000'020)));
        writer.stop();
        CHECK_FALSE(writer.status().error);
        CHECK(writer.status().waiting == 0);
    }
    TelemetryStore reader = opened(directory, StoreAccess::read_only);
    CHECK(rows_of(reader, "sw/p", Resolution::ten_seconds, 1'600'000'000, 1'700'000'100).size() == 1);
}

TEST_CASE("what cannot be written waits, and is written once it can be") {
    Directory directory;
    opened(directory);
    auto holder = Connection::open(directory.file(), SQLITE_OPEN_READWRITE);
    REQUIRE(holder->execute("BEGIN IMMEDIATE"));
    HistoryWriter writer({.directory = directory.path()});
    writer.hand_over({{"sw/p", 1'700'000'000, bytes(3)}}, EventTime(std::chrono::seconds(1'700'000'020)));
    writer.write_once();
    CHECK(writer.status().error == directory.file() + ": database is locked by another process");
    CHECK(writer.status().waiting == 1);
    REQUIRE(holder->execute("COMMIT"));
    writer.write_once();
    CHECK_FALSE(writer.status().error);
    CHECK(writer.status().waiting == 0);
    CHECK(writer.status().written == 1);
}

TEST_CASE("a file that cannot be opened is told, costs the oldest rows beyond a bound, and is tried again") {
    Directory directory;
    std::ofstream(directory.file()) << "these are not the bytes of a database";
    HistoryWriter writer({.directory = directory.path(), .rows_max = 10});
    std::vector<RollUpRow> rows;
    for (int i = 0; i < 25; ++i) rows.push_back({"sw/p", 1'700'000'000 + 10 * i, bytes(i)});
    writer.hand_over(rows, EventTime(std::chrono::seconds(1'700'000'300)));
    writer.write_once();
    REQUIRE(writer.status().error);
    CHECK(writer.status().error->starts_with(directory.file() + ": damaged"));
    CHECK(writer.status().waiting == 10);
    CHECK(writer.status().lost == 15);
    fs::remove(directory.file());
    writer.write_once();
    CHECK_FALSE(writer.status().error);
    CHECK(writer.status().written == 10);
}

TEST_CASE("the writer prunes what is older than its keep, without an end in between") {
    Directory directory;
    HistoryWriter writer({.directory = directory.path(), .keep_10s = std::chrono::hours(1), .keep_5min = std::chrono::hours(24)});
    const std::int64_t now = 1'700'000'000;
    writer.hand_over({{"sw/p", now - 7200, bytes(1)}, {"sw/p", now - 200'000, bytes(2)}, {"sw/p", now - 10, bytes(3)}}, EventTime(std::chrono::seconds(now)));
    writer.write_once();
    TelemetryStore reader = opened(directory, StoreAccess::read_only);
    CHECK(rows_of(reader, "sw/p", Resolution::ten_seconds, now - 300'000, now).size() == 1);
    CHECK(rows_of(reader, "sw/p", Resolution::five_minutes, now - 300'000, now).size() == 2);
}
