#include "aegisctl/options.h"

#include "aegisctl/commands.h"

#include <CLI/CLI.hpp>

namespace aegis {

namespace {

// Everything the command line may set; the parsed subcommand says which part counts.
struct Arguments {
    Asking asking{.socket = AEGIS_RUNDIR "/control.socket"};
    ExplainArguments explain;
    DecisionsArguments decisions;
    ModeArguments mode;
    bool links = false;
    std::optional<std::string> preset;
    FabricTopArguments top;
    FabricHistoryArguments history;
    FabricArguments map; // of import and of check
    FabricImportArguments import{.map = {}, .output = AEGIS_SYSCONFDIR "/fabric.toml", .topology_output = {}};
    FabricCheckArguments check{.map = {}, .config = {}, .default_config = AEGIS_SYSCONFDIR "/aegisd.toml"};
    std::string file = AEGIS_SYSCONFDIR "/aegisd.toml";
};

struct CommandLine {
    CLI::App app{"Ask aegisd, the congestion-aware placement advisor of Slurm, and tell it what to do.", "aegisctl"};
    Arguments arguments;
    int exit = 0;

    CommandLine();

    void adds_fabric_inputs(CLI::App* command);
    void reads(CLI::App* command) { command->add_flag("--json", arguments.asking.json, "print the answer as JSON"); }
};

void CommandLine::adds_fabric_inputs(CLI::App* command) {
    FabricArguments& map = arguments.map;
    command->add_option("--rules", map.rules, "file of naming rules: what cables, telemetry and Slurm call a thing");
    command->add_option("--guid-names", map.guid_names, "file of lines '0xGUID \"node\"' for adapters that do not say whose they are");
    command->add_option("--topology", map.topology, "which topology of a topology.yaml that has several");
    command->add_option("--switch-names", map.switch_names, "what telemetry calls a switch: the whole description, its short form, or its GUID")
        ->check(CLI::IsMember({"discovered", "short", "guid"}))
        ->capture_default_str();
}

CommandLine::CommandLine() {
    Arguments& a = arguments;
    app.require_subcommand(1);
    app.fallthrough();
    app.set_version_flag("-V,--version", "aegisctl " AEGIS_VERSION);
    app.add_option("--socket", a.asking.socket, "aegisd's control socket")->envname("AEGISCTL_SOCKET")->capture_default_str();
    app.add_option_function<unsigned>("--timeout", [&a](unsigned seconds) { a.asking.timeout = std::chrono::seconds(seconds); },
                                      "how many seconds to wait for an answer")
        ->check(CLI::Range(1u, 3600u))
        ->default_str(std::to_string(std::chrono::duration_cast<std::chrono::seconds>(a.asking.timeout).count()));
    app.footer("Exit status: 0 done, 1 failed, 2 usage, 3 aegisd cannot be reached, 4 refused. See aegisctl(1).");

    CLI::App* status = app.add_subcommand("status", "is all well, and if not, where");
    reads(status);
    status->callback([this] { exit = run_status(arguments.asking); });

    CLI::App* explain = app.add_subcommand("explain", "why a job was placed where it was");
    reads(explain);
    auto* job = explain->add_option("JOB", a.explain.job, "job id or key (100_3, 9+1); its latest decision");
    explain->add_option("--decision", a.explain.decision, "this very decision")->check(CLI::PositiveNumber)->excludes(job);
    explain->callback([this] {
        if (!arguments.explain.job && !arguments.explain.decision) throw CLI::RequiredError("explain: JOB or --decision");
        exit = run_explain(arguments.asking, arguments.explain);
    });

    CLI::App* decisions = app.add_subcommand("decisions", "what was decided lately, newest first");
    reads(decisions);
    decisions->add_option("--job", a.decisions.job, "of this job, or of all tasks of this array");
    decisions->add_option("--user", a.decisions.user, "of jobs of this user");
    decisions->add_option("--policy", a.decisions.policy, "by this policy");
    decisions->add_option("--since", a.decisions.since, "not before: a duration ago (10m), or a local time (2026-12-01T05:10)");
    decisions->add_option("--limit", a.decisions.limit, "at most so many")->check(CLI::Range(1u, 10'000u))->capture_default_str();
    decisions->callback([this] { exit = run_decisions(arguments.asking, arguments.decisions); });

    CLI::App* mode = app.add_subcommand("mode", "print the mode, or set it");
    reads(mode);
    auto* wanted = mode->add_option("MODE", a.mode.mode, "off: do not ask; observe: record only; steer: advise Slurm")
                       ->check(CLI::IsMember({"off", "observe", "steer"}));
    mode->add_option("--reason", a.mode.reason, "why, for the record")->needs(wanted);
    mode->add_flag("--dry-run", a.mode.dry_run, "only say what would change")->needs(wanted);
    mode->callback([this] { exit = run_mode(arguments.asking, arguments.mode); });

    CLI::App* fabric = app.add_subcommand("fabric", "the fabric: leaves, links, and the map between them")->require_subcommand(1);
    CLI::App* fabric_show = fabric->add_subcommand("show", "leaves with their pressure, and what is not mapped");
    reads(fabric_show);
    fabric_show->add_flag("--links", a.links, "every link instead of every leaf");
    fabric_show->callback([this] { exit = run_fabric_show(arguments.asking, arguments.links); });

    CLI::App* fabric_top = fabric->add_subcommand("top", "the most pressed links first, again and again on a terminal");
    reads(fabric_top);
    fabric_top->add_flag("--once", a.top.once, "print them once, on a terminal too");
    fabric_top->add_option("--interval", a.top.interval_s, "seconds between two looks")->check(CLI::Range(1u, 3600u))->capture_default_str();
    fabric_top->add_option("--limit", a.top.limit, "at most so many links; default: what the terminal has room for")->check(CLI::Range(1u, 10'000u));
    fabric_top->callback([this] { exit = run_fabric_top(arguments.asking, arguments.top); });

    CLI::App* fabric_history = fabric->add_subcommand("history", "what a link did");
    fabric_history->add_option("LINK", a.history.link, "SWITCH/PORT, as fabric top names it")->required();
    reads(fabric_history);
    fabric_history->add_option("--since", a.history.since, "from then on: a duration ago (2h; default 10m), or a local time (2026-12-01T05:10)");
    fabric_history->add_option("--step", a.history.step, "a line for each such duration (10s, 5m); default: some 60 lines");
    fabric_history->callback([this] { exit = run_fabric_history(arguments.asking, arguments.history); });

    CLI::App* fabric_import = fabric->add_subcommand("import", "make the port table from what Slurm and discovery tools say; aegisd need not run");
    fabric_import->add_option("INPUT", a.map.inputs, "FILE; NODE=FILE or switch:NAME=FILE says where LLDP was heard; - is standard input")->required();
    adds_fabric_inputs(fabric_import);
    fabric_import->add_option("--output", a.import.output, "the port table to write")->capture_default_str();
    fabric_import->add_option("--topology-output", a.import.topology_output, "write a topology.conf for aegisd, too");
    fabric_import->add_flag("--dry-run", a.import.dry_run, "only say what would change");
    fabric_import->add_flag("--force", a.import.force, "write in spite of contradictions: the first of two stands");
    reads(fabric_import);
    fabric_import->callback([this] {
        arguments.import.map = arguments.map;
        exit = run_fabric_import(arguments.import, arguments.asking.json);
    });

    CLI::App* fabric_check = fabric->add_subcommand("check", "say what the map lacks or contradicts, and what it means for placement");
    fabric_check->add_option("INPUT", a.map.inputs, "as for import; none: check the files that aegisd reads");
    adds_fabric_inputs(fabric_check);
    fabric_check->add_option("--config", a.check.config, "this aegisd.toml; with inputs: compare its port table with them");
    fabric_check->add_flag("--live", a.check.live, "ask aegisd which nodes and ports it misses");
    fabric_check->add_flag("--strict", a.check.strict, "exit with 1 on warnings, too");
    reads(fabric_check);
    fabric_check->callback([this] {
        arguments.check.map = arguments.map;
        exit = run_fabric_check(arguments.asking, arguments.check);
    });

    CLI::App* fabric_presets = fabric->add_subcommand("presets", "what exporters call our signals; aegisd need not run");
    fabric_presets->add_option("PRESET", a.preset, "only this one, and what to know of it");
    reads(fabric_presets);
    fabric_presets->callback([this] { exit = run_fabric_presets(arguments.preset, arguments.asking.json); });

    CLI::App* policy = app.add_subcommand("policy", "scoring policies")->require_subcommand(1);
    CLI::App* policy_list = policy->add_subcommand("list", "the policies aegisd knows, and which is in force");
    reads(policy_list);
    policy_list->callback([this] { exit = run_policy_list(arguments.asking); });

    CLI::App* config = app.add_subcommand("config", "the configuration")->require_subcommand(1);
    CLI::App* config_check = config->add_subcommand("check", "say all that is wrong with a file; aegisd need not run");
    reads(config_check);
    config_check->add_option("FILE", a.file, "the file to check")->capture_default_str();
    config_check->callback([this] { exit = run_config_check(arguments.file, arguments.asking.json); });
    CLI::App* config_show = config->add_subcommand("show", "the settings of the aegisd that runs");
    reads(config_show);
    config_show->callback([this] { exit = run_config_show(arguments.asking); });
}

} // namespace

int run_command_line(int argc, const char* const* argv) {
    CommandLine line;
    try {
        line.app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return line.app.exit(error) == 0 ? static_cast<int>(Exit::ok) : static_cast<int>(Exit::usage);
    }
    return line.exit;
}

} // namespace aegis
