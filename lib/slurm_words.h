// Words and lists as Slurm reads them in its configuration files.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace aegis {

// Keys are the same whatever the case of their letters.
bool same_word(std::string_view a, std::string_view b);

// As expand_hostlist(), but Slurm passes over empty elements (",n1,,n2").
std::expected<std::vector<std::string>, std::string> expand_slurm_list(std::string_view list);

} // namespace aegis
