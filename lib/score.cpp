#include "lib/score.h"

#include <numeric>

namespace aegis {

double cost_of(const Features& features, const Policy& policy) {
    return std::inner_product(features.begin(), features.end(), policy.weights.begin(), 0.0);
}

} // namespace aegis
