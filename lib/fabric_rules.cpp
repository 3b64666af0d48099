// RE2 stays behind this file.
#include "lib/fabric_rules.h"

#include <array>
#include <fmt/format.h>
#include <re2/re2.h>
#include <unordered_map>

namespace aegis {

namespace {

constexpr std::size_t kinds = 5;

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

struct Pattern {
    NamingRule rule;
    std::unique_ptr<re2::RE2> expression;

    // \0 to \9 of `form`, filled from `from`; nothing where it does not match.
    std::optional<std::string> rewrite(std::string_view from, const std::string& form) const {
        std::array<re2::StringPiece, 10> groups;
        const int wanted = 1 + expression->NumberOfCapturingGroups();
        const int kept = std::min<int>(wanted, groups.size());
        if (!expression->Match(piece(from), 0, from.size(), re2::RE2::ANCHOR_BOTH, groups.data(), kept)) return std::nullopt;
        std::string out;
        expression->Rewrite(&out, form, groups.data(), kept);
        return out;
    }

    bool matches(std::string_view from) const {
        return expression->Match(piece(from), 0, from.size(), re2::RE2::ANCHOR_BOTH, nullptr, 0);
    }
};

} // namespace

struct FabricRules::Compiled {
    struct OfOneKind {
        std::unordered_map<std::string, NamingRule> exact;
        std::vector<Pattern> patterns; // in the order written
    };
    std::array<OfOneKind, kinds> of;

    const OfOneKind& rules(NameOf kind) const { return of[static_cast<std::size_t>(kind)]; }

    void label(NameOf kind, std::string_view name, CableLabels& labels) const {
        const auto fill = [](std::string& kept, const std::string& offered) {
            if (kept.empty()) kept = offered;
        };
        if (const auto found = rules(kind).exact.find(std::string(name)); found != rules(kind).exact.end()) {
            fill(labels.fabric, found->second.fabric);
            fill(labels.rail, found->second.rail);
        }
        for (const Pattern& pattern : rules(kind).patterns) {
            if (!labels.fabric.empty() && !labels.rail.empty()) return;
            if (!pattern.matches(name)) continue;
            fill(labels.fabric, pattern.rewrite(name, pattern.rule.fabric).value_or(""));
            fill(labels.rail, pattern.rewrite(name, pattern.rule.rail).value_or(""));
        }
    }
};

FabricRules::FabricRules() : compiled_(std::make_unique<Compiled>()) {}
FabricRules::~FabricRules() = default;
FabricRules::FabricRules(FabricRules&&) noexcept = default;
FabricRules& FabricRules::operator=(FabricRules&&) noexcept = default;

std::expected<FabricRules, ConfigErrors> FabricRules::compile(std::vector<NamingRule> rules) {
    FabricRules compiled;
    ConfigErrors errors;
    for (NamingRule& rule : rules) {
        const auto fail = [&](std::string_view key, const std::string& value, std::string expected) {
            errors.push_back({rule.place, std::string(key), value, std::move(expected)});
        };
        const bool labels = rule.of == NameOf::sw || rule.of == NameOf::adapter;
        if (!labels && !(rule.fabric.empty() && rule.rail.empty()))
            fail("of", std::string(to_string(rule.of)), "\"switch\" or \"adapter\": only these are labelled with fabric and rail");
        if (rule.of == NameOf::adapter && !rule.name.empty()) fail("name", rule.name, "no name: adapters are only labelled with fabric and rail");
        if (rule.name.empty() && rule.fabric.empty() && rule.rail.empty()) fail("name", "", "a new name, a fabric or a rail");
        auto& of = compiled.compiled_->of[static_cast<std::size_t>(rule.of)];
        if (!rule.is_pattern) {
            const std::string match = rule.match;
            const auto [first, fresh] = of.exact.emplace(match, rule);
            if (!fresh) fail("match", match, fmt::format("a name that is mapped once: line {} maps it too", first->second.place.line));
            continue;
        }
        re2::RE2::Options options;
        options.set_log_errors(false);
        options.set_max_mem(1 << 20);
        auto expression = std::make_unique<re2::RE2>(piece(rule.match), options);
        if (!expression->ok()) {
            fail("match", rule.match, fmt::format("a regular expression (RE2): {}", expression->error()));
            continue;
        }
        for (const auto& [key, form] : {std::pair{"name", &rule.name}, std::pair{"fabric", &rule.fabric}, std::pair{"rail", &rule.rail}}) {
            std::string error;
            if (!expression->CheckRewriteString(*form, &error)) fail(key, *form, fmt::format("groups that match has: {}", error));
        }
        of.patterns.push_back({std::move(rule), std::move(expression)});
    }
    if (!errors.empty()) return std::unexpected(std::move(errors));
    return compiled;
}

std::optional<std::string> FabricRules::name(NameOf kind, std::string_view from) const {
    const auto& of = compiled_->rules(kind);
    if (const auto found = of.exact.find(std::string(from)); found != of.exact.end() && !found->second.name.empty()) return found->second.name;
    for (const Pattern& pattern : of.patterns) {
        if (pattern.rule.name.empty()) continue;
        if (auto name = pattern.rewrite(from, pattern.rule.name)) return name;
    }
    return std::nullopt;
}

CableLabels FabricRules::labels(std::string_view sw, std::string_view adapter) const {
    CableLabels labels;
    compiled_->label(NameOf::sw, sw, labels);
    if (!adapter.empty()) compiled_->label(NameOf::adapter, adapter, labels);
    return labels;
}

std::string_view to_string(NameOf of) {
    switch (of) {
    case NameOf::leaf: return "leaf";
    case NameOf::sw: return "switch";
    case NameOf::port: return "port";
    case NameOf::node: return "node";
    case NameOf::adapter: return "adapter";
    }
    return {};
}

} // namespace aegis
