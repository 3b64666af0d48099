// Runs one telemetry source and prints what it delivers, one JSON object a batch; what the tests in this folder read.
//
//   print_source sonic-redis URL [POLLS [INTERVAL_MS [alias]]]
//
// Ends after POLLS batches (default 1), or when standard input is closed.
#include "aegisd/source_sonic_redis.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <unistd.h>
#include <vector>

using namespace aegis;

namespace {

const char* name_of(Signal signal) {
    switch (signal) {
    case Signal::queue_depth: return "queue_depth";
    case Signal::ecn_marked_packets: return "ecn_marked_packets";
    case Signal::packets: return "packets";
    case Signal::bytes: return "bytes";
    case Signal::drops: return "drops";
    case Signal::pfc_pause: return "pfc_pause";
    case Signal::transmit_wait: return "transmit_wait";
    }
    return "";
}

const char* name_of(Kind kind) {
    switch (kind) {
    case Kind::counter: return "counter";
    case Kind::snapshot: return "snapshot";
    case Kind::peak: return "peak";
    }
    return "";
}

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 0x20) out += fmt::format("\\u{:04x}", c);
        else out += c;
    }
    return out + '"';
}

void print(const Batch& batch, double poll_ms) {
    std::string out = fmt::format("{{\"source\":{},\"polled_at_us\":{},\"poll_ms\":{:.3f},\"failure\":{},\"refused\":{},\"announced\":[",
                                  quoted(batch.source), batch.polled_at.time_since_epoch().count(), poll_ms,
                                  batch.failure ? quoted(*batch.failure) : "null", batch.refused);
    const char* comma = "";
    for (const Series& s : batch.announced) {
        out += fmt::format("{}{{\"switch\":{},\"port\":{},\"queue\":{},\"signal\":\"{}\",\"kind\":\"{}\"}}", comma, quoted(s.sw),
                           quoted(s.port), s.queue ? std::to_string(*s.queue) : "null", name_of(s.signal), name_of(s.kind));
        comma = ",";
    }
    out += "],\"readings\":[";
    comma = "";
    for (const Reading& r : batch.readings) {
        out += fmt::format("{}[{},{},{}]", comma, static_cast<std::uint32_t>(r.series), r.value, r.time.time_since_epoch().count());
        comma = ",";
    }
    fmt::print("{}]}}\n", out);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> args(argv + 1, argv + argc);
    if (args.size() < 2 || args[0] != "sonic-redis") {
        fmt::print(stderr, "usage: print_source sonic-redis URL [POLLS [INTERVAL_MS [alias]]]\n");
        return 2;
    }
    boost::asio::io_context io;
    int left = args.size() > 2 ? std::stoi(args[2]) : 1;
    std::shared_ptr<Source> source;
    boost::asio::posix::stream_descriptor input(io, dup(STDIN_FILENO));
    const auto stop = [&] {
        source->stop();
        input.cancel();
    };
    const BatchSink sink = [&](const Batch& batch) {
        const auto now = std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
        print(batch, std::chrono::duration<double, std::milli>(now - batch.polled_at).count());
        if (--left <= 0) stop();
    };
    SonicRedisOptions options;
    options.naming = {"sonic", "leaf1", args.size() > 4 && args[4] == "alias"};
    options.url = args[1];
    if (args.size() > 3) options.interval = std::chrono::milliseconds(std::stoi(args[3]));
    options.maps_interval = options.interval; // so that a test sees a change at the next poll
    source = make_sonic_redis_source(io, options, sink);
    source->start();
    char byte = 0;
    std::function<void()> watch = [&] {
        input.async_read_some(boost::asio::buffer(&byte, 1), [&](boost::system::error_code failed, std::size_t) {
            if (failed == boost::asio::error::eof) stop();
            else if (!failed) watch();
        });
    };
    watch();
    io.run();
}
