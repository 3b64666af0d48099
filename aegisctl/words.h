// Values of aegisd's answers in words an administrator reads: numbers with units, ages, times. Absent is "-".
//
// Texts that came from outside (job names) may hold anything; what could steer a terminal is shown as "?".
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace aegis {

// The value at a dotted path, or nothing where a step is missing or null.
const boost::json::value* find(const boost::json::value& document, std::string_view path);
std::optional<double> number_at(const boost::json::value& document, std::string_view path);
std::string text_at(const boost::json::value& document, std::string_view path); // printable; empty where absent
bool flag_at(const boost::json::value& document, std::string_view path);        // false where absent
const boost::json::array& list_at(const boost::json::value& document, std::string_view path);

// For the columns of a table.
std::string as_text(const boost::json::value* value);
std::string as_count(const boost::json::value* value);    // 1,234,567
std::string as_fraction(const boost::json::value* value); // 0.83
std::string as_percent(const boost::json::value* value);  // of a share: 4.2%
std::string as_bytes(const boost::json::value* value);    // 210KB
std::string as_rate(const boost::json::value* value);     // 100Gbit
std::string as_age(const boost::json::value* value);      // of milliseconds: 1.2s, 3m 20s
std::string as_time(const boost::json::value* value);     // of microseconds since the epoch, local time
std::string as_yes(const boost::json::value* value);      // yes, no

std::string age_text(double milliseconds);
std::string printable(std::string_view text);

} // namespace aegis
