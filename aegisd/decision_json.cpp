#include "aegisd/decision_json.h"

#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace aegis {

namespace {

using Out = fmt::memory_buffer;

void put(Out& out, std::string_view text) { out.append(text.data(), text.data() + text.size()); }

void put_number(Out& out, double value) {
    if (std::isfinite(value)) fmt::format_to(std::back_inserter(out), "{:.4g}", value);
    else put(out, "null"); // JSON has no other word for it
}

// Names come from files an administrator wrote, so anything may stand in them.
void put_text(Out& out, std::string_view text) {
    out.push_back('"');
    for (char c : text) {
        if (c == '"' || c == '\\') {
            out.push_back('\\');
            out.push_back(c);
        } else if (static_cast<unsigned char>(c) < 0x20) {
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
            out.push_back(c);
        }
    }
    out.push_back('"');
}

template <class Items, class Each> void put_list(Out& out, const Items& items, Each each) {
    out.push_back('[');
    bool first = true;
    for (const auto& item : items) {
        if (!first) out.push_back(',');
        first = false;
        each(item);
    }
    out.push_back(']');
}

void put_features(Out& out, const std::array<double, feature_count>& values) {
    out.push_back('{');
    for (std::size_t i = 0; i < feature_count; ++i) {
        if (i) out.push_back(',');
        put_text(out, to_string(static_cast<Feature>(i)));
        out.push_back(':');
        put_number(out, values[i]);
    }
    out.push_back('}');
}

void put_placement(Out& out, const ScoredPlacement& placement, const Fabric& fabric) {
    put(out, R"({"leaves":)");
    put_list(out, placement.footprint, [&](const LeafShare& share) {
        put(out, R"({"leaf":)");
        put_text(out, fabric.leaves()[at(share.leaf)].name);
        fmt::format_to(std::back_inserter(out), R"(,"nodes":{}}})", share.nodes);
    });
    put(out, R"(,"features":)");
    put_features(out, placement.features);
    put(out, R"(,"cost":)");
    put_number(out, placement.cost);
    out.push_back('}');
}

void put_leaf(Out& out, const LeafPressure& leaf, LeafIndex index, const Fabric& fabric) {
    put(out, R"({"leaf":)");
    put_text(out, fabric.leaves()[at(index)].name);
    put(out, R"(,"link":)");
    if (leaf.worst_link) {
        const Link& link = fabric.links()[at(*leaf.worst_link)];
        put_text(out, link.sw + "/" + link.port);
    } else {
        put(out, "null");
    }
    put(out, R"(,"pressure":)");
    put_number(out, leaf.pressure);
    put(out, R"(,"phi_e":)");
    put_number(out, leaf.terms.phi_e);
    put(out, R"(,"phi_q":)");
    put_number(out, leaf.terms.phi_q);
    put(out, R"(,"phi_u":)");
    put_number(out, leaf.terms.phi_u);
    put(out, R"(,"age_ms":)");
    if (leaf.worst_link) fmt::format_to(std::back_inserter(out), "{}", leaf.age.count());
    else put(out, "null");
    put(out, R"(,"freshness":)");
    put_text(out, to_string(leaf.freshness));
    put(out, R"(,"confidence":)");
    put_number(out, leaf.confidence);
    out.push_back('}');
}

} // namespace

std::string decision_json(const Decision& decision, const Fabric& fabric, double margin) {
    Out out;
    put(out, R"({"weights":)");
    put_features(out, decision.weights);
    put(out, R"(,"s1":)");
    put_placement(out, decision.s1, fabric);
    put(out, R"(,"alternatives":)");
    put_list(out, decision.alternatives, [&](const ScoredPlacement& placement) { put_placement(out, placement, fabric); });
    fmt::format_to(std::back_inserter(out), R"(,"plans":{},"leaves":)", decision.plans);
    std::size_t position = 0;
    put_list(out, decision.leaves,
             [&](const LeafPressure& leaf) { put_leaf(out, leaf, decision.leaf_ids[position++], fabric); });
    put(out, R"(,"margin":)");
    put_number(out, margin);
    out.push_back('}');
    return {out.data(), out.size()};
}

} // namespace aegis
