#include "lib/slurm_words.h"

#include "lib/hostlist.h"

#include <algorithm>

namespace aegis {

namespace {

std::string without_empty_elements(std::string_view list) {
    std::string kept;
    int depth = 0;
    for (char c : list) {
        depth += (c == '[') - (c == ']');
        if (c == ',' && depth == 0 && (kept.empty() || kept.back() == ',')) continue;
        kept += c;
    }
    if (kept.ends_with(',')) kept.pop_back();
    return kept;
}

} // namespace

bool same_word(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
}

std::expected<std::vector<std::string>, std::string> expand_slurm_list(std::string_view list) {
    return expand_hostlist(without_empty_elements(list));
}

} // namespace aegis
