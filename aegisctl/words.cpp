#include "aegisctl/words.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>
#include <ctime>
#include <fmt/format.h>

namespace aegis {

namespace json = boost::json;

namespace {

constexpr std::string_view absent = "-";

std::optional<double> number(const json::value* value) {
    if (!value || !value->is_number()) return std::nullopt;
    return value->to_number<double>();
}

// Three digits that count, and the largest decimal unit that leaves something before the point.
std::string with_unit(double value, std::string_view unit) {
    constexpr std::string_view prefixes[] = {"", "K", "M", "G", "T", "P"};
    std::size_t step = 0;
    while (std::abs(value) >= 999.5 && step + 1 < std::size(prefixes)) {
        value /= 1000;
        ++step;
    }
    return fmt::format("{:.3g}{}{}", value, prefixes[step], unit);
}

} // namespace

const json::value* find(const json::value& document, std::string_view path) {
    const json::value* value = &document;
    while (!path.empty()) {
        const std::size_t dot = path.find('.');
        const json::object* object = value->if_object();
        value = object ? object->if_contains(path.substr(0, dot)) : nullptr;
        if (!value || value->is_null()) return nullptr;
        path.remove_prefix(dot == path.npos ? path.size() : dot + 1);
    }
    return value->is_null() ? nullptr : value;
}

std::optional<double> number_at(const json::value& document, std::string_view path) { return number(find(document, path)); }

std::string text_at(const json::value& document, std::string_view path) {
    const json::value* value = find(document, path);
    return value ? as_text(value) : std::string();
}

bool flag_at(const json::value& document, std::string_view path) {
    const json::value* value = find(document, path);
    return value && value->is_bool() && value->as_bool();
}

const json::array& list_at(const json::value& document, std::string_view path) {
    static const json::array none;
    const json::value* value = find(document, path);
    return value && value->is_array() ? value->as_array() : none;
}

std::string printable(std::string_view text) {
    std::string shown;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool c1 = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0; // U+0080 to U+009F
        if (c1) ++i;
        shown += byte < 0x20 || byte == 0x7f || c1 ? '?' : text[i];
    }
    return shown;
}

std::string as_text(const json::value* value) {
    if (!value || value->is_null()) return std::string(absent);
    if (const json::string* text = value->if_string()) return printable(*text);
    if (value->is_bool()) return value->as_bool() ? "true" : "false";
    if (value->is_int64()) return fmt::format("{}", value->as_int64());
    if (value->is_uint64()) return fmt::format("{}", value->as_uint64());
    if (value->is_double()) return fmt::format("{:.4g}", value->as_double());
    return std::string(absent);
}

std::string as_count(const json::value* value) {
    const auto count = number(value);
    if (!count) return std::string(absent);
    const std::string digits = fmt::format("{:.0f}", *count);
    std::string grouped;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
        grouped += digits[i];
    }
    return grouped;
}

std::string as_fraction(const json::value* value) {
    const auto fraction = number(value);
    return fraction ? fmt::format("{:.2f}", *fraction) : std::string(absent);
}

std::string as_percent(const json::value* value) {
    const auto share = number(value);
    return share ? fmt::format("{:.1f}%", *share * 100) : std::string(absent);
}

std::string as_bytes(const json::value* value) {
    const auto bytes = number(value);
    return bytes ? with_unit(*bytes, "B") : std::string(absent);
}

std::string as_rate(const json::value* value) {
    const auto rate = number(value);
    return rate && *rate > 0 ? with_unit(*rate, "bit") : std::string(absent);
}

std::string age_text(double milliseconds) {
    if (milliseconds < 1000) return fmt::format("{:.0f}ms", milliseconds);
    if (milliseconds < 9'950) return fmt::format("{:.1f}s", milliseconds / 1000);
    const auto seconds = static_cast<std::int64_t>(std::llround(milliseconds / 1000));
    if (seconds < 60) return fmt::format("{}s", seconds);
    if (seconds < 3600) return fmt::format("{}m {}s", seconds / 60, seconds % 60);
    if (seconds < 86400) return fmt::format("{}h {}m", seconds / 3600, seconds / 60 % 60);
    return fmt::format("{}d {}h", seconds / 86400, seconds / 3600 % 24);
}

std::string as_age(const json::value* value) {
    const auto milliseconds = number(value);
    return milliseconds ? age_text(*milliseconds) : std::string(absent);
}

std::string as_time(const json::value* value) {
    const auto microseconds = number(value);
    if (!microseconds) return std::string(absent);
    const auto seconds = static_cast<std::time_t>(std::floor(*microseconds / 1e6));
    std::tm parts{};
    char text[32];
    if (!localtime_r(&seconds, &parts) || std::strftime(text, sizeof text, "%F %T", &parts) == 0) return std::string(absent);
    return text;
}

std::string as_yes(const json::value* value) {
    if (!value || !value->is_bool()) return std::string(absent);
    return value->as_bool() ? "yes" : "no";
}

} // namespace aegis
