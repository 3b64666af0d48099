// gzip bodies of requests, inflated within a bound.
#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace aegis {

// Errors: not gzip, cut short, or more than `limit` bytes inside - noticed before they are all there.
std::expected<std::string, std::string> gunzip(std::string_view compressed, std::size_t limit);

} // namespace aegis
