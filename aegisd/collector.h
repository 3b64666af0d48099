// The collector: all sources, and the telemetry they feed. Once a second it publishes the state of the fabric.
//
// One thread owns it, shared with the control server: the one that may wait for networks.
#pragma once

#include "aegisd/history.h"
#include "aegisd/history_writer.h"
#include "aegisd/site.h"
#include "aegisd/source.h"
#include "aegisd/telemetry.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <vector>

namespace aegis {

class Collector {
public:
    using Publish = std::function<void(FabricStatePointer)>;

    // `writer` outlives the collector.
    Collector(boost::asio::io_context& io, SitePointer site, HistoryWriter& writer, Publish publish);

    void start();
    void adopt(SitePointer site); // sources begin anew; links that stay keep what was measured
    void stop();
    const Telemetry& telemetry() const { return *telemetry_; }
    const History& history() const { return history_; }

private:
    void start_sources();
    void stop_sources();
    void take(const Batch& batch);
    void publish();
    void publish_every_second();

    boost::asio::io_context& io_;
    std::unique_ptr<Telemetry> telemetry_;
    History history_;
    HistoryWriter& writer_;
    std::vector<std::shared_ptr<Source>> sources_;
    boost::asio::steady_timer timer_;
    Publish publish_;
};

} // namespace aegis
