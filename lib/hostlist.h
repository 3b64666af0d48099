// Slurm's hostlist notation: "n[00-63,70],login" and back.
//
// A name may have several brackets and text after them ("r[0-1]n[00-03]-ib"); the last bracket runs fastest.
// The width of a range is that of its first number: [8-10] is 8 9 10, [08-10] is 08 09 10.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aegis {

// Names in the order written, zero padding and duplicates kept; at most `limit` names. An empty text has none.
// The error says what is wrong and where: "character 5: expected a number".
std::expected<std::vector<std::string>, std::string> expand_hostlist(std::string_view text, std::size_t limit = 131072);

// A short form that expands to the same names in the same order. Neighbours that differ in one number share a
// bracket. Names must be as expand_hostlist() returns them: no comma, bracket or blank, not empty.
std::string fold_hostlist(std::span<const std::string> names);

} // namespace aegis
