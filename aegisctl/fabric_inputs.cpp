#include "aegisctl/fabric_inputs.h"

#include "aegisctl/words.h"
#include "aegisd/text_file.h"
#include "lib/fabric_input.h"
#include "lib/ibnetdiscover.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>

namespace aegis {

namespace json = boost::json;

namespace {

using Lines = std::vector<std::string>;

// Of informational findings of one kind no more than this many are shown.
constexpr std::size_t shown_of_a_kind = 3;

void add_errors(Lines& lines, const ConfigErrors& errors) {
    for (const ConfigError& error : errors) lines.push_back(to_string(error));
}

// "n07=n07.json" was taken on node n07, "switch:leaf1=leaf1.json" on switch leaf1. A file whose own name has a '=' is written
// with a slash: "./a=b.json".
FabricInput named_input(std::string_view written) {
    FabricInput input;
    const std::size_t equals = written.find('=');
    if (equals != written.npos && equals > 0 && written.substr(0, equals).find('/') == written.npos) {
        std::string_view name = written.substr(0, equals);
        input.origin.is_switch = name.starts_with("switch:");
        if (input.origin.is_switch) name.remove_prefix(std::string_view("switch:").size());
        input.origin.name = name;
        written.remove_prefix(equals + 1);
    }
    input.file = written;
    return input;
}

SwitchNaming naming_of(std::string_view word) {
    if (word == "short") return SwitchNaming::short_name;
    if (word == "guid") return SwitchNaming::guid;
    return SwitchNaming::as_discovered;
}

// Reads a file that is optional; `parse` gives the value or errors.
template <class Value, class Parse> Value read_optional(const std::optional<std::string>& file, Lines& errors, Parse parse) {
    if (!file) return {};
    const auto text = read_text_file(*file);
    if (!text) {
        errors.push_back(text.error());
        return {};
    }
    auto value = parse(*text, *file);
    if (value) return std::move(*value);
    add_errors(errors, value.error());
    return {};
}

bool is_plugged(const DiscoveredLink& link) { return link.is_cable() && link.peer_kind != PeerKind::none; }

std::string capital(std::string_view word) {
    std::string text(word);
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

} // namespace

std::expected<FabricReading, std::vector<std::string>> read_fabric(const FabricArguments& arguments) {
    Lines errors;
    FabricReading reading;
    std::vector<Discovery> discoveries;
    for (const std::string& written : arguments.inputs) {
        FabricInput input = named_input(written);
        auto text = read_text_file(input.file);
        if (!text) {
            errors.push_back(text.error());
            continue;
        }
        input.text = std::move(*text);
        if (input.file == "-") input.file = "standard input";
        input.topology = arguments.topology;
        auto found = read_fabric_input(input);
        if (!found) {
            add_errors(errors, found.error());
            continue;
        }
        const auto format = format_of(input.text);
        reading.inputs.push_back({input.file, format ? to_string(*format) : std::string_view(), found->switches.size(), found->nodes.size(),
                                  static_cast<std::size_t>(std::ranges::count_if(found->links, is_plugged))});
        discoveries.push_back(std::move(*found));
    }
    auto rules = read_optional<std::vector<NamingRule>>(arguments.rules, errors, parse_fabric_rules);
    const auto names = read_optional<std::vector<GuidName>>(arguments.guid_names, errors, parse_node_name_map);
    auto compiled = FabricRules::compile(std::move(rules));
    if (!compiled) add_errors(errors, compiled.error());
    if (!errors.empty()) return std::unexpected(std::move(errors));

    reading.discovery = merge(std::move(discoveries));
    name_hosts(reading.discovery, names);
    reading.map = map_fabric(reading.discovery, *compiled, naming_of(arguments.switch_names));
    return reading;
}

std::string reading_text(const FabricReading& reading) {
    std::string text;
    for (const auto& input : reading.inputs)
        text += fmt::format("{}: {}: {} switches, {} nodes, {} cables\n", printable(input.file), input.format, input.switches, input.nodes, input.cables);
    const FabricMap& map = reading.map;
    const auto leaves = std::ranges::count_if(map.topology, [](const TopologyLine& line) { return !line.nodes.empty(); });
    const auto trunks = std::ranges::count(map.ports, true, &MappedPort::trunk);
    text += fmt::format("map: {} leaves; {} ports, {} of them trunks", leaves, map.ports.size(), trunks);
    if (map.ports_above_leaves > 0) text += fmt::format("; {} ports between switches above the leaves left out", map.ports_above_leaves);
    return text + "\n";
}

json::object reading_json(const FabricReading& reading) {
    json::array inputs;
    for (const auto& input : reading.inputs)
        inputs.push_back(json::object{{"file", input.file}, {"format", input.format}, {"switches", input.switches}, {"nodes", input.nodes}, {"cables", input.cables}});
    const FabricMap& map = reading.map;
    return {{"inputs", std::move(inputs)},
            {"leaves", std::ranges::count_if(map.topology, [](const TopologyLine& line) { return !line.nodes.empty(); })},
            {"ports", map.ports.size()},
            {"trunks", std::ranges::count(map.ports, true, &MappedPort::trunk)},
            {"ports_above_leaves", map.ports_above_leaves}};
}

json::array findings_json(const Findings& findings) {
    json::array rows;
    for (const Finding& finding : findings)
        rows.push_back(json::object{{"severity", to_string(finding.severity)},
                                    {"kind", to_string(finding.kind)},
                                    {"file", finding.place.file.empty() ? json::value(nullptr) : json::value(finding.place.file)},
                                    {"line", finding.place.line > 0 ? json::value(finding.place.line) : json::value(nullptr)},
                                    {"subject", finding.subject},
                                    {"fact", finding.fact},
                                    {"meaning", finding.meaning}});
    return rows;
}

std::string findings_text(const Findings& findings) {
    std::map<FindingKind, std::size_t> seen;
    std::string text, meaning;
    const auto tell_meaning = [&] {
        if (!meaning.empty()) text += fmt::format("    {}\n", printable(capital(meaning)));
    };
    for (const Finding& finding : findings) {
        const std::size_t number = finding.severity == Severity::info ? ++seen[finding.kind] : 0;
        if (number > shown_of_a_kind) continue;
        if (finding.meaning != meaning) tell_meaning();
        meaning = finding.meaning;
        Finding shown = finding;
        shown.meaning.clear();
        text += printable(to_string(shown)) + "\n";
    }
    tell_meaning();
    for (const auto& [kind, count] : seen)
        if (count > shown_of_a_kind) text += fmt::format("info: {} more findings of kind {}; --json tells all\n", count - shown_of_a_kind, to_string(kind));
    return text;
}

std::size_t count_of(const Findings& findings, Severity severity) { return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity)); }

} // namespace aegis
