#include "aegisctl/commands.h"

#include <boost/json/serialize.hpp>
#include <cstdio>
#include <fmt/format.h>

namespace aegis {

std::int64_t wall_clock_us() {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

int report(const Failure& failure) {
    fmt::print(stderr, "aegisctl: {}\n", failure.text);
    return static_cast<int>(failure.exit);
}

void print_document(const boost::json::value& document) { fmt::print("{}\n", boost::json::serialize(document)); }

} // namespace aegis
