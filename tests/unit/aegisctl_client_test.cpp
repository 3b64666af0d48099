// The client against a peer that behaves badly in every way a socket allows.
#include "aegisctl/client.h"

#include <boost/json/serialize.hpp>
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using namespace aegis;
using namespace std::chrono_literals;

namespace {

// Accepts one connection, hands it to `behave`, and closes it.
class Peer {
public:
    explicit Peer(std::function<void(int)> behave) {
        std::string name = (std::filesystem::temp_directory_path() / "aegis-ctl-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()));
        directory_ = name;
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path().copy(address.sun_path, sizeof address.sun_path - 1);
        listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
        REQUIRE(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        REQUIRE(listen(listener_, 1) == 0);
        thread_ = std::thread([this, behave = std::move(behave)] {
            int fd = accept(listener_, nullptr, nullptr);
            if (fd < 0) return;
            behave(fd);
            close(fd);
        });
    }
    ~Peer() {
        shutdown(listener_, SHUT_RDWR); // an accept that nobody came to ends
        thread_.join();
        close(listener_);
        std::filesystem::remove_all(directory_);
    }
    std::string path() const { return directory_ + "/s"; }

private:
    std::string directory_;
    int listener_ = -1;
    std::thread thread_;
};

std::string read_line(int fd) {
    std::string line;
    char c;
    while (recv(fd, &c, 1, 0) == 1 && c != '\n') line += c;
    return line;
}

void say(int fd, std::string_view text) {
    while (!text.empty()) {
        ssize_t some = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
        if (some <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(some));
    }
}

std::expected<boost::json::value, Failure> ask(const Peer& peer, std::chrono::milliseconds timeout = 2000ms) {
    return Client(peer.path(), timeout).ask({{"command", "status"}});
}

std::expected<boost::json::value, Failure> answered(std::string text) {
    const Peer peer([&](int fd) {
        read_line(fd);
        say(fd, text);
    });
    return ask(peer);
}

} // namespace

TEST_CASE("the client sends one line and returns the result of the answer") {
    std::string asked;
    const Peer peer([&](int fd) {
        asked = read_line(fd);
        say(fd, R"({"ok":tr)");
        say(fd, "ue,\"result\":{\"mode\":\"off\"}}\n");
    });
    const auto result = ask(peer);
    REQUIRE(result.has_value());
    CHECK(boost::json::serialize(*result) == R"({"mode":"off"})");
    CHECK(asked == R"({"command":"status"})");
}

TEST_CASE("an answer of many megabytes is read whole") {
    const auto result = answered("{\"ok\":true,\"result\":\"" + std::string(8 << 20, 'x') + "\"}\n");
    REQUIRE(result.has_value());
    CHECK(result->as_string().size() == 8 << 20);
}

TEST_CASE("a refusal keeps its words, and its code is the exit status") {
    auto refused = answered("{\"ok\":false,\"code\":4,\"error\":\"only root may\"}\n");
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().exit == Exit::refused);
    CHECK(refused.error().text == "only root may");
    auto failed = answered("{\"ok\":false,\"code\":1,\"error\":\"no decision 9 is recorded\"}\n");
    REQUIRE_FALSE(failed.has_value());
    CHECK(failed.error().exit == Exit::failed);
    CHECK(failed.error().text == "no decision 9 is recorded");
}

TEST_CASE("a refusal that comes before the question is heard") {
    const Peer peer([](int fd) {
        say(fd, "{\"ok\":false,\"code\":4,\"error\":\"only root may\"}\n");
        shutdown(fd, SHUT_RD);
    });
    const auto result = ask(peer);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().exit == Exit::refused);
}

TEST_CASE("a peer that never answers is given up on when the time is up") {
    const Peer peer([](int fd) {
        read_line(fd);
        read_line(fd); // until the client closes
    });
    const auto begin = std::chrono::steady_clock::now();
    const auto result = ask(peer, 30ms);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().exit == Exit::unreachable);
    CHECK_THAT(result.error().text, Catch::EndsWith("/s: no answer within 30 ms"));
    CHECK(std::chrono::steady_clock::now() - begin < 2s);
}

TEST_CASE("a peer that drips bytes without end does not extend the time") {
    const Peer peer([](int fd) {
        while (send(fd, "x", 1, MSG_NOSIGNAL) == 1) std::this_thread::yield();
    });
    const auto result = ask(peer, 50ms);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().exit == Exit::unreachable);
}

TEST_CASE("a connection that closes without an answer is unreachable") {
    const auto result = answered("{\"ok\":true");
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().exit == Exit::unreachable);
    CHECK_THAT(result.error().text, Catch::EndsWith("the connection was closed without an answer"));
}

TEST_CASE("an answer that is none of aegisd's is a failure") {
    for (const char* text : {"hello\n", "[]\n", "{}\n", "{\"ok\":1}\n", "\n", "{\"ok\":true}x\n"}) {
        const auto result = answered(text);
        REQUIRE_FALSE(result.has_value());
        CHECK(result.error().exit == Exit::failed);
    }
    CHECK(answered("{\"ok\":false}\n").error().text == "aegisd gave no reason");
}

TEST_CASE("a socket that is not there, or that nobody listens to, says so") {
    auto missing = Client("/nonexistent/control.socket", 1000ms).ask({});
    CHECK(missing.error().exit == Exit::unreachable);
    CHECK(missing.error().text == "aegisd cannot be reached at /nonexistent/control.socket: No such file or directory (is aegisd running, and "
                                  "is this its control.socket?)");
    auto too_long = Client(std::string(200, 'x'), 1000ms).ask({});
    CHECK(too_long.error().exit == Exit::unreachable);
    CHECK_THAT(too_long.error().text, Catch::EndsWith("the path must have 1 to 107 bytes"));
}
