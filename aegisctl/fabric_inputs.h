// The inputs of aegisctl fabric import and check: files read, merged and mapped; what was found, as JSON and as text.
//
// Errors are lines for the operator, all that there are; with any of them there is no map.
#pragma once

#include "aegisctl/commands.h"
#include "lib/fabric_map.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <expected>

namespace aegis {

struct FabricReading {
    struct Input {
        std::string file;
        std::string_view format;
        std::size_t switches = 0, nodes = 0, cables = 0;
    };
    std::vector<Input> inputs;
    Discovery discovery; // merged
    FabricMap map;
};

std::expected<FabricReading, std::vector<std::string>> read_fabric(const FabricArguments& arguments);

// One line an input and one for the map.
std::string reading_text(const FabricReading& reading);
boost::json::object reading_json(const FabricReading& reading);

boost::json::array findings_json(const Findings& findings);

// Each finding in a line, then what it means, once where it is the same for several. Many of one kind that need no action are
// counted instead.
std::string findings_text(const Findings& findings);

std::size_t count_of(const Findings& findings, Severity severity);

} // namespace aegis
