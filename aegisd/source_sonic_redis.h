// [[source]] of type "sonic": one COUNTERS_DB, that is one ASIC, of a SONiC switch.
#pragma once

#include "aegisd/source.h"
#include "lib/sonic_counters.h"

#include <chrono>

namespace aegis {

struct SonicRedisOptions {
    SonicNaming naming;
    std::string url; // unix:///var/run/redis/redis.sock or redis://host:6379
    std::optional<std::string> username, password_file; // the file is read for each connection
    std::chrono::milliseconds interval{1000};
    std::chrono::milliseconds timeout{800};
    std::chrono::milliseconds maps_interval{5000}; // how often the name maps are read again
    std::uint64_t answer_limit_bytes = 64u << 20;  // of one poll
};

std::shared_ptr<Source> make_sonic_redis_source(boost::asio::io_context& io, const SonicRedisOptions& options,
                                                BatchSink sink);

} // namespace aegis
