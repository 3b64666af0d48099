#include "lib/json_text.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>

namespace aegis {

namespace json = boost::json;

std::expected<std::vector<json::value>, ConfigErrors> parse_json_documents(std::string_view text, const std::string& file) {
    std::vector<json::value> documents;
    std::size_t at = 0;
    const auto line_at = [&](std::size_t position) {
        return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(position, text.size())), '\n'));
    };
    while ((at = text.find_first_not_of(" \t\r\n", at)) != text.npos) {
        json::parse_options options;
        options.max_depth = 64;
        json::stream_parser parser({}, options);
        json::error_code error;
        const std::size_t used = parser.write_some(text.data() + at, text.size() - at, error);
        at += used;
        if (!error && !parser.done()) parser.finish(error); // finish() after a whole document with more behind it is an error
        if (error)
            return std::unexpected(ConfigErrors{{{file, line_at(at)}, "", "", fmt::format("JSON: {}", error.message())}});
        documents.push_back(parser.release());
    }
    if (documents.empty()) return std::unexpected(ConfigErrors{{{file, 0}, "", "", "JSON, but there is none"}});
    return documents;
}

const json::value* member(const json::value* value, std::string_view key) {
    const json::object* object = value ? value->if_object() : nullptr;
    return object ? object->if_contains(key) : nullptr;
}

const json::value* single(const json::value* value) {
    const json::array* array = value ? value->if_array() : nullptr;
    if (!array) return value;
    return array->empty() ? nullptr : &array->front();
}

std::vector<const json::value*> elements(const json::value* value) {
    std::vector<const json::value*> all;
    if (!value || value->is_null()) return all;
    const json::array* array = value->if_array();
    if (!array) return {value};
    for (const json::value& element : *array) all.push_back(&element);
    return all;
}

std::string_view text_in(const json::value* value) {
    value = single(value);
    if (const json::value* inner = member(value, "value")) value = inner;
    const json::string* text = value ? value->if_string() : nullptr;
    return text ? std::string_view(*text) : std::string_view{};
}

} // namespace aegis
