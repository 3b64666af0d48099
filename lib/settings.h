// The settings of aegisd.toml as tables: one row a key, with its type, default, range, documentation and the member it is
// bound to. The parser, the example file, aegisd.toml(5) and `aegisctl config show` read these rows and nothing else,
// so a new setting is one new row.
//
// A row's default and range are written as an operator would write them ("2ms", "180KiB"). The default is applied
// by the parser through the same code that reads the file, so it is checked like any other value.
#pragma once

#include "lib/config.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace aegis {

enum class SettingType : std::uint8_t {
    word,     // a name: letters, digits and . _ - only
    text,     // any text that is not empty
    path,     // an absolute path
    url,      // http://host[:port]/path
    choice,   // one of `choices`, in the order of the enumeration the member has
    duration, // lib/quantity.h
    size,
    rate,
    share,
    number,      // a plain number
    count,       // a whole number
    width,       // of a counter: 32 or 64 bits
    metric_name, // as Prometheus allows it
    label_name,
    labels,   // an inline table of label = "value"
    hostlist, // "swp[1-4],swp9", or an array of such
};

// Presence::optional leaves the member as it is: absent is a meaning of its own, told in the documentation.
enum class Presence : std::uint8_t { defaulted, required, optional };

struct SettingInfo {
    std::string_view key; // dotted below the table it belongs to: "select.deadline"; plain in a repeating table
    SettingType type{};
    Presence presence{};
    std::string_view fallback;        // the default, as written; with Presence::optional what absence means, in words
    std::string_view lowest, highest; // range, as written; both empty where the type has none
    std::span<const std::string_view> choices;
    std::string_view doc; // sentences; plain text
    std::string_view example{}; // as written in the file, where the default is none; empty: left out of the example
};

// Access to the member a row is bound to, in a Config or in one of the repeating tables.
template <class Owner>
using Member = std::variant<std::string& (*)(Owner&), std::optional<std::string>& (*)(Owner&), double& (*)(Owner&),
                            std::optional<double>& (*)(Owner&), std::uint32_t& (*)(Owner&), std::uint64_t& (*)(Owner&),
                            std::chrono::microseconds& (*)(Owner&), std::chrono::milliseconds& (*)(Owner&), bool& (*)(Owner&),
                            Mode& (*)(Owner&), Signal& (*)(Owner&), Kind& (*)(Owner&), std::vector<std::string>& (*)(Owner&),
                            std::vector<std::pair<std::string, std::string>>& (*)(Owner&)>;

template <class Owner> struct Setting {
    SettingInfo info;
    Member<Owner> member;
};

std::span<const Setting<Config>> scalar_settings();        // keys "section.name"
std::span<const Setting<SourceConfig>> source_settings();  // [[source]]
std::span<const Setting<MetricMapping>> metric_settings(); // [[source.metric]]
std::span<const Setting<PortGroup>> ports_settings();      // [[ports]]

// What a table is for, as the example file and the man page say it. `name` as in "[select]" or "[[source]]", without brackets.
struct SectionInfo {
    std::string_view name;
    std::string_view doc;
};
std::span<const SectionInfo> setting_sections(); // in the order of the file; the first has no name: keys above any table

// A value as TOML has it, free of the TOML library.
using RawValue = std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>,
                              std::vector<std::pair<std::string, std::string>>>;

// "a duration from 200us to 10ms": what to_string(ConfigError) puts after "expected".
std::string expectation(const SettingInfo& info);

// Checks type and range and stores the value; on failure says what was expected and leaves the owner as it was.
template <class Owner> std::expected<void, std::string> assign(const Setting<Owner>& setting, Owner& owner, const RawValue& value);

// Stores the row's default. Only for Presence::defaulted.
template <class Owner> void assign_default(const Setting<Owner>& setting, Owner& owner);

// The value in force, as it would be written in the file but without quotes; nothing for an absent optional.
template <class Owner> std::optional<std::string> written(const Setting<Owner>& setting, const Owner& owner);

// "duration", "size": the unit column of `aegisctl config show`.
std::string_view unit_name(SettingType type);

} // namespace aegis
