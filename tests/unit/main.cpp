// The one main of the unit tests; compiling Catch2's runner takes seconds, so it stands alone.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

