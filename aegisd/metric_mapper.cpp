#include "aegisd/metric_mapper.h"

#include "lib/fingerprint.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <random>

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
    : source_(config.name), mappings_(config.metrics), limit_(std::min(limit, series_max)), seed_(std::random_device{}()),
      known_(seed_) {
    for (std::size_t i = 0; i < mappings_.size(); ++i) mappings_by_name_[mappings_[i].name].push_back(i);
    meanings_.push_back({{}, false, false});
    meanings_.push_back({{}, true, false});
}

void MetricMapper::begin(EventTime scraped_at) {
    batch_ = Batch{};
    batch_.source = source_;
    batch_.polled_at = scraped_at;
    known_.rewind();
    taken_ = 0;
}

std::size_t MetricMapper::recognise(std::string_view line) {
    const auto match = known_.expected(line);
    if (!match) return 0;
    recognised_ = match->meaning;
    return match->bytes;
}

void MetricMapper::take(const PrometheusSample& sample) {
    if (sample.name.empty()) {
        ++taken_;
        return read(recognised_, sample);
    }
    if (sample.name != last_name_) {
        last_name_ = sample.name;
        const auto found = mappings_by_name_.find(sample.name);
        last_mappings_ = found == mappings_by_name_.end() ? nullptr : &found->second;
    }
    if (!last_mappings_) return;
    ++taken_;
    if (const auto known = known_.find(sample.series)) return read(*known, sample);
    const Meaning meaning = understand(sample);
    read(meaning, sample);
    if (meaning.overflow || known_.size() >= limit_) return;
    if (const auto number = remembered(meaning)) known_.add(sample.series, *number);
}

void MetricMapper::read(std::uint32_t number, const PrometheusSample& sample) {
    if (number & in_meanings) return read(meanings_[number & ~in_meanings], sample);
    read(Target{SeriesIndex{number & ((1u << series_bits) - 1)}, number >> series_bits}, sample);
}

void MetricMapper::read(const Meaning& meaning, const PrometheusSample& sample) {
    if (meaning.unusable || meaning.overflow) ++batch_.refused;
    for (const Target& target : meaning.targets) read(target, sample);
}

void MetricMapper::read(Target target, const PrometheusSample& sample) {
    const double value = sample.value * mappings_[target.mapping].factor;
    EventTime time = batch_.polled_at;
    // Milliseconds far outside any calendar would overflow as microseconds.
    constexpr std::int64_t timestamp_ms_max = INT64_MAX / 1000;
    const bool dated = sample.timestamp_ms.has_value();
    const bool impossible = dated && (*sample.timestamp_ms < 0 || *sample.timestamp_ms > timestamp_ms_max);
    if (dated && !impossible) time = EventTime(std::chrono::milliseconds(*sample.timestamp_ms));
    if (impossible || !std::isfinite(value) || value < 0 || time > batch_.polled_at + clock_slack) {
        ++batch_.refused;
        return;
    }
    if (batch_.readings.empty()) batch_.readings.reserve(readings_before_);
    batch_.readings.push_back({target.series, value, time});
}

MetricMapper::Meaning MetricMapper::understand(const PrometheusSample& sample) {
    Meaning meaning;
    for (const std::size_t place : *last_mappings_) {
        const MetricMapping& mapping = mappings_[place];
        const auto fits = [&](const auto& wanted) { return label_of(sample, wanted.first) == wanted.second; };
        if (!std::ranges::all_of(mapping.match, fits)) continue;
        const auto series = series_of(mapping, sample);
        if (!series) {
            meaning.unusable = true;
            continue;
        }
        const auto index = intern(*series);
        if (index)
            meaning.targets.push_back({*index, static_cast<std::uint32_t>(place)});
        else
            meaning.overflow = true;
    }
    return meaning;
}

std::optional<Series> MetricMapper::series_of(const MetricMapping& mapping, const PrometheusSample& sample) const {
    Series series;
    series.source = source_;
    series.signal = mapping.signal;
    series.kind = mapping.kind;
    series.wraps_at = mapping.wraps_at;
    const auto sw = mapping.switch_label.empty() ? std::optional<std::string_view>(mapping.sw)
                                                 : label_of(sample, mapping.switch_label);
    const auto port = label_of(sample, mapping.port_label);
    if (!sw || sw->empty() || !port || port->empty()) return std::nullopt;
    series.sw = *sw;
    series.port = *port;
    if (mapping.queue_label) {
        const auto queue = label_of(sample, *mapping.queue_label);
        series.queue = queue ? queue_number(*queue) : std::nullopt;
        if (!series.queue) return std::nullopt;
    }
    return series;
}

// Meanings are few: one target a line is the rule, and all lines that mean nothing, or are unusable, share one each.
std::optional<std::uint32_t> MetricMapper::remembered(const Meaning& meaning) {
    if (meaning.targets.empty()) return in_meanings | (meaning.unusable ? 1u : 0u);
    const Target& first = meaning.targets.front();
    if (meaning.targets.size() == 1 && !meaning.unusable && first.mapping < 1u << mapping_bits)
        return first.mapping << series_bits | static_cast<std::uint32_t>(first.series);
    if (meanings_.size() >= limit_ + 2) return std::nullopt;
    meanings_.push_back(meaning);
    return in_meanings | static_cast<std::uint32_t>(meanings_.size() - 1);
}

std::optional<SeriesIndex> MetricMapper::intern(const Series& series) {
    if (index_of_identity_.empty())
        for (std::size_t i = 0; i < identities_.size(); ++i)
            index_of_identity_.emplace(identities_[i], SeriesIndex{static_cast<std::uint32_t>(i)});
    key_.clear();
    fmt::format_to(std::back_inserter(key_), "{}\n{}\n{}\n{}\n{}\n{}", series.sw, series.port,
                   series.queue ? static_cast<int>(*series.queue) : -1, static_cast<int>(series.signal),
                   static_cast<int>(series.kind), series.wraps_at.value_or(0));
    const std::uint64_t identity = fingerprint(key_, seed_);
    if (const auto known = index_of_identity_.find(identity); known != index_of_identity_.end()) return known->second;
    if (identities_.size() >= limit_) return std::nullopt;
    const SeriesIndex index{static_cast<std::uint32_t>(identities_.size())};
    identities_.push_back(identity);
    index_of_identity_.emplace(identity, index);
    batch_.announced.push_back(series);
    return index;
}

Batch MetricMapper::end() {
    // Lines that have not come again: more of them than of those that have, with some allowance for small exporters.
    constexpr std::size_t allowance = 1000;
    if (known_.size() > 2 * taken_ + allowance || known_.size() >= limit_)
        known_.forget_unseen();
    else if (known_.size() != lines_before_)
        known_.settle();
    lines_before_ = known_.size();
    if (!batch_.announced.empty()) identities_.shrink_to_fit();
    readings_before_ = batch_.readings.size();
    return hand_over();
}

Batch MetricMapper::fail(std::string failure) {
    batch_.failure = std::move(failure);
    batch_.readings.clear();
    return hand_over();
}

Batch MetricMapper::hand_over() {
    index_of_identity_ = decltype(index_of_identity_)(); // "= {}" would keep the memory
    Batch batch = std::move(batch_);
    begin(batch.polled_at);
    return batch;
}

} // namespace aegis
