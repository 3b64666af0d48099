#include "aegisd/metric_mapper.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace aegis {

namespace {

// Clocks of exporter and controller may differ by this much before a sample counts as from the future.
constexpr std::chrono::seconds clock_slack{5};

std::optional<std::string_view> label_of(const PrometheusSample& sample, std::string_view name) {
    for (const PrometheusLabel& label : sample.labels)
        if (label.name == name) return label.value;
    return std::nullopt;
}

// "3", "UC3" and "Ethernet0:3" are queue 3.
std::optional<unsigned> queue_number(std::string_view text) {
    const std::size_t last_other = text.find_last_not_of("0123456789");
    const std::string_view digits = text.substr(last_other == std::string_view::npos ? 0 : last_other + 1);
    unsigned queue = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), queue);
    return failure == std::errc{} ? std::optional(queue) : std::nullopt;
}

} // namespace

MetricMapper::MetricMapper(const SourceConfig& config, std::size_t limit)
    : source_(config.name), mappings_(config.metrics), limit_(limit) {
    for (std::size_t i = 0; i < mappings_.size(); ++i) mappings_by_name_[mappings_[i].name].push_back(i);
}

void MetricMapper::begin(EventTime scraped_at) {
    batch_ = Batch{};
    batch_.source = source_;
    batch_.polled_at = scraped_at;
}

void MetricMapper::take(const PrometheusSample& sample) {
    if (sample.name != last_name_) {
        last_name_ = sample.name;
        const auto found = mappings_by_name_.find(sample.name);
        last_mappings_ = found == mappings_by_name_.end() ? nullptr : &found->second;
    }
    if (!last_mappings_) return;
    key_.assign(sample.name);
    for (const PrometheusLabel& label : sample.labels) {
        key_.push_back('\0');
        key_.append(label.name);
        key_.push_back('\0');
        key_.append(label.value);
    }
    auto known = known_.find(std::string_view(key_));
    if (known == known_.end()) {
        if (known_.size() >= limit_) {
            ++batch_.refused;
            return;
        }
        std::vector<Known> meanings;
        for (std::size_t mapping : *last_mappings_) meanings.push_back(understand(mappings_[mapping], sample));
        known = known_.emplace(key_, std::move(meanings)).first;
    }
    for (const Known& meaning : known->second) read(meaning, sample);
}

void MetricMapper::read(const Known& known, const PrometheusSample& sample) {
    if (known.meaning == Meaning::not_ours) return;
    const double value = sample.value * known.factor;
    EventTime time = batch_.polled_at;
    // Milliseconds far outside any calendar would overflow as microseconds.
    constexpr std::int64_t timestamp_ms_max = INT64_MAX / 1000;
    const bool dated = sample.timestamp_ms.has_value();
    const bool impossible = dated && (*sample.timestamp_ms < 0 || *sample.timestamp_ms > timestamp_ms_max);
    if (dated && !impossible) time = EventTime(std::chrono::milliseconds(*sample.timestamp_ms));
    if (known.meaning == Meaning::unusable || impossible || !std::isfinite(value) || value < 0 ||
        time > batch_.polled_at + clock_slack) {
        ++batch_.refused;
        return;
    }
    batch_.readings.push_back({known.series, value, time});
}

MetricMapper::Known MetricMapper::understand(const MetricMapping& mapping, const PrometheusSample& sample) {
    for (const auto& [label, value] : mapping.match)
        if (label_of(sample, label) != value) return {Meaning::not_ours, {}, 1};
    Series series;
    series.source = source_;
    series.signal = mapping.signal;
    series.kind = mapping.kind;
    series.wraps_at = mapping.wraps_at;
    const auto sw = mapping.switch_label.empty() ? std::optional<std::string_view>(mapping.sw)
                                                 : label_of(sample, mapping.switch_label);
    const auto port = label_of(sample, mapping.port_label);
    if (!sw || sw->empty() || !port || port->empty()) return {Meaning::unusable, {}, 1};
    series.sw = *sw;
    series.port = *port;
    if (mapping.queue_label) {
        const auto queue = label_of(sample, *mapping.queue_label);
        series.queue = queue ? queue_number(*queue) : std::nullopt;
        if (!series.queue) return {Meaning::unusable, {}, 1};
    }
    return {Meaning::series, intern(series), mapping.factor};
}

SeriesIndex MetricMapper::intern(const Series& series) {
    const std::string key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", series.sw, series.port,
                                        series.queue ? static_cast<int>(*series.queue) : -1,
                                        static_cast<int>(series.signal), static_cast<int>(series.kind),
                                        series.wraps_at.value_or(0));
    const auto [place, is_new] = index_of_series_.emplace(key, SeriesIndex{next_index_});
    if (is_new) {
        ++next_index_;
        batch_.announced.push_back(series);
    }
    return place->second;
}

Batch MetricMapper::end() { return hand_over(); }

Batch MetricMapper::fail(std::string failure) {
    batch_.failure = std::move(failure);
    batch_.readings.clear();
    return hand_over();
}

Batch MetricMapper::hand_over() {
    Batch batch = std::move(batch_);
    const std::size_t readings = batch.readings.size();
    begin(batch.polled_at);
    batch_.readings.reserve(readings); // the next scrape brings as many
    return batch;
}

} // namespace aegis
