// A table, from one description of its columns: where each cell comes from in a row's JSON, and how it is said.
//
// With --json the same rows go out as aegisd sent them, one document a line, so that no script depends on a column's width.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <span>
#include <string>
#include <string_view>

namespace aegis {

enum class Align : bool { left, right };

struct Column {
    std::string_view title;
    std::string_view path; // dotted, within a row
    std::string (*show)(const boost::json::value*);
    Align align = Align::left;
};

// Title line and a line a row; columns two spaces apart, as wide as their widest cell, no spaces at the end of a line. Widths count
// code points. `indent` spaces before each line.
std::string table_text(std::span<const Column> columns, const boost::json::array& rows, std::size_t indent = 0);

} // namespace aegis
