#include "aegisd/source.h"

#include "aegisd/source_otlp.h"
#include "aegisd/source_promql.h"

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
    return make_prometheus_source(io, config, std::move(sink));
}

} // namespace aegis
