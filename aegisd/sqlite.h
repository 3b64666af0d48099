// A connection and its prepared statements: the little of SQLite's C interface that the store needs, with errors as values.
//
// Every error names the file, what was being done, what went wrong and, where it helps, what to do; errno_value is set
// where the system said why. A Statement never outlives its Connection.
#pragma once

#include "aegisd/store.h"

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace aegis {

class Connection;

// A prepared statement in use: bind, step, read; it is reset when the Query goes. Columns count from 0, parameters from 1.
class Query {
public:
    Query(Connection& connection, sqlite3_stmt* statement) : connection_(&connection), statement_(statement) {}
    Query(Query&& other) noexcept : connection_(other.connection_), statement_(std::exchange(other.statement_, nullptr)) {}
    Query& operator=(Query&&) = delete;
    ~Query();

    // Text is not copied: it must live until the Query goes.
    Query& bind(int parameter, std::int64_t value);
    Query& bind(int parameter, std::string_view text);
    Query& bind(int parameter, double value);
    Query& bind_if(int parameter, const std::optional<std::int64_t>& value); // nothing is NULL
    Query& bind_if(int parameter, const std::optional<std::string>& text);

    std::expected<bool, StoreError> step(); // true: a row is there
    std::expected<void, StoreError> run();  // steps to the end

    std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
    std::optional<std::int64_t> maybe_integer(int column) const;
    double real(int column) const { return sqlite3_column_double(statement_, column); }
    std::string text(int column) const;

private:
    Connection* connection_;
    sqlite3_stmt* statement_;
};

class Connection {
public:
    // `flags` as for sqlite3_open_v2.
    static std::expected<Connection, StoreError> open(const std::string& path, int flags);

    // How long a statement waits for another process's lock before it fails. Zero: not at all.
    void wait_for_locks(std::chrono::milliseconds at_most);

    std::expected<void, StoreError> execute(const char* sql);
    std::expected<std::int64_t, StoreError> number(const char* sql); // the first column of the first row
    std::expected<Query, StoreError> query(const char* sql);         // prepared once for each constant, by its address

    std::int64_t last_id() const { return sqlite3_last_insert_rowid(database_.get()); }
    std::int64_t changes() const { return sqlite3_changes64(database_.get()); }
    sqlite3* handle() const { return database_.get(); }
    const std::string& path() const { return path_; }

    StoreError error(int code) const;

private:
    struct Close {
        void operator()(sqlite3* database) const { sqlite3_close(database); }
    };
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    explicit Connection(std::string path) : path_(std::move(path)) {}

    std::string path_;
    std::unique_ptr<sqlite3, Close> database_;
    std::unordered_map<const char*, std::unique_ptr<sqlite3_stmt, Finalize>> statements_; // go before the database
};

} // namespace aegis
