#include "aegisd/schema.h"

#include <fmt/format.h>

namespace aegis {
namespace {

// placement   one row a decision, committed before the answer leaves; `detail` is JSON for `aegisctl explain`
// outcome     what Slurm made of it, at most one a decision
// job_event   when jobs got and gave back their nodes; the key makes repetition harmless
// mode_change the last row is the mode in force
constexpr char version_1[] = R"sql(
CREATE TABLE placement (
    id          INTEGER PRIMARY KEY,
    time_us     INTEGER NOT NULL,
    job_key     TEXT    NOT NULL,
    job_id      INTEGER NOT NULL,
    job_name    TEXT    NOT NULL,
    user        TEXT    NOT NULL,
    account     TEXT    NOT NULL,
    partition   TEXT    NOT NULL,
    mode        TEXT    NOT NULL,
    policy      TEXT    NOT NULL,
    policy_hash TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    nodes       INTEGER NOT NULL,
    plans       INTEGER NOT NULL,
    offered     INTEGER NOT NULL,
    s1          TEXT    NOT NULL,
    detail      TEXT    NOT NULL
) STRICT;
CREATE INDEX placement_job_key ON placement (job_key);
CREATE INDEX placement_job_id ON placement (job_id);
CREATE INDEX placement_user ON placement (user);

CREATE TABLE outcome (
    decision    INTEGER PRIMARY KEY REFERENCES placement (id),
    time_us     INTEGER NOT NULL,
    result      TEXT    NOT NULL,
    inner_calls INTEGER NOT NULL,
    s1_rc       INTEGER NOT NULL,
    final_rc    INTEGER NOT NULL,
    waited_us   INTEGER NOT NULL,
    nodes       TEXT    NOT NULL
) STRICT;

CREATE TABLE job_event (
    job_key TEXT    NOT NULL,
    kind    TEXT    NOT NULL CHECK (kind IN ('begin', 'end')),
    time_us INTEGER NOT NULL,
    job_id  INTEGER NOT NULL,
    PRIMARY KEY (job_key, kind, time_us)
) STRICT, WITHOUT ROWID;

CREATE TABLE mode_change (
    id        INTEGER PRIMARY KEY,
    time_us   INTEGER NOT NULL,
    from_mode TEXT    NOT NULL,
    to_mode   TEXT    NOT NULL,
    actor     TEXT    NOT NULL,
    reason    TEXT    NOT NULL
) STRICT;
)sql";

constexpr const char* ladder_of_decisions[] = {version_1};

// link           the ports that were ever recorded, "switch/port"
// roll_up_10s    what a link did in ten seconds, counted from the epoch; NULL where nothing was read
// roll_up_5min   the same in five minutes
// Rows come in the order of time, all links together: by that order they are written, and pruned from the beginning.
constexpr char telemetry_version_1[] = R"sql(
CREATE TABLE link (
    id   INTEGER PRIMARY KEY,
    name TEXT    NOT NULL UNIQUE
) STRICT;
CREATE TABLE roll_up_10s (
    start_s       INTEGER NOT NULL,
    link          INTEGER NOT NULL REFERENCES link (id),
    covered_us    INTEGER NOT NULL,
    bytes         INTEGER,
    packets       INTEGER,
    marked        INTEGER,
    drops         INTEGER,
    pauses        INTEGER,
    waits         INTEGER,
    peak_bytes    INTEGER,
    depth_count   INTEGER NOT NULL,
    depth_sum     REAL    NOT NULL,
    depth_max     REAL    NOT NULL,
    pressure_count INTEGER NOT NULL,
    pressure_sum  REAL    NOT NULL,
    pressure_max  REAL    NOT NULL,
    PRIMARY KEY (start_s, link)
) STRICT, WITHOUT ROWID;
CREATE TABLE roll_up_5min (
    start_s       INTEGER NOT NULL,
    link          INTEGER NOT NULL REFERENCES link (id),
    covered_us    INTEGER NOT NULL,
    bytes         INTEGER,
    packets       INTEGER,
    marked        INTEGER,
    drops         INTEGER,
    pauses        INTEGER,
    waits         INTEGER,
    peak_bytes    INTEGER,
    depth_count   INTEGER NOT NULL,
    depth_sum     REAL    NOT NULL,
    depth_max     REAL    NOT NULL,
    pressure_count INTEGER NOT NULL,
    pressure_sum  REAL    NOT NULL,
    pressure_max  REAL    NOT NULL,
    PRIMARY KEY (start_s, link)
) STRICT, WITHOUT ROWID;
)sql";

constexpr const char* ladder_of_telemetry[] = {telemetry_version_1};

constexpr char sql_version[] = "PRAGMA user_version";
constexpr char sql_application[] = "PRAGMA application_id";
constexpr char sql_tables[] = "SELECT count(*) FROM sqlite_schema";

StoreError newer(const Connection& connection, std::int64_t version, std::size_t top) {
    return {fmt::format("{}: written by a newer release (schema {}, this one knows up to {}); install that release or restore an older copy",
                        connection.path(), version, top)};
}

std::expected<std::int64_t, StoreError> version_of(Connection& connection, std::size_t top) {
    auto application = connection.number(sql_application);
    if (!application) return std::unexpected(application.error());
    auto tables = connection.number(sql_tables);
    if (!tables) return std::unexpected(tables.error());
    auto version = connection.number(sql_version);
    if (!version) return std::unexpected(version.error());
    if (*application != store_application_id && *tables != 0)
        return std::unexpected(StoreError{fmt::format("{}: a database, but not one of Aegis; move it away", connection.path())});
    if (*version < 0 || static_cast<std::size_t>(*version) > top) return std::unexpected(newer(connection, *version, top));
    return *version;
}

std::expected<void, StoreError> climb(Connection& connection, const char* rung, std::int64_t to) {
    // the version is read again inside the transaction: another process may have climbed meanwhile
    auto step = [&]() -> std::expected<void, StoreError> {
        auto version = connection.number(sql_version);
        if (!version) return std::unexpected(version.error());
        if (*version >= to) return {};
        if (auto done = connection.execute(rung); !done) return done;
        return connection.execute(
            fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", store_application_id, to).c_str());
    };
    if (auto begun = connection.execute("BEGIN IMMEDIATE"); !begun) return begun;
    auto done = step();
    if (done) done = connection.execute("COMMIT");
    if (!done && !sqlite3_get_autocommit(connection.handle())) (void)connection.execute("ROLLBACK");
    return done;
}

} // namespace

std::span<const char* const> migrations() { return ladder_of_decisions; }
std::span<const char* const> telemetry_migrations() { return ladder_of_telemetry; }

std::expected<void, StoreError> migrate(Connection& connection, std::span<const char* const> ladder) {
    auto version = version_of(connection, ladder.size());
    if (!version) return std::unexpected(version.error());
    for (auto rung = static_cast<std::size_t>(*version); rung < ladder.size(); ++rung)
        if (auto done = climb(connection, ladder[rung], static_cast<std::int64_t>(rung + 1)); !done)
            return std::unexpected(StoreError{fmt::format("{} (migrating from schema {} to {})", done.error().text, rung, rung + 1),
                                              done.error().errno_value});
    return {};
}

std::expected<void, StoreError> require_current(Connection& connection, std::span<const char* const> ladder) {
    auto version = version_of(connection, ladder.size());
    if (!version) return std::unexpected(version.error());
    if (static_cast<std::size_t>(*version) < ladder.size())
        return std::unexpected(StoreError{fmt::format("{}: written by an older release (schema {}); aegisd of this release must open it first",
                                                      connection.path(), *version)});
    return {};
}

} // namespace aegis
