#include "aegisd/directory_lock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace aegis {

std::expected<DirectoryLock, std::string> DirectoryLock::claim(const std::string& directory) {
    const std::string path = directory + "/aegisd.lock";
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0)
        return std::unexpected(fmt::format("{}: cannot be opened: {}: store.directory must exist and be writable for "
                                           "this user",
                                           path, std::strerror(errno)));
    DirectoryLock lock(descriptor);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        char holder[32]{};
        const bool known = ::pread(descriptor, holder, sizeof holder - 1, 0) > 0;
        return std::unexpected(fmt::format("{}: in use by another aegisd{}: stop it first", directory,
                                           known ? fmt::format(" (pid {})", holder) : ""));
    }
    // Only for the message above: a full disk that keeps the pid from being written does not weaken the lock.
    const std::string pid = std::to_string(::getpid());
    if (::ftruncate(descriptor, 0) == 0 && ::pwrite(descriptor, pid.data(), pid.size(), 0) < 0) errno = 0;
    return lock;
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

DirectoryLock::~DirectoryLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

} // namespace aegis
