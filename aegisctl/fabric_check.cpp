// aegisctl fabric check: what is missing or contradictory in the map from ports to nodes, and what that means for placement.
#include "aegisctl/fabric_inputs.h"
#include "aegisctl/words.h"
#include "aegisd/site.h"
#include "lib/fabric_check.h"
#include "lib/fabric_text.h"
#include "lib/hostlist.h"
#include "lib/port_table_check.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace aegis {

namespace json = boost::json;

namespace {

void append(Findings& findings, Findings more) { std::ranges::move(more, std::back_inserter(findings)); }

struct Live {
    LiveFabric fabric;
    std::vector<std::string> nodes; // all that Slurm has
};

// What aegisd says of the fabric it runs with. `switches` tells where a switch's name ends and its port's begins.
Live live_of(const json::value& fabric, const std::set<std::string>& switches) {
    Live live;
    for (const json::value& leaf : list_at(fabric, "leaves")) {
        if (const auto nodes = expand_hostlist(text_at(leaf, "nodes"))) std::ranges::copy(*nodes, std::back_inserter(live.nodes));
        for (const json::value& link : list_at(leaf, "links"))
            (flag_at(link, "known") ? live.fabric.measured_ports : live.fabric.unmeasured_ports).push_back(split_port(text_at(link, "link"), switches));
    }
    if (const auto nodes = expand_hostlist(text_at(fabric, "unmapped_nodes"))) live.fabric.nodes_on_no_leaf = *nodes;
    std::ranges::copy(live.fabric.nodes_on_no_leaf, std::back_inserter(live.nodes));
    for (const json::value& port : list_at(fabric, "unmapped_ports"))
        if (port.is_string()) live.fabric.unmapped_ports.push_back(split_port(std::string_view(port.as_string()), switches));
    for (auto* ports : {&live.fabric.measured_ports, &live.fabric.unmeasured_ports}) { // a trunk of two leaves is told with each
        std::ranges::sort(*ports);
        ports->erase(std::ranges::unique(*ports).begin(), ports->end());
    }
    return live;
}

class Check {
public:
    Check(const Asking& asking, const FabricCheckArguments& arguments) : asking_(asking), arguments_(arguments) {}

    int run() {
        const bool from_inputs = !arguments_.map.inputs.empty();
        std::optional<FabricReading> reading;
        if (from_inputs) {
            auto read = read_fabric(arguments_.map);
            if (!read) return fail(read.error());
            reading = std::move(*read);
        }
        std::optional<SiteFiles> files;
        if (!from_inputs || arguments_.config) {
            auto read = read_site_files(config_file());
            if (!read) return fail(read.error());
            files = std::move(*read);
            if (auto fabric = Fabric::build(files->topology, files->ports); !fabric) {
                std::vector<std::string> errors;
                for (const ConfigError& error : fabric.error()) errors.push_back(to_string(error));
                return fail(errors);
            }
        }
        std::optional<Live> live;
        if (arguments_.live) {
            const auto answer = Client(asking_.socket, asking_.timeout).ask({{"command", "fabric"}});
            if (!answer) return report(answer.error());
            live = live_of(*answer, known_switches(reading, files));
        }
        check(reading, files, live);
        return print(reading, files);
    }

private:
    const std::string& config_file() const { return arguments_.config ? *arguments_.config : arguments_.default_config; }

    static std::set<std::string> known_switches(const std::optional<FabricReading>& reading, const std::optional<SiteFiles>& files) {
        std::set<std::string> switches;
        if (reading)
            for (const auto& [discovered, name] : reading->map.telemetry_name) switches.insert(name);
        if (files)
            for (const PortGroup& group : files->ports) switches.insert(group.sw);
        return switches;
    }

    void check(const std::optional<FabricReading>& reading, const std::optional<SiteFiles>& files, const std::optional<Live>& live) {
        if (reading) {
            std::vector<SwitchPort> delivered;
            if (live) {
                std::ranges::copy(live->fabric.measured_ports, std::back_inserter(delivered));
                std::ranges::copy(live->fabric.unmapped_ports, std::back_inserter(delivered));
            }
            findings_ = check_fabric({reading->discovery, reading->map, live ? live->nodes : std::vector<std::string>{}, std::move(delivered)});
            append(findings_, unwritable_findings(reading->map));
            if (files) append(findings_, compare_tables(files->ports, port_groups(reading->map)));
        } else {
            findings_ = check_port_table(files->topology, files->config.fabric.topology, files->ports);
            if (live) append(findings_, check_live(live->fabric));
        }
        gravest_first(findings_);
    }

    int fail(const std::vector<std::string>& errors) const {
        if (asking_.json) {
            json::array rows;
            for (const std::string& line : errors) rows.push_back(json::string(line));
            print_document(json::object{{"ok", false}, {"errors", std::move(rows)}});
        } else {
            for (const std::string& line : errors) fmt::print(stderr, "aegisctl: {}\n", line);
        }
        return static_cast<int>(Exit::failed);
    }

    int print(const std::optional<FabricReading>& reading, const std::optional<SiteFiles>& files) const {
        const std::size_t errors = count_of(findings_, Severity::error), warnings = count_of(findings_, Severity::warning);
        const bool good = errors == 0 && (warnings == 0 || !arguments_.strict);
        if (asking_.json) {
            json::object document = reading ? reading_json(*reading) : json::object{{"file", config_file()}};
            document["ok"] = good;
            document["errors"] = json::array();
            document["findings"] = findings_json(findings_);
            print_document(document);
        } else {
            if (reading)
                fmt::print("{}", reading_text(*reading));
            else
                fmt::print("{}: {} leaves, {} ports\n", config_file(), std::ranges::count_if(files->topology, [](const TopologyLine& line) { return !line.nodes.empty(); }),
                           port_count(files->ports));
            fmt::print("{}{} errors, {} warnings, {} to know\n", findings_text(findings_), errors, warnings, findings_.size() - errors - warnings);
        }
        return static_cast<int>(good ? Exit::ok : Exit::failed);
    }

    static std::size_t port_count(const std::vector<PortGroup>& groups) {
        std::size_t count = 0;
        for (const PortGroup& group : groups) count += group.ports.size();
        return count;
    }

    const Asking& asking_;
    const FabricCheckArguments& arguments_;
    Findings findings_;
};

} // namespace

int run_fabric_check(const Asking& asking, const FabricCheckArguments& arguments) { return Check(asking, arguments).run(); }

} // namespace aegis
