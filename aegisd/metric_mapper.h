// From samples of one exporter to readings of series, by the site's [[source.metric]] tables.
//
// A sample is looked at closely once: its labels then stand for a SeriesIndex, and later scrapes cost one hash.
// Bounded: at most `series_max` different label sets are remembered; samples beyond are refused and counted.
// Refused as well, and never taken for zero: values that are negative or not finite, event times in the future,
// labels that name no switch, port or queue. No I/O, no clock.
#pragma once

#include "lib/config.h"
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
    static constexpr std::size_t series_max = 262'144;

    explicit MetricMapper(const SourceConfig& config, std::size_t limit = series_max);

    void begin(EventTime scraped_at); // of the samples that carry no time of their own
    void take(const PrometheusSample& sample);
    Batch end();                     // what was taken since begin()
    Batch fail(std::string failure); // no readings; series met for the first time stay announced

private:
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    template <class Value> using ByText = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

    enum class Meaning : std::uint8_t { series, not_ours, unusable };
    struct Known { // what one label set means under one mapping
        Meaning meaning{};
        SeriesIndex series{};
        double factor = 1;
    };

    void read(const Known& known, const PrometheusSample& sample);
    Known understand(const MetricMapping& mapping, const PrometheusSample& sample);
    SeriesIndex intern(const Series& series);
    Batch hand_over();

    std::string source_;
    std::vector<MetricMapping> mappings_;
    std::size_t limit_;
    ByText<std::vector<std::size_t>> mappings_by_name_;
    ByText<std::vector<Known>> known_;       // by name and labels as written
    ByText<SeriesIndex> index_of_series_;    // the same series under changed labels keeps its index
    std::string key_;                        // reused
    const std::vector<std::size_t>* last_mappings_ = nullptr; // exporters write one metric after the other
    std::string last_name_;
    std::uint32_t next_index_ = 0;
    Batch batch_;
};

} // namespace aegis
