#include "lib/fabric_text.h"

#include "lib/hostlist.h"
#include "lib/natural_order.h"
#include "lib/quantity.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

namespace aegis {

namespace {

// What a hostlist can hold: it reads back as the same single name.
bool is_list_name(const std::string& name) {
    const auto names = expand_hostlist(name);
    return names && names->size() == 1 && names->front() == name;
}

// The length of the UTF-8 sequence at the start of `text`; 0 where there is none (RFC 3629: no surrogates, nothing overlong).
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const auto continues = [&](std::size_t i, unsigned lowest = 0x80, unsigned highest = 0xbf) { return byte(i) >= lowest && byte(i) <= highest; };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) return continues(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && continues(2) ? 3 : 0;
    if (first >= 0xf0 && first <= 0xf4) return continues(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) && continues(2) && continues(3) ? 4 : 0;
    return 0;
}

// TOML is UTF-8 throughout; a switch may call itself anything.
bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

bool is_writable(const MappedPort& port) {
    return is_utf8(port.sw) && is_utf8(port.port) && is_list_name(port.port) && !port.leaves.empty() &&
           std::ranges::all_of(port.leaves, [](const std::string& leaf) { return is_utf8(leaf) && is_list_name(leaf); });
}

double whole_mbit(double rate_bps) { return std::floor(rate_bps / 1e6) * 1e6; }

// A TOML basic string; what is no UTF-8 becomes '?'.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length != 1) {
            out += length == 0 ? std::string_view("?") : text.substr(0, length);
            text.remove_prefix(std::max<std::size_t>(length, 1));
            continue;
        }
        const char c = text.front();
        text.remove_prefix(1);
        if (c == '"' || c == '\\')
            out += fmt::format("\\{}", c);
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            out += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
        else
            out += c;
    }
    return out + '"';
}

// Leaves joined by cables, each part sorted; parts in the order of their first leaf.
std::vector<std::vector<std::string>> parts_of(const FabricMap& map) {
    std::map<std::string, std::string> part; // switch or leaf -> a member of its part; small graphs, so relabelling is cheap enough
    const auto join = [&](const std::string& a, const std::string& b) {
        const std::string from = part.emplace(a, a).first->second, to = part.emplace(b, b).first->second;
        if (from == to) return;
        for (auto& [name, mark] : part)
            if (mark == from) mark = to;
    };
    for (const SwitchTrunk& trunk : map.trunks) join("switch " + trunk.a, "switch " + trunk.b);
    for (const auto& [sw, leaves] : map.leaves_of)
        for (const std::string& leaf : leaves) join("switch " + sw, "leaf " + leaf);
    std::map<std::string, std::vector<std::string>> by_mark;
    for (const TopologyLine& line : map.topology)
        if (!line.nodes.empty()) by_mark[part.emplace("leaf " + line.name, "leaf " + line.name).first->second].push_back(line.name);
    std::vector<std::vector<std::string>> parts;
    for (auto& [mark, leaves] : by_mark) parts.push_back(std::move(leaves));
    std::ranges::sort(parts, [](const auto& a, const auto& b) { return naturally_before(a.front(), b.front()); });
    return parts;
}

} // namespace

std::vector<PortGroup> port_groups(const FabricMap& map) {
    std::vector<PortGroup> groups;
    std::map<std::tuple<std::string, bool, double, std::vector<std::string>>, std::size_t> position;
    for (const MappedPort& port : map.ports) {
        if (!is_writable(port)) continue;
        const double rate = whole_mbit(port.rate_bps);
        const auto [found, fresh] = position.emplace(std::tuple{port.sw, port.trunk, rate, port.leaves}, groups.size());
        if (fresh) groups.push_back({{}, port.sw, {}, port.leaves, port.trunk, rate});
        groups[found->second].ports.push_back(port.port);
    }
    return groups;
}

std::string ports_toml(const FabricMap& map) {
    std::string text;
    for (const PortGroup& group : port_groups(map)) {
        text += fmt::format("[[ports]]\nswitch = {}\nports = {}\n", quoted(group.sw), quoted(fold_hostlist(group.ports)));
        text += fmt::format("leaf = {}\n", quoted(fold_hostlist(group.leaves)));
        if (!group.trunk) text += "kind = \"node\"\n";
        if (group.rate_bps > 0) text += fmt::format("rate = {}\n", quoted(rate_text(group.rate_bps)));
        text += '\n';
    }
    for (const MappedPort& port : unwritable(map))
        text += fmt::format("# left out, its name cannot stand in a list of ports: {} {}\n", quoted(port.sw), quoted(port.port));
    return text;
}

std::string topology_conf(const FabricMap& map) {
    std::string text;
    std::set<std::string> taken;
    for (const TopologyLine& line : map.topology) {
        taken.insert(line.name);
        text += line.nodes.empty() ? fmt::format("SwitchName={} Switches={}\n", line.name, fold_hostlist(line.switches))
                                   : fmt::format("SwitchName={} Nodes={}\n", line.name, fold_hostlist(line.nodes));
    }
    if (map.topology_is_slurms || map.trunks.empty()) return text;
    unsigned number = 0;
    for (const std::vector<std::string>& leaves : parts_of(map)) {
        if (leaves.size() < 2) continue;
        std::string name;
        do name = fmt::format("top{}", ++number);
        while (taken.contains(name));
        text += fmt::format("SwitchName={} Switches={}\n", name, fold_hostlist(leaves));
    }
    return text;
}

Findings unwritable_findings(const FabricMap& map) {
    Findings findings;
    for (const MappedPort& port : unwritable(map))
        findings.push_back({Severity::warning, FindingKind::unmapped_port, port.place, fmt::format("{}/{}", port.sw, port.port),
                            "its name, or that of its leaf, has a blank, comma, bracket or byte that a port table cannot hold",
                            "its counters are read and count for no leaf: rename it with a rule"});
    return findings;
}

std::vector<MappedPort> unwritable(const FabricMap& map) {
    std::vector<MappedPort> ports;
    for (const MappedPort& port : map.ports)
        if (!is_writable(port)) ports.push_back(port);
    return ports;
}

} // namespace aegis
