#include "aegisd/telemetry.h"

#include "aegisd/history.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace aegis {

namespace {

// Enough to see what is wrong with a mapping; a mapping that is wrong everywhere must not fill the memory.
constexpr std::size_t unmapped_ports_named = 200;

// Marks and packets of one link are not read at quite the same moment. A few more marks than packets are all packets
// marked; many more are a lie of one of the two counters (control-theory 5.1).
constexpr double marks_slack = 1.05;

// The time that marks and packets cover may differ by this share: they are not read at quite the same moment.
constexpr double cover_slack = .1;

// Marks or packets that wait longer than this for the other are given up.
constexpr std::chrono::microseconds longest_wait{30'000'000};

// Where a switch gives only depth there is no counter interval; a first depth stands for this long.
constexpr std::chrono::microseconds first_depth_length{1'000'000};

// A server of the site's monitoring scrapes every 15 to 60 s, however often we ask it (telemetry.md 1.1).
constexpr std::chrono::microseconds longest_between_scrapes{150'000'000};

constexpr std::chrono::microseconds longest_of_all{3'600'000'000}; // 32 bits hold it

// The longest time between two readings over which a counter still tells of a rate: where the site reads more seldom than
// every few seconds, two and a half of its intervals.
std::chrono::microseconds longest_interval_of(const SourceConfig& source) {
    const std::chrono::microseconds usual = CounterLimits{}.longest_interval;
    const std::chrono::microseconds own = std::chrono::microseconds(source.interval) * 5 / 2;
    return std::min(longest_of_all, std::max({usual, own, source.type == "promql" ? longest_between_scrapes : usual}));
}

CounterLimits limits_of(const Series& series, double rate_bps, const SourceConfig& source) {
    CounterLimits limits;
    limits.longest_interval = longest_interval_of(source);
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
    links_.reserve(links.size());
    const bool keeps = before && same(before->site_->config.pressure, site_->config.pressure);
    for (const Link& link : links) {
        const auto known = keeps ? before->site_->fabric.link_of_port(link.sw, link.port) : std::nullopt;
        if (known && before->site_->fabric.links()[at(*known)].rate_bps == link.rate_bps)
            links_.push_back(before->links_[at(*known)]);
        else
            links_.push_back({.pressure = LinkPressure(site_->config.pressure, link.rate_bps)});
        const bool remembered = has_history(*site_, link);
        history_of_link_.push_back(remembered ? static_cast<std::uint32_t>(amounts_.size()) : no_history);
        if (remembered) amounts_.emplace_back();
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
    if (!batch.announced.empty()) series_[found->second].shrink_to_fit();
    for (const Reading& reading : batch.readings) read(found->second, reading);
    const auto place = static_cast<std::uint32_t>(found->second);
    if (std::ranges::find(touched_sources_, place) == touched_sources_.end()) touched_sources_.push_back(place);
}

void Telemetry::announce(std::size_t source, const Series& series) {
    const std::optional<LinkIndex> link = site_->fabric.link_of_port(series.sw, series.port);
    SourceState& state = source_states_[source];
    ++state.series;
    if (!link) {
        ++state.unmapped_series;
        if (unmapped_ports_.size() < unmapped_ports_named) unmapped_ports_.insert(series.sw + "/" + series.port);
    }
    SeriesState next;
    if (link) {
        next.link = static_cast<std::uint32_t>(*link);
        next.rule = rule_of(limits_of(series, site_->fabric.links()[at(*link)].rate_bps, site_->config.sources[source]), series);
    }
    series_[source].push_back(next);
}

std::uint16_t Telemetry::rule_of(const CounterLimits& limits, const Series& series) {
    const Rule rule{series.signal, series.kind, limits};
    const auto known = std::ranges::find(rules_, rule);
    const auto place = static_cast<std::uint16_t>(known - rules_.begin());
    if (known == rules_.end()) rules_.push_back(rule);
    assert(rules_.size() <= rules_max);
    return place;
}

void Telemetry::read(std::size_t source, const Reading& reading) {
    SourceState& state = source_states_[source];
    state.newest = std::max(state.newest.value_or(reading.time), reading.time);
    SeriesState& series = series_[source][static_cast<std::size_t>(reading.series)];
    if (series.link == unmapped) return;
    const Rule& rule = rules_[series.rule];
    const std::uint32_t history = history_of_link_[series.link];
    if (rule.kind == Kind::counter) {
        const CounterStep step = series.counter.read(rule.limits, reading.value, reading.time);
        ++state.events[static_cast<std::size_t>(step.event)];
        if (step.event == CounterEvent::reset || step.event == CounterEvent::gap || step.event == CounterEvent::implausible)
            if (rule.signal == Signal::packets || rule.signal == Signal::ecn_marked_packets) links_[series.link].broken = true;
        if (!step.counts()) return;
        const auto interval_us = static_cast<std::uint32_t>(step.interval.count()); // longest_of_all fits
        if (interval_us > UINT32_MAX - series.interval_us) series.amount = 0, series.interval_us = 0; // an hour and more between two folds
        series.amount += static_cast<float>(step.delta);
        series.interval_us += interval_us;
        if (history != no_history) count(amounts_[history], rule, step.delta);
    } else {
        if (rule.signal != Signal::queue_depth) return; // a rate at one moment says nothing of an interval
        if (!series.counter.renew(reading.time)) return;
        series.amount = std::max(series.amount, static_cast<float>(reading.value));
        if (history != no_history) count(amounts_[history], rule, reading.value);
    }
    LinkRecord& link = links_[series.link];
    link.newest = std::max(link.newest.value_or(reading.time), reading.time);
    series.touched = true;
}

void Telemetry::count(RollUp& amounts, const Rule& rule, double amount) const {
    const std::int64_t whole = std::llround(amount);
    switch (rule.signal) {
    case Signal::bytes: return add(amounts.bytes, whole);
    case Signal::packets: return add(amounts.packets, whole);
    case Signal::ecn_marked_packets: return add(amounts.marked_packets, whole);
    case Signal::drops: return add(amounts.drops, whole);
    case Signal::pfc_pause: return add(amounts.pauses, whole);
    case Signal::transmit_wait: return add(amounts.waits, whole);
    case Signal::queue_depth:
        if (rule.kind == Kind::peak) return raise(amounts.peak_bytes, whole);
        amounts.depth_bytes = Gauge::of(std::max(amount, amounts.depth_bytes.largest)); // of all queues and readings: one look at the link
    }
}

FabricStatePointer Telemetry::fold() {
    activities_.clear();
    std::vector<Gathered> gathered(links_.size());
    for (std::uint32_t source : touched_sources_)
        for (SeriesState& series : series_[source])
            if (series.touched) gather(source, series, gathered[series.link]);
    touched_sources_.clear();
    for (std::size_t link = 0; link < links_.size(); ++link)
        if (gathered[link].any || links_[link].broken) finish(LinkIndex{static_cast<std::uint32_t>(link)}, gathered[link]);

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

void Telemetry::gather(std::uint32_t source, SeriesState& series, Gathered& link) const {
    const std::chrono::microseconds interval{series.interval_us};
    const double amount = series.amount;
    const double per_second = interval.count() > 0 ? amount / seconds(interval) : 0;
    const Rule& rule = rules_[series.rule];
    switch (rule.signal) {
    case Signal::ecn_marked_packets:
        add(link.marked, per_second);
        link.marked_source = source;
        link.marked_length = std::max(link.marked_length, interval);
        break;
    case Signal::packets:
        add(link.packets, per_second);
        link.packets_length = std::max(link.packets_length, interval);
        break;
    case Signal::bytes: add(link.bytes, per_second); break;
    case Signal::queue_depth: link.depth_bytes = std::max(link.depth_bytes.value_or(0), amount); break;
    case Signal::drops:
    case Signal::pfc_pause:
    case Signal::transmit_wait: break; // pressure does not know them; the link's history does
    }
    link.length = std::max(link.length, interval);
    link.any = true;
    series.amount = 0;
    series.interval_us = 0;
    series.touched = false;
}

void Telemetry::finish(LinkIndex index, const Gathered& gathered) {
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
    if (gathered.bytes) interval.bytes = *gathered.bytes * seconds(interval.length);
    pair_marks(record, gathered, interval);
    if (!gathered.any) return;
    if (interval.marked_packets && interval.packets) {
        if (*interval.marked_packets <= marks_slack * *interval.packets)
            interval.marked_packets = std::min(*interval.marked_packets, *interval.packets);
        else // left as it is, LinkPressure does not believe it either
            ++source_states_[gathered.marked_source].events[static_cast<std::size_t>(CounterEvent::implausible)];
    }
    record.pressure.add(interval);
    this->record(index, interval.length);
}

void Telemetry::pair_marks(LinkRecord& record, const Gathered& gathered, LinkInterval& interval) {
    const auto gain = [](Waiting& waiting, const std::optional<double>& per_second, std::chrono::microseconds length) {
        if (!per_second) return;
        waiting.amount += static_cast<float>(*per_second * seconds(length));
        waiting.covered += std::chrono::duration<std::uint32_t, std::micro>(static_cast<std::uint32_t>(length.count()));
    };
    gain(record.marked, gathered.marked, gathered.marked_length);
    gain(record.packets, gathered.packets, gathered.packets_length);
    const std::chrono::microseconds of_marks = record.marked.covered, of_packets = record.packets.covered;
    const auto shorter = std::min(of_marks, of_packets), longer = std::max(of_marks, of_packets);
    const bool pair = !record.broken && shorter.count() > 0 && seconds(shorter) >= (1 - cover_slack) * seconds(longer);
    if (pair) {
        interval.marked_packets = record.marked.amount / seconds(of_marks) * seconds(interval.length);
        interval.packets = record.packets.amount / seconds(of_packets) * seconds(interval.length);
    }
    if (pair || record.broken || longer > longest_wait) record.marked = record.packets = {};
    record.broken = false;
}

void Telemetry::record(LinkIndex index, std::chrono::microseconds length) {
    const std::uint32_t place = history_of_link_[at(index)];
    if (place == no_history) return;
    const LinkRecord& record = links_[at(index)];
    LinkActivity activity{index, *record.newest - length, *record.newest, std::exchange(amounts_[place], {})};
    activity.amounts.covered_us = length.count();
    if (record.pressure.known()) activity.amounts.pressure = Gauge::of(record.pressure.pressure());
    activities_.push_back(activity);
}

} // namespace aegis
