#include "lib/quantity.h"

#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <span>

namespace aegis {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

// Largest first, and decimal before binary: 300000 is "300KB", 184320 "180KiB".
constexpr std::array duration_units{Unit{"d", 86'400'000'000}, Unit{"h", 3'600'000'000}, Unit{"m", 60'000'000},
                                    Unit{"s", 1'000'000},      Unit{"ms", 1'000},        Unit{"us", 1}};
constexpr std::array size_units{Unit{"GB", 1'000'000'000}, Unit{"GiB", 1u << 30}, Unit{"MB", 1'000'000}, Unit{"MiB", 1u << 20},
                                Unit{"KB", 1'000},         Unit{"KiB", 1u << 10}, Unit{"B", 1}};
constexpr std::array rate_units{Unit{"Tbit", 1'000'000'000'000}, Unit{"Gbit", 1'000'000'000}, Unit{"Mbit", 1'000'000},
                                Unit{"Kbit", 1'000}, Unit{"bit", 1}};

// Whole numbers above 2^53 lose digits in a double; every quantity here ends far below.
constexpr double largest_exact = 9'007'199'254'740'992.0;

struct Parts {
    double number;
    std::string_view unit;
};

std::optional<Parts> parts_of(std::string_view text) {
    // from_chars alone would also take "inf", "nan" and a sign
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    Parts parts{};
    const char* end = text.data() + text.size();
    auto [rest, error] = std::from_chars(text.data(), end, parts.number, std::chars_format::fixed);
    if (error != std::errc{} || !std::isfinite(parts.number)) return std::nullopt;
    if (rest[-1] == '.') return std::nullopt;
    parts.unit = text.substr(static_cast<std::size_t>(rest - text.data()));
    return parts;
}

std::optional<double> in_base_unit(std::string_view text, std::span<const Unit> units) {
    auto parts = parts_of(text);
    if (!parts) return std::nullopt;
    for (const Unit& unit : units)
        if (unit.name == parts->unit) {
            double value = parts->number * static_cast<double>(unit.factor);
            return value <= largest_exact ? std::optional(value) : std::nullopt;
        }
    return std::nullopt;
}

std::string in_largest_unit(std::uint64_t value, std::span<const Unit> units) {
    if (value != 0)
        for (const Unit& unit : units)
            if (value % unit.factor == 0) return fmt::format("{}{}", value / unit.factor, unit.name);
    return fmt::format("{}{}", value, units.back().name);
}

} // namespace

std::optional<std::chrono::microseconds> duration_from(std::string_view text) {
    auto value = in_base_unit(text, duration_units);
    if (!value) return std::nullopt;
    return std::chrono::microseconds(std::llround(*value));
}

std::optional<std::uint64_t> size_from(std::string_view text) {
    auto value = in_base_unit(text, size_units);
    if (!value) return std::nullopt;
    return static_cast<std::uint64_t>(std::llround(*value));
}

std::optional<double> rate_from(std::string_view text) { return in_base_unit(text, rate_units); }

std::optional<double> share_from(std::string_view text) {
    auto parts = parts_of(text);
    if (!parts) return std::nullopt;
    if (parts->unit == "%") return parts->number / 100;
    return parts->unit.empty() ? std::optional(parts->number) : std::nullopt;
}

std::string duration_text(std::chrono::microseconds duration) {
    return in_largest_unit(static_cast<std::uint64_t>(duration.count()), duration_units);
}

std::string size_text(std::uint64_t bytes) { return in_largest_unit(bytes, size_units); }

std::string rate_text(double bits_per_second) {
    return in_largest_unit(static_cast<std::uint64_t>(std::llround(bits_per_second)), rate_units);
}

// 10 digits hide that 0.07 * 100 is 7.000000000000001
std::string share_text(double share) { return fmt::format("{:.10g}%", share * 100); }

} // namespace aegis
