#include "aegisd/store.h"

#include "aegisd/database_file.h"
#include "aegisd/schema.h"
#include "aegisd/sqlite.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace aegis {
namespace {

// In the decision path another process's write lock is worth a millisecond, no more: the plugin waits two.
constexpr std::chrono::milliseconds lock_wait{1};
// The first write after a checkpoint starts the WAL over and waits until its new header is on disk: milliseconds that the decision
// path does not have. So commits are made durable by syncing the WAL itself, and it is moved into the database only when it
// has grown to this: about 3,000 jobs at 10 KiB, of which one may wait. Started over, it shrinks to the limit below it.
constexpr sqlite3_int64 checkpoint_bytes = 32 << 20;
constexpr char sql_settings_writer[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;"
                                       "PRAGMA journal_size_limit = 8388608; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;";
constexpr char sql_settings_reader[] = "PRAGMA query_only = ON; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;";

constexpr char sql_add_placement[] =
    "INSERT INTO placement (time_us, job_key, job_id, job_name, user, account, partition, mode, policy, policy_hash, reason, nodes, plans, "
    "offered, s1, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
constexpr char sql_add_outcome[] =
    "INSERT INTO outcome (decision, time_us, result, inner_calls, s1_rc, final_rc, waited_us, nodes) "
    "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (SELECT 1 FROM placement WHERE id = ?1) ON CONFLICT (decision) DO NOTHING";
constexpr char sql_has_outcome[] = "SELECT 1 FROM outcome WHERE decision = ?1";
constexpr char sql_add_begin[] = "INSERT INTO job_event (job_key, kind, time_us, job_id) VALUES (?1, 'begin', ?2, ?3) ON CONFLICT DO NOTHING";
constexpr char sql_add_end[] = "INSERT INTO job_event (job_key, kind, time_us, job_id) VALUES (?1, 'end', ?2, ?3) ON CONFLICT DO NOTHING";
constexpr char sql_add_mode[] = "INSERT INTO mode_change (time_us, from_mode, to_mode, actor, reason) VALUES (?1, ?2, ?3, ?4, ?5)";
constexpr char sql_last_mode[] = "SELECT to_mode FROM mode_change ORDER BY id DESC LIMIT 1";
constexpr char sql_mode_history[] = "SELECT time_us, from_mode, to_mode, actor, reason FROM mode_change ORDER BY id DESC LIMIT ?1";
constexpr char sql_count[] = "SELECT count(*) FROM placement";

// A job may be decided on several times before it begins, and begin several times (requeue): the begin that belongs to a
// decision is the first one after it and before the job's next decision; the end is the first one after that begin.
const std::string select_decisions =
    "WITH p AS (SELECT *, (SELECT min(e.time_us) FROM job_event e WHERE e.job_key = q.job_key AND e.kind = 'begin' "
    "  AND e.time_us >= q.time_us AND e.time_us < coalesce((SELECT n.time_us FROM placement n WHERE n.job_key = q.job_key "
    "  AND n.id > q.id ORDER BY n.id LIMIT 1), 9223372036854775807)) AS began_us FROM placement q) "
    "SELECT p.id, p.time_us, p.job_key, p.job_id, p.job_name, p.user, p.account, p.partition, p.mode, p.policy, p.policy_hash, p.reason, "
    "  p.nodes, p.plans, p.offered, p.s1, p.detail, "
    "  o.decision, o.time_us, o.result, o.inner_calls, o.s1_rc, o.final_rc, o.waited_us, o.nodes, "
    "  p.began_us, (SELECT min(e.time_us) FROM job_event e WHERE e.job_key = p.job_key AND e.kind = 'end' AND e.time_us >= p.began_us) "
    "FROM p LEFT JOIN outcome o ON o.decision = p.id ";
const std::string also_restricted = "AND (?2 IS NULL OR p.policy = ?2) AND (?3 IS NULL OR p.time_us >= ?3) ORDER BY p.id DESC LIMIT ?1";

const std::string sql_decision = select_decisions + "WHERE p.id = ?1";
const std::string sql_decisions = select_decisions + "WHERE 1 " + also_restricted;
const std::string sql_decisions_of_user = select_decisions + "WHERE p.user = ?4 " + also_restricted;
// a job key, a job id, or all tasks of an array ("_" is followed by "`" in ASCII)
const std::string sql_decisions_of_job =
    select_decisions + "WHERE p.id IN (SELECT id FROM placement WHERE job_key = ?5 UNION SELECT id FROM placement WHERE job_id = ?6 "
                       "  UNION SELECT id FROM placement WHERE job_key >= ?5 || '_' AND job_key < ?5 || '`') "
                       "AND (?4 IS NULL OR p.user = ?4) " + also_restricted;

DecisionRow decision_from(const Query& row) {
    DecisionRow decision;
    decision.id = static_cast<std::uint64_t>(row.integer(0));
    PlacementRow& p = decision.placement;
    p.time_us = row.integer(1);
    p.job_key = row.text(2);
    p.job_id = static_cast<std::uint32_t>(row.integer(3));
    p.job_name = row.text(4);
    p.user = row.text(5);
    p.account = row.text(6);
    p.partition = row.text(7);
    p.mode = row.text(8);
    p.policy = row.text(9);
    p.policy_hash = row.text(10);
    p.reason = row.text(11);
    p.nodes = static_cast<std::uint32_t>(row.integer(12));
    p.plans = static_cast<std::uint32_t>(row.integer(13));
    p.offered = row.integer(14) != 0;
    p.s1 = row.text(15);
    p.detail = row.text(16);
    if (row.maybe_integer(17))
        decision.outcome = OutcomeRow{.decision = decision.id,
                                      .time_us = row.integer(18),
                                      .result = row.text(19),
                                      .inner_calls = static_cast<std::uint32_t>(row.integer(20)),
                                      .s1_rc = static_cast<std::int32_t>(row.integer(21)),
                                      .final_rc = static_cast<std::int32_t>(row.integer(22)),
                                      .waited_us = static_cast<std::uint32_t>(row.integer(23)),
                                      .nodes = row.text(24)};
    decision.began_us = row.maybe_integer(25);
    decision.ended_us = row.maybe_integer(26);
    return decision;
}

// Writes what is there already, so that the WAL and its header are on disk before the first decision. On a full disk that fails,
// and so will the first decision, which is told then.
void start_journal(Connection& connection) {
    static_cast<void>(connection.execute(fmt::format("PRAGMA application_id = {}", store_application_id).c_str()));
}

std::optional<std::int64_t> as_job_id(const std::string& text) {
    std::uint32_t id = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return id;
}

} // namespace

struct Store::Impl {
    Connection connection;

    std::expected<void, StoreError> run(const char* sql, auto&&... values) {
        auto query = connection.query(sql);
        if (!query) return std::unexpected(query.error());
        int parameter = 0;
        (query->bind(++parameter, values), ...);
        return query->run();
    }

    std::expected<std::vector<DecisionRow>, StoreError> read_decisions(Query& query) {
        std::vector<DecisionRow> rows;
        for (;;) {
            auto row = query.step();
            if (!row) return std::unexpected(row.error());
            if (!*row) return rows;
            rows.push_back(decision_from(query));
        }
    }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

std::expected<Store, StoreError> Store::open(const std::string& directory, StoreAccess access) {
    std::string path = directory + "/decisions.db";
    auto connection = open_database(directory, path, access, migrations());
    if (!connection) return std::unexpected(connection.error());
    bool writer = access == StoreAccess::read_write;
    auto ready = connection->execute(writer ? sql_settings_writer : sql_settings_reader);
    if (!ready) return std::unexpected(ready.error());
    if (writer) {
        start_journal(*connection);
        connection->wait_for_locks(lock_wait);
    }
    return Store(std::make_unique<Impl>(std::move(*connection)));
}

std::expected<std::uint64_t, StoreError> Store::record_placement(const PlacementRow& row) {
    auto done = impl_->run(sql_add_placement, row.time_us, row.job_key, std::int64_t{row.job_id}, row.job_name, row.user, row.account,
                           row.partition, row.mode, row.policy, row.policy_hash, row.reason, std::int64_t{row.nodes},
                           std::int64_t{row.plans}, std::int64_t{row.offered}, row.s1, row.detail);
    if (!done) return std::unexpected(done.error());
    return static_cast<std::uint64_t>(impl_->connection.last_id());
}

std::expected<void, StoreError> Store::record_outcome(const OutcomeRow& row) {
    auto decision = static_cast<std::int64_t>(row.decision);
    auto done = impl_->run(sql_add_outcome, decision, row.time_us, row.result, std::int64_t{row.inner_calls}, std::int64_t{row.s1_rc},
                           std::int64_t{row.final_rc}, std::int64_t{row.waited_us}, row.nodes);
    if (!done || impl_->connection.changes() == 1) return done;
    auto query = impl_->connection.query(sql_has_outcome);
    if (!query) return std::unexpected(query.error());
    auto already = query->bind(1, decision).step();
    if (!already) return std::unexpected(already.error());
    if (*already) return {};
    return std::unexpected(StoreError{fmt::format("{}: an outcome came for decision {}, which is not recorded", path(), row.decision)});
}

std::expected<void, StoreError> Store::record_job_begin(const JobEventRow& row) {
    return impl_->run(sql_add_begin, row.job_key, row.time_us, std::int64_t{row.job_id});
}

std::expected<void, StoreError> Store::record_job_end(const JobEventRow& row) {
    return impl_->run(sql_add_end, row.job_key, row.time_us, std::int64_t{row.job_id});
}

std::expected<void, StoreError> Store::record_mode(const ModeRow& row) {
    return impl_->run(sql_add_mode, row.time_us, row.from, row.to, row.actor, row.reason);
}

std::expected<std::optional<Mode>, StoreError> Store::last_mode() {
    auto query = impl_->connection.query(sql_last_mode);
    if (!query) return std::unexpected(query.error());
    auto row = query->step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return std::nullopt;
    auto mode = mode_from(query->text(0));
    if (!mode) return std::unexpected(StoreError{fmt::format("{}: damaged: \"{}\" is no mode", path(), query->text(0))});
    return mode;
}

std::expected<std::optional<DecisionRow>, StoreError> Store::decision(std::uint64_t id) {
    auto query = impl_->connection.query(sql_decision.c_str());
    if (!query) return std::unexpected(query.error());
    query->bind(1, static_cast<std::int64_t>(id));
    auto rows = impl_->read_decisions(*query);
    if (!rows) return std::unexpected(rows.error());
    return rows->empty() ? std::nullopt : std::optional(std::move(rows->front()));
}

std::expected<std::vector<DecisionRow>, StoreError> Store::decisions(const DecisionFilter& filter) {
    auto query = impl_->connection.query((filter.job ? sql_decisions_of_job : filter.user ? sql_decisions_of_user : sql_decisions).c_str());
    if (!query) return std::unexpected(query.error());
    query->bind(1, std::int64_t{filter.limit}).bind_if(2, filter.policy).bind_if(3, filter.since_us);
    if (filter.job || filter.user) query->bind_if(4, filter.user);
    if (filter.job) query->bind(5, *filter.job).bind_if(6, as_job_id(*filter.job));
    return impl_->read_decisions(*query);
}

std::expected<std::vector<ModeRow>, StoreError> Store::mode_history(std::uint32_t limit) {
    auto query = impl_->connection.query(sql_mode_history);
    if (!query) return std::unexpected(query.error());
    query->bind(1, std::int64_t{limit});
    std::vector<ModeRow> rows;
    for (;;) {
        auto row = query->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) return rows;
        rows.push_back({query->integer(0), query->text(1), query->text(2), query->text(3), query->text(4)});
    }
}

std::expected<std::uint64_t, StoreError> Store::placements() {
    auto count = impl_->connection.number(sql_count);
    if (!count) return std::unexpected(count.error());
    return static_cast<std::uint64_t>(*count);
}

std::expected<void, StoreError> Store::sync() {
    // a connection opens the WAL with its first statement
    if (auto version = impl_->connection.number("PRAGMA schema_version"); !version) return std::unexpected(version.error());
    sqlite3* database = impl_->connection.handle();
    sqlite3_file* journal = nullptr;
    sqlite3_int64 bytes = 0;
    int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal);
    if (code == SQLITE_OK) code = journal->pMethods->xSync(journal, SQLITE_SYNC_NORMAL);
    if (code == SQLITE_OK) code = journal->pMethods->xFileSize(journal, &bytes);
    if (code == SQLITE_OK && bytes >= checkpoint_bytes)
        code = sqlite3_wal_checkpoint_v2(database, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    // busy: another connection is checkpointing
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) return std::unexpected(impl_->connection.error(code));
    return {};
}

const std::string& Store::path() const { return impl_->connection.path(); }

} // namespace aegis
