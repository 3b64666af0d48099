#include "lib/mode.h"

#include <catch2/catch.hpp>

using namespace aegis;

TEST_CASE("every mode has a name that leads back to it") {
    for (Mode mode : {Mode::off, Mode::observe, Mode::steer}) CHECK(mode_from(to_string(mode)) == mode);
}

TEST_CASE("a word that names no mode is no mode") {
    CHECK_FALSE(mode_from("Steer"));
    CHECK_FALSE(mode_from(""));
}
