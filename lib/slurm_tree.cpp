#include "lib/slurm_tree.h"

#include "lib/slurm_words.h"

#include <fmt/format.h>

namespace aegis {

void SlurmTree::fail(int line, std::string_view key, std::string_view value, std::string expected) {
    errors_.push_back({{file_, line}, std::string(key), std::string(value), std::move(expected)});
}

void SlurmTree::note(int line, std::string_view subject, std::string fact, std::string meaning) {
    found_.findings.push_back({Severity::info, FindingKind::ignored_input, {file_, line}, std::string(subject), std::move(fact), std::move(meaning)});
}

std::vector<std::string> SlurmTree::expand(int line, std::string_view key, std::string_view list) {
    auto names = expand_slurm_list(list);
    if (names && !names->empty()) return std::move(*names);
    fail(line, key, list, fmt::format("a list of names such as n[00-15]; {}", names ? "expected a name" : names.error()));
    return {};
}

bool SlurmTree::add_name(int line, std::string_view name, std::optional<unsigned> level) {
    if (name.empty() || name.find_first_of("[], \t") != name.npos) {
        fail(line, "name", name, "the name of one switch or block");
        return false;
    }
    const auto [found, fresh] = switch_by_name_.emplace(name, found_.switches.size());
    if (!fresh) {
        fail(line, "name", name, fmt::format("another name: line {} has this one", found_.switches[found->second].place.line));
        return false;
    }
    found_.switches.push_back({std::string(name), {}, {}, level, {file_, line}});
    return true;
}

void SlurmTree::add_leaf(int line, std::string_view name, std::string_view key, std::string_view nodes) {
    if (!add_name(line, name, 0)) return;
    for (std::string& node : expand(line, key, nodes)) {
        const auto [first, alone] = line_of_node_.emplace(node, line);
        if (!alone) {
            fail(line, key, node, fmt::format("a node on one leaf: line {} has it too", first->second));
            continue;
        }
        DiscoveredLink link;
        link.sw = name;
        link.peer_kind = PeerKind::node;
        link.peer = node;
        link.place = {file_, line};
        found_.links.push_back(std::move(link));
        found_.nodes.push_back({std::move(node), {file_, line}});
    }
}

void SlurmTree::add_switch(int line, std::string_view name, std::string_view key, std::string_view switches, std::optional<unsigned> level) {
    if (!add_name(line, name, level)) return;
    for (std::string& child : expand(line, key, switches)) {
        DiscoveredLink link;
        link.sw = name;
        link.peer_kind = PeerKind::sw;
        link.peer = std::move(child);
        link.place = {file_, line};
        found_.links.push_back(std::move(link));
    }
}

void SlurmTree::add_second_name(std::string_view name, std::string_view second) {
    const auto found = switch_by_name_.find(std::string(name));
    if (found != switch_by_name_.end() && second != name) found_.switches[found->second].also_named = second;
}

std::expected<Discovery, ConfigErrors> SlurmTree::finish(std::string_view what) && {
    if (errors_.empty()) {
        for (const DiscoveredLink& link : found_.links)
            if (link.peer_kind == PeerKind::sw && !switch_by_name_.contains(link.peer))
                fail(link.place.line, "child", link.peer, "a switch that is defined in this input");
        if (found_.switches.empty() && found_.findings.empty()) fail(0, "", "", std::string(what));
    }
    if (!errors_.empty()) return std::unexpected(std::move(errors_));
    return std::move(found_);
}

} // namespace aegis
