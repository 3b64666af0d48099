#include "lib/natural_order.h"

#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <string>

using namespace aegis;

TEST_CASE("numbers in names are ordered by value") {
    CHECK(naturally_before("9", "10"));
    CHECK(naturally_before("n2", "n10"));
    CHECK(naturally_before("swp1s2", "swp1s10"));
    CHECK(naturally_before("a", "a1"));
    CHECK(naturally_before("n01", "n1"));
    CHECK_FALSE(naturally_before("n1", "n01"));
    CHECK_FALSE(naturally_before("n1", "n1"));
}

TEST_CASE("the natural order is a strict total order") {
    const auto name = rc::gen::container<std::string>(rc::gen::element('0', '1', '2', 'a', 'b', '-'));
    CHECK(rc::check("of two different names exactly one comes first, and order is transitive", [&] {
        const std::string a = *name, b = *name, c = *name;
        RC_ASSERT(naturally_before(a, b) + naturally_before(b, a) + (a == b) == 1);
        if (naturally_before(a, b) && naturally_before(b, c)) RC_ASSERT(naturally_before(a, c));
    }));
}
