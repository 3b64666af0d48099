#include "lib/prometheus_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace aegis {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

void skip_blanks(std::string_view& rest) {
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
}

// Letters, digits, '_', in metric names also ':'; not starting with a digit. Empty if there is none.
std::string_view take_name(std::string_view& rest, bool colons) {
    std::size_t end = 0;
    while (end < rest.size() && (is_letter(rest[end]) || (colons && rest[end] == ':') || (end > 0 && is_digit(rest[end]))))
        ++end;
    const std::string_view name = rest.substr(0, end);
    rest.remove_prefix(end);
    return name;
}

std::string_view take_word(std::string_view& rest) {
    std::size_t end = 0;
    while (end < rest.size() && !is_blank(rest[end])) ++end;
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(end);
    return word;
}

std::optional<double> number_of(std::string_view word) {
    // Counters are whole numbers, nearly always: up to 15 digits are exact in a double, without the general way's cost.
    constexpr std::size_t exact_digits = 15;
    if (!word.empty() && word.size() <= exact_digits && std::all_of(word.begin(), word.end(), is_digit)) {
        std::int64_t whole = 0;
        for (char digit : word) whole = 10 * whole + (digit - '0');
        return static_cast<double>(whole);
    }
    if (word.starts_with('+')) {
        word.remove_prefix(1);
        if (word.starts_with('-')) return std::nullopt;
    }
    if (word.find('(') != word.npos) return std::nullopt; // from_chars would take nan(…)
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return value;
}

std::optional<std::int64_t> integer_of(std::string_view word) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return value;
}

// What a log line can bear of a stranger's text.
std::string excerpt(std::string_view text) {
    constexpr std::size_t most = 60;
    std::string shown;
    for (char c : text.substr(0, most)) shown += c >= ' ' && c < 127 ? c : '?';
    if (text.size() > most) shown += "...";
    return shown;
}

} // namespace

std::string to_string(const PrometheusError& error) {
    return fmt::format("line {}: expected {}, found \"{}\"", error.line, error.expected, error.found);
}

PrometheusFormat prometheus_format_of(std::string_view content_type) {
    const auto type = content_type.substr(0, content_type.find(';'));
    return type == "application/openmetrics-text" ? PrometheusFormat::openmetrics : PrometheusFormat::text;
}

PrometheusText::PrometheusText(OnSample on_sample, std::size_t line_limit, PrometheusFormat format)
    : on_sample_(std::move(on_sample)), line_limit_(line_limit), format_(format) {}

std::expected<void, PrometheusError> PrometheusText::feed(std::string_view chunk) {
    while (!error_ && !chunk.empty()) {
        const std::size_t newline = chunk.find('\n');
        if (newline == chunk.npos) {
            if (fits(partial_.size() + chunk.size(), partial_.empty() ? chunk : std::string_view(partial_))) partial_ += chunk;
            break;
        }
        std::string_view line = chunk.substr(0, newline);
        chunk.remove_prefix(newline + 1);
        if (!fits(partial_.size() + line.size(), partial_.empty() ? line : std::string_view(partial_))) break;
        if (!partial_.empty()) {
            partial_ += line;
            line = partial_;
        }
        if (!parse_line(line)) break;
        partial_.clear();
        ++line_;
    }
    return result();
}

std::expected<void, PrometheusError> PrometheusText::finish() {
    if (!error_ && !partial_.empty() && parse_line(partial_)) partial_.clear();
    if (!error_ && format_ == PrometheusFormat::openmetrics && !ended_) fail("# EOF as the last line", "");
    return result();
}

bool PrometheusText::fits(std::size_t bytes, std::string_view text) {
    return bytes <= line_limit_ || fail(fmt::format("a line of at most {} bytes", line_limit_), text);
}

bool PrometheusText::parse_line(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::string_view rest = line;
    skip_blanks(rest);
    if (ended_) return rest.empty() || fail("nothing after # EOF", rest);
    if (rest.empty()) return true;
    if (rest.front() == '#') return parse_comment(rest);

    PrometheusSample sample;
    if (const std::size_t known = recognise_ ? recognise_(rest) : 0; known > 0) {
        sample.series = rest.substr(0, known);
        rest.remove_prefix(known);
    } else if (!parse_series(rest, line, sample)) {
        return false;
    }

    skip_blanks(rest);
    const std::string_view value = take_word(rest);
    const auto number = number_of(value);
    if (!number) return fail("a value", value.empty() ? line : value);
    sample.value = *number;

    skip_blanks(rest);
    const auto at_exemplar = [&] { return format_ == PrometheusFormat::openmetrics && rest.starts_with("# "); };
    if (!rest.empty() && !at_exemplar()) {
        if (!parse_timestamp(take_word(rest), sample)) return false;
        skip_blanks(rest);
        if (!rest.empty() && !at_exemplar()) return fail("the end of the line", rest);
    }
    on_sample_(sample);
    return true;
}

bool PrometheusText::parse_comment(std::string_view line) {
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    ended_ = format_ == PrometheusFormat::openmetrics && line == "# EOF";
    return true;
}

bool PrometheusText::parse_timestamp(std::string_view word, PrometheusSample& sample) {
    if (format_ == PrometheusFormat::text) {
        sample.timestamp_ms = integer_of(word);
        return sample.timestamp_ms || fail("a timestamp in whole milliseconds", word);
    }
    constexpr double year_9999 = 253'402'300'800;
    const auto seconds = number_of(word);
    if (!seconds || !(std::abs(*seconds) < year_9999)) return fail("a timestamp in seconds", word);
    sample.timestamp_ms = std::llround(*seconds * 1000);
    return true;
}

bool PrometheusText::parse_series(std::string_view& rest, std::string_view line, PrometheusSample& sample) {
    const std::string_view begin = rest;
    labels_.clear();
    unescaped_.clear();
    sample.name = take_name(rest, true);
    if (sample.name.empty()) return fail("a metric name", rest);
    const std::size_t after_name = rest.size();
    skip_blanks(rest);
    if (rest.starts_with('{')) {
        rest.remove_prefix(1);
        if (!parse_labels(rest)) return false;
        sample.series = begin.substr(0, begin.size() - rest.size());
    } else if (rest.size() == after_name) {
        return fail("a blank or '{' after the metric name", rest.empty() ? line : rest);
    } else {
        sample.series = sample.name;
    }
    sample.labels = labels_;
    return true;
}

// After '{' up to and with '}'.
bool PrometheusText::parse_labels(std::string_view& rest) {
    for (;;) {
        skip_blanks(rest);
        if (rest.starts_with('}')) break;
        const std::string_view name = take_name(rest, false);
        if (name.empty()) return fail("a label name or '}'", rest);
        skip_blanks(rest);
        if (!rest.starts_with('=')) return fail("'=' after the label name", rest);
        rest.remove_prefix(1);
        skip_blanks(rest);
        if (!rest.starts_with('"')) return fail("a label value in double quotes", rest);
        rest.remove_prefix(1);
        const auto value = parse_label_value(rest);
        if (!value) return false;
        labels_.push_back({name, *value});
        skip_blanks(rest);
        if (rest.starts_with(','))
            rest.remove_prefix(1);
        else if (!rest.starts_with('}'))
            return fail("',' or '}' after the label", rest);
    }
    rest.remove_prefix(1);
    return true;
}

// After the opening quote up to and with the closing one.
std::optional<std::string_view> PrometheusText::parse_label_value(std::string_view& rest) {
    const std::string_view start = rest;
    std::size_t end = rest.find_first_of("\"\\");
    if (end != rest.npos && rest[end] == '"') {
        rest.remove_prefix(end + 1);
        return start.substr(0, end);
    }
    // Views into unescaped_ must survive the rest of the line: room for all of it before the first one.
    if (unescaped_.empty()) unescaped_.reserve(line_limit_);
    const std::size_t begin = unescaped_.size();
    for (std::size_t i = 0; i < rest.size(); ++i) {
        if (rest[i] == '"') {
            rest.remove_prefix(i + 1);
            return std::string_view(unescaped_).substr(begin);
        }
        if (rest[i] != '\\') {
            unescaped_ += rest[i];
            continue;
        }
        if (++i == rest.size()) break;
        switch (rest[i]) {
        case '\\': unescaped_ += '\\'; break;
        case '"': unescaped_ += '"'; break;
        case 'n': unescaped_ += '\n'; break;
        default: fail("one of the escapes \\\\ \\\" \\n", rest.substr(i - 1)); return std::nullopt;
        }
    }
    fail("a closing quote", start);
    return std::nullopt;
}

bool PrometheusText::fail(std::string_view expected, std::string_view found) {
    error_ = PrometheusError{line_, std::string(expected), excerpt(found)};
    return false;
}

std::expected<void, PrometheusError> PrometheusText::result() const {
    if (error_) return std::unexpected(*error_);
    return {};
}

} // namespace aegis
