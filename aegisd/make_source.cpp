#include "aegisd/source.h"

#include "aegisd/source_otlp.h"
#include "aegisd/source_promql.h"
#include "aegisd/source_sonic_redis.h"

namespace aegis {

std::shared_ptr<Source> make_source(boost::asio::io_context& io, const SourceConfig& config, BatchSink sink) {
    if (config.type == "promql") {
        PromqlOptions options;
        options.source = config;
        return make_promql_source(io, options, std::move(sink));
    }
    if (config.type == "otlp") {
        OtlpOptions options;
        options.source = config;
        return make_otlp_source(io, options, std::move(sink));
    }
    if (config.type == "sonic") {
        SonicRedisOptions options;
        options.naming = {config.name, config.sw, config.port_aliases};
        options.url = config.url;
        options.username = config.username;
        options.password_file = config.password_file;
        options.interval = config.interval;
        options.timeout = config.timeout;
        options.answer_limit_bytes = config.body_limit_bytes;
        return make_sonic_redis_source(io, options, std::move(sink));
    }
    return make_prometheus_source(io, config, std::move(sink));
}

} // namespace aegis
