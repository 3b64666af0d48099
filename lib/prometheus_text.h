// Prometheus text format 0.0.4 and OpenMetrics 1.0 as a stream: bytes in, samples out (telemetry.md section 3).
//
// OpenMetrics differs in what matters here as follows: timestamps are seconds with a fraction, exemplars may follow a
// sample (skipped), and the text ends with "# EOF" - without it the answer was cut short, and is refused.
// Its _created samples are delivered like any other.
//
// feed() takes the body in arbitrary pieces; finish() ends it. Comments, HELP and TYPE are skipped: kind and unit
// come from the site's mapping. A line is held in memory at most once and at most `line_limit` bytes long. The usual
// path allocates nothing per sample. The first error ends parsing: samples before it have been delivered, and
// every later call returns the same error. Neither label names are checked for duplicates nor values for UTF-8.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aegis {

struct PrometheusLabel {
    std::string_view name;
    std::string_view value; // unescaped
    bool operator==(const PrometheusLabel&) const = default;
};

enum class PrometheusFormat : std::uint8_t { text, openmetrics };

// Of an answer, by its Content-Type; anything that is not OpenMetrics is read as text.
PrometheusFormat prometheus_format_of(std::string_view content_type);

// Valid during the callback only.
struct PrometheusSample {
    std::string_view name;
    std::span<const PrometheusLabel> labels; // in the order written
    double value = 0;                        // may be NaN or infinite
    std::optional<std::int64_t> timestamp_ms; // since the epoch
    std::string_view series{};                // name and labels as written; name and labels are empty if they were recognised
};

struct PrometheusError {
    std::uint64_t line = 0; // from 1
    std::string expected;   // "a metric name"
    std::string found;      // the offending text, shortened, printable
    bool operator==(const PrometheusError&) const = default;
};

// "line 1: expected a metric name, found \"<!DOCTYPE html>\""
std::string to_string(const PrometheusError& error);

class PrometheusText {
public:
    using OnSample = std::function<void(const PrometheusSample&)>;
    // Asked with each line that may hold a sample: how many bytes at its beginning are a series, name and labels, that is
    // known already and need not be taken apart; 0 if none. The sample that follows is of that series.
    using Recognise = std::function<std::size_t(std::string_view line)>;

    explicit PrometheusText(OnSample on_sample, std::size_t line_limit = 65536,
                            PrometheusFormat format = PrometheusFormat::text);

    void recognise_with(Recognise recognise) { recognise_ = std::move(recognise); }

    std::expected<void, PrometheusError> feed(std::string_view chunk);
    std::expected<void, PrometheusError> finish(); // a last line without newline counts

private:
    bool fits(std::size_t bytes, std::string_view text);
    bool parse_line(std::string_view line);
    bool parse_comment(std::string_view line);
    bool parse_timestamp(std::string_view word, PrometheusSample& sample);
    bool parse_series(std::string_view& rest, std::string_view line, PrometheusSample& sample);
    bool parse_labels(std::string_view& rest);
    std::optional<std::string_view> parse_label_value(std::string_view& rest);
    bool fail(std::string_view expected, std::string_view found);
    std::expected<void, PrometheusError> result() const;

    OnSample on_sample_;
    Recognise recognise_;
    std::size_t line_limit_;
    PrometheusFormat format_;
    bool ended_ = false; // "# EOF" was read
    std::uint64_t line_ = 1;
    std::string partial_;   // the beginning of a line whose end has not come yet
    std::string unescaped_; // label values of this line that contained escapes
    std::vector<PrometheusLabel> labels_;
    std::optional<PrometheusError> error_;
};

} // namespace aegis
