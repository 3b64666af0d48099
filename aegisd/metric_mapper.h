// From samples of one exporter to readings of series, by the site's [[source.metric]] tables.
//
// A sample is looked at closely once: its labels then stand for a SeriesIndex, and at later scrapes its line is recognised by its
// fingerprint (lib/known_lines.h) before anything of it is taken apart.
// Bounded: at most `series_max` series, and as many lines, are remembered; samples of further series are refused and
// counted. Lines that do not come again are forgotten.
// Refused as well, and never taken for zero: values that are negative or not finite, event times in the future,
// labels that name no switch, port or queue. No I/O, no clock.
#pragma once

#include "lib/config.h"
#include "lib/known_lines.h"
#include "lib/prometheus_text.h"
#include "lib/sample.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace aegis {

class MetricMapper {
public:
    // Several times the 64k series that one exporter of a large fabric has.
    static constexpr std::size_t series_max = std::size_t{1} << 18;

    explicit MetricMapper(const SourceConfig& config, std::size_t limit = series_max);

    void begin(EventTime scraped_at); // of the samples that carry no time of their own
    std::size_t recognise(std::string_view line); // PrometheusText::Recognise; a sample recognised is the next one taken
    void take(const PrometheusSample& sample);
    Batch end();                     // what was taken since begin()
    Batch fail(std::string failure); // no readings; series met for the first time stay announced

private:
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    template <class Value> using ByText = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

    struct Target { // what a sample means under one mapping
        SeriesIndex series{};
        std::uint32_t mapping = 0;
    };
    struct Meaning { // and under all mappings of its name
        std::vector<Target> targets;
        bool unusable = false; // a mapping matches, but the labels name no switch, port or queue
        bool overflow = false; // one series more than there may be
    };
    // KnownLines keeps one number a line: a target where there is just one, else the place of a Meaning in meanings_.
    static constexpr std::uint32_t series_bits = 18, mapping_bits = 13, in_meanings = 1u << 31;
    static_assert(series_max <= 1u << series_bits && series_bits + mapping_bits == 31);

    Meaning understand(const PrometheusSample& sample);
    std::optional<Series> series_of(const MetricMapping& mapping, const PrometheusSample& sample) const;
    std::optional<std::uint32_t> remembered(const Meaning& meaning);
    std::optional<SeriesIndex> intern(const Series& series);
    void read(std::uint32_t number, const PrometheusSample& sample);
    void read(const Meaning& meaning, const PrometheusSample& sample);
    void read(Target target, const PrometheusSample& sample);
    Batch hand_over();

    std::string source_;
    std::vector<MetricMapping> mappings_;
    std::size_t limit_;
    ByText<std::vector<std::size_t>> mappings_by_name_;
    std::uint64_t seed_;
    KnownLines known_;
    std::uint32_t recognised_ = 0; // the number of the line recognised last
    std::vector<Meaning> meanings_; // the few that a number does not hold
    std::vector<std::uint64_t> identities_; // by SeriesIndex: fingerprint of what it is, so that changed labels lead to the same series
    std::unordered_map<std::uint64_t, SeriesIndex> index_of_identity_; // only while a scrape brings new lines
    std::string key_; // reused
    const std::vector<std::size_t>* last_mappings_ = nullptr; // exporters write one metric after the other
    std::string last_name_;
    std::size_t taken_ = 0; // samples of this scrape that a mapping's name fits
    std::size_t readings_before_ = 0, lines_before_ = 0; // at the end of the last scrape
    Batch batch_;
};

} // namespace aegis
