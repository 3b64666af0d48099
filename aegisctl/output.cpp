#include "aegisctl/output.h"

#include "aegisctl/words.h"

#include <algorithm>
#include <vector>

namespace aegis {

namespace {

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

} // namespace

std::string table_text(std::span<const Column> columns, const boost::json::array& rows, std::size_t indent) {
    std::vector<std::vector<std::string>> lines(1);
    for (const Column& column : columns) lines[0].emplace_back(column.title);
    for (const boost::json::value& row : rows) {
        auto& cells = lines.emplace_back();
        for (const Column& column : columns) {
            std::string cell = column.show(find(row, column.path));
            cells.push_back(cell.empty() ? "-" : std::move(cell));
        }
    }
    std::vector<std::size_t> widths(columns.size());
    for (const auto& cells : lines)
        for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width_of(cells[i]));

    std::string text;
    for (const auto& cells : lines) {
        std::string line(indent, ' ');
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string padding(widths[i] - width_of(cells[i]), ' ');
            line += columns[i].align == Align::right ? padding + cells[i] : cells[i] + padding;
            line += "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

} // namespace aegis
