#include "lib/name_groups.h"

#include "lib/hostlist.h"
#include "lib/natural_order.h"

#include <algorithm>
#include <fmt/format.h>

namespace aegis {

const std::string& NameGroups::root(const std::string& name) {
    std::string& above = above_.emplace(name, name).first->second;
    if (above == name) return above;
    above = root(std::string(above));
    return above;
}

void NameGroups::join(const std::string& a, const std::string& b) {
    const std::string x = root(a), y = root(b);
    if (x != y) above_[std::max(x, y)] = std::min(x, y);
}

std::string short_hostlist(std::vector<std::string> names) {
    constexpr std::size_t shown_bytes = 200;
    std::ranges::sort(names, naturally_before);
    std::string text = fold_hostlist(names);
    if (text.size() > shown_bytes) text = text.substr(0, shown_bytes - 3) + "...";
    return text;
}

std::string groups_text(const std::map<std::string, std::vector<std::string>>& groups) {
    std::string text;
    for (const auto& [root, names] : groups) text += fmt::format("{}{}", text.empty() ? "" : " | ", short_hostlist(names));
    return text;
}

} // namespace aegis
