// parse_topology(): Slurm's topology.conf.

#include "lib/fabric.h"

#include "lib/slurm_words.h"
#include "lib/text_lines.h"

#include <algorithm>
#include <fmt/format.h>

namespace aegis {

namespace {

constexpr std::string_view blanks = " \t\r\f\v";

// Up to the first '#' that no backslash protects.
std::string_view without_comment(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] == '#' && (i == 0 || text[i - 1] != '\\')) return text.substr(0, i);
    return text;
}

// A logical line: physical lines joined where they end in a backslash.
struct LogicalLine {
    int number = 0; // of its first physical line
    std::string text;
};

std::vector<LogicalLine> logical_lines(std::string_view text) {
    std::vector<LogicalLine> lines;
    bool continues = false;
    for (int number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view piece = without_blanks(without_comment(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (!continues) lines.push_back({number, {}});
        continues = piece.ends_with('\\');
        if (continues) piece.remove_suffix(1);
        lines.back().text += piece;
    }
    return lines;
}

class TopologyParser {
public:
    explicit TopologyParser(const std::string& file) : file_(file) {}

    std::expected<std::vector<TopologyLine>, ConfigErrors> run(std::string_view text) {
        for (const LogicalLine& line : logical_lines(text))
            if (!line.text.empty()) read_line(line);
        if (errors_.empty()) check_tree();
        if (!errors_.empty()) return std::unexpected(std::move(errors_));
        return std::move(lines_);
    }

private:
    void fail(int line, std::string_view key, std::string_view value, std::string expected) {
        errors_.push_back({{file_, line}, std::string(key), std::string(value), std::move(expected)});
    }

    void read_line(const LogicalLine& logical) {
        TopologyLine line{.line = logical.number, .name = {}, .nodes = {}, .switches = {}};
        bool named = false, sound = true;
        std::string_view rest = logical.text;
        while (!(rest = without_blanks(rest)).empty()) {
            const std::size_t key_end = std::min(rest.find_first_of(" \t="), rest.size());
            const std::string_view key = rest.substr(0, key_end);
            rest = without_blanks(rest.substr(key_end));
            if (same_word(key, "include")) {
                fail(logical.number, key, rest, "the included lines themselves: include is not supported, give the whole topology in one file");
                return;
            }
            if (!rest.starts_with('=')) {
                fail(logical.number, key, rest, "KEY=VALUE");
                return;
            }
            const auto value = take_value(rest, logical.number, key);
            if (!value) return;
            if (same_word(key, "SwitchName")) {
                named = true;
                line.name = *value;
                if (line.name.empty() || line.name.find_first_of("[],") != std::string::npos) {
                    fail(logical.number, key, *value, "the name of one switch");
                    sound = false;
                }
            } else if (same_word(key, "Nodes")) {
                sound = take_list(logical.number, key, *value, line.nodes) && sound;
            } else if (same_word(key, "Switches")) {
                sound = take_list(logical.number, key, *value, line.switches) && sound;
            } else if (!same_word(key, "LinkSpeed")) {
                fail(logical.number, key, *value, "SwitchName, Nodes, Switches or LinkSpeed, the keys of topology/tree");
                sound = false;
            }
        }
        if (!sound) return;
        if (!named)
            fail(logical.number, "SwitchName", "", "SwitchName= on every line");
        else if (line.nodes.empty() == line.switches.empty())
            fail(logical.number, "SwitchName", line.name, "either Nodes= or Switches=, not both and not neither");
        else
            lines_.push_back(std::move(line));
    }

    // The value after '=', plain or in double quotes; `rest` goes on behind it.
    std::optional<std::string> take_value(std::string_view& rest, int line, std::string_view key) {
        rest = without_blanks(rest.substr(1));
        if (rest.starts_with('"')) {
            const std::size_t end = rest.find('"', 1);
            if (end == rest.npos) {
                fail(line, key, rest, "a closing quote");
                return std::nullopt;
            }
            std::string value(rest.substr(1, end - 1));
            rest.remove_prefix(end + 1);
            return value;
        }
        const std::size_t end = std::min(rest.find_first_of(blanks), rest.size());
        std::string value(rest.substr(0, end));
        rest.remove_prefix(end);
        return value;
    }

    bool take_list(int line, std::string_view key, const std::string& value, std::vector<std::string>& names) {
        auto expanded = expand_slurm_list(value);
        if (expanded && expanded->empty()) expanded = std::unexpected("expected a name");
        if (!expanded) {
            fail(line, key, value, fmt::format("a list of names such as n[00-15]; {}", expanded.error()));
            return false;
        }
        names = std::move(*expanded);
        return true;
    }

    // Names must be known before children are: Slurm's files put the root first.
    void check_tree() {
        std::unordered_map<std::string_view, int> line_of_switch, line_of_node;
        for (const TopologyLine& line : lines_) {
            const auto [first, fresh] = line_of_switch.emplace(line.name, line.line);
            if (!fresh)
                fail(line.line, "SwitchName", line.name, fmt::format("another name: line {} has this one", first->second));
            for (const std::string& node : line.nodes) {
                const auto [leaf, alone] = line_of_node.emplace(node, line.line);
                if (!alone) fail(line.line, "Nodes", node, fmt::format("a node on one leaf: line {} has it too", leaf->second));
            }
        }
        for (const TopologyLine& line : lines_)
            for (const std::string& child : line.switches)
                if (!line_of_switch.contains(child))
                    fail(line.line, "Switches", child, "a switch that has a SwitchName= line");
    }

    const std::string& file_;
    std::vector<TopologyLine> lines_;
    ConfigErrors errors_;
};

} // namespace

std::expected<std::vector<TopologyLine>, ConfigErrors> parse_topology(std::string_view text, const std::string& file) {
    return TopologyParser(file).run(text);
}

} // namespace aegis
