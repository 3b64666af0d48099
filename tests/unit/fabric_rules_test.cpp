#include "lib/fabric_rules.h"

#include <catch2/catch.hpp>

using namespace aegis;

namespace {

FabricRules rules(std::string_view text) {
    auto parsed = parse_fabric_rules(text, "rules.toml");
    REQUIRE(parsed.has_value());
    auto compiled = FabricRules::compile(std::move(*parsed));
    REQUIRE(compiled.has_value());
    return std::move(*compiled);
}

ConfigErrors errors(std::string_view text) {
    auto parsed = parse_fabric_rules(text, "rules.toml");
    if (!parsed) return parsed.error();
    auto compiled = FabricRules::compile(std::move(*parsed));
    REQUIRE_FALSE(compiled.has_value());
    return compiled.error();
}

std::string error_of(std::string_view text) { return to_string(errors(text).front()); }

} // namespace

TEST_CASE("a table entry wins over an expression, and of expressions the first that matches the whole name") {
    const FabricRules site = rules(R"(
[leaf]
"R09-LEAF-07" = "special"
[[rule]]
of = "leaf"
match = 'R\d+-LEAF-(\d+)'
name = 'su\1'
[[rule]]
of = "leaf"
match = 'R.*'
name = 'other'
)");
    CHECK(site.name(NameOf::leaf, "R09-LEAF-07") == "special");
    CHECK(site.name(NameOf::leaf, "R09-LEAF-12") == "su12");
    CHECK(site.name(NameOf::leaf, "R09-LEAF-12-x") == "other");
    CHECK_FALSE(site.name(NameOf::leaf, "xR09-LEAF-12").has_value());
    CHECK_FALSE(site.name(NameOf::node, "R09-LEAF-12").has_value());
}

TEST_CASE("switch and adapter rules label cables with fabric and rail") {
    const FabricRules site = rules(R"(
[[rule]]
of = "switch"
match = 'stor-.*'
fabric = "storage"
[[rule]]
of = "adapter"
match = 'HCA-[34]'
fabric = "storage"
[[rule]]
of = "adapter"
match = 'HCA-(\d+)'
rail = 'r\1'
)");
    CHECK(site.labels("stor-1", "HCA-1").fabric == "storage");
    CHECK(site.labels("stor-1", "HCA-1").rail == "r1");
    CHECK(site.labels("leaf-1", "HCA-3").fabric == "storage");
    CHECK(site.labels("leaf-1", "HCA-5").fabric.empty());
    CHECK(site.labels("leaf-1", "").rail.empty());
}

TEST_CASE("rules that cannot be right are refused where they stand") {
    CHECK(error_of("[[rule]]\nof = \"leaf\"\nmatch = '(a'\nname = 'b'\n").find("rules.toml:1: match") == 0);
    CHECK(error_of("[[rule]]\nof = \"leaf\"\nmatch = 'a'\nname = 'b\\1'\n").find("name") != std::string::npos);
    CHECK(error_of("[[rule]]\nof = \"leaf\"\nmatch = '(a)\\1'\nname = 'b'\n").find("regular expression") != std::string::npos);
    CHECK(error_of("[[rule]]\nof = \"leaf\"\nmatch = 'a'\n").find("a new name") != std::string::npos);
    CHECK(error_of("[[rule]]\nof = \"node\"\nmatch = 'a'\nname='b'\nfabric = 'x'\n").find("switch") != std::string::npos);
    CHECK(error_of("[[rule]]\nof = \"adapter\"\nmatch = 'a'\nname='b'\n").find("adapters are only labelled") != std::string::npos);
    CHECK(error_of("[[rule]]\nof = \"spine\"\nmatch = 'a'\nname='b'\n").find("rules.toml:2: rule.of") == 0);
    CHECK(error_of("[[rule]]\nmatch = 'a'\nname='b'\n").find("rule.of") != std::string::npos);
    CHECK(error_of("[[rule]]\nof = 'leaf'\nname='b'\n").find("rule.match") != std::string::npos);
    CHECK(error_of("[[rule]]\nof = 'leaf'\nmatch = 3\n").find("rules.toml:3: rule.match") == 0);
    CHECK(error_of("[leaf]\n\"a\" = 3\n").find("rules.toml:2: leaf.a") == 0);
    CHECK(error_of("[leafs]\n").find("leafs") != std::string::npos);
    CHECK(error_of("[leaf\n").find("TOML") != std::string::npos);
}

TEST_CASE("no expression is slow: nested repetition on a long name ends at once") {
    const FabricRules site = rules("[[rule]]\nof = \"port\"\nmatch = '(a+)+b'\nname = 'x'\n");
    const std::string name(100'000, 'a'); // minutes and a stack overflow with a backtracking engine
    CHECK_FALSE(site.name(NameOf::port, name).has_value());
}
