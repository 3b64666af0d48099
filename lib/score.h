// The cost of a placement, weights · features, lower is better (control-theory 5.4).
#pragma once

#include "lib/features.h"
#include "lib/policy.h"

namespace aegis {

double cost_of(const Features& features, const Policy& policy);

} // namespace aegis
