#include "lib/settings_text.h"

#include "lib/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace aegis {
namespace {

constexpr std::size_t line_width = 100;

// "select" of "select.socket"; empty for keys above any table and in repeating tables.
std::string_view section_of(std::string_view key) {
    const std::size_t dot = key.find('.');
    return dot == key.npos ? std::string_view() : key.substr(0, dot);
}

std::string_view name_of(std::string_view key) { return key.substr(key.find('.') + 1); }

std::string_view placeholder(SettingType type) {
    switch (type) {
    case SettingType::word: return "name";
    case SettingType::text: return "text";
    case SettingType::path: return "path";
    case SettingType::url: return "url";
    case SettingType::choice: return "word";
    case SettingType::duration: return "duration";
    case SettingType::size: return "size";
    case SettingType::rate: return "rate";
    case SettingType::share: return "share";
    case SettingType::number: return "number";
    case SettingType::count: return "number";
    case SettingType::width: return "bits";
    case SettingType::metric_name: return "name";
    case SettingType::label_name: return "label";
    case SettingType::labels: return "table";
    case SettingType::hostlist: return "hostlist";
    }
    return {};
}

bool is_bare(SettingType type) {
    return type == SettingType::number || type == SettingType::count || type == SettingType::width || type == SettingType::labels;
}

// What may be written, after the documentation says what for; empty where the type's name says it all.
std::string allowed(const SettingInfo& info) {
    if (!info.choices.empty()) return info.choices.size() > 1 ? fmt::format("One of {}.", fmt::join(info.choices, ", ")) : "";
    if (!info.lowest.empty()) return fmt::format("From {} to {}.", info.lowest, info.highest);
    if (info.type == SettingType::width) return "32 or 64.";
    if (info.type == SettingType::hostlist) return "A hostlist, or an array of them.";
    return {};
}

std::string absence(const SettingInfo& info) {
    switch (info.presence) {
    case Presence::defaulted: return {};
    case Presence::required: return "Required.";
    case Presence::optional: return fmt::format("If absent: {}.", info.fallback);
    }
    return {};
}

std::string wrapped(std::string_view text) {
    std::string out, line = "#";
    while (!text.empty()) {
        const std::size_t space = text.find(' ');
        const std::string_view word = text.substr(0, space);
        if (line.size() + 1 + word.size() > line_width) {
            out += line + "\n";
            line = "#";
        }
        line += fmt::format(" {}", word);
        text.remove_prefix(space == text.npos ? text.size() : space + 1);
    }
    return out + line + "\n";
}

std::string joined(std::initializer_list<std::string> parts) {
    std::string text;
    for (const std::string& part : parts)
        if (!part.empty()) text += (text.empty() ? "" : " ") + part;
    return text;
}

std::string example_rows(const auto& rows, std::string_view section) {
    std::string text;
    for (const auto& row : rows) {
        const SettingInfo& info = row.info;
        if (section_of(info.key) != section) continue;
        const std::string_view name = name_of(info.key);
        std::string value(info.example);
        if (info.presence == Presence::defaulted)
            value = is_bare(info.type) ? std::string(info.fallback) : fmt::format("\"{}\"", info.fallback);
        const std::string prose = joined({std::string(info.doc), allowed(info), absence(info)});
        text += "\n";
        text += value.empty() ? wrapped(fmt::format("{} ({}): {}", name, placeholder(info.type), prose))
                              : wrapped(prose) + fmt::format("#{} = {}\n", name, value);
    }
    return text;
}

// In running text a line that begins with a dot or an apostrophe would be a macro, and a backslash an escape; a sentence begins a line.
std::string mdoc_prose(std::string_view text) {
    const auto begins_sentence = [text](std::size_t space) {
        if (space == 0 || space + 1 >= text.size()) return false;
        const char before = text[space - 1], after = text[space + 1];
        return (before == '.' || before == ':') && after >= 'A' && after <= 'Z';
    };
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\')
            out += "\\e";
        else if (text[i] == ' ' && begins_sentence(i))
            out += '\n';
        else
            out += text[i];
    }
    return out + "\n";
}

std::string mdoc_rows(const auto& rows, std::string_view section) {
    std::string text = ".Bl -tag -width Ds\n";
    for (const auto& row : rows) {
        const SettingInfo& info = row.info;
        if (section_of(info.key) != section) continue;
        text += fmt::format(".It Ic {} No = Ar {}\n", name_of(info.key), placeholder(info.type));
        text += mdoc_prose(joined({std::string(info.doc), allowed(info), absence(info)}));
        if (info.presence == Presence::defaulted) text += fmt::format("Default:\n.Li {} .\n", info.fallback);
    }
    return text + ".El\n";
}

// Every section with its rows, in the order of the file.
template <class Heading, class Rows> std::string all_sections(Heading heading, Rows rows_of) {
    std::string text;
    for (const SectionInfo& section : setting_sections()) {
        text += heading(section);
        if (section.name == "[ports]")
            text += rows_of(ports_settings(), "");
        else if (section.name == "[source]")
            text += rows_of(source_settings(), "");
        else if (section.name == "[source.metric]")
            text += rows_of(metric_settings(), "");
        else
            text += rows_of(scalar_settings(), section.name);
    }
    return text;
}

} // namespace

std::string example_config() {
    return wrapped("aegisd.toml: the configuration of aegisd, see aegisd.toml(5). Check it with \"aegisctl config check\". What is commented out "
                   "below is the default, or an example in tables that repeat.") +
           all_sections(
               [](const SectionInfo& section) {
                   if (section.name.empty()) return std::string();
                   return fmt::format("\n\n{}#[{}]\n", wrapped(section.doc), section.name);
               },
               [](const auto& rows, std::string_view section) { return example_rows(rows, section); });
}

std::string settings_mdoc() {
    return all_sections(
        [](const SectionInfo& section) {
            return fmt::format(".Ss {}\n{}", section.name.empty() ? std::string("Above any table") : fmt::format("[{}]", section.name),
                               section.name.empty() ? std::string() : mdoc_prose(section.doc));
        },
        [](const auto& rows, std::string_view section) { return mdoc_rows(rows, section); });
}

} // namespace aegis
