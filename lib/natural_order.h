// The order people expect of names with numbers: port 9 before port 10, n2 before n10.
#pragma once

#include <string_view>

namespace aegis {

bool naturally_before(std::string_view a, std::string_view b);

} // namespace aegis
