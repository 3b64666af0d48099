// Runs one telemetry source and prints what it delivers, one JSON object a batch; what the tests in this folder read.
//
//   print_source sonic-redis URL POLLS INTERVAL_MS [alias]
//   print_source otlp URL POLLS TIMEOUT_MS [token=SECRET] [remote] [limit=BYTES] MAPPING...
//   print_source promql URL POLLS INTERVAL_MS [tenant=ID] [authorization=TEXT] MAPPING...
//
// MAPPING is metric,signal,kind,switch label,port label,queue label; the last may be empty.
// Ends after POLLS batches or when standard input is closed.
#include "aegisd/source_otlp.h"
#include "aegisd/source_promql.h"
#include "aegisd/source_sonic_redis.h"
#include "lib/signal_names.h"
#include "tests/telemetry/printing.h"

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

void print(const Batch& batch, double poll_ms) {
    std::string out = fmt::format("{{\"source\":{},\"polled_at_us\":{},\"poll_ms\":{:.3f},\"failure\":{},\"refused\":{},\"announced\":[",
                                  quoted(batch.source), batch.polled_at.time_since_epoch().count(), poll_ms,
                                  batch.failure ? quoted(*batch.failure) : "null", batch.refused);
    const char* comma = "";
    for (const Series& s : batch.announced) {
        out += fmt::format("{}{{\"switch\":{},\"port\":{},\"queue\":{},\"signal\":\"{}\",\"kind\":\"{}\"}}", comma, quoted(s.sw),
                           quoted(s.port), s.queue ? std::to_string(*s.queue) : "null", to_string(s.signal), to_string(s.kind));
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

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == separator) parts.emplace_back();
        else parts.back() += c;
    }
    return parts;
}

MetricMapping mapping_of(const std::string& argument) {
    const auto parts = split(argument, ',');
    MetricMapping mapping;
    mapping.name = parts.at(0);
    for (int i = 0; i <= static_cast<int>(Signal::transmit_wait); ++i)
        if (parts.at(1) == to_string(static_cast<Signal>(i))) mapping.signal = static_cast<Signal>(i);
    for (const Kind kind : {Kind::counter, Kind::snapshot, Kind::peak})
        if (parts.at(2) == to_string(kind)) mapping.kind = kind;
    mapping.switch_label = parts.at(3);
    mapping.port_label = parts.at(4);
    if (!parts.at(5).empty()) mapping.queue_label = parts.at(5);
    return mapping;
}

std::shared_ptr<Source> make_source(boost::asio::io_context& io, const std::vector<std::string>& args, BatchSink sink) {
    const std::chrono::milliseconds period(std::stoi(args.at(3)));
    const std::vector<std::string> more(args.begin() + 4, args.end());
    if (args[0] == "sonic-redis") {
        SonicRedisOptions options;
        options.naming = {"sonic", "leaf1", !more.empty() && more[0] == "alias"};
        options.url = args[1];
        options.interval = period;
        options.maps_interval = period; // so that a test sees a change at the next poll
        return make_sonic_redis_source(io, options, std::move(sink));
    }
    SourceConfig config;
    config.name = args[0];
    config.url = args[1];
    config.interval = period;
    OtlpOptions otlp;
    PromqlOptions promql;
    for (const auto& option : more) {
        if (option.starts_with("token=")) otlp.bearer_token = option.substr(6);
        else if (option == "remote") otlp.allow_remote = true;
        else if (option.starts_with("limit=")) config.body_limit_bytes = std::stoull(option.substr(6));
        else if (option.starts_with("tenant=")) promql.tenant = option.substr(7);
        else if (option.starts_with("authorization=")) promql.authorization = option.substr(14);
        else config.metrics.push_back(mapping_of(option));
    }
    otlp.source = promql.source = config;
    otlp.request_timeout = period;
    if (args[0] == "otlp") return make_otlp_source(io, otlp, std::move(sink));
    return make_promql_source(io, promql, std::move(sink));
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> args(argv + 1, argv + argc);
    if (args.size() < 4) {
        fmt::print(stderr, "usage: print_source sonic-redis|otlp|promql URL POLLS MILLISECONDS ...\n");
        return 2;
    }
    boost::asio::io_context io;
    int left = std::stoi(args[2]);
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
    source = make_source(io, args, sink);
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
