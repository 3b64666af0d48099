// The subcommands: one file each. What is asked is plain; the text functions are pure, so that tests feed them documents.
//
// A text function takes the "result" of aegisd's answer (protocol: aegisctl(1), PROTOCOL) and gives what is printed.
#pragma once

#include "aegisctl/client.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace aegis {

// What the command line asked for, beside the subcommand's own arguments.
struct Asking {
    std::string socket;
    std::chrono::milliseconds timeout{5000};
    bool json = false;
};

struct DecisionsArguments {
    std::optional<std::string> job, user, policy;
    std::optional<std::string> since; // "10m" ago, or a local time
    std::uint32_t limit = 20;
};

struct ExplainArguments {
    std::optional<std::string> job;
    std::optional<std::uint64_t> decision;
};

struct ModeArguments {
    std::optional<std::string> mode; // none: print it
    std::string reason;
    bool dry_run = false;
};

// The inputs of a fabric map, as written, and how to read them.
struct FabricArguments {
    std::vector<std::string> inputs;       // FILE, NODE=FILE or switch:NAME=FILE; "-" is standard input
    std::optional<std::string> rules;      // file of naming rules
    std::optional<std::string> guid_names; // file of adapters' GUIDs and the nodes they are in
    std::optional<std::string> topology;   // which topology of a topology.yaml
    std::string switch_names = "discovered";
};

struct FabricImportArguments {
    FabricArguments map;
    std::string output;                         // the port table
    std::optional<std::string> topology_output; // a topology.conf for aegisd
    bool dry_run = false, force = false;
};

struct FabricCheckArguments {
    FabricArguments map;               // no inputs: the files that aegisd reads
    std::optional<std::string> config; // with inputs: compare with what this aegisd.toml uses
    std::string default_config;        // without inputs and without config
    bool live = false;                 // ask aegisd too
    bool strict = false;               // warnings fail too
};

struct FabricTopArguments {
    bool once = false;
    std::uint32_t interval_s = 1;
    std::optional<std::uint32_t> limit; // none: what the terminal has room for
};

struct FabricHistoryArguments {
    std::string link;
    std::optional<std::string> since; // as in DecisionsArguments
    std::optional<std::string> step;  // a duration
};

int run_status(const Asking& asking);
int run_explain(const Asking& asking, const ExplainArguments& arguments);
int run_decisions(const Asking& asking, const DecisionsArguments& arguments);
int run_mode(const Asking& asking, const ModeArguments& arguments);
int run_fabric_show(const Asking& asking, bool links);
int run_fabric_import(const FabricImportArguments& arguments, bool json);
int run_fabric_check(const Asking& asking, const FabricCheckArguments& arguments);
int run_fabric_top(const Asking& asking, const FabricTopArguments& arguments);
int run_fabric_history(const Asking& asking, const FabricHistoryArguments& arguments);
int run_fabric_presets(const std::optional<std::string>& name, bool json);
int run_policy_list(const Asking& asking);
int run_config_check(const std::string& file, bool json);
int run_config_show(const Asking& asking);

std::string status_text(const boost::json::value& status, std::int64_t now_us);
std::string explain_text(const boost::json::value& decision);
std::string decisions_text(const boost::json::value& result);
std::string mode_text(const boost::json::value& result, bool dry_run);
std::string fabric_text(const boost::json::value& fabric, bool links);
std::string fabric_top_text(const boost::json::value& top, bool utf8);
std::string history_text(const boost::json::value& history);
std::string spark_text(const boost::json::array& shares, bool utf8); // one character a value from 0 to 1, a blank where it is missing
boost::json::object presets_document(const std::optional<std::string>& name); // of this preset, or of all
std::string presets_text(const boost::json::value& document, bool with_notes);
std::string policies_text(const boost::json::value& result);
std::string config_text(const boost::json::value& result);

// "10m": so long before now; "2026-12-01", "2026-12-01T05:10", "2026-12-01T05:10:33": local time. Microseconds since the epoch.
std::optional<std::int64_t> since_us(const std::string& text, std::int64_t now_us);

std::int64_t wall_clock_us();
int report(const Failure& failure); // to standard error; returns the exit status
void print_document(const boost::json::value& document);

// Asks; prints the document with --json, else its text; an error goes to standard error. Returns the exit status.
int ask_and_print(const Asking& asking, const boost::json::object& request, auto&& text_of) {
    const auto result = Client(asking.socket, asking.timeout).ask(request);
    if (!result) return report(result.error());
    if (asking.json)
        print_document(*result);
    else
        std::fputs(std::string(text_of(*result)).c_str(), stdout);
    return static_cast<int>(Exit::ok);
}

} // namespace aegis
