#include "lib/hostlist.h"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

using namespace aegis;
using Names = std::vector<std::string>;

TEST_CASE("a hostlist expands in the order written, padding kept") {
    CHECK(expand_hostlist("n[08-11,20],login").value() == Names{"n08", "n09", "n10", "n11", "n20", "login"});
    CHECK(expand_hostlist("n[8-10]").value() == Names{"n8", "n9", "n10"});
    CHECK(expand_hostlist("n[3,1,2,1]").value() == Names{"n3", "n1", "n2", "n1"});
    CHECK(expand_hostlist("gpu-a1.site").value() == Names{"gpu-a1.site"});
    CHECK(expand_hostlist("").value() == Names{});
    CHECK(expand_hostlist("-,n1").value() == Names{"-", "n1"});
}

TEST_CASE("of several brackets in a name the last runs fastest, and text may follow") {
    CHECK(expand_hostlist("r[0-1]n[00-02]").value() == Names{"r0n00", "r0n01", "r0n02", "r1n00", "r1n01", "r1n02"});
    CHECK(expand_hostlist("n[1-2]-ib,x[7]y[8]z").value() == Names{"n1-ib", "n2-ib", "x7y8z"});
}

TEST_CASE("a malformed hostlist is refused with the place and what was expected") {
    const auto [text, error] = GENERATE(table<std::string, std::string>({
        {",n1", "character 1: expected a name"},
        {"n1,,n2", "character 4: expected a name"},
        {"n1,", "character 4: expected a name"},
        {"n[1-2", "character 6: expected ',', '-' or ']'"},
        {"n[]", "character 3: expected a number"},
        {"n[1-]", "character 5: expected a number"},
        {"n[a]", "character 3: expected a number"},
        {"n[3-1]", "character 5: expected an end of the range that is not below its start"},
        {"n1]", "character 3: expected no ']' without a '['"},
        {"n[1[2]]", "character 4: expected ',', '-' or ']'"},
        {"n 1", "character 2: expected no blank or control character"},
        {"n[1234567890123456789]", "character 3: expected a number of at most 18 digits"},
    }));
    CAPTURE(text);
    const auto names = expand_hostlist(text);
    REQUIRE_FALSE(names.has_value());
    CHECK(names.error() == error);
}

TEST_CASE("a hostlist beyond the limit is refused before it is built") {
    CHECK(expand_hostlist("n[0-9]", 10).has_value());
    CHECK(expand_hostlist("n[0-9],m", 10).error() == "character 9: expected at most 10 names");
    CHECK_FALSE(expand_hostlist("n[0-999999999999999999]").has_value());
    CHECK_FALSE(expand_hostlist("a[0-99999999]b[0-99999999]c[0-99999999]").has_value());
}

TEST_CASE("names fold into ranges that keep their order") {
    const auto [names, text] = GENERATE(table<Names, std::string>({
        {Names{}, ""},
        {Names{"n1"}, "n1"},
        {Names{"n1", "n2", "n3"}, "n[1-3]"},
        {Names{"n1", "n2"}, "n[1-2]"},
        {Names{"n09", "n10", "n12"}, "n[09-10,12]"},
        {Names{"n9", "n10"}, "n[9-10]"},
        {Names{"n9", "n010"}, "n[9,010]"},
        {Names{"n3", "n2"}, "n[3,2]"},
        {Names{"n1", "n1"}, "n1,n1"},
        {Names{"r1n1", "r1n2", "r2n1"}, "r1n[1-2],r2n1"},
        {Names{"n1-ib0", "n2-ib0"}, "n[1-2]-ib0"},
        {Names{"-", "-", "n1"}, "-,-,n1"},
    }));
    CHECK(fold_hostlist(names) == text);
}

TEST_CASE("whatever was folded expands to the same names in the same order") {
    CHECK(rc::check("fold, then expand", [] {
        const auto name = rc::gen::map(
            rc::gen::tuple(rc::gen::element<std::string>("n", "r1n", "gpu-", "", "x"), rc::gen::inRange(0, 130),
                           rc::gen::inRange(1, 5), rc::gen::element<std::string>("", "", "-ib", "s2")),
            [](const std::tuple<std::string, int, int, std::string>& parts) {
                std::string digits = std::to_string(std::get<1>(parts));
                while (static_cast<int>(digits.size()) < std::get<2>(parts)) digits.insert(0, "0");
                return std::get<0>(parts) + digits + std::get<3>(parts);
            });
        const Names names = *rc::gen::container<Names>(name);
        const auto again = expand_hostlist(fold_hostlist(names));
        RC_ASSERT(again.has_value());
        RC_ASSERT(*again == names);
    }));
    CHECK(rc::check("expand, then fold, then expand", [] {
        const int first = *rc::gen::inRange(0, 50), last = first + *rc::gen::inRange(0, 60);
        const std::string text = "r[0-" + std::to_string(*rc::gen::inRange(0, 3)) + "]n[" + std::to_string(first) + "-" +
                                 std::to_string(last) + "," + std::to_string(*rc::gen::inRange(0, 99)) + "]b";
        const auto names = expand_hostlist(text);
        RC_ASSERT(names.has_value());
        RC_ASSERT(expand_hostlist(fold_hostlist(*names)).value() == *names);
    }));
}

TEST_CASE("no text makes the hostlist reader crash or exceed its limit") {
    CHECK(rc::check("random text over the characters that matter", [] {
        const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("n01-9[],- \t\x7f")));
        const auto names = expand_hostlist(text, 50);
        if (names) RC_ASSERT(names->size() <= 50u);
    }));
}
