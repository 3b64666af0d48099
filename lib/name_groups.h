// Names that hang together, and how lists of names are told in a message.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace aegis {

class NameGroups {
public:
    const std::string& root(const std::string& name); // the same for all names of a group
    void join(const std::string& a, const std::string& b);

private:
    std::map<std::string, std::string> above_;
};

// A hostlist in natural order; cut where it is very long.
std::string short_hostlist(std::vector<std::string> names);

// "a[1-2] | b"
std::string groups_text(const std::map<std::string, std::vector<std::string>>& groups);

} // namespace aegis
