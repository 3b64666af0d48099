// [[source]] of type "promql": metrics read from Prometheus, Thanos, Mimir or VictoriaMetrics instead of the exporter.
#pragma once

#include "aegisd/source.h"

#include <string>

namespace aegis {

struct PromqlOptions {
    SourceConfig source;       // url: http://host:port[/prefix]; each [[source.metric]] is one selector
    std::string tenant;        // X-Scope-OrgID, as Mimir wants it; empty: not sent
    std::string authorization; // "Bearer ..." or "Basic ..."; empty: not sent
};

std::shared_ptr<Source> make_promql_source(boost::asio::io_context& io, const PromqlOptions& options, BatchSink sink);

} // namespace aegis
