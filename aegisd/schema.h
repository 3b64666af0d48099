// The schemas of decisions.db and telemetry.db, each a ladder of numbered migrations, and the way up one.
//
// PRAGMA user_version says on which rung a file stands. A rung is never edited once released: a change is a new rung.
// Each rung is one transaction, so that a crash leaves the file on one rung or the next.
#pragma once

#include "aegisd/sqlite.h"

#include <cstdint>
#include <span>

namespace aegis {

inline constexpr std::int64_t store_application_id = 0x41454753; // "AEGS", read big-endian as file(1) does

// migrations()[i] leads from version i to version i + 1.
std::span<const char* const> migrations();           // of decisions.db
std::span<const char* const> telemetry_migrations(); // of telemetry.db

// Brings the file to the top of the ladder. Refused: a version above the top (a newer release wrote it).
std::expected<void, StoreError> migrate(Connection& connection, std::span<const char* const> ladder);

// For a reader, which must not change the file: refused unless it stands on the top already.
std::expected<void, StoreError> require_current(Connection& connection, std::span<const char* const> ladder);

} // namespace aegis
