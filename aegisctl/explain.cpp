// aegisctl explain: why a job was placed where it was. The one dominant reason in plain words first, then the terms.
#include "aegisctl/commands.h"
#include "aegisctl/output.h"
#include "aegisctl/words.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace aegis {

namespace json = boost::json;

namespace {

constexpr Column pressure_columns[] = {
    {"LEAF", "leaf", as_text},
    {"PRESSURE", "pressure", as_fraction, Align::right},
    {"MARKS", "phi_e", as_fraction, Align::right},
    {"QUEUE", "phi_q", as_fraction, Align::right},
    {"LOAD", "phi_u", as_fraction, Align::right},
    {"AGE", "age_ms", as_age, Align::right},
    {"STATE", "freshness", as_text},
    {"BELIEF", "confidence", as_fraction, Align::right},
    {"WORST LINK", "link", as_text},
};

double cost_of(const json::value& placement) { return number_at(placement, "cost").value_or(0); }

// "tor1, tor2 and 14 more"
std::string leaf_names(const json::value& placement) {
    constexpr std::size_t shown = 4;
    const json::array& leaves = list_at(placement, "leaves");
    std::vector<std::string> names;
    for (const json::value& leaf : leaves) names.push_back(text_at(leaf, "leaf"));
    if (names.empty()) return "no leaf";
    if (names.size() > shown) {
        const std::size_t more = names.size() - shown + 1;
        names.resize(shown - 1);
        return fmt::format("{} and {} more leaves", fmt::join(names, ", "), more);
    }
    const std::string last = names.back();
    names.pop_back();
    return names.empty() ? last : fmt::format("{} and {}", fmt::join(names, ", "), last);
}

std::string footprint(const json::value& placement) {
    std::string text;
    for (const json::value& leaf : list_at(placement, "leaves"))
        text += fmt::format("{}{}:{}", text.empty() ? "" : " ", text_at(leaf, "leaf"), text_at(leaf, "nodes"));
    return text;
}

double term(const json::value& detail, const json::value& placement, std::string_view feature) {
    return number_at(detail, fmt::format("weights.{}", feature)).value_or(0) *
           number_at(placement, fmt::format("features.{}", feature)).value_or(0);
}

// The feature that speaks most for `other` against `placement`; empty where none does.
std::string dominant_feature(const json::value& detail, const json::value& placement, const json::value& other) {
    std::string dominant;
    double most = 0;
    const json::value* weights = find(detail, "weights");
    if (!weights || !weights->is_object()) return dominant;
    for (const auto& weight : weights->as_object()) {
        const double gain = term(detail, placement, weight.key()) - term(detail, other, weight.key());
        if (gain > most) {
            most = gain;
            dominant = weight.key();
        }
    }
    return dominant;
}

// Of the leaves a placement uses, the one whose pressure counts most.
const json::value* worst_leaf(const json::value& detail, const json::value& placement) {
    std::set<std::string> used;
    for (const json::value& leaf : list_at(placement, "leaves")) used.insert(text_at(leaf, "leaf"));
    const json::value* worst = nullptr;
    double most = -1;
    for (const json::value& leaf : list_at(detail, "leaves")) {
        const double believed = number_at(leaf, "pressure").value_or(0) * number_at(leaf, "confidence").value_or(0);
        if (used.contains(text_at(leaf, "leaf")) && believed > most) {
            most = believed;
            worst = &leaf;
        }
    }
    return worst;
}

// "tor1 is pressed (0.83, mostly by ECN marks, age 1.0s)"
std::string pressed(const json::value& leaf) {
    struct Cause {
        double value;
        std::string_view words;
    };
    const Cause cause = std::max({Cause{number_at(leaf, "phi_e").value_or(0) * .8, "ECN marks"},
                                  Cause{number_at(leaf, "phi_q").value_or(0) * .6, "queue depth"},
                                  Cause{number_at(leaf, "phi_u").value_or(0) * .5, "load"}},
                                 [](const Cause& a, const Cause& b) { return a.value < b.value; });
    std::string text = fmt::format("{} is pressed ({}", text_at(leaf, "leaf"), as_fraction(find(leaf, "pressure")));
    if (cause.value > 0) text += fmt::format(", mostly by {}", cause.words);
    text += fmt::format(" on {}, age {}", as_text(find(leaf, "link")), as_age(find(leaf, "age_ms")));
    if (const std::string state = text_at(leaf, "freshness"); state != "fresh") text += fmt::format(", {}", state);
    return text + ")";
}

std::string why_worse(const json::value& detail, const json::value& s1, const json::value& best) {
    const std::string feature = dominant_feature(detail, s1, best);
    if (feature == "now") {
        const json::value* leaf = worst_leaf(detail, s1);
        return leaf ? pressed(*leaf) : fmt::format("{} is pressed", leaf_names(s1));
    }
    if (feature == "span")
        return fmt::format("Slurm's choice spreads the job over {} leaves, where {} would do", list_at(s1, "leaves").size(),
                           list_at(best, "leaves").size());
    if (feature == "frag") return fmt::format("Slurm's choice leaves more of the fabric partly used ({})", leaf_names(s1));
    return "the sum of all terms is lower elsewhere";
}

std::string headline(const json::value& decision, const json::value& detail) {
    const std::string reason = text_at(decision, "reason");
    const json::value* s1_found = find(detail, "s1");
    const json::value s1 = s1_found ? *s1_found : json::value(json::object());
    const json::array& alternatives = list_at(detail, "alternatives");
    if (reason == "policy_keeps") return fmt::format("Policy {} always keeps Slurm's choice.", text_at(decision, "policy"));
    if (reason == "unmapped_nodes")
        return "Slurm's choice includes nodes that stand on no leaf of the fabric, so nothing can be compared. See \"aegisctl fabric show\".";
    if (reason == "no_alternative") return fmt::format("No other set of leaves has room for {} nodes.", text_at(decision, "nodes"));
    if (reason == "no_calmer_leaf")
        return fmt::format("No leaf with room for the job is calmer than {} by the margin of {}.", leaf_names(s1),
                           as_fraction(find(detail, "margin")));
    if (reason == "s1_is_best" || alternatives.empty())
        return fmt::format("Slurm's own choice, {}, has the lowest cost of all, {:.2f}.", leaf_names(s1), cost_of(s1));
    const json::value& best = alternatives.front();
    const std::string compared =
        fmt::format("on {} the cost is {:.2f} instead of {:.2f}", leaf_names(best), cost_of(best), cost_of(s1));
    if (reason == "within_margin")
        return fmt::format("Slurm's choice stands: {}, which is not better by the margin of {}.", compared,
                           as_fraction(find(detail, "margin")));
    std::string why = why_worse(detail, s1, best);
    return fmt::format("{}; {}.", why, compared);
}

// What Slurm made of it, or why there is nothing to make.
std::string what_followed(const json::value& decision) {
    const std::string result = text_at(decision, "outcome.result");
    const std::string nodes = text_at(decision, "outcome.nodes");
    const json::array& alternatives = list_at(decision, "detail.alternatives");
    const bool has_plans = number_at(decision, "plans").value_or(0) > 0 && !alternatives.empty();
    std::string text;
    if (has_plans && !flag_at(decision, "offered"))
        text = fmt::format("Mode was {}, so this was only recorded: in mode steer Slurm would have been asked to place the job on {}.\n",
                           text_at(decision, "mode"), leaf_names(alternatives.front()));
    if (result == "plan_1" || result == "plan_2")
        text += fmt::format("Slurm accepted the {} plan and chose {}.\n", result == "plan_1" ? "first" : "second", nodes);
    else if (result == "restored")
        text += fmt::format("Slurm could not start the job on any plan, so it chose again from all nodes: {}.\n", nodes);
    else if (result == "lost")
        text += "Slurm could not start the job on any plan, and then not at all. This must never happen: please report it.\n";
    else if (result == "kept")
        text += fmt::format("Slurm's choice stood: {}.\n", nodes);
    else
        text += "What Slurm did has not been reported; where the advice came too late, or the connection was lost, its own choice stood.\n";
    return text;
}

std::string times(const json::value& decision) {
    std::string text = fmt::format("decided {}", as_time(find(decision, "time_us")));
    if (find(decision, "outcome"))
        text += fmt::format(", waited {}us in {} inner calls", text_at(decision, "outcome.waited_us"), text_at(decision, "outcome.inner_calls"));
    if (find(decision, "began_us")) text += fmt::format(", began {}", as_time(find(decision, "began_us")));
    if (find(decision, "ended_us")) text += fmt::format(", ended {}", as_time(find(decision, "ended_us")));
    return text + "\n";
}

// One row a placement: each term as feature x weight, and their sum.
std::string placements_table(const json::value& detail) {
    std::vector<std::string> features, titles, paths;
    if (const json::value* weights = find(detail, "weights"); weights && weights->is_object())
        for (const auto& weight : weights->as_object()) {
            features.emplace_back(weight.key());
            paths.push_back(fmt::format("terms.{}", features.back()));
            std::string title = fmt::format("{} x {}", features.back(), as_fraction(&weight.value()));
            std::ranges::transform(title, title.begin(), [](char c) { return c >= 'a' && c <= 'z' && c != 'x' ? static_cast<char>(c - 32) : c; });
            titles.push_back(std::move(title));
        }
    std::vector<Column> columns{{"PLACEMENT", "role", as_text}};
    for (std::size_t i = 0; i < features.size(); ++i) columns.push_back({titles[i], paths[i], as_text, Align::right});
    columns.push_back({"COST", "cost", as_fraction, Align::right});
    columns.push_back({"LEAVES (NODES ON EACH)", "where", as_text});

    const auto row_of = [&](const json::value& placement, std::string role) {
        json::object terms;
        for (const std::string& feature : features)
            terms[feature] = fmt::format("{} = {:.2f}", as_fraction(find(placement, "features." + feature)), term(detail, placement, feature));
        return json::object{{"role", std::move(role)}, {"terms", std::move(terms)}, {"cost", cost_of(placement)}, {"where", footprint(placement)}};
    };
    json::array rows;
    if (const json::value* s1 = find(detail, "s1")) rows.push_back(row_of(*s1, "Slurm's choice"));
    const auto plans = static_cast<std::size_t>(number_at(detail, "plans").value_or(0));
    const json::array& alternatives = list_at(detail, "alternatives");
    for (std::size_t i = 0; i < alternatives.size(); ++i)
        rows.push_back(row_of(alternatives[i], i < plans ? fmt::format("plan {}", i + 1) : "not better"));
    return table_text(columns, rows);
}

} // namespace

std::string explain_text(const json::value& decision) {
    std::string text = fmt::format("job {}", text_at(decision, "job_key"));
    if (const std::string name = text_at(decision, "job_name"); !name.empty()) text += fmt::format(" ({})", name);
    if (const std::string user = text_at(decision, "user"); !user.empty()) text += fmt::format(" of {}", user);
    text += fmt::format(", {} nodes, decision {}, mode {}, policy {}\n\n", text_at(decision, "nodes"), text_at(decision, "decision"),
                        text_at(decision, "mode"), text_at(decision, "policy"));
    const json::value* detail = find(decision, "detail");
    if (!detail) return text + "The terms of this decision are not readable in the store.\n" + what_followed(decision) + times(decision);
    text += headline(decision, *detail) + "\n" + what_followed(decision) + times(decision);
    text += "\n" + placements_table(*detail);
    const json::array& leaves = list_at(*detail, "leaves");
    if (!leaves.empty()) text += "\n" + table_text(pressure_columns, leaves);
    return text;
}

int run_explain(const Asking& asking, const ExplainArguments& arguments) {
    json::object request{{"command", "explain"}};
    if (arguments.job) request["job"] = *arguments.job;
    if (arguments.decision) request["decision"] = *arguments.decision;
    return ask_and_print(asking, request, explain_text);
}

} // namespace aegis
