#include "lib/hostlist.h"
#include "plugin/node_names.h"

#include <catch2/catch.hpp>
#include <memory>
#include <rapidcheck.h>
#include <string>
#include <vector>

namespace {

using Table = std::unique_ptr<node_table, decltype(&node_table_free)>;

Table table_of(const std::vector<std::string>& names) {
    node_names collected{};
    for (const auto& name : names) node_names_add(&collected, name.c_str());
    return {node_names_finish(&collected), node_table_free};
}

std::string folded(const std::vector<std::string>& names) {
    const Table table = table_of(names);
    return {table->text, table->length};
}

} // namespace

TEST_CASE("node names: consecutive numbers fold, order is never changed") {
    CHECK(folded({"n0", "n1", "n2"}) == "n[0-2]");
    CHECK(folded({"n2", "n1", "n0"}) == "n2,n1,n0");
    CHECK(folded({"n1", "n3", "n4", "m5"}) == "n1,n[3-4],m5");
    CHECK(folded({"login"}) == "login");
    CHECK(folded({"a1", "a1"}) == "a1,a1");
    CHECK(folded({"7", "8"}) == "[7-8]");
}

TEST_CASE("node names: zero padding is kept") {
    CHECK(folded({"n08", "n09", "n10", "n11"}) == "n[08-11]");
    CHECK(folded({"n8", "n9", "n10"}) == "n[8-10]");
    CHECK(folded({"n08", "n9"}) == "n08,n9");
    CHECK(folded({"n98", "n99", "n100"}) == "n[98-100]");
    CHECK(folded({"n9", "n010"}) == "n9,n010");
}

TEST_CASE("node names: an index without a node stays an index") {
    CHECK(folded({"", "n1", "", "n2", ""}) == "-,n1,-,n2,-");
    CHECK(table_of({"", "n1", ""})->count == 3);
}

TEST_CASE("node names: only the last 18 digits of a number are counted with") {
    CHECK(folded({"n99999999999999999999998", "n99999999999999999999999"}) ==
          "n99999[999999999999999998-999999999999999999]");
}

TEST_CASE("node names: the hash is that of the text and the count") {
    const Table table = table_of({"n0", "n1"});
    CHECK(table->hash == aegis_table_hash("n[0-1]", 6, 2));
}

TEST_CASE("node names: a table over the bounds of HELLO is no table") {
    node_names collected{};
    const std::string name(200, 'x');
    for (int i = 0; i < 21000; i++) node_names_add(&collected, name.c_str());
    CHECK(node_names_finish(&collected) == nullptr);
    for (int i = 0; i <= AEGIS_NODES_MAX; i++) node_names_add(&collected, "");
    CHECK(node_names_finish(&collected) == nullptr);
    CHECK(folded({"n0"}) == "n0"); // and the collector is as new
}

TEST_CASE("node names: whatever is folded expands to the same names in the same order") {
    CHECK(rc::check("fold and expand", [] {
        const auto names = *rc::gen::container<std::vector<std::string>>(rc::gen::map(
            rc::gen::tuple(rc::gen::element<std::string>("n", "rack1-", "gpu0", "", "x"),
                           rc::gen::inRange(0, 13), rc::gen::inRange(1, 4)),
            [](const std::tuple<std::string, int, int>& t) {
                auto [prefix, number, width] = t;
                std::string digits = std::to_string(number);
                return prefix + std::string(std::max<int>(0, width - static_cast<int>(digits.size())), '0') + digits;
            }));
        RC_PRE(!names.empty());
        const auto expanded = aegis::expand_hostlist(folded(names));
        RC_ASSERT(expanded.has_value());
        RC_ASSERT(*expanded == names);
    }));
}
