// A database file of ours comes into being complete, is opened only if it is whole and ours, and is never started over by itself.
//
// Errors name the file, what is wrong with it and what to do. SQL of a database is in its own store and in schema.cpp.
#pragma once

#include "aegisd/sqlite.h"

#include <chrono>
#include <expected>
#include <span>
#include <string>

namespace aegis {

// `ladder` is its schema (schema.h). A reader does not create the file and needs it on the top of the ladder; a writer creates
// it where there is none, and migrates. While opening, another process's lock is waited for up to two seconds.
std::expected<Connection, StoreError> open_database(const std::string& directory, const std::string& path, StoreAccess access,
                                                    std::span<const char* const> ladder);

} // namespace aegis
