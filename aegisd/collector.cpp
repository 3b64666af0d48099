#include "aegisd/collector.h"

#include "aegisd/clock.h"

#include <algorithm>
#include <spdlog/spdlog.h>

namespace aegis {

Collector::Collector(boost::asio::io_context& io, SitePointer site, HistoryWriter& writer, Publish publish)
    : io_(io), telemetry_(std::make_unique<Telemetry>(site)), history_(*site), writer_(writer), timer_(io), publish_(std::move(publish)) {}

void Collector::start() {
    start_sources();
    timer_.expires_after(std::chrono::seconds(1));
    publish_every_second();
}

void Collector::adopt(SitePointer site) {
    stop_sources();
    publish(); // what has come for the old site
    telemetry_ = std::make_unique<Telemetry>(site, telemetry_.get());
    history_.adopt(*site);
    writer_.keep(site->config.history.keep_10s, site->config.history.keep_5min);
    publish();
    start_sources();
}

void Collector::stop() {
    timer_.cancel();
    stop_sources();
    publish();
    writer_.hand_over(history_.unfinished(), wall_clock());
}

void Collector::start_sources() {
    for (const SourceConfig& config : telemetry_->site()->config.sources) {
        sources_.push_back(make_source(io_, config, [this](const Batch& batch) { take(batch); }));
        sources_.back()->start();
    }
}

void Collector::stop_sources() {
    for (const auto& source : sources_) source->stop();
    sources_.clear();
}

// A source that fails is told of when it begins to and when it is well again, not at every poll.
void Collector::take(const Batch& batch) {
    const auto& states = telemetry_->sources();
    const auto state = std::find_if(states.begin(), states.end(), [&](const SourceState& s) { return s.name == batch.source; });
    const bool was_failing = state->failing;
    const bool first = state->polls == 0;
    const std::size_t ports_before = telemetry_->unmapped_ports().size();
    telemetry_->take(batch);
    if (batch.failure && !was_failing)
        spdlog::warn("source {}: {}: its pressure fades until it answers again", batch.source, *batch.failure);
    if (!batch.failure && (was_failing || first))
        spdlog::info("source {}: {} readings of {} series", batch.source, batch.readings.size(), state->series);
    if (!batch.failure && first && batch.readings.empty())
        spdlog::warn("source {}: answers, but with no sample that a [[source.metric]] maps", batch.source);
    if (const std::size_t ports = telemetry_->unmapped_ports().size(); ports > ports_before)
        spdlog::warn("source {}: {} ports that no [[ports]] table maps, such as {}", batch.source, ports - ports_before,
                     *telemetry_->unmapped_ports().rbegin());
}

void Collector::publish() {
    publish_(telemetry_->fold());
    history_.take(telemetry_->activities());
    writer_.hand_over(history_.finished(), wall_clock());
}

void Collector::publish_every_second() {
    timer_.async_wait([this](boost::system::error_code stopped) {
        if (stopped) return;
        publish();
        timer_.expires_at(std::max(timer_.expiry() + std::chrono::seconds(1), std::chrono::steady_clock::now()));
        publish_every_second();
    });
}

} // namespace aegis
