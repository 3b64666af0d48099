#include "lib/slurm_topology.h"

#include "lib/fabric.h"
#include "lib/hostlist.h"
#include "lib/slurm_tree.h"
#include "lib/slurm_words.h"
#include "lib/text_lines.h"

#include <charconv>
#include <fmt/format.h>
#include <utility>

namespace aegis {

namespace {

struct Setting {
    std::string_view key, value;
};

// KEY=VALUE words of one line; the error is the word that is none.
std::expected<std::vector<Setting>, std::string_view> settings_of(std::string_view line) {
    std::vector<Setting> settings;
    while (!(line = without_blanks(line)).empty()) {
        const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
        const std::string_view word = line.substr(0, end);
        line.remove_prefix(end);
        const std::size_t equals = word.find('=');
        if (equals == word.npos || equals == 0) return std::unexpected(word);
        settings.push_back({word.substr(0, equals), word.substr(equals + 1)});
    }
    return settings;
}

std::string_view without_comment(std::string_view line) { return without_blanks(line.substr(0, line.find('#'))); }

bool starts_with_key(std::string_view line, std::string_view key) {
    return line.size() > key.size() && same_word(line.substr(0, key.size()), key) && line.substr(key.size()).find_first_not_of(" \t") != line.npos &&
           without_blanks(line.substr(key.size())).starts_with('=');
}

// What kind of topology.conf this is, from its lines.
struct Outline {
    int block_lines = 0, switch_lines = 0, commented_out = 0;
};

Outline outline_of(std::string_view text) {
    Outline outline;
    TextLines lines(text);
    std::string_view line;
    while (lines.next(line)) {
        const std::string_view code = without_comment(line);
        if (starts_with_key(code, "BlockName")) ++outline.block_lines;
        if (starts_with_key(code, "SwitchName")) ++outline.switch_lines;
        std::string_view comment = without_blanks(line);
        if (!comment.starts_with('#')) continue;
        comment = without_blanks(comment.substr(std::min(comment.find_first_not_of("# \t"), comment.size())));
        if (starts_with_key(comment, "BlockName") || starts_with_key(comment, "SwitchName")) ++outline.commented_out;
    }
    return outline;
}

void add_topograph_names(SlurmTree& tree, std::string_view text) {
    TextLines lines(text);
    std::string_view line;
    while (lines.next(line)) {
        line = without_blanks(line);
        if (!line.starts_with('#')) continue;
        line = without_blanks(line.substr(1));
        const std::size_t equals = line.find('=');
        if (equals == line.npos || line.find_first_of(" \t") != line.npos) continue;
        tree.add_second_name(line.substr(0, equals), line.substr(equals + 1));
    }
}

void read_blocks(SlurmTree& tree, std::string_view text) {
    TextLines lines(text);
    std::string_view line;
    while (lines.next(line)) {
        line = without_comment(line);
        if (line.empty()) continue;
        const auto settings = settings_of(line);
        if (!settings) {
            tree.fail(lines.number(), "", settings.error(), "KEY=VALUE");
            continue;
        }
        std::string_view name, nodes;
        for (const auto& [key, value] : *settings) {
            if (same_word(key, "BlockName"))
                name = value;
            else if (same_word(key, "Nodes"))
                nodes = value;
            else if (!same_word(key, "BlockSizes"))
                tree.fail(lines.number(), key, value, "BlockName, Nodes or BlockSizes, the keys of topology/block");
        }
        if (!name.empty()) tree.add_leaf(lines.number(), name, "Nodes", nodes);
    }
}

} // namespace

std::expected<Discovery, ConfigErrors> parse_topology_conf(std::string_view text, const std::string& file) {
    SlurmTree tree(file);
    const Outline outline = outline_of(text);
    if (outline.block_lines > 0 && outline.switch_lines > 0) {
        tree.fail(0, "", "", "either BlockName= or SwitchName= lines: one topology.conf describes one plugin");
    } else if (outline.block_lines > 0) {
        read_blocks(tree, text);
    } else if (outline.switch_lines > 0) {
        const auto topology = parse_topology(text, file);
        if (!topology) return std::unexpected(topology.error());
        for (const TopologyLine& line : *topology) {
            if (!line.nodes.empty())
                tree.add_leaf(line.line, line.name, "Nodes", fold_hostlist(line.nodes));
            else
                tree.add_switch(line.line, line.name, "Switches", fold_hostlist(line.switches));
        }
        add_topograph_names(tree, text);
    } else if (outline.commented_out > 0) {
        tree.fail(0, "", "", fmt::format("a SwitchName= or BlockName= line: all {} of them are commented out", outline.commented_out));
    }
    return std::move(tree).finish("a SwitchName= or BlockName= line");
}

std::expected<Discovery, ConfigErrors> parse_scontrol_topology(std::string_view text, const std::string& file) {
    SlurmTree tree(file);
    TextLines lines(text);
    std::string_view line;
    while (lines.next(line)) {
        if (without_blanks(line).empty()) continue;
        const auto settings = settings_of(line);
        if (!settings) {
            tree.fail(lines.number(), "", settings.error(), "KEY=VALUE, as scontrol show topology writes it");
            continue;
        }
        std::string_view name, nodes, switches;
        bool aggregated = false;
        std::optional<unsigned> level;
        for (const auto& [key, value] : *settings) {
            if (key == "SwitchName" || key == "BlockName") name = value;
            if (key == "Nodes") nodes = value;
            if (key == "Switches") switches = value;
            aggregated |= key == "AggregatedBlock";
            unsigned number = 0;
            if (key == "Level" && std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc{}) level = number;
        }
        if (aggregated) continue; // its blocks are listed by themselves
        if (name.empty())
            tree.fail(lines.number(), "", line, "SwitchName= or BlockName=, as scontrol show topology writes it");
        else if (!switches.empty())
            tree.add_switch(lines.number(), name, "Switches", switches, level);
        else if (!nodes.empty())
            tree.add_leaf(lines.number(), name, "Nodes", nodes);
        else
            tree.note(lines.number(), name, "it has neither nodes nor switches", "no job can be placed there");
    }
    return std::move(tree).finish("a SwitchName= or BlockName= line: is a topology plugin configured?");
}

} // namespace aegis
