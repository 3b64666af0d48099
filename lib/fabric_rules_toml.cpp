// parse_fabric_rules(): toml++ stays behind this file.
#include "lib/fabric_rules.h"
#include "lib/toml_library.h"

#include <fmt/format.h>

namespace aegis {

namespace {

constexpr NameOf all_kinds[] = {NameOf::leaf, NameOf::sw, NameOf::port, NameOf::node, NameOf::adapter};

std::optional<NameOf> kind_of(std::string_view text) {
    for (NameOf kind : all_kinds)
        if (text == to_string(kind)) return kind;
    return std::nullopt;
}

class Reader {
public:
    explicit Reader(const std::string& file) : file_(file) {}

    std::expected<std::vector<NamingRule>, ConfigErrors> run(const toml::table& root) {
        for (const auto& [key, node] : root) {
            const auto kind = kind_of(key.str());
            if (key.str() == "rule" && node.is_array_of_tables()) {
                for (const toml::node& element : *node.as_array()) read_rule(*element.as_table());
            } else if (kind && kind != NameOf::adapter && node.is_table()) {
                read_table(*kind, *node.as_table());
            } else {
                fail(key.source(), key.str(), "", "[leaf], [switch], [port], [node] or [[rule]]");
            }
        }
        if (!errors_.empty()) return std::unexpected(std::move(errors_));
        return std::move(rules_);
    }

private:
    ConfigPlace place(const toml::source_region& source) const { return {file_, static_cast<int>(source.begin.line)}; }

    void fail(const toml::source_region& source, std::string_view key, std::string_view value, std::string expected) {
        errors_.push_back({place(source), std::string(key), std::string(value), std::move(expected)});
    }

    void read_table(NameOf kind, const toml::table& table) {
        for (const auto& [from, to] : table) {
            const auto name = to.value_exact<std::string>();
            if (!name || name->empty())
                fail(to.source(), fmt::format("{}.{}", to_string(kind), from.str()), "", "a name in quotes");
            else
                rules_.push_back({place(from.source()), kind, false, std::string(from.str()), *name, {}, {}});
        }
    }

    void read_rule(const toml::table& table) {
        NamingRule rule;
        rule.place = place(table.source());
        rule.is_pattern = true;
        bool fine = true, has_kind = false;
        for (const auto& [key, node] : table) {
            const auto value = node.value_exact<std::string>();
            const auto refuse = [&](std::string expected) {
                fail(node.source(), fmt::format("rule.{}", key.str()), value.value_or(""), std::move(expected));
                fine = false;
            };
            if (!value)
                refuse("text in quotes");
            else if (key.str() == "of") {
                if (const auto kind = kind_of(*value)) {
                    rule.of = *kind;
                    has_kind = true;
                } else {
                    refuse("\"leaf\", \"switch\", \"port\", \"node\" or \"adapter\"");
                }
            } else if (key.str() == "match")
                rule.match = *value;
            else if (key.str() == "name")
                rule.name = *value;
            else if (key.str() == "fabric")
                rule.fabric = *value;
            else if (key.str() == "rail")
                rule.rail = *value;
            else
                refuse("of, match, name, fabric or rail");
        }
        if (fine && !has_kind) {
            fail(table.source(), "rule.of", "", "what the rule is about: \"leaf\", \"switch\", \"port\", \"node\" or \"adapter\"");
            fine = false;
        }
        if (fine && rule.match.empty()) {
            fail(table.source(), "rule.match", "", "a regular expression for the whole name");
            fine = false;
        }
        if (fine) rules_.push_back(std::move(rule));
    }

    const std::string& file_;
    std::vector<NamingRule> rules_;
    ConfigErrors errors_;
};

} // namespace

std::expected<std::vector<NamingRule>, ConfigErrors> parse_fabric_rules(std::string_view text, const std::string& file) {
    toml::parse_result parsed = toml::parse(text);
    if (!parsed) {
        const toml::parse_error& error = parsed.error();
        return std::unexpected(ConfigErrors{{{file, static_cast<int>(error.source().begin.line)}, "", "", fmt::format("valid TOML: {} (column {})", error.description(), error.source().begin.column)}});
    }
    return Reader(file).run(parsed.table());
}

} // namespace aegis
