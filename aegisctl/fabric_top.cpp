// aegisctl fabric top: the most pressed links first, again and again on a terminal.
#include "aegisctl/commands.h"
#include "aegisctl/output.h"
#include "aegisctl/words.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>

namespace aegis {

namespace json = boost::json;

namespace {

constexpr std::uint32_t rows_without_terminal = 20;
constexpr int lines_beside_rows = 4; // heading, blank, titles, and the line the cursor waits on

std::string joined(const json::value* leaves) {
    std::string text;
    if (leaves && leaves->is_array())
        for (const json::value& leaf : leaves->as_array()) text += (text.empty() ? "" : ",") + as_text(&leaf);
    return text;
}

constexpr Column top_columns[] = {
    {"LINK", "link", as_text},
    {"LEAF", "leaves", joined},
    {"PRESSURE", "pressure", as_fraction, Align::right},
    {"BELIEF", "confidence", as_fraction, Align::right},
    {"MARKS", "mark_rate", as_percent, Align::right},
    {"LOAD", "load", as_percent, Align::right},
    {"DEPTH", "depth_bytes", as_bytes, Align::right},
    {"STATE", "freshness", as_text},
    {"AGE", "age_ms", as_age, Align::right},
    {"LAST MINUTE", "minute", as_text},
};

bool speaks_utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
        if (const char* value = std::getenv(name); value && *value)
            return std::string_view(value).find("UTF-8") != std::string_view::npos || std::string_view(value).find("utf8") != std::string_view::npos;
    return false;
}

std::uint32_t rows_of_terminal() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return rows_without_terminal;
    return static_cast<std::uint32_t>(std::max(1, size.ws_row - lines_beside_rows));
}

// Over what stood there, without the flicker of clearing it first.
void redraw(const std::string& text) {
    std::string screen = "\033[H";
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        screen += text.substr(at, end - at) + "\033[K\n";
        at = end == text.npos ? text.size() : end + 1;
    }
    screen += "\033[J";
    std::fputs(screen.c_str(), stdout);
    std::fflush(stdout);
}

} // namespace

std::string spark_text(const json::array& shares, bool utf8) {
    constexpr std::string_view blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
    constexpr std::string_view letters[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    std::string text;
    for (const json::value& share : shares) {
        if (!share.is_number()) {
            text += ' ';
            continue;
        }
        const auto step = std::min<std::size_t>(7, static_cast<std::size_t>(std::max(0.0, share.to_number<double>()) * 8));
        text += utf8 ? blocks[step] : letters[step];
    }
    return text;
}

std::string fabric_top_text(const json::value& top, bool utf8) {
    json::array rows;
    for (const json::value& link : list_at(top, "links")) {
        json::value row = link;
        row.as_object()["minute"] = spark_text(list_at(link, "recent_pressure"), utf8);
        rows.push_back(std::move(row));
    }
    if (rows.empty()) return "no link has been measured yet\n";
    return fmt::format("{}: {} of {} links measured, the most pressed first\n\n", as_time(find(top, "time_us")), as_count(find(top, "links_known")),
                       as_count(find(top, "links_mapped"))) +
           table_text(top_columns, rows);
}

int run_fabric_top(const Asking& asking, const FabricTopArguments& arguments) {
    const bool again = !arguments.once && !asking.json && ::isatty(STDOUT_FILENO) == 1;
    const bool utf8 = speaks_utf8();
    const auto request = [&] {
        const std::uint32_t limit = arguments.limit ? *arguments.limit : again ? rows_of_terminal() : rows_without_terminal;
        return json::object{{"command", "fabric_top"}, {"limit", limit}};
    };
    if (!again) return ask_and_print(asking, request(), [utf8](const json::value& top) { return fabric_top_text(top, utf8); });
    std::fputs("\033[2J", stdout);
    while (true) { // until the user interrupts it, or aegisd ends
        const auto top = Client(asking.socket, asking.timeout).ask(request());
        if (!top) return report(top.error());
        redraw(fabric_top_text(*top, utf8));
        std::this_thread::sleep_for(std::chrono::seconds(arguments.interval_s));
    }
}

} // namespace aegis
