#include "aegisd/unix_socket.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace aegis {

namespace {

std::string failure(const std::string& path, const char* what) {
    return fmt::format("{}: {}: {}", path, what, std::strerror(errno));
}

struct Descriptor {
    int value;
    ~Descriptor() {
        if (value >= 0) ::close(value);
    }
};

std::optional<sockaddr_un> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) return std::nullopt;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

// Makes room for a new socket: nothing there, or a socket that a dead process left.
std::expected<void, std::string> clear_stale(const std::string& path, const sockaddr_un& address) {
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) return {};
        return std::unexpected(failure(path, "cannot be looked at"));
    }
    if (!S_ISSOCK(status.st_mode))
        return std::unexpected(fmt::format("{}: exists and is not a socket: remove it or choose another path", path));
    const Descriptor probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (probe.value < 0) return std::unexpected(failure(path, "no socket to try it with"));
    if (::connect(probe.value, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN)
        return std::unexpected(fmt::format("{}: another aegisd (or somebody else) listens there: stop it first", path));
    if (errno != ECONNREFUSED) return std::unexpected(failure(path, "is a socket in use, or cannot be tried"));
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
        return std::unexpected(failure(path, "a stale socket that cannot be removed"));
    return {};
}

} // namespace

std::optional<Peer> peer_of(int connection) {
    ucred credentials{};
    socklen_t length = sizeof credentials;
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return std::nullopt;
    return Peer{credentials.uid, credentials.pid};
}

bool may_connect(uid_t uid, std::optional<uid_t> slurm_uid) {
    return uid == 0 || uid == ::geteuid() || (slurm_uid && uid == *slurm_uid);
}

std::expected<ListeningSocket, std::string> ListeningSocket::claim(const std::string& path,
                                                                   std::optional<uid_t> slurm_uid) {
    const auto address = address_of(path);
    if (!address)
        return std::unexpected(fmt::format("{}: expected a socket path of 1 to {} bytes", path,
                                           sizeof(sockaddr_un::sun_path) - 1));
    if (auto cleared = clear_stale(path, *address); !cleared) return std::unexpected(cleared.error());

    Descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (socket.value < 0) return std::unexpected(failure(path, "no socket"));

    // Root gives the file to slurm_user, and nobody else can even connect. Without root the file cannot be given
    // away: then anybody may connect and the check of the peer decides.
    const bool give_away = ::geteuid() == 0;
    const bool ours_alone = give_away || !slurm_uid || *slurm_uid == ::geteuid();
    const mode_t mode = ours_alone ? 0600 : 0666;
    ::fchmod(socket.value, mode); // Linux creates the file with this mode: never a moment too open
    if (::bind(socket.value, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
        return std::unexpected(failure(path, errno == ENOENT ? "its folder is missing" : "cannot be bound"));

    ListeningSocket result(path, std::exchange(socket.value, -1));
    if (::chmod(path.c_str(), mode) != 0) // what the umask took away
        return std::unexpected(failure(path, "its mode cannot be set"));
    if (give_away && slurm_uid && ::chown(path.c_str(), *slurm_uid, static_cast<gid_t>(-1)) != 0)
        return std::unexpected(failure(path, "cannot be given to slurm_user"));
    if (::listen(result.descriptor_, 64) != 0) return std::unexpected(failure(path, "cannot be listened on"));
    return result;
}

ListeningSocket::ListeningSocket(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {
    struct stat status{};
    if (::lstat(path_.c_str(), &status) == 0) {
        device_ = status.st_dev;
        inode_ = status.st_ino;
    }
}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : path_(std::exchange(other.path_, {})), descriptor_(std::exchange(other.descriptor_, -1)), device_(other.device_),
      inode_(other.inode_) {}

int ListeningSocket::take_descriptor() { return std::exchange(descriptor_, -1); }

ListeningSocket::~ListeningSocket() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (path_.empty()) return;
    struct stat status{};
    if (::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_)
        ::unlink(path_.c_str());
}

} // namespace aegis
