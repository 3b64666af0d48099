// aegisctl fabric show: leaves with their pressure, and what telemetry and Slurm know that the fabric does not.
#include "aegisctl/commands.h"
#include "aegisctl/output.h"
#include "aegisctl/words.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace aegis {

namespace json = boost::json;

namespace {

constexpr Column leaf_columns[] = {
    {"LEAF", "leaf", as_text},
    {"PRESSURE", "pressure", as_fraction, Align::right},
    {"BELIEF", "confidence", as_fraction, Align::right},
    {"STATE", "freshness", as_text},
    {"AGE", "age_ms", as_age, Align::right},
    {"WORST LINK", "worst_link", as_text},
    {"NODES", "nodes", as_text},
};

constexpr Column link_columns[] = {
    {"LEAF", "leaf", as_text},
    {"LINK", "link", as_text},
    {"KIND", "kind", as_text},
    {"RATE", "rate_bps", as_rate, Align::right},
    {"PRESSURE", "pressure", as_fraction, Align::right},
    {"MARKS", "mark_rate", as_percent, Align::right},
    {"LOAD", "load", as_percent, Align::right},
    {"DEPTH", "depth_bytes", as_bytes, Align::right},
};

json::array links_of(const json::array& leaves) {
    json::array rows;
    for (const json::value& leaf : leaves)
        for (const json::value& link : list_at(leaf, "links")) {
            json::value row = link;
            if (!row.is_object()) continue;
            row.as_object()["leaf"] = text_at(leaf, "leaf");
            row.as_object()["kind"] = flag_at(link, "trunk") ? "trunk" : "node";
            rows.push_back(std::move(row));
        }
    return rows;
}

} // namespace

std::string fabric_text(const json::value& fabric, bool links) {
    const json::array& leaves = list_at(fabric, "leaves");
    std::string text = leaves.empty() ? "the fabric has no leaves\n"
                       : links        ? table_text(link_columns, links_of(leaves))
                                      : table_text(leaf_columns, leaves);
    if (const std::string nodes = text_at(fabric, "unmapped_nodes"); !nodes.empty())
        text += fmt::format("\nnodes on no leaf (jobs on them are left alone): {}\n", nodes);
    const json::array& ports = list_at(fabric, "unmapped_ports");
    if (!ports.empty()) {
        text += "\nports that telemetry shows and no [[ports]] names:\n";
        for (const json::value& port : ports) text += fmt::format("  {}\n", as_text(&port));
    }
    return text;
}

int run_fabric_show(const Asking& asking, bool links) {
    return ask_and_print(asking, {{"command", "fabric"}}, [links](const json::value& fabric) { return fabric_text(fabric, links); });
}

} // namespace aegis
