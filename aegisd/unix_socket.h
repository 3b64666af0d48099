// The Unix sockets aegisd listens on, and who is at the other end of a connection.
//
// A socket file is removed at start only if it is a socket and nobody listens on it, and at the end only if it is
// still ours. Both sockets let in root, slurm_user and, where aegisd runs as neither, its own user; the file's mode
// says so where it can, and every peer is checked by SO_PEERCRED as well.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <sys/types.h>

namespace aegis {

struct Peer {
    uid_t uid = 0;
    pid_t pid = 0;
};

std::optional<Peer> peer_of(int connection);
bool may_connect(uid_t uid, std::optional<uid_t> slurm_uid);

class ListeningSocket {
public:
    // Non-blocking and listening. The error names the path and what to do.
    static std::expected<ListeningSocket, std::string> claim(const std::string& path, std::optional<uid_t> slurm_uid);

    const std::string& path() const { return path_; }
    int take_descriptor(); // the caller closes it from here on; the file stays ours

    ListeningSocket(ListeningSocket&&) noexcept;
    ListeningSocket& operator=(ListeningSocket&&) = delete;
    ~ListeningSocket();

private:
    ListeningSocket(std::string path, int descriptor);

    std::string path_;
    int descriptor_;
    dev_t device_ = 0; // of the socket file, to recognise it
    ino_t inode_ = 0;
};

} // namespace aegis
