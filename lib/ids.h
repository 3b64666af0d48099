// Strong indices: a node, a leaf and a link are never mistaken for one another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace aegis {

enum class NodeIndex : std::uint32_t {}; // position in slurmctld's node table
enum class LeafIndex : std::uint32_t {}; // position in Fabric::leaves()
enum class LinkIndex : std::uint32_t {}; // position in Fabric::links()

template <class Index> constexpr std::size_t at(Index index) { return static_cast<std::size_t>(index); }

} // namespace aegis
