// aegisctl policy list: the policies aegisd knows, and which one is in force.
#include "aegisctl/commands.h"
#include "aegisctl/output.h"
#include "aegisctl/words.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace aegis {

namespace json = boost::json;

namespace {

constexpr Column columns[] = {
    {"POLICY", "name", as_text}, {"IN FORCE", "in_force", as_yes}, {"HASH", "hash", as_text}, {"WEIGHTS", "shown_weights", as_text},
};

} // namespace

std::string policies_text(const json::value& result) {
    json::array rows;
    for (const json::value& policy : list_at(result, "policies")) {
        std::string weights;
        bool keeps = true;
        if (const json::value* named = find(policy, "weights"); named && named->is_object())
            for (const auto& [feature, weight] : named->as_object()) {
                weights += fmt::format("{}{}={}", weights.empty() ? "" : " ", printable(feature), as_fraction(&weight));
                keeps = keeps && weight.is_number() && weight.to_number<double>() == 0;
            }
        if (!policy.is_object()) continue;
        json::object row = policy.as_object();
        row["shown_weights"] = keeps ? "none: Slurm's choice always stands" : weights;
        rows.push_back(std::move(row));
    }
    return table_text(columns, rows);
}

int run_policy_list(const Asking& asking) { return ask_and_print(asking, {{"command", "policies"}}, policies_text); }

} // namespace aegis
