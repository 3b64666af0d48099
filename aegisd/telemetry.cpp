#include "aegisd/telemetry.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace aegis {

namespace {

// Enough to see what is wrong with a mapping; a mapping that is wrong everywhere must not fill the memory.
constexpr std::size_t unmapped_ports_named = 200;

// Marks and packets of one link are not read at quite the same moment. A few more marks than packets are all packets
// marked; many more are a lie of one of the two counters (control-theory 5.1).
constexpr double marks_slack = 1.05;

// Where a switch gives only depth there is no counter interval; a first depth stands for this long.
constexpr std::chrono::microseconds first_depth_length{1'000'000};

CounterLimits limits_of(const Series& series, double rate_bps) {
    CounterLimits limits;
    limits.wraps_at = series.wraps_at;
    // InfiniBand's 32-bit counters stop at the top; elsewhere that one value is missed once in 2^32.
    if (series.wraps_at) limits.saturates_at = *series.wraps_at - 1;
    limits.max_per_second = fastest_growth(series.signal, rate_bps);
    return limits;
}

double seconds(std::chrono::microseconds duration) { return std::chrono::duration<double>(duration).count(); }

void add(std::optional<double>& sum, double value) { sum = sum.value_or(0) + value; }

bool same(const PressureParameters& a, const PressureParameters& b) {
    return a.mark_limit == b.mark_limit && a.queue_min_bytes == b.queue_min_bytes &&
           a.queue_max_bytes == b.queue_max_bytes && a.fast == b.fast && a.slow == b.slow;
}

LeafPressure leaf_pressure(const FabricState& state, const Leaf& leaf, EventTime now) {
    const std::vector<Link>& links = state.site->fabric.links();
    const FreshnessLimits& limits = state.site->config.freshness;
    const bool has_trunk =
        std::any_of(leaf.links.begin(), leaf.links.end(), [&](LinkIndex link) { return links[at(link)].trunk; });
    LeafPressure worst;
    for (LinkIndex index : leaf.links) {
        const LinkState& link = state.links[at(index)];
        if (!link.known || links[at(index)].trunk != has_trunk) continue;
        LeafPressure candidate;
        candidate.worst_link = index;
        candidate.pressure = link.pressure;
        candidate.terms = link.terms;
        candidate.age = age_of(link.newest, now);
        candidate.freshness = freshness_of(candidate.age, limits);
        candidate.confidence = confidence_of(candidate.age, limits);
        const bool worse = candidate.believed() > worst.believed() ||
                           (candidate.believed() == worst.believed() && candidate.age < worst.age);
        if (!worst.worst_link || worse) worst = candidate;
    }
    return worst;
}

} // namespace

std::chrono::milliseconds age_of(EventTime event, EventTime now) {
    return std::max(std::chrono::milliseconds{0}, std::chrono::duration_cast<std::chrono::milliseconds>(now - event));
}

PressureView view_of(const FabricState& state, EventTime now) {
    PressureView view;
    const std::vector<Leaf>& leaves = state.site->fabric.leaves();
    view.leaves.resize(leaves.size());
    if (state.links.empty()) return view;
    for (std::size_t i = 0; i < leaves.size(); ++i) view.leaves[i] = leaf_pressure(state, leaves[i], now);
    return view;
}

Telemetry::Telemetry(SitePointer site, const Telemetry* before) : site_(std::move(site)) {
    for (const SourceConfig& source : site_->config.sources) {
        source_by_name_.emplace(source.name, source_states_.size());
        SourceState state;
        state.name = source.name;
        state.type = source.type;
        state.url = source.url;
        source_states_.push_back(std::move(state));
    }
    series_.resize(source_states_.size());
    const std::vector<Link>& links = site_->fabric.links();
    gathered_.resize(links.size());
    links_.reserve(links.size());
    const bool keeps = before && same(before->site_->config.pressure, site_->config.pressure);
    for (const Link& link : links) {
        const auto known = keeps ? before->site_->fabric.link_of_port(link.sw, link.port) : std::nullopt;
        if (known && before->site_->fabric.links()[at(*known)].rate_bps == link.rate_bps)
            links_.push_back(before->links_[at(*known)]);
        else
            links_.push_back({LinkPressure(site_->config.pressure, link.rate_bps), {}, {}, {}});
    }
}

void Telemetry::take(const Batch& batch) {
    const auto found = source_by_name_.find(batch.source);
    assert(found != source_by_name_.end());
    SourceState& source = source_states_[found->second];
    ++source.polls;
    source.refused_samples += batch.refused;
    source.failing = batch.failure.has_value();
    if (batch.failure) {
        ++source.failures;
        source.last_failure = batch.failure;
        source.last_failure_at = batch.polled_at;
    }
    for (const Series& series : batch.announced) announce(found->second, series);
    for (const Reading& reading : batch.readings) read(found->second, reading);
}

void Telemetry::announce(std::size_t source, const Series& series) {
    const std::optional<LinkIndex> link = site_->fabric.link_of_port(series.sw, series.port);
    SourceState& state = source_states_[source];
    ++state.series;
    if (!link) {
        ++state.unmapped_series;
        if (unmapped_ports_.size() < unmapped_ports_named) unmapped_ports_.insert(series.sw + "/" + series.port);
    }
    const double rate_bps = link ? site_->fabric.links()[at(*link)].rate_bps : 0;
    SeriesState next{link, series.signal, series.kind, Counter(limits_of(series, rate_bps))};
    series_[source].push_back(std::move(next));
}

void Telemetry::read(std::size_t source, const Reading& reading) {
    SourceState& state = source_states_[source];
    state.newest = std::max(state.newest.value_or(reading.time), reading.time);
    SeriesState& series = series_[source][static_cast<std::size_t>(reading.series)];
    if (!series.link) return;
    if (series.kind == Kind::counter) {
        const CounterStep step = series.counter.read(reading.value, reading.time);
        ++state.events[static_cast<std::size_t>(step.event)];
        if (!step.counts()) return;
        series.delta += step.delta;
        series.interval += step.interval;
    } else {
        if (series.signal != Signal::queue_depth) return; // a rate at one moment says nothing of an interval
        if (series.newest && reading.time <= *series.newest) return;
        series.newest = reading.time;
        series.largest = std::max(series.largest.value_or(0), reading.value);
    }
    LinkRecord& link = links_[at(*series.link)];
    link.newest = std::max(link.newest.value_or(reading.time), reading.time);
    if (!series.touched) touched_series_.push_back({static_cast<std::uint32_t>(source), reading.series});
    series.touched = true;
}

FabricStatePointer Telemetry::fold() {
    for (SeriesPlace place : touched_series_) gather(place);
    touched_series_.clear();
    for (LinkIndex link : touched_links_) finish(link);
    touched_links_.clear();

    auto state = std::make_shared<FabricState>();
    state->site = site_;
    state->links.reserve(links_.size());
    for (const LinkRecord& record : links_) {
        LinkState link;
        link.known = record.pressure.known() && record.newest;
        if (link.known) {
            link.pressure = record.pressure.pressure();
            link.terms = record.pressure.fast();
            link.mark_rate = record.pressure.mark_rate();
            link.load = record.pressure.load();
            link.depth_bytes = record.depth_bytes;
            link.newest = *record.newest;
        }
        state->links.push_back(link);
    }
    return state;
}

void Telemetry::gather(SeriesPlace place) {
    SeriesState& series = series_[place.source][static_cast<std::size_t>(place.series)];
    Gathered& link = gathered_[at(*series.link)];
    const double per_second = series.interval.count() > 0 ? series.delta / seconds(series.interval) : 0;
    bool used = series.interval.count() > 0;
    switch (series.signal) {
    case Signal::ecn_marked_packets:
        add(link.marked, per_second);
        link.marked_source = place.source;
        break;
    case Signal::packets: add(link.packets, per_second); break;
    case Signal::bytes: add(link.bytes, per_second); break;
    case Signal::queue_depth:
        used = series.largest.has_value();
        if (used) link.depth_bytes = std::max(link.depth_bytes.value_or(0), *series.largest);
        break;
    case Signal::drops:
    case Signal::pfc_pause:
    case Signal::transmit_wait: used = false; break; // pressure does not know them
    }
    if (used) {
        link.length = std::max(link.length, series.interval);
        if (!link.touched) touched_links_.push_back(*series.link);
        link.touched = true;
    }
    series.delta = 0;
    series.interval = {};
    series.largest.reset();
    series.touched = false;
}

void Telemetry::finish(LinkIndex index) {
    const Gathered gathered = std::exchange(gathered_[at(index)], {});
    LinkRecord& record = links_[at(index)];
    LinkInterval interval;
    interval.length = gathered.length;
    if (gathered.depth_bytes) {
        if (interval.length.count() == 0)
            interval.length = record.depth_at ? *record.newest - *record.depth_at : first_depth_length;
        record.depth_bytes = gathered.depth_bytes;
        record.depth_at = record.newest;
        interval.depth_bytes = gathered.depth_bytes;
    }
    const double length = seconds(interval.length);
    const auto total = [&](const std::optional<double>& per_second) {
        return per_second ? std::optional(*per_second * length) : std::nullopt;
    };
    interval.packets = total(gathered.packets);
    interval.bytes = total(gathered.bytes);
    interval.marked_packets = total(gathered.marked);
    if (interval.marked_packets && interval.packets) {
        if (*interval.marked_packets <= marks_slack * *interval.packets)
            interval.marked_packets = std::min(*interval.marked_packets, *interval.packets);
        else // left as it is, LinkPressure does not believe it either
            ++source_states_[gathered.marked_source].events[static_cast<std::size_t>(CounterEvent::implausible)];
    }
    record.pressure.add(interval);
}

} // namespace aegis
