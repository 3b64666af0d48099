#include "aegisd/telemetry_store.h"

#include "aegisd/database_file.h"
#include "aegisd/schema.h"
#include "aegisd/sqlite.h"

#include <fmt/format.h>

namespace aegis {
namespace {

// The writer waits for nobody's answer, and nobody for the writer.
constexpr std::chrono::milliseconds writer_lock_wait{1000};
constexpr std::chrono::milliseconds reader_lock_wait{200};
constexpr char sql_settings_writer[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 8388608;"
                                       "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;";
constexpr char sql_settings_reader[] = "PRAGMA query_only = ON; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;";

constexpr char sql_add_link[] = "INSERT INTO link (name) VALUES (?1)";
constexpr char sql_link[] = "SELECT id FROM link WHERE name = ?1";

constexpr char columns[] = "covered_us, bytes, packets, marked, drops, pauses, waits, peak_bytes, depth_count, depth_sum, depth_max, "
                           "pressure_count, pressure_sum, pressure_max";

std::string sql_add(std::string_view table) {
    const auto sum = [](std::string_view column) {
        return fmt::format("{0} = coalesce({0} + excluded.{0}, {0}, excluded.{0})", column);
    };
    const auto largest = [](std::string_view column) {
        return fmt::format("{0} = coalesce(max({0}, excluded.{0}), {0}, excluded.{0})", column);
    };
    return fmt::format("INSERT INTO {} (start_s, link, {}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) "
                       "ON CONFLICT (start_s, link) DO UPDATE SET {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}",
                       table, columns, sum("covered_us"), sum("bytes"), sum("packets"), sum("marked"), sum("drops"), sum("pauses"),
                       sum("waits"), largest("peak_bytes"), sum("depth_count"), sum("depth_sum"), largest("depth_max"),
                       sum("pressure_count"), sum("pressure_sum"), largest("pressure_max"));
}

std::string sql_prune(std::string_view table) {
    return fmt::format("DELETE FROM {0} WHERE (start_s, link) IN (SELECT start_s, link FROM {0} WHERE start_s < ?1 ORDER BY start_s, link LIMIT ?2)",
                       table);
}

// One look-up a stretch: the key begins with the time, and a scan would read every link's rows.
std::string sql_read(std::string_view table) {
    return fmt::format("WITH RECURSIVE stretch (start_s) AS (SELECT ?2 UNION ALL SELECT start_s + ?4 FROM stretch WHERE start_s + ?4 < ?3) "
                       "SELECT r.start_s, {} FROM stretch CROSS JOIN {} r ON r.start_s = stretch.start_s AND r.link = ?1", columns, table);
}

struct Table {
    std::string add, prune, read;
    explicit Table(std::string_view name) : add(sql_add(name)), prune(sql_prune(name)), read(sql_read(name)) {}
};

const Table& table_of(Resolution resolution) {
    static const Table ten_seconds("roll_up_10s"), five_minutes("roll_up_5min");
    switch (resolution) {
    case Resolution::ten_seconds: return ten_seconds;
    case Resolution::five_minutes: return five_minutes;
    }
    return ten_seconds;
}

RollUp roll_up_from(const Query& row) {
    RollUp amounts;
    amounts.covered_us = row.integer(1);
    int column = 2;
    for (const auto counter : roll_up_counters) amounts.*counter = row.maybe_integer(column++);
    amounts.peak_bytes = row.maybe_integer(8);
    amounts.depth_bytes = {row.integer(9), row.real(10), row.real(11)};
    amounts.pressure = {row.integer(12), row.real(13), row.real(14)};
    return amounts;
}

} // namespace

struct TelemetryStore::Impl {
    Connection connection;
    std::unordered_map<std::string, std::int64_t> links{}; // as the writer has met them

    std::expected<std::optional<std::int64_t>, StoreError> link_of(std::string_view name) {
        auto query = connection.query(sql_link);
        if (!query) return std::unexpected(query.error());
        auto row = query->bind(1, name).step();
        if (!row) return std::unexpected(row.error());
        return *row ? std::optional(query->integer(0)) : std::nullopt;
    }

    std::expected<std::int64_t, StoreError> link_for(const std::string& name) {
        if (const auto known = links.find(name); known != links.end()) return known->second;
        auto id = link_of(name);
        if (!id) return std::unexpected(id.error());
        if (!*id) {
            auto query = connection.query(sql_add_link);
            if (!query) return std::unexpected(query.error());
            if (auto added = query->bind(1, std::string_view(name)).run(); !added) return std::unexpected(added.error());
            *id = connection.last_id();
        }
        return links.emplace(name, **id).first->second;
    }

    std::expected<void, StoreError> add(Resolution resolution, std::int64_t start_s, std::int64_t link, const RollUp& amounts) {
        auto query = connection.query(table_of(resolution).add.c_str());
        if (!query) return std::unexpected(query.error());
        query->bind(1, start_s).bind(2, link).bind(3, amounts.covered_us);
        int parameter = 4;
        for (const auto counter : roll_up_counters) query->bind_if(parameter++, amounts.*counter);
        query->bind_if(10, amounts.peak_bytes);
        query->bind(11, amounts.depth_bytes.count).bind(12, amounts.depth_bytes.sum).bind(13, amounts.depth_bytes.largest);
        query->bind(14, amounts.pressure.count).bind(15, amounts.pressure.sum).bind(16, amounts.pressure.largest);
        return query->run();
    }

    std::expected<void, StoreError> add_all(std::span<const RollUpRow> rows) {
        const std::int64_t coarse = width_of(Resolution::five_minutes).count();
        for (const RollUpRow& row : rows) {
            const auto link = link_for(row.link);
            if (!link) return std::unexpected(link.error());
            if (auto added = add(Resolution::ten_seconds, row.start_s, *link, row.amounts); !added) return added;
            if (auto added = add(Resolution::five_minutes, row.start_s / coarse * coarse, *link, row.amounts); !added) return added;
        }
        return {};
    }
};

TelemetryStore::TelemetryStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TelemetryStore::TelemetryStore(TelemetryStore&&) noexcept = default;
TelemetryStore& TelemetryStore::operator=(TelemetryStore&&) noexcept = default;
TelemetryStore::~TelemetryStore() = default;

std::expected<TelemetryStore, StoreError> TelemetryStore::open(const std::string& directory, StoreAccess access) {
    auto connection = open_database(directory, path_in(directory), access, telemetry_migrations());
    if (!connection) return std::unexpected(connection.error());
    const bool writer = access == StoreAccess::read_write;
    if (auto ready = connection->execute(writer ? sql_settings_writer : sql_settings_reader); !ready) return std::unexpected(ready.error());
    connection->wait_for_locks(writer ? writer_lock_wait : reader_lock_wait);
    return TelemetryStore(std::make_unique<Impl>(std::move(*connection)));
}

std::expected<void, StoreError> TelemetryStore::write(std::span<const RollUpRow> rows) {
    Connection& connection = impl_->connection;
    if (auto begun = connection.execute("BEGIN IMMEDIATE"); !begun) return begun;
    auto done = impl_->add_all(rows);
    if (done) done = connection.execute("COMMIT");
    if (!done) {
        impl_->links.clear(); // some may have been added by what is now rolled back
        if (!sqlite3_get_autocommit(connection.handle())) (void)connection.execute("ROLLBACK");
    }
    return done;
}

std::expected<std::uint64_t, StoreError> TelemetryStore::prune(Resolution resolution, std::int64_t before_s, std::uint32_t limit) {
    auto query = impl_->connection.query(table_of(resolution).prune.c_str());
    if (!query) return std::unexpected(query.error());
    if (auto done = query->bind(1, before_s).bind(2, std::int64_t{limit}).run(); !done) return std::unexpected(done.error());
    return static_cast<std::uint64_t>(impl_->connection.changes());
}

std::expected<bool, StoreError> TelemetryStore::knows(std::string_view link) {
    const auto id = impl_->link_of(link);
    if (!id) return std::unexpected(id.error());
    return id->has_value();
}

std::expected<std::vector<RollUpAt>, StoreError> TelemetryStore::read(std::string_view link, Resolution resolution, std::int64_t since_s,
                                                                      std::int64_t until_s) {
    const auto id = impl_->link_of(link);
    if (!id) return std::unexpected(id.error());
    std::vector<RollUpAt> rows;
    const std::int64_t width = width_of(resolution).count();
    const std::int64_t first = (since_s + width - 1) / width * width;
    if (!*id || first >= until_s) return rows;
    auto query = impl_->connection.query(table_of(resolution).read.c_str());
    if (!query) return std::unexpected(query.error());
    query->bind(1, **id).bind(2, first).bind(3, until_s).bind(4, width);
    for (;;) {
        auto row = query->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) return rows;
        rows.push_back({query->integer(0), roll_up_from(*query)});
    }
}

const std::string& TelemetryStore::path() const { return impl_->connection.path(); }

} // namespace aegis
