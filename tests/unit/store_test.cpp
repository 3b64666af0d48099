// decisions.db on a real file system. Children and other connections stand in for other processes.
#include "aegisd/schema.h"
#include "aegisd/sqlite.h"
#include "aegisd/store.h"
#include "tests/unit/temporary_directory.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace aegis;
namespace fs = std::filesystem;

namespace {

class Directory : public TemporaryDirectory {
public:
    std::string file() const { return path() + "/decisions.db"; }
};

Store opened(const Directory& directory, StoreAccess access = StoreAccess::read_write) {
    auto store = Store::open(directory.path(), access);
    if (!store) FAIL(store.error().text);
    return std::move(*store);
}

StoreError refused(const Directory& directory, StoreAccess access = StoreAccess::read_write) {
    auto store = Store::open(directory.path(), access);
    REQUIRE_FALSE(store.has_value());
    return store.error();
}

Connection raw(const Directory& directory) {
    auto connection = Connection::open(directory.file(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    REQUIRE(connection.has_value());
    return std::move(*connection);
}

PlacementRow placement(std::string job_key = "7", std::uint32_t job_id = 7, std::int64_t time_us = 1'000'000) {
    return {.time_us = time_us, .job_key = std::move(job_key), .job_id = job_id, .job_name = "train", .user = "ada", .account = "physics",
            .partition = "gpu", .mode = "steer", .policy = "default", .policy_hash = "00ff", .reason = "better_plan", .nodes = 2, .plans = 1,
            .offered = true, .s1 = "n[1-2]", .detail = R"({"s1":1})"};
}

OutcomeRow outcome(std::uint64_t decision) {
    return {.decision = decision, .time_us = 1'000'500, .result = "plan_1", .inner_calls = 2, .s1_rc = 0, .final_rc = -1,
            .waited_us = 180, .nodes = "n[5-6]"};
}

std::vector<std::uint64_t> ids(Store& store, const DecisionFilter& filter) {
    auto rows = store.decisions(filter);
    REQUIRE(rows.has_value());
    std::vector<std::uint64_t> found;
    for (const DecisionRow& row : *rows) found.push_back(row.id);
    return found;
}

} // namespace

TEST_CASE("a placement comes back as it was recorded") {
    Directory directory;
    Store store = opened(directory);
    auto id = store.record_placement(placement());
    REQUIRE(id.has_value());
    CHECK(*id == 1);
    auto found = store.decision(*id);
    REQUIRE(found.has_value());
    REQUIRE(found->has_value());
    const DecisionRow& row = **found;
    PlacementRow wanted = placement();
    CHECK(row.placement.time_us == wanted.time_us);
    CHECK(row.placement.job_key == wanted.job_key);
    CHECK(row.placement.job_id == wanted.job_id);
    CHECK(row.placement.job_name == wanted.job_name);
    CHECK(row.placement.user == wanted.user);
    CHECK(row.placement.account == wanted.account);
    CHECK(row.placement.partition == wanted.partition);
    CHECK(row.placement.mode == wanted.mode);
    CHECK(row.placement.policy == wanted.policy);
    CHECK(row.placement.policy_hash == wanted.policy_hash);
    CHECK(row.placement.reason == wanted.reason);
    CHECK(row.placement.nodes == wanted.nodes);
    CHECK(row.placement.plans == wanted.plans);
    CHECK(row.placement.offered);
    CHECK(row.placement.s1 == wanted.s1);
    CHECK(row.placement.detail == wanted.detail);
    CHECK_FALSE(row.outcome.has_value());
    CHECK_FALSE(row.began_us.has_value());
    CHECK(store.placements() == 1u);
}

TEST_CASE("texts that are empty or hold quotes, newlines and NUL bytes come back unchanged") {
    Directory directory;
    Store store = opened(directory);
    PlacementRow row = placement();
    row.job_name = std::string("a'b\"c\n\0d", 8);
    row.account.clear();
    auto id = store.record_placement(row);
    REQUIRE(id.has_value());
    auto found = store.decision(*id);
    REQUIRE(found.has_value());
    CHECK((*found)->placement.job_name == row.job_name);
    CHECK((*found)->placement.account.empty());
}

TEST_CASE("a decision that was never made is absent, not an error") {
    Directory directory;
    Store store = opened(directory);
    auto found = store.decision(99);
    REQUIRE(found.has_value());
    CHECK_FALSE(found->has_value());
}

TEST_CASE("the first outcome of a decision stands, a second one changes nothing") {
    Directory directory;
    Store store = opened(directory);
    std::uint64_t id = store.record_placement(placement()).value();
    CHECK(store.record_outcome(outcome(id)).has_value());
    OutcomeRow second = outcome(id);
    second.result = "kept";
    CHECK(store.record_outcome(second).has_value());
    auto row = store.decision(id).value().value();
    REQUIRE(row.outcome.has_value());
    CHECK(row.outcome->result == "plan_1");
    CHECK(row.outcome->inner_calls == 2);
    CHECK(row.outcome->final_rc == -1);
    CHECK(row.outcome->waited_us == 180);
    CHECK(row.outcome->nodes == "n[5-6]");
    CHECK(row.outcome->time_us == 1'000'500);
}

TEST_CASE("an outcome of an unknown decision is an error") {
    Directory directory;
    Store store = opened(directory);
    auto done = store.record_outcome(outcome(5));
    REQUIRE_FALSE(done.has_value());
    CHECK(done.error().text == directory.file() + ": an outcome came for decision 5, which is not recorded");
}

TEST_CASE("begin and end belong to the last decision before the job began") {
    Directory directory;
    Store store = opened(directory);
    std::uint64_t tried = store.record_placement(placement("7", 7, 100)).value();
    std::uint64_t started = store.record_placement(placement("7", 7, 200)).value();
    for (int twice = 0; twice < 2; ++twice) {
        CHECK(store.record_job_begin({"7", 7, 210}).has_value());
        CHECK(store.record_job_end({"7", 7, 900}).has_value());
    }
    std::uint64_t requeued = store.record_placement(placement("7", 7, 1000)).value();
    CHECK(store.record_job_begin({"7", 7, 1010}).has_value());
    CHECK(store.record_job_begin({"8", 8, 1020}).has_value());
    CHECK_FALSE(store.decision(tried).value()->began_us.has_value());
    CHECK_FALSE(store.decision(tried).value()->ended_us.has_value());
    CHECK(store.decision(started).value()->began_us == 210);
    CHECK(store.decision(started).value()->ended_us == 900);
    CHECK(store.decision(requeued).value()->began_us == 1010);
    CHECK_FALSE(store.decision(requeued).value()->ended_us.has_value());
}

TEST_CASE("decisions are listed newest first and by job, user, policy, time and number") {
    Directory directory;
    Store store = opened(directory);
    auto add = [&](std::string key, std::uint32_t id, std::int64_t time_us, std::string user, std::string policy) {
        PlacementRow row = placement(std::move(key), id, time_us);
        row.user = std::move(user);
        row.policy = std::move(policy);
        return store.record_placement(row).value();
    };
    add("7", 7, 10, "ada", "default");
    add("100_1", 101, 20, "bob", "default");
    add("100_2", 102, 30, "bob", "vanilla");
    add("1000", 1000, 40, "ada", "default");
    add("7", 7, 50, "ada", "default");
    using Ids = std::vector<std::uint64_t>;
    CHECK(ids(store, {}) == Ids{5, 4, 3, 2, 1});
    CHECK(ids(store, {.limit = 2}) == Ids{5, 4});
    CHECK(ids(store, {.job = "7"}) == Ids{5, 1});
    CHECK(ids(store, {.job = "100_2"}) == Ids{3});
    CHECK(ids(store, {.job = "102"}) == Ids{3});
    CHECK(ids(store, {.job = "100"}) == Ids{3, 2});
    CHECK(ids(store, {.job = "nonsense"}).empty());
    CHECK(ids(store, {.job = "7", .user = "bob"}).empty());
    CHECK(ids(store, {.user = "bob"}) == Ids{3, 2});
    CHECK(ids(store, {.user = "bob", .policy = "default"}) == Ids{2});
    CHECK(ids(store, {.policy = "vanilla"}) == Ids{3});
    CHECK(ids(store, {.since_us = 30}) == Ids{5, 4, 3});
    CHECK(ids(store, {.job = "7", .since_us = 20, .limit = 1}) == Ids{5});
}

TEST_CASE("the mode that was set last is the mode") {
    Directory directory;
    Store store = opened(directory);
    CHECK(store.last_mode().value() == std::nullopt);
    CHECK(store.record_mode({10, "observe", "steer", "uid 0", "go"}).has_value());
    CHECK(store.record_mode({20, "steer", "off", "uid 0", ""}).has_value());
    CHECK(store.last_mode().value() == Mode::off);
    auto history = store.mode_history(10).value();
    REQUIRE(history.size() == 2);
    CHECK(history[0].to == "off");
    CHECK(history[1].time_us == 10);
    CHECK(history[1].from == "observe");
    CHECK(history[1].actor == "uid 0");
    CHECK(history[1].reason == "go");
    CHECK(store.mode_history(1).value().size() == 1);
}

TEST_CASE("a reader sees what the writer recorded, and cannot write") {
    Directory directory;
    Store writer = opened(directory);
    Store reader = opened(directory, StoreAccess::read_only);
    std::uint64_t id = writer.record_placement(placement()).value();
    CHECK(reader.decision(id).value().has_value());
    CHECK_FALSE(reader.record_placement(placement()).has_value());
    CHECK(reader.path() == directory.file());
}

TEST_CASE("a row that was recorded is there after kill -9") {
    Directory directory;
    { Store store = opened(directory); }
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        auto store = Store::open(directory.path(), StoreAccess::read_write);
        if (store && store->record_placement(placement("42", 42)) && store->record_mode({1, "observe", "steer", "uid 0", ""})) raise(SIGKILL);
        _exit(1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    Store store = opened(directory);
    CHECK(ids(store, {.job = "42"}).size() == 1);
    CHECK(store.last_mode().value() == Mode::steer);
}

TEST_CASE("sync leaves a small journal where it is: the writer appends, and need not wait for the disk") {
    Directory directory;
    Store writer = opened(directory);
    Store syncer = opened(directory);
    auto journal = [&] { return fs::file_size(directory.file() + "-wal"); };
    CHECK(journal() > 0); // started while opening, not by the first decision
    auto database = fs::file_size(directory.file());
    for (int round = 0; round < 3; ++round) {
        auto before = journal();
        REQUIRE(writer.record_placement(placement()).has_value());
        CHECK(journal() > before);
        CHECK(syncer.sync().has_value());
    }
    CHECK(fs::file_size(directory.file()) == database);
}

TEST_CASE("sync moves a large journal into the database while the writer goes on") {
    Directory directory;
    Store writer = opened(directory);
    Store syncer = opened(directory);
    PlacementRow row = placement();
    row.detail = std::string(1 << 20, 'd');
    for (int i = 0; i < 33; ++i) REQUIRE(writer.record_placement(row).has_value());
    auto before = fs::file_size(directory.file());
    CHECK(syncer.sync().has_value());
    CHECK(fs::file_size(directory.file()) > before + (32 << 20));
    // with everything moved, the next record starts the journal over, and it shrinks
    auto journal = fs::file_size(directory.file() + "-wal");
    REQUIRE(writer.record_placement(placement()).has_value());
    CHECK(fs::file_size(directory.file() + "-wal") < journal / 2);
    CHECK(writer.placements() == 34u);
}

TEST_CASE("a directory that does not exist is an error with its errno") {
    Directory directory;
    auto store = Store::open(directory.path() + "/nowhere", StoreAccess::read_write);
    REQUIRE_FALSE(store.has_value());
    CHECK(store.error().errno_value == ENOENT);
    CHECK(store.error().text == directory.path() + "/nowhere/decisions.db.new: cannot be created: No such file or directory (ENOENT)");
}

TEST_CASE("a reader does not create what is missing") {
    Directory directory;
    StoreError error = refused(directory, StoreAccess::read_only);
    CHECK(error.errno_value == ENOENT);
    CHECK(error.text == directory.file() + ": cannot be opened: No such file or directory (ENOENT)");
    CHECK(fs::is_empty(directory.path()));
}

TEST_CASE("a directory or file that may not be written is an error with its errno") {
    // root passes every permission check, so the open happens in a child that is nobody
    Directory directory;
    bool file_is_there = GENERATE(false, true);
    if (file_is_there) Store store = opened(directory);
    REQUIRE(chmod(directory.path().c_str(), 0755) == 0);
    if (file_is_there) REQUIRE(chmod(directory.file().c_str(), 0444) == 0);
    if (geteuid() != 0) REQUIRE(chmod(directory.path().c_str(), 0555) == 0);
    int pipes[2];
    REQUIRE(pipe(pipes) == 0);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
        auto store = Store::open(directory.path(), StoreAccess::read_write);
        std::string text = store ? "opened" : fmt::format("{} {}", store.error().errno_value == EACCES, store.error().text);
        _exit(write(pipes[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 3);
    }
    close(pipes[1]);
    char buffer[512] = {};
    REQUIRE(read(pipes[0], buffer, sizeof buffer - 1) > 0);
    close(pipes[0]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    chmod(directory.path().c_str(), 0755);
    std::string where = directory.file() + (file_is_there ? ": not writable" : ".new: cannot be created");
    CHECK(std::string(buffer) == "true " + where + ": Permission denied (EACCES)");
}

TEST_CASE("a file that is no database is refused and left as it is") {
    Directory directory;
    std::ofstream(directory.file()) << std::string(8192, 'x');
    StoreError error = refused(directory);
    CHECK(error.text == directory.file() + ": damaged, or not a database (file is not a database); restore it from a copy or move it away, "
                                           "nothing is started over by itself");
    CHECK(fs::file_size(directory.file()) == 8192);
    CHECK(refused(directory, StoreAccess::read_only).text == error.text);
}

TEST_CASE("a damaged page is an error at the first row that needs it") {
    Directory directory;
    {
        Store store = opened(directory);
        PlacementRow row = placement();
        row.detail = std::string(900, 'd');
        for (int i = 0; i < 200; ++i) REQUIRE(store.record_placement(row).has_value());
    }
    std::fstream file(directory.file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096); // all but the first page, which holds the schema
    file << std::string(fs::file_size(directory.file()) - 4096, '\xaa');
    file.close();
    auto store = Store::open(directory.path(), StoreAccess::read_write);
    REQUIRE(store.has_value());
    auto rows = store->decisions({});
    REQUIRE_FALSE(rows.has_value());
    CHECK_THAT(rows.error().text, Catch::StartsWith(directory.file() + ": damaged"));
    CHECK_FALSE(store->record_placement(placement()).has_value());
}

TEST_CASE("an emptied file is refused: it is no first start") {
    Directory directory;
    { Store store = opened(directory); }
    std::ofstream(directory.file(), std::ios::trunc).close();
    CHECK(refused(directory).text ==
          directory.file() + ": empty, so it was damaged; restore it from a copy or remove it, nothing is started over by itself");
    CHECK(fs::file_size(directory.file()) == 0);
}

TEST_CASE("a journal without its database is refused: it is no first start") {
    Directory directory;
    std::ofstream(directory.file() + "-wal") << "journal";
    CHECK(refused(directory).text == directory.file() + ": missing, but its journal " + directory.file() +
                                         "-wal is there; restore the database or move the journal away");
    CHECK_FALSE(fs::exists(directory.file()));
}

TEST_CASE("a first start that was interrupted is repeated") {
    Directory directory;
    std::ofstream(directory.file() + ".new") << "half a database";
    Store store = opened(directory);
    CHECK(store.record_placement(placement()).has_value());
    CHECK_FALSE(fs::exists(directory.file() + ".new"));
}

TEST_CASE("a database of another program is refused") {
    Directory directory;
    REQUIRE(raw(directory).execute("CREATE TABLE theirs (x); PRAGMA user_version = 1").has_value());
    CHECK(refused(directory).text == directory.file() + ": a database, but not one of Aegis; move it away");
}

TEST_CASE("a file of a newer release is refused, by name, for writing and reading") {
    Directory directory;
    { Store store = opened(directory); }
    REQUIRE(raw(directory).execute("PRAGMA user_version = 1000").has_value());
    std::string wanted = fmt::format("{}: written by a newer release (schema 1000, this one knows up to {}); install that release or restore an "
                                     "older copy",
                                     directory.file(), migrations().size());
    CHECK(refused(directory).text == wanted);
    CHECK(refused(directory, StoreAccess::read_only).text == wanted);
}

TEST_CASE("an older file is brought up to date rung by rung, and its rows are kept") {
    Directory directory;
    const char* old_ladder[] = {"CREATE TABLE a (x)"};
    const char* new_ladder[] = {"CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y DEFAULT 5", "UPDATE a SET y = y + x"};
    Connection connection = raw(directory);
    REQUIRE(migrate(connection, old_ladder).has_value());
    REQUIRE(connection.execute("INSERT INTO a VALUES (2)").has_value());
    CHECK_FALSE(require_current(connection, new_ladder).has_value());
    REQUIRE(migrate(connection, new_ladder).has_value());
    CHECK(connection.number("SELECT y FROM a") == 7);
    CHECK(connection.number("PRAGMA user_version") == 3);
    CHECK(migrate(connection, new_ladder).has_value());
    CHECK(connection.number("SELECT y FROM a /* again */") == 7);
}

TEST_CASE("a migration that fails leaves the file on the rung it stood on") {
    Directory directory;
    const char* ladder[] = {"CREATE TABLE a (x)", "CREATE TABLE b (x); INSERT INTO nowhere VALUES (1)"};
    Connection connection = raw(directory);
    auto done = migrate(connection, ladder);
    REQUIRE_FALSE(done.has_value());
    CHECK(done.error().text == directory.file() + ": no such table: nowhere (migrating from schema 1 to 2)");
    CHECK(connection.number("PRAGMA user_version") == 1);
    CHECK(connection.number("SELECT count(*) FROM sqlite_schema WHERE name = 'b'") == 0);
}

TEST_CASE("a lock that another process holds is reported at once, and gone with it") {
    Directory directory;
    Store store = opened(directory);
    Connection other = raw(directory);
    REQUIRE(other.execute("BEGIN IMMEDIATE").has_value());
    auto begin = std::chrono::steady_clock::now();
    auto id = store.record_placement(placement());
    auto waited = std::chrono::steady_clock::now() - begin;
    REQUIRE_FALSE(id.has_value());
    CHECK(id.error().text == directory.file() + ": database is locked by another process");
    CHECK(waited < std::chrono::milliseconds(100)); // 1 ms in fact; the bound leaves room for a busy machine
    CHECK(store.placements() == 0u); // reading goes on
    REQUIRE(other.execute("ROLLBACK").has_value());
    CHECK(store.record_placement(placement()).has_value());
}

TEST_CASE("a database that may not grow is reported as a full disk, and goes on once it may") {
    Directory directory;
    { Store store = opened(directory); }
    Connection connection = raw(directory);
    REQUIRE(connection.execute("PRAGMA max_page_count = 1").has_value()); // SQLite takes the present size for less
    auto done = connection.execute("CREATE TABLE more (x)");
    REQUIRE_FALSE(done.has_value());
    CHECK(done.error().errno_value == ENOSPC);
    CHECK(done.error().text == directory.file() + ": no room left: No space left on device (ENOSPC)");
    REQUIRE(connection.execute("PRAGMA max_page_count = 1000").has_value());
    CHECK(connection.execute("CREATE TABLE more (x)").has_value());
}

TEST_CASE("a full disk is reported as ENOSPC, loses nothing, and recording goes on once there is room") {
    // a file system of 512 KiB that only the child sees and that goes with it; needs the right to mount, so it warns where that lacks
    Directory directory;
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        bool mounted = (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
                       mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=512k") == 0;
        if (!mounted) _exit(77);
        auto store = Store::open(directory.path(), StoreAccess::read_write);
        if (!store) _exit(1);
        PlacementRow row = placement();
        row.detail = std::string(2000, 'd');
        std::uint64_t recorded = 0;
        auto id = store->record_placement(row);
        for (; id && recorded < 1000; id = store->record_placement(row)) ++recorded;
        if (id || id.error().errno_value != ENOSPC) _exit(2);
        if (id.error().text != directory.file() + ": no room left: No space left on device (ENOSPC)") _exit(3);
        if (store->record_placement(row) || store->placements() != recorded) _exit(4);
        if (mount("tmpfs", directory.path().c_str(), "tmpfs", MS_REMOUNT, "size=4m") != 0) _exit(77);
        if (!store->record_placement(row) || store->placements() != recorded + 1) _exit(5);
        _exit(store->sync() ? 0 : 6);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        WARN("not run: no right to mount a small file system here");
    else
        CHECK(WEXITSTATUS(status) == 0);
}
