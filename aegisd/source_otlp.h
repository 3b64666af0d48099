// [[source]] of type "otlp": an HTTP receiver that OpenTelemetry exporters push metrics to.
#pragma once

#include "aegisd/source.h"

#include <chrono>
#include <string>

namespace aegis {

struct OtlpOptions {
    SourceConfig source;       // url: http://address:port, where it listens; body_limit_bytes, also of what gzip inflates to
    std::string bearer_token;  // empty: none is asked for
    bool allow_remote = false; // without it only a loopback address is listened on
    std::chrono::milliseconds request_timeout{10'000}; // for a request to arrive, and for an idle connection
    std::size_t connections_max = 64;
};

std::shared_ptr<Source> make_otlp_source(boost::asio::io_context& io, const OtlpOptions& options, BatchSink sink);

} // namespace aegis
