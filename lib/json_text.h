// JSON for the importers: parsing with the line of an error, and access that never throws.
#pragma once

#include "lib/config_error.h"

#include <boost/json/value.hpp>
#include <expected>
#include <string_view>
#include <vector>

namespace aegis {

// The documents of a text, one after the other; at least one. The error names the line and what is wrong.
std::expected<std::vector<boost::json::value>, ConfigErrors> parse_json_documents(std::string_view text, const std::string& file);

// The member called `key`, or null.
const boost::json::value* member(const boost::json::value* value, std::string_view key);

// What tools write as one object or as a list of one: the first element of a list, anything else itself.
const boost::json::value* single(const boost::json::value* value);

// The elements of a list; anything but a list counts as a list of itself, null as none.
std::vector<const boost::json::value*> elements(const boost::json::value* value);

// A string, {"value": STRING}, or a list of one of these; empty for anything else.
std::string_view text_in(const boost::json::value* value);

} // namespace aegis
