// A set of nodes of one node table: bit i is NodeIndex{i}.
#pragma once

#include <boost/dynamic_bitset.hpp>
#include <cstdint>

namespace aegis {

using NodeSet = boost::dynamic_bitset<std::uint64_t>;

} // namespace aegis
