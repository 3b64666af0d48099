#include "aegisd/database_file.h"

#include "aegisd/schema.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace aegis {
namespace {

// While opening nobody waits for an answer yet, and another aegisd may just be closing.
constexpr std::chrono::milliseconds opening_lock_wait{2000};

StoreError system_error(const std::string& path, const char* what) {
    int reason = errno;
    return {fmt::format("{}: {}: {} ({})", path, what, std::strerror(reason), strerrorname_np(reason)), reason};
}

// The file comes into being complete or not at all, so that an empty one is always the sign of damage.
std::expected<void, StoreError> create(const std::string& directory, const std::string& path, std::span<const char* const> ladder) {
    std::string unfinished = path + ".new";
    if (unlink(unfinished.c_str()) != 0 && errno != ENOENT) return std::unexpected(system_error(unfinished, "cannot be replaced"));
    // SQLite would try again without writing and report that errno instead; job names are not for everybody
    int file = ::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (file < 0) return std::unexpected(system_error(unfinished, "cannot be created"));
    close(file);
    {
        auto connection = Connection::open(unfinished, SQLITE_OPEN_READWRITE);
        if (!connection) return std::unexpected(connection.error());
        if (auto done = migrate(*connection, ladder); !done) return done;
    }
    if (link(unfinished.c_str(), path.c_str()) != 0 && errno != EEXIST) return std::unexpected(system_error(path, "cannot be created"));
    unlink(unfinished.c_str());
    int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = fd >= 0 && fsync(fd) == 0;
    auto result = synced ? std::expected<void, StoreError>{} : std::unexpected(system_error(directory, "cannot be synced"));
    if (fd >= 0) close(fd);
    return result;
}

// Nothing at all: a first start. A WAL without its database, or an empty file: somebody lost data, and must know.
std::expected<void, StoreError> make_sure_it_exists(const std::string& directory, const std::string& path, StoreAccess access,
                                                    std::span<const char* const> ladder) {
    std::error_code ignored;
    auto bytes_of = [&ignored](const std::string& file) {
        auto bytes = std::filesystem::file_size(file, ignored);
        return ignored ? std::uintmax_t{0} : bytes;
    };
    if (faccessat(AT_FDCWD, path.c_str(), F_OK, AT_EACCESS) != 0) {
        if (errno != ENOENT || access == StoreAccess::read_only) return std::unexpected(system_error(path, "cannot be opened"));
        if (bytes_of(path + "-wal") > 0)
            return std::unexpected(StoreError{fmt::format(
                "{}: missing, but its journal {}-wal is there; restore the database or move the journal away", path, path)});
        return create(directory, path, ladder);
    }
    // SQLite opens a file it may not write to without complaint: find out now, not at the first decision
    if (access == StoreAccess::read_write && faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) != 0)
        return std::unexpected(system_error(path, "not writable"));
    if (std::filesystem::is_regular_file(path, ignored) && bytes_of(path) == 0)
        return std::unexpected(StoreError{fmt::format(
            "{}: empty, so it was damaged; restore it from a copy or remove it, nothing is started over by itself", path)});
    return {};
}

} // namespace

std::expected<Connection, StoreError> open_database(const std::string& directory, const std::string& path, StoreAccess access,
                                                    std::span<const char* const> ladder) {
    if (auto exists = make_sure_it_exists(directory, path, access, ladder); !exists) return std::unexpected(exists.error());
    const bool writer = access == StoreAccess::read_write;
    auto connection = Connection::open(path, writer ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
    if (!connection) return connection;
    connection->wait_for_locks(opening_lock_wait);
    auto ready = writer ? migrate(*connection, ladder) : require_current(*connection, ladder);
    if (!ready) return std::unexpected(ready.error());
    return connection;
}

} // namespace aegis
