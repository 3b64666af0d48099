// The one place where aegisd looks at the wall clock; everything else is told the time.
#pragma once

#include "lib/sample.h"

namespace aegis {

inline EventTime wall_clock() {
    return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

} // namespace aegis
