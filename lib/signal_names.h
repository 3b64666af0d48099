// What the configuration calls signals and kinds, and the unit a signal is in.
#pragma once

#include "lib/sample.h"

#include <string_view>

namespace aegis {

std::string_view to_string(Signal signal);
std::string_view to_string(Kind kind);
std::string_view unit_of(Signal signal);

} // namespace aegis
