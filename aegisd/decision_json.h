// A Decision as the JSON that the store keeps in `detail` and `aegisctl explain` shows. Numbers have four significant
// digits: enough to judge a decision by, small enough to keep for every job.
#pragma once

#include "lib/decision.h"

#include <string>

namespace aegis {

std::string decision_json(const Decision& decision, const Fabric& fabric, double margin);

} // namespace aegis
