#include "aegisd/sqlite.h"

#include <cassert>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>

namespace aegis {
namespace {

// What the operator should hear of a result code; SQLite's own words say it in the language of its source.
std::string in_plain_words(int code, int errno_value, const char* sqlite_words) {
    std::string system = errno_value != 0 ? fmt::format(": {} ({})", std::strerror(errno_value), strerrorname_np(errno_value)) : "";
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "database is locked by another process";
    case SQLITE_FULL: return fmt::format("no room left{}", system);
    case SQLITE_READONLY:
    case SQLITE_PERM: return fmt::format("not writable{}", system);
    case SQLITE_CANTOPEN: return fmt::format("cannot be opened{}", system);
    case SQLITE_IOERR: return fmt::format("input or output failed ({}){}", sqlite_words, system);
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return fmt::format("damaged, or not a database ({}); restore it from a copy or move it away, nothing is started over by itself",
                           sqlite_words);
    default: return fmt::format("{}{}", sqlite_words, system);
    }
}

} // namespace

Query::~Query() {
    if (!statement_) return;
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
}

Query& Query::bind(int parameter, std::int64_t value) {
    [[maybe_unused]] int code = sqlite3_bind_int64(statement_, parameter, value);
    assert(code == SQLITE_OK);
    return *this;
}

Query& Query::bind(int parameter, std::string_view text) {
    // a null pointer would bind NULL
    [[maybe_unused]] int code = sqlite3_bind_text64(statement_, parameter, text.data() ? text.data() : "", text.size(), SQLITE_STATIC, SQLITE_UTF8);
    assert(code == SQLITE_OK);
    return *this;
}

Query& Query::bind(int parameter, double value) {
    [[maybe_unused]] int code = sqlite3_bind_double(statement_, parameter, value);
    assert(code == SQLITE_OK);
    return *this;
}

Query& Query::bind_if(int parameter, const std::optional<std::int64_t>& value) {
    return value ? bind(parameter, *value) : *this; // unbound is NULL
}

Query& Query::bind_if(int parameter, const std::optional<std::string>& text) {
    return text ? bind(parameter, std::string_view(*text)) : *this;
}

std::expected<bool, StoreError> Query::step() {
    int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return std::unexpected(connection_->error(code));
}

std::expected<void, StoreError> Query::run() {
    for (;;) {
        auto row = step();
        if (!row) return std::unexpected(row.error());
        if (!*row) return {};
    }
}

std::optional<std::int64_t> Query::maybe_integer(int column) const {
    if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
    return integer(column);
}

std::string Query::text(int column) const {
    const unsigned char* text = sqlite3_column_text(statement_, column);
    return text ? std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)))
                : std::string();
}

std::expected<Connection, StoreError> Connection::open(const std::string& path, int flags) {
    Connection connection(path);
    sqlite3* database = nullptr;
    int code = sqlite3_open_v2(path.c_str(), &database, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    connection.database_.reset(database); // there is a handle even on failure, to ask for the reason
    if (code != SQLITE_OK) return std::unexpected(connection.error(code));
    sqlite3_extended_result_codes(database, 1);
    return connection;
}

void Connection::wait_for_locks(std::chrono::milliseconds at_most) {
    sqlite3_busy_timeout(database_.get(), static_cast<int>(at_most.count()));
}

std::expected<void, StoreError> Connection::execute(const char* sql) {
    int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return std::unexpected(error(code));
    return {};
}

std::expected<std::int64_t, StoreError> Connection::number(const char* sql) {
    auto asked = query(sql);
    if (!asked) return std::unexpected(asked.error());
    auto row = asked->step();
    if (!row) return std::unexpected(row.error());
    return *row ? asked->integer(0) : 0;
}

std::expected<Query, StoreError> Connection::query(const char* sql) {
    auto& statement = statements_[sql];
    if (!statement) {
        sqlite3_stmt* prepared = nullptr;
        int code = sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
        if (code != SQLITE_OK) return std::unexpected(error(code));
        statement.reset(prepared);
    }
    return Query(*this, statement.get());
}

StoreError Connection::error(int code) const {
    int primary = code & 0xff;
    int errno_value = 0;
    if (primary == SQLITE_FULL)
        errno_value = ENOSPC; // SQLite forgets the errno of a full disk: the result code is all it keeps
    else if (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY || primary == SQLITE_PERM)
        errno_value = database_ ? sqlite3_system_errno(database_.get()) : ENOMEM;
    const char* words = database_ ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(code);
    return {fmt::format("{}: {}", path_, in_plain_words(code, errno_value, words)), errno_value};
}

} // namespace aegis
