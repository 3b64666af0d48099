// Slurm's hostlist notation: "n[00-63,70],login" and back.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aegis {

// Names in the order written, zero padding kept; at most `limit` names. The error says what is wrong and where.
std::expected<std::vector<std::string>, std::string> expand_hostlist(std::string_view text, std::size_t limit = 131072);

// Shortest form that keeps the order: runs of consecutive numbers with one prefix and width are folded.
std::string fold_hostlist(std::span<const std::string> names);

} // namespace aegis
