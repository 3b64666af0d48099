// The client against a server in this process, over a real socket in a temporary folder. What is waited for
// is awaited with a generous bound, never assumed after a sleep.
#include "plugin/client.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using Bytes = std::vector<std::uint8_t>;
using namespace std::chrono_literals;

bool eventually(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

template <class Encode> Bytes framed(Encode encode) {
    Bytes frame(AEGIS_HEADER_BYTES + AEGIS_CALM_PAYLOAD_MAX);
    const auto length = encode(frame.data(), frame.size());
    frame.resize(static_cast<std::size_t>(length > 0 ? length : 0));
    return frame;
}

Bytes welcome(std::uint64_t hash, aegis_mode mode = AEGIS_MODE_STEER,
              aegis_welcome_status status = AEGIS_ACCEPTED) {
    const aegis_welcome m{static_cast<std::uint8_t>(status), static_cast<std::uint8_t>(mode), 10000, 60000, hash};
    return framed([&](auto* out, auto size) { return aegis_encode_welcome(out, size, &m); });
}

Bytes keep(std::uint64_t request, std::uint64_t decision = 1) {
    const aegis_advice m{decision, AEGIS_KEEP, 0, {}};
    return framed([&](auto* out, auto size) { return aegis_encode_advice(out, size, request, &m); });
}

Bytes plan(std::uint64_t request, std::uint32_t count, std::uint8_t bits) {
    const aegis_advice m{2, AEGIS_PLANS, 1, {{count, &bits}}};
    return framed([&](auto* out, auto size) { return aegis_encode_advice(out, size, request, &m); });
}

// For the five nodes of the fixture, one bit each.
Bytes calm(std::uint64_t hash, std::uint8_t calm_nodes, std::uint8_t inviting, std::uint32_t valid_ms = 5000) {
    const aegis_calm m{hash, valid_ms, {5, &calm_nodes}, {5, &inviting}};
    return framed([&](auto* out, auto size) { return aegis_encode_calm(out, size, &m); });
}

// aegisd as a test wants it: `on_ask` answers an ask with bytes, or with none.
class Server {
public:
    std::function<Bytes(std::uint64_t)> on_ask = [](std::uint64_t request) { return keep(request); };
    std::function<Bytes(std::uint64_t)> on_hello = [](std::uint64_t hash) { return welcome(hash); };
    std::atomic<int> hellos = 0, asks = 0, events = 0;
    std::atomic<bool> reads = true;

    Server() {
        char folder[] = "/tmp/aegis-client-test-XXXXXX";
        folder_ = mkdtemp(folder);
        path_ = folder_ + "/select.sock";
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, path_.c_str());
        listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
        listen(listener_, 8);
    }
    ~Server() {
        stopping_ = true;
        if (thread_.joinable()) thread_.join();
        close(listener_);
        std::filesystem::remove_all(folder_);
    }
    void start() {
        thread_ = std::thread([this] { serve(); });
    }
    const std::string& path() const { return path_; }
    void say(Bytes bytes) { // on the present connection, by the server's own thread
        said_ = false;
        to_say_ = std::move(bytes);
        say_ = true;
        eventually([this] { return said_.load(); });
    }
    void hang_up() { hang_up_ = true; }

private:
    void serve() {
        int peer = -1;
        Bytes in;
        while (!stopping_) {
            if (hang_up_.exchange(false) && peer >= 0) close(peer), peer = -1;
            if (say_.exchange(false)) {
                if (peer >= 0) send(peer, to_say_.data(), to_say_.size(), MSG_NOSIGNAL);
                said_ = true;
            }
            pollfd fd{peer < 0 ? listener_ : peer, POLLIN, 0};
            if (!reads || poll(&fd, 1, 1) <= 0) {
                if (!reads) std::this_thread::sleep_for(1ms);
                continue;
            }
            if (peer < 0) {
                peer = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
                in.clear();
                continue;
            }
            std::uint8_t chunk[65536];
            const auto got = recv(peer, chunk, sizeof chunk, 0);
            if (got <= 0) {
                close(peer), peer = -1;
                continue;
            }
            in.insert(in.end(), chunk, chunk + got);
            aegis_header header;
            std::int64_t length;
            while ((length = aegis_frame_length(in.data(), in.size(), &header)) > 0) {
                answer(peer, header, in.data() + AEGIS_HEADER_BYTES);
                in.erase(in.begin(), in.begin() + length);
            }
        }
        if (peer >= 0) close(peer);
    }

    void answer(int peer, const aegis_header& header, const std::uint8_t* payload) {
        Bytes out;
        if (header.type == AEGIS_HELLO) {
            aegis_hello hello;
            if (aegis_decode_hello(payload, header.length, &hello) == 0) out = on_hello(hello.table_hash);
            hellos++;
        } else if (header.type == AEGIS_ASK) {
            out = on_ask(header.request);
            asks++;
        } else if (header.type == AEGIS_PING) {
            out = framed([&](auto* o, auto s) { return aegis_encode_pong(o, s, header.request); });
        } else {
            events++;
        }
        if (!out.empty()) send(peer, out.data(), out.size(), MSG_NOSIGNAL);
    }

    std::string folder_, path_;
    int listener_;
    std::atomic<bool> stopping_ = false, say_ = false, said_ = false, hang_up_ = false;
    Bytes to_say_;
    std::thread thread_;
};

void quiet(const char*, ...) {}

struct Fixture {
    Server server;
    tally counts{};
    std::unique_ptr<client, decltype(&client_destroy)> plugin{nullptr, client_destroy};
    std::uint64_t hash = 0;
    advice answer{};
    std::uint8_t candidates = 0x1f, s1 = 0x03;

    Fixture() {
        const client_settings settings{server.path().c_str(), 0x160508, &counts, quiet, quiet};
        plugin.reset(client_create(&settings));
    }
    void offer(const char* prefix = "n") {
        node_names names{};
        for (int i = 0; i < 5; i++) node_names_add(&names, (prefix + std::to_string(i)).c_str());
        node_table* table = node_names_finish(&names);
        hash = table->hash;
        client_offer_table(plugin.get(), table);
    }
    bool wants() { return client_wants_ask(plugin.get(), hash); }
    void connect() {
        server.start();
        offer();
        REQUIRE(eventually([this] { return wants(); }));
    }
    // With a second to answer: only tests of the deadline depend on speed.
    bool ask(std::uint64_t deadline_us = 900000) {
        const aegis_ask m = question();
        return client_ask(plugin.get(), &m, client_now_us() + deadline_us, &answer);
    }
    bool keeps() {
        const aegis_ask m = question();
        return wants() && client_keeps(plugin.get(), &m); // as the plugin does: wants() reads what has arrived
    }
    aegis_ask question() const {
        return {hash, 1, 1, 1, 0, {"7", 1}, 7, 0, {nullptr, 0}, {5, &candidates}, {5, &s1}, {0, nullptr}};
    }
    void tell() {
        const aegis_job_event m{{"7", 1}, 7, 0};
        const Bytes frame =
            framed([&](auto* out, auto size) { return aegis_encode_job_event(out, size, AEGIS_JOB_BEGIN, &m); });
        client_tell(plugin.get(), frame.data(), frame.size());
    }
    aegis_counters counters() const { return tally_snapshot(&counts); }
};

} // namespace

TEST_CASE("client: nobody is asked before there is an aegisd") {
    Fixture f;
    CHECK_FALSE(f.wants());
    f.offer();
    CHECK_FALSE(f.wants());
    CHECK_FALSE(f.ask());
    CHECK(f.counters().asks == 0);
}

TEST_CASE("client: keep and plans arrive") {
    Fixture f;
    f.connect();
    REQUIRE(f.ask());
    CHECK(f.answer.decision == 1);
    CHECK(f.answer.plan_count == 0);
    f.server.on_ask = [](auto request) { return plan(request, 5, 0x1c); };
    REQUIRE(f.ask());
    CHECK(f.answer.plan_count == 1);
    CHECK(f.answer.plans[0][0] == 0x1c);
    CHECK(f.counters().asks == 2);
    CHECK(f.counters().advice_keep == 1);
    CHECK(f.counters().advice_plans == 1);
    CHECK(f.counters().connects == 1);
}

TEST_CASE("client: three asks without an answer open the breaker, and the fourth costs nothing") {
    Fixture f;
    f.server.on_ask = [](auto) { return Bytes{}; };
    f.connect();
    for (int i = 0; i < 3; i++) CHECK_FALSE(f.ask(2000));
    CHECK(f.counters().timeouts == 3);
    CHECK(f.counters().breaker_opened == 1);
    CHECK_FALSE(f.wants());
    CHECK_FALSE(f.ask(2000));
    CHECK(f.counters().asks == 3);
}

TEST_CASE("client: an ask without time left is not made, and nobody is blamed") {
    Fixture f;
    f.connect();
    for (int i = 0; i < 5; i++) CHECK_FALSE(f.ask(0));
    CHECK(f.counters().asks == 0);
    CHECK(f.counters().timeouts == 0);
    CHECK(f.wants());
}

TEST_CASE("client: an answer that comes too late is not taken for the next one") {
    Fixture f;
    std::atomic<std::uint64_t> first = 0;
    f.server.on_ask = [&](std::uint64_t request) {
        if (first == 0) {
            first = request;
            return Bytes{};
        }
        Bytes both = plan(first, 5, 0x01); // the late one, then the right one
        const Bytes right = keep(request, 9);
        both.insert(both.end(), right.begin(), right.end());
        return both;
    };
    f.connect();
    CHECK_FALSE(f.ask(2000));
    REQUIRE(f.ask());
    CHECK(f.answer.decision == 9);
    CHECK(f.answer.plan_count == 0);
    CHECK(f.counters().late_answers == 1);
    CHECK(f.counters().malformed == 0);
}

TEST_CASE("client: garbage for an answer is no opinion; the connection is closed and made anew") {
    Fixture f;
    std::function<Bytes(std::uint64_t)> bad;
    SECTION("random bytes") {
        bad = [](auto) { return Bytes(100, 0x5a); };
    }
    SECTION("a plan for another number of nodes") {
        bad = [](auto request) { return plan(request, 6, 0x01); };
    }
    SECTION("spare bits set") {
        bad = [](auto request) {
            Bytes frame = plan(request, 5, 0x01);
            frame.back() = 0xff;
            return frame;
        };
    }
    SECTION("an answer to a request that was never made") {
        bad = [](auto request) { return keep(request + 1000); };
    }
    SECTION("a CALM for another number of nodes") {
        bad = [&](auto) {
            const std::uint8_t bits = 0;
            const aegis_calm m{f.hash, 5000, {6, &bits}, {6, &bits}};
            return framed([&](auto* o, auto s) { return aegis_encode_calm(o, s, &m); });
        };
    }
    SECTION("a malformed CALM") {
        bad = [&](auto) {
            Bytes frame = calm(f.hash, 0x01, 0x02);
            frame.back() = 0xff; // spare bits
            return frame;
        };
    }
    SECTION("a frame that only plugins send") {
        bad = [](auto request) {
            const aegis_counters c{};
            return framed([&](auto* o, auto s) { return aegis_encode_ping(o, s, request, &c); });
        };
    }
    SECTION("a PONG with a payload") {
        bad = [](auto request) {
            Bytes frame = framed([&](auto* o, auto s) { return aegis_encode_pong(o, s, request); });
            frame[8] = 1;
            frame.push_back(0);
            return frame;
        };
    }
    f.server.on_ask = bad;
    f.connect();
    CHECK_FALSE(f.ask());
    CHECK(f.counters().malformed == 1);
    CHECK(eventually([&] { return f.server.hellos == 2 && f.wants(); }));
}

TEST_CASE("client: a connection closed instead of an answer is no opinion, at once") {
    Fixture f;
    f.server.on_ask = [&](auto) {
        f.server.hang_up();
        return Bytes{};
    };
    f.connect();
    CHECK_FALSE(f.ask());
    CHECK(f.counters().timeouts == 0);
    CHECK(f.counters().send_failures == 1);
    CHECK(eventually([&] { return f.wants(); }));
    CHECK(f.counters().connects == 2);
}

TEST_CASE("client: a change of mode takes effect before the next ask") {
    Fixture f;
    f.connect();
    f.server.say(welcome(f.hash, AEGIS_MODE_OFF));
    CHECK_FALSE(f.wants());
    CHECK_FALSE(f.ask());
    f.server.say(welcome(f.hash, AEGIS_MODE_OBSERVE));
    CHECK(f.wants());
    CHECK(f.ask());
}

TEST_CASE("client: a new node table is greeted with, and nobody asks before it is welcomed") {
    Fixture f;
    f.server.on_hello = [&](auto hash) { return f.server.hellos == 0 ? welcome(hash) : Bytes{}; };
    f.connect();
    const std::uint64_t old = f.hash;
    f.offer("m");
    CHECK(f.hash != old);
    REQUIRE(eventually([&] { return f.server.hellos == 2; }));
    CHECK_FALSE(f.wants()); // welcomed was the other one
    f.server.say(welcome(f.hash));
    REQUIRE(eventually([&] { return f.wants(); }));
    CHECK_FALSE(client_wants_ask(f.plugin.get(), old));
    CHECK(f.ask());
    CHECK(f.counters().connects == 1); // on the same connection
}

TEST_CASE("client: a welcome for another table is none") {
    Fixture f;
    f.server.on_hello = [](auto hash) { return welcome(hash + 1); };
    f.server.start();
    f.offer();
    REQUIRE(eventually([&] { return f.server.hellos == 1; }));
    CHECK_FALSE(f.wants());
}

TEST_CASE("client: a table that aegisd refuses is asked for once more") {
    Fixture f;
    f.server.on_hello = [](auto hash) { return welcome(hash, AEGIS_MODE_OFF, AEGIS_REFUSED_NODE_TABLE); };
    f.server.start();
    f.offer();
    CHECK(eventually([&] { return client_table_refused(f.plugin.get()); }));
    CHECK_FALSE(client_table_refused(f.plugin.get()));
    CHECK_FALSE(f.wants());
}

TEST_CASE("client: events that a full socket does not take are dropped and counted, never waited for") {
    Fixture f;
    f.connect();
    f.server.reads = false;
    int sent = 0;
    while (f.counters().events_dropped == 0 && sent < 1000000) {
        f.tell();
        sent++;
    }
    CHECK(f.counters().events_dropped == 1);
    CHECK_FALSE(f.ask(2000)); // no room for an ask either
    CHECK(f.counters().send_failures + f.counters().timeouts == 1);
    f.server.reads = true; // what was taken arrives whole, frame by frame
    CHECK(eventually([&] { return f.server.events >= sent - 1; }));
    CHECK(f.counters().malformed == 0);
}

TEST_CASE("client: reports wait for company, and go before an ask and at the end") {
    Fixture f;
    f.connect();
    for (int i = 0; i < 5; i++) f.tell();
    SECTION("by themselves") {}
    SECTION("before an ask") { CHECK(f.ask()); }
    SECTION("at the end") { f.plugin.reset(); }
    CHECK(eventually([&] { return f.server.events == 5; }));
}

TEST_CASE("client: by CALM a job of one node is kept without an ask") {
    Fixture f;
    f.connect();
    f.s1 = 0x01;
    CHECK_FALSE(f.keeps()); // nothing was said yet
    f.server.say(calm(f.hash, 0x01, 0x1f));
    CHECK(f.keeps());
    f.server.say(calm(f.hash, 0x02, 0x1f)); // the next one replaces it
    CHECK_FALSE(f.keeps());
    CHECK(f.counters().malformed == 0);
}

TEST_CASE("client: a CALM ends with its time, its mode and its node table") {
    Fixture f;
    f.connect();
    f.s1 = 0x01;
    SECTION("its time") {
        f.server.say(calm(f.hash, 0x1f, 0, 30));
        CHECK(eventually([&] { return !f.keeps(); }));
    }
    SECTION("another table's is none") {
        f.server.say(calm(f.hash + 1, 0x1f, 0));
        CHECK_FALSE(f.keeps());
    }
    SECTION("mode off") {
        f.server.say(calm(f.hash, 0x1f, 0));
        CHECK(f.keeps());
        f.server.say(welcome(f.hash, AEGIS_MODE_OFF));
        CHECK_FALSE(f.keeps());
    }
    SECTION("a new greeting") {
        f.server.say(calm(f.hash, 0x1f, 0));
        CHECK(f.keeps());
        f.offer(); // the same table, after a reconfigure
        REQUIRE(eventually([&] { return f.server.hellos == 2 && f.wants(); }));
        CHECK_FALSE(f.keeps());
    }
    CHECK(f.counters().malformed == 0);
}

TEST_CASE("client: its end waits for nobody") {
    Fixture f;
    SECTION("without a table") {}
    SECTION("without aegisd") { f.offer(); }
    SECTION("while aegisd does not greet") {
        f.server.on_hello = [](auto) { return Bytes{}; };
        f.server.start();
        f.offer();
        REQUIRE(eventually([&] { return f.server.hellos == 1; }));
    }
    SECTION("connected") { f.connect(); }
    const auto begin = std::chrono::steady_clock::now();
    f.plugin.reset();
    CHECK(std::chrono::steady_clock::now() - begin < 500ms);
}
