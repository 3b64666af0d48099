#include "aegisctl/client.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace aegis {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;

namespace {

// The fabric of 100,000 ports is about 20 MB; more than this is not aegisd.
constexpr std::size_t answer_limit_bytes = 256u << 20;

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) close(fd_);
    }
    int get() const { return fd_; }

private:
    int fd_;
};

// True once the socket is ready for `events`, false when the time is up; errno on failure.
std::expected<bool, int> wait_until(int fd, short events, Clock::time_point deadline) {
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd waiting{fd, events, 0};
        const int ready = poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
        if (ready > 0) return true;
        if (ready == 0) return false;
        if (errno != EINTR) return std::unexpected(errno);
    }
}

Failure unreachable(const std::string& socket, std::string_view why) {
    return {Exit::unreachable, fmt::format("aegisd cannot be reached at {}: {}", socket, why)};
}

std::string_view hint(int reason) {
    switch (reason) {
    case ENOENT: return " (is aegisd running, and is this its control.socket?)";
    case ECONNREFUSED: return " (aegisd is not running any more)";
    case EACCES: return " (only root and the Slurm user may ask)";
    default: return "";
    }
}

} // namespace

std::expected<json::value, Failure> Client::ask(const json::object& request) const {
    const auto deadline = Clock::now() + timeout_;
    const auto broken = [this](int reason) {
        return std::unexpected(unreachable(socket_, fmt::format("{}{}", std::strerror(reason), hint(reason))));
    };
    const auto silent = [this] {
        return std::unexpected(unreachable(socket_, fmt::format("no answer within {} ms", timeout_.count())));
    };

    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket_.empty() || socket_.size() >= sizeof address.sun_path)
        return std::unexpected(unreachable(socket_, fmt::format("the path must have 1 to {} bytes", sizeof address.sun_path - 1)));
    std::memcpy(address.sun_path, socket_.data(), socket_.size());
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket.get() < 0) return broken(errno);
    while (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        // a full backlog of a Unix socket says EAGAIN and cannot be polled for
        if (errno != EAGAIN && errno != EINTR) return broken(errno);
        if (Clock::now() >= deadline) return silent();
        poll(nullptr, 0, 5);
    }

    const std::string line = json::serialize(request) + "\n";
    for (std::size_t sent = 0; sent < line.size();) {
        const ssize_t some = send(socket.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
        if (some >= 0) {
            sent += static_cast<std::size_t>(some);
        } else if (errno == EAGAIN || errno == EINTR) {
            const auto ready = wait_until(socket.get(), POLLOUT, deadline);
            if (!ready) return broken(ready.error());
            if (!*ready) return silent();
        } else if (errno == EPIPE) {
            break; // closed, perhaps with a refusal to be read
        } else {
            return broken(errno);
        }
    }

    std::string answer;
    while (answer.find('\n', answer.size() < 65536 ? 0 : answer.size() - 65536) == answer.npos) {
        const auto ready = wait_until(socket.get(), POLLIN, deadline);
        if (!ready) return broken(ready.error());
        if (!*ready) return silent();
        char chunk[65536];
        const ssize_t some = recv(socket.get(), chunk, sizeof chunk, 0);
        if (some < 0) {
            if (errno == EAGAIN || errno == EINTR) continue;
            return broken(errno);
        }
        if (some == 0) return std::unexpected(unreachable(socket_, "the connection was closed without an answer"));
        answer.append(chunk, static_cast<std::size_t>(some));
        if (answer.size() > answer_limit_bytes) return std::unexpected(unreachable(socket_, "the answer does not end"));
    }

    json::error_code malformed;
    json::value document = json::parse({answer.data(), answer.find('\n')}, malformed);
    const json::object* object = malformed ? nullptr : document.if_object();
    const json::value* ok = object ? object->if_contains("ok") : nullptr;
    if (!ok || !ok->is_bool()) return std::unexpected(Failure{Exit::failed, fmt::format("{}: the answer is not one of aegisd's", socket_)});
    if (ok->as_bool()) {
        json::value* result = document.as_object().if_contains("result");
        return result ? std::move(*result) : json::value(json::object());
    }
    const json::value* code = object->if_contains("code");
    const json::value* error = object->if_contains("error");
    return std::unexpected(Failure{code && code->is_int64() && code->as_int64() == 4 ? Exit::refused : Exit::failed,
                                   error && error->is_string() ? std::string(error->as_string()) : "aegisd gave no reason"});
}

} // namespace aegis
