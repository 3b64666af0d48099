// A telemetry source: polls something that counts and hands over batches.
//
// Lives on the collector's thread and never blocks it. A poll ends in exactly one Batch: the readings, or a failure
// in plain words and no readings at all - half a scrape is none. After stop() nothing is handed over any more.
#pragma once

#include "lib/config.h"
#include "lib/sample.h"

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>

namespace aegis {

using BatchSink = std::function<void(const Batch&)>;

class Source {
public:
    virtual ~Source() = default;
    virtual void start() = 0;
    virtual void stop() = 0;
};

// What [[source]] says, by its type; the types are those of the settings table.
std::shared_ptr<Source> make_source(boost::asio::io_context& io, const SourceConfig& config, BatchSink sink);

// [[source]] of type "prometheus": one file a type (source_*.cpp).
std::shared_ptr<Source> make_prometheus_source(boost::asio::io_context& io, const SourceConfig& config, BatchSink sink);

} // namespace aegis
