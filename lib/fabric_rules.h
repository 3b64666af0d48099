// A site's naming rules: what one tool calls a switch, a port or a node, and what another calls it.
//
// Three name spaces meet in a fabric map: the cables' (LLDP, ibnetdiscover, NetQ), telemetry's (labels of the exporter) and
// Slurm's (topology, node names). A table maps single names, a regular expression many; a table entry wins over an
// expression, and of several expressions the first that matches the *whole* name. RE2: linear time whatever the expression, no
// look-around, no back-references in the pattern. In the new name \1 to \9 stand for groups and \0 for the whole.
#pragma once

#include "lib/config_error.h"

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aegis {

enum class NameOf : std::uint8_t {
    leaf,    // a switch of the cables -> the leaf as Slurm names it
    sw,      // a switch of the cables -> the switch as telemetry names it
    port,    // a switch port of the cables -> the port as telemetry names it
    node,    // a host of the cables -> the node as Slurm names it
    adapter, // a host's port, e.g. HCA-4 or ens1f0: only labelled, never renamed
};

struct NamingRule {
    ConfigPlace place;
    NameOf of{};
    bool is_pattern = false;
    std::string match;  // regular expression with is_pattern, else the exact name
    std::string name;   // empty: the name stays
    std::string fabric; // with of sw or adapter: the fabric the cable belongs to; empty: says nothing
    std::string rail;   // the same; \1 to \9 stand for groups here too
};

struct CableLabels {
    std::string fabric, rail; // empty: no rule says
};

class FabricRules {
public:
    FabricRules(); // no rules: every name stays
    ~FabricRules();
    FabricRules(FabricRules&&) noexcept;
    FabricRules& operator=(FabricRules&&) noexcept;

    // Errors: an expression RE2 refuses, a new name that uses a group the expression does not have, a rule that does nothing.
    static std::expected<FabricRules, ConfigErrors> compile(std::vector<NamingRule> rules);

    // Nothing where no rule names this.
    std::optional<std::string> name(NameOf of, std::string_view from) const;

    // First the switch rules, then the adapter rules fill what those leave open.
    CableLabels labels(std::string_view sw, std::string_view adapter) const;

private:
    struct Compiled;
    std::unique_ptr<Compiled> compiled_;
};

// A rules file, TOML: tables [leaf], [switch], [port] and [node] of "name" = "new name", and [[rule]] tables with the keys
// of ("leaf", "switch", "port", "node" or "adapter"), match, name, fabric and rail.
std::expected<std::vector<NamingRule>, ConfigErrors> parse_fabric_rules(std::string_view text, const std::string& file);

std::string_view to_string(NameOf of);

} // namespace aegis
