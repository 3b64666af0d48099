#include "lib/fabric_input.h"

#include "lib/ibnetdiscover.h"
#include "lib/netq_json.h"
#include "lib/slurm_topology.h"
#include "lib/text_lines.h"
#include "lib/topology_yaml.h"

namespace aegis {

namespace {

bool same_start(std::string_view line, std::string_view word) {
    if (line.size() < word.size()) return false;
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::ranges::equal(line.substr(0, word.size()), word, {}, lower, lower);
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

std::optional<FabricFormat> format_of_line(std::string_view line) {
    if (same_start(line, "SwitchName") || same_start(line, "BlockName") || same_start(line, "BlockSizes") || same_start(line, "AggregatedBlock"))
        return contains(line, " Level=") || contains(line, " BlockIndex=") ? FabricFormat::scontrol_topology : FabricFormat::topology_conf;
    if (line.starts_with("- topology:") || line.starts_with("topology:")) return FabricFormat::topology_yaml;
    for (std::string_view word : {"vendid=", "switchguid=", "Switch\t", "Switch ", "Ca\t", "Ca ", "DR path"})
        if (line.starts_with(word)) return FabricFormat::ibnetdiscover;
    for (std::string_view word : {"CA ", "SW ", "RT "})
        if (line.starts_with(word) && contains(line, " 0x")) return FabricFormat::ibnetdiscover_ports;
    return std::nullopt;
}

} // namespace

std::optional<FabricFormat> format_of(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == text.npos) return std::nullopt;
    if (text[first] == '{') return FabricFormat::lldp_json;
    if (text[first] == '[' && contains(text, "\"compounded_links\"")) return FabricFormat::netq_graph;
    if (text[first] == '[' && contains(text, "\"links\"") && contains(text, "\"nodes\"")) return FabricFormat::netq_graph;
    TextLines lines(text);
    std::string_view line;
    bool commented_out = false;
    while (lines.next(line)) {
        line = without_blanks(line);
        if (line.starts_with("#")) {
            const std::string_view inside = line.substr(std::min(line.find_first_not_of("# \t"), line.size()));
            commented_out |= same_start(inside, "SwitchName") || same_start(inside, "BlockName");
            continue;
        }
        if (const auto format = format_of_line(line)) return format;
    }
    if (commented_out) return FabricFormat::topology_conf; // its parser says what is wrong with it
    return std::nullopt;
}

std::expected<Discovery, ConfigErrors> read_fabric_input(const FabricInput& input) {
    const auto format = format_of(input.text);
    if (!format)
        return std::unexpected(ConfigErrors{{{input.file, 0}, "", "",
                                             "topology.conf, topology.yaml, the output of scontrol show topology, lldpcli -f json0, ibnetdiscover "
                                             "(with or without -p), or NetQ's topology graph"}});
    switch (*format) {
    case FabricFormat::topology_conf: return parse_topology_conf(input.text, input.file);
    case FabricFormat::topology_yaml: return parse_topology_yaml(input.text, input.file, input.topology);
    case FabricFormat::scontrol_topology: return parse_scontrol_topology(input.text, input.file);
    case FabricFormat::lldp_json: return parse_lldp_json(input.text, input.file, input.origin);
    case FabricFormat::netq_graph: return parse_netq_graph(input.text, input.file);
    case FabricFormat::ibnetdiscover: return parse_ibnetdiscover(input.text, input.file);
    case FabricFormat::ibnetdiscover_ports: return parse_ibnetdiscover_ports(input.text, input.file);
    }
    return std::unexpected(ConfigErrors{});
}

std::string_view to_string(FabricFormat format) {
    switch (format) {
    case FabricFormat::topology_conf: return "topology.conf";
    case FabricFormat::topology_yaml: return "topology.yaml";
    case FabricFormat::scontrol_topology: return "scontrol show topology";
    case FabricFormat::lldp_json: return "lldpcli";
    case FabricFormat::netq_graph: return "NetQ graph";
    case FabricFormat::ibnetdiscover: return "ibnetdiscover";
    case FabricFormat::ibnetdiscover_ports: return "ibnetdiscover -p";
    }
    return {};
}

} // namespace aegis
