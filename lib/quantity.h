// Quantities as operators write them: a number and a unit, without a space. "2ms", "180KiB", "100Gbit", "2%".
//
//   duration  us ms s m h d            a whole number of microseconds after conversion
//   size      B KB MB GB KiB MiB GiB   decimal and binary; whole bytes
//   rate      bit Kbit Mbit Gbit Tbit  bits per second, decimal
//   share     %                        or a plain number, 0.02
//
// Readers accept decimals ("1.5s"), never a sign, an exponent or a missing unit: nothing is guessed. Writers give the
// largest unit that needs no decimals, so that what is shown can be pasted back into the file.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace aegis {

std::optional<std::chrono::microseconds> duration_from(std::string_view text);
std::optional<std::uint64_t> size_from(std::string_view text);  // bytes
std::optional<double> rate_from(std::string_view text);         // bits/s
std::optional<double> share_from(std::string_view text);        // "2%" is 0.02

std::string duration_text(std::chrono::microseconds duration);
std::string size_text(std::uint64_t bytes);
std::string rate_text(double bits_per_second);
std::string share_text(double share);

} // namespace aegis
