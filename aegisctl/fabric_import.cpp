// aegisctl fabric import: a port table from what discovery tools and Slurm say.
//
// Inputs without cables give no port table: then it is the topology alone that is asked for, or nothing.
// Nothing is written unless all inputs could be read, they contradict each other nowhere (or --force was given), and what would be
// written reads back to the same fabric. Files are replaced as a whole; one that is no port table is never replaced.
#include "aegisctl/fabric_inputs.h"
#include "aegisctl/words.h"
#include "aegisd/text_file.h"
#include "lib/config.h"
#include "lib/fabric_check.h"
#include "lib/fabric_text.h"
#include "lib/port_changes.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>

namespace aegis {

namespace json = boost::json;

namespace {

// What stands in a file now; nothing where there is none yet.
template <class Table> struct Standing {
    std::optional<std::string> text;
    Table table;
};

// The error is a line for the operator: what is there is left alone.
template <class Table, class Parse>
std::expected<Standing<Table>, std::string> standing_at(const std::string& file, std::string_view what, Parse parse) {
    std::error_code failure;
    if (!std::filesystem::exists(file, failure) && !failure) return {};
    auto text = read_text_file(file);
    if (!text) return std::unexpected(text.error());
    auto table = parse(*text, file);
    if (!table) return std::unexpected(fmt::format("{}: left as it is, because it is no {} ({}); remove it or choose another file", file, what, to_string(table.error().front())));
    return Standing<Table>{std::move(*text), std::move(*table)};
}

std::string header(const FabricReading& reading) {
    std::string text = "# Which switch port belongs to which leaf: aegis-fabric.toml(5), named by fabric.ports of aegisd.toml(5).\n"
                       "# Written by aegisctl fabric import; what is changed here by hand is lost at the next import. Read from:\n";
    for (const auto& input : reading.inputs) text += fmt::format("#   {} ({})\n", printable(input.file), input.format);
    return text + "\n";
}

// Empty where `text` reads back to what the map says; else what went wrong, which would be our mistake.
std::string cannot_be_read_back(const std::string& file, const std::string& text, const FabricMap& map) {
    const auto table = parse_port_table(text, file);
    if (!table) return to_string(table.error().front());
    if (!port_changes(port_groups(map), *table).empty()) return file + ": expected the same ports as the map has";
    const auto fabric = Fabric::build(map.topology, *table);
    return fabric ? "" : to_string(fabric.error().front());
}

std::string changes_text(const PortChanges& changes) {
    std::string text;
    for (const auto& change : changes.added) text += fmt::format("  + {}: {}\n", printable(change.port), change.to);
    for (const auto& change : changes.removed) text += fmt::format("  - {}: {}\n", printable(change.port), change.from);
    for (const auto& change : changes.changed) text += fmt::format("  ~ {}: {}, was {}\n", printable(change.port), change.to, change.from);
    return text;
}

json::array changes_json(const std::vector<PortChanges::Change>& changes) {
    json::array rows;
    for (const auto& change : changes)
        rows.push_back(json::object{{"port", change.port},
                                    {"from", change.from.empty() ? json::value(nullptr) : json::value(change.from)},
                                    {"to", change.to.empty() ? json::value(nullptr) : json::value(change.to)}});
    return rows;
}

class Import {
public:
    Import(const FabricImportArguments& arguments, bool json) : arguments_(arguments), json_(json) {}

    int run() {
        auto reading = read_fabric(arguments_.map);
        if (!reading) return fail(std::move(reading.error()));
        document_ = reading_json(*reading);
        Findings findings = check_fabric({reading->discovery, reading->map, {}, {}});
        std::ranges::move(unwritable_findings(reading->map), std::back_inserter(findings));
        gravest_first(findings);
        document_["findings"] = findings_json(findings);
        if (!json_) fmt::print("{}", reading_text(*reading));
        tell(findings);
        if (const std::size_t errors = count_of(findings, Severity::error); errors > 0 && !arguments_.force)
            return fail({fmt::format("{} contradictions in the inputs: resolve them, or let --force take the first of each", errors)});
        if (arguments_.topology_output && std::ranges::none_of(reading->discovery.links, &DiscoveredLink::is_cable)) {
            if (const auto written = write_topology(reading->map); !written) return fail({written.error()});
            return finish();
        }
        if (reading->map.ports.empty() && !arguments_.force)
            return fail({"no port of the inputs could be mapped to a leaf; \"aegisctl fabric check\" with the same inputs says why"});

        const auto before = standing_at<std::vector<PortGroup>>(arguments_.output, "port table", parse_port_table);
        if (!before) return fail({before.error()});
        const std::string text = header(*reading) + ports_toml(reading->map);
        if (const std::string error = cannot_be_read_back(arguments_.output, text, reading->map); !error.empty()) return fail({error});
        tell(port_changes(before->table, port_groups(reading->map)), before->text.has_value());
        if (const auto written = write_topology(reading->map); !written) return fail({written.error()});
        if (const auto written = write(arguments_.output, text, before->text); !written) return fail({written.error()});
        return finish();
    }

private:
    int fail(std::vector<std::string> errors) {
        errors.push_back(fmt::format("nothing written to {}", arguments_.output));
        if (json_) {
            document_["ok"] = false;
            json::array rows;
            for (const std::string& line : errors) rows.push_back(json::string(line));
            document_["errors"] = std::move(rows);
            print_document(document_);
        } else {
            for (const std::string& line : errors) fmt::print(stderr, "aegisctl: {}\n", line);
        }
        return static_cast<int>(Exit::failed);
    }

    // Errors in full, the rest in numbers: fabric check is the place to read it.
    void tell(const Findings& findings) const {
        if (json_) return;
        Findings errors;
        for (const Finding& finding : findings)
            if (finding.severity == Severity::error) errors.push_back(finding);
        fmt::print(stderr, "{}", findings_text(errors));
        const std::size_t warnings = count_of(findings, Severity::warning);
        if (warnings > 0) fmt::print("{} warnings; \"aegisctl fabric check\" with the same inputs tells them\n", warnings);
    }

    void tell(const PortChanges& changes, bool was_there) {
        document_["added"] = changes_json(changes.added);
        document_["removed"] = changes_json(changes.removed);
        document_["changed"] = changes_json(changes.changed);
        if (json_) return;
        fmt::print("{}: {} ports added, {} removed, {} changed\n", arguments_.output, changes.added.size(), changes.removed.size(), changes.changed.size());
        if (was_there) fmt::print("{}", changes_text(changes));
    }

    std::expected<void, std::string> write(const std::string& file, const std::string& text, const std::optional<std::string>& before) {
        if (before == text || arguments_.dry_run) return {};
        any_written_ = true;
        return replace_text_file(file, text);
    }

    std::expected<void, std::string> write_topology(const FabricMap& map) {
        if (!arguments_.topology_output) return {};
        const std::string& file = *arguments_.topology_output;
        const auto before = standing_at<std::vector<TopologyLine>>(file, "topology.conf", parse_topology);
        if (!before) return std::unexpected(before.error());
        const std::string text = topology_conf(map);
        if (const auto topology = parse_topology(text, file); !topology) return std::unexpected(to_string(topology.error().front()));
        return write(file, text, before->text);
    }

    int finish() {
        document_["ok"] = true;
        document_["output"] = arguments_.output;
        document_["written"] = any_written_;
        if (json_)
            print_document(document_);
        else if (any_written_)
            fmt::print("written; \"aegisctl config check\" tells whether it fits aegisd.toml, a reload of aegisd puts it in force\n");
        else
            fmt::print("{}\n", arguments_.dry_run ? "dry run: nothing written" : "as it was: nothing written");
        return static_cast<int>(Exit::ok);
    }

    const FabricImportArguments& arguments_;
    bool json_;
    bool any_written_ = false;
    json::object document_;
};

} // namespace

int run_fabric_import(const FabricImportArguments& arguments, bool json) { return Import(arguments, json).run(); }

} // namespace aegis
