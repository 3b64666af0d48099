// The settings tables as text for people: the example file, and the SETTINGS section of aegisd.toml(5).
#pragma once

#include <string>

namespace aegis {

// A complete aegisd.toml in which every setting stands, commented out, with its default. Lines that begin with "# " are prose,
// "#" and no space is a setting: without the "#" it is valid and, for what has a default, changes nothing.
std::string example_config();

// In mdoc, to follow ".Sh SETTINGS".
std::string settings_mdoc();

} // namespace aegis
