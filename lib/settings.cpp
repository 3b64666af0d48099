#include "lib/settings.h"

#include "lib/hostlist.h"
#include "lib/quantity.h"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <cassert>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <type_traits>

namespace aegis {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

constexpr double wrap_of_32_bits = 4'294'967'296.0;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Prometheus writes rpc_duration_seconds and interface, OpenTelemetry rpc.server.duration and net.host.name.
constexpr std::string_view metric_punctuation = "_:.-/", label_punctuation = "_.-/";

// First character: a letter or one of `extra`; then digits as well.
bool is_identifier(std::string_view text, std::string_view extra) {
    if (text.empty() || is_digit(text.front())) return false;
    return std::ranges::all_of(text, [&](char c) { return is_letter(c) || is_digit(c) || extra.contains(c); });
}

bool is_word(std::string_view text) {
    return !text.empty() &&
           std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-'; });
}

constexpr std::size_t socket_path_bytes = 107; // of sockaddr_un, with its end

// Which scheme goes with which type of source is for the reader of the file to say.
bool is_source_url(std::string_view text) {
    auto parsed = boost::urls::parse_uri(boost::core::string_view(text.data(), text.size()));
    if (!parsed || parsed->has_userinfo() || parsed->has_fragment()) return false;
    if (parsed->scheme() == "unix")
        return text.starts_with("unix:///") && !parsed->has_query() && parsed->path().size() > 1 && parsed->path().size() <= socket_path_bytes;
    if ((parsed->scheme() != "http" && parsed->scheme() != "redis") || parsed->host().empty()) return false;
    if (!parsed->has_port()) return true;
    std::uint16_t port = 0; // Boost's own port_number() wraps round for 65,536 and more
    std::string_view digits(parsed->port().data(), parsed->port().size());
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    return error == std::errc{} && port != 0;
}

std::optional<double> number_from(std::string_view text) {
    double value{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// A value with a range, in the base unit of its type.
std::optional<double> magnitude(SettingType type, std::string_view text) {
    switch (type) {
    case SettingType::duration:
        return duration_from(text).transform([](auto d) { return static_cast<double>(d.count()); });
    case SettingType::size:
        return size_from(text).transform([](auto bytes) { return static_cast<double>(bytes); });
    case SettingType::rate: return rate_from(text);
    case SettingType::share: return share_from(text);
    case SettingType::number:
    case SettingType::count: return number_from(text);
    case SettingType::word:
    case SettingType::text:
    case SettingType::path:
    case SettingType::url:
    case SettingType::choice:
    case SettingType::width:
    case SettingType::metric_name:
    case SettingType::label_name:
    case SettingType::labels:
    case SettingType::hostlist: return std::nullopt;
    }
    return std::nullopt;
}

std::optional<double> magnitude(SettingType type, const RawValue& value) {
    if (const auto* text = std::get_if<std::string>(&value))
        // numbers that stand for themselves are not quoted
        return type == SettingType::number || type == SettingType::count ? std::nullopt : magnitude(type, std::string_view(*text));
    if (const auto* whole = std::get_if<std::int64_t>(&value))
        return type == SettingType::share || type == SettingType::number || type == SettingType::count
                   ? std::optional(static_cast<double>(*whole))
                   : std::nullopt;
    if (const auto* real = std::get_if<double>(&value))
        return type == SettingType::share || type == SettingType::number ? std::optional(*real) : std::nullopt;
    return std::nullopt;
}

bool in_range(const SettingInfo& info, double value) {
    // written so that NaN is out of range
    return value >= *magnitude(info.type, info.lowest) && value <= *magnitude(info.type, info.highest);
}

bool text_is_valid(SettingType type, std::string_view text) {
    switch (type) {
    case SettingType::word: return is_word(text);
    case SettingType::text: return !text.empty();
    case SettingType::path: return text.starts_with('/');
    case SettingType::url: return is_source_url(text);
    case SettingType::metric_name: return is_identifier(text, metric_punctuation);
    case SettingType::label_name: return is_identifier(text, label_punctuation);
    case SettingType::choice:
    case SettingType::duration:
    case SettingType::size:
    case SettingType::rate:
    case SettingType::share:
    case SettingType::number:
    case SettingType::count:
    case SettingType::width:
    case SettingType::labels:
    case SettingType::hostlist: return false;
    }
    return false;
}

// Stores into whatever the row is bound to. A row whose type and member do not fit together is a bug in the table.
template <class Owner> void store(const Setting<Owner>& setting, Owner& owner, const auto& value) {
    std::visit(
        [&](auto access) {
            auto& member = access(owner);
            if constexpr (std::is_assignable_v<decltype(member), decltype(value)>)
                member = value;
            else
                assert(!"the row's type does not fit its member");
        },
        setting.member);
}

template <class Owner> void store_magnitude(const Setting<Owner>& setting, Owner& owner, double value) {
    std::visit(
        [&](auto access) {
            auto& member = access(owner);
            using T = std::remove_reference_t<decltype(member)>;
            if constexpr (std::is_same_v<T, std::chrono::microseconds>)
                member = std::chrono::microseconds(static_cast<std::int64_t>(value));
            else if constexpr (std::is_same_v<T, std::chrono::milliseconds>)
                member = std::chrono::milliseconds(static_cast<std::int64_t>(value) / 1000);
            else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::uint64_t>)
                member = static_cast<T>(value);
            else
                assert(!"the row's type does not fit its member");
        },
        setting.member);
}

template <class Owner> void store_choice(const Setting<Owner>& setting, Owner& owner, std::size_t index) {
    std::visit(
        [&](auto access) {
            auto& member = access(owner);
            using T = std::remove_reference_t<decltype(member)>;
            if constexpr (std::is_same_v<T, std::string>)
                member = setting.info.choices[index];
            else if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>)
                member = static_cast<T>(index);
            else
                assert(!"the row's type does not fit its member");
        },
        setting.member);
}

// A hostlist, or an array of hostlists; the error says which one is wrong and why.
std::expected<std::vector<std::string>, std::string> expanded(const RawValue& value) {
    std::vector<std::string> lists, names;
    if (const auto* text = std::get_if<std::string>(&value))
        lists = {*text};
    else if (const auto* array = std::get_if<std::vector<std::string>>(&value))
        lists = *array;
    for (const std::string& list : lists) {
        auto some = expand_hostlist(list);
        if (!some) return std::unexpected(fmt::format(" (\"{}\": {})", list, some.error()));
        names.insert(names.end(), some->begin(), some->end());
    }
    if (names.empty()) return std::unexpected(std::string());
    return names;
}

} // namespace

std::string expectation(const SettingInfo& info) {
    auto ranged = [&](std::string_view what) {
        std::string text = fmt::format("{} from {} to {}", what, info.lowest, info.highest);
        if (info.presence == Presence::defaulted) text += fmt::format(", as in \"{}\"", info.fallback);
        return text;
    };
    switch (info.type) {
    case SettingType::word: return "a name of letters, digits, dots, - and _";
    case SettingType::text: return "a text that is not empty";
    case SettingType::path: return "an absolute path";
    case SettingType::url: return "a URL like \"http://host:9100/metrics\", without user or password";
    case SettingType::choice: return fmt::format("{}\"{}\"", info.choices.size() > 1 ? "one of " : "", fmt::join(info.choices, "\", \""));
    case SettingType::duration: return ranged("a duration");
    case SettingType::size: return ranged("a size");
    case SettingType::rate: return fmt::format("a rate from {} to {}, as in \"100Gbit\"", info.lowest, info.highest);
    case SettingType::share: return ranged("a share");
    case SettingType::number: return fmt::format("a number from {} to {}", info.lowest, info.highest);
    case SettingType::count: return fmt::format("a whole number from {} to {}", info.lowest, info.highest);
    case SettingType::width: return "32 or 64";
    case SettingType::metric_name: return "a metric name of letters, digits and _ : . - /";
    case SettingType::label_name: return "a label name of letters, digits and _ . - /";
    case SettingType::labels: return "a table like { direction = \"tx\" }";
    case SettingType::hostlist: return "a hostlist like \"swp[1-4]\" or an array of them";
    }
    return {};
}

template <class Owner> std::expected<void, std::string> assign(const Setting<Owner>& setting, Owner& owner, const RawValue& value) {
    const SettingInfo& info = setting.info;
    const auto* text = std::get_if<std::string>(&value);
    switch (info.type) {
    case SettingType::word:
    case SettingType::text:
    case SettingType::path:
    case SettingType::url:
    case SettingType::metric_name:
    case SettingType::label_name:
        if (!text || !text_is_valid(info.type, *text)) break;
        store(setting, owner, *text);
        return {};
    case SettingType::choice: {
        if (!text) break;
        auto found = std::ranges::find(info.choices, *text);
        if (found == info.choices.end()) break;
        store_choice(setting, owner, static_cast<std::size_t>(found - info.choices.begin()));
        return {};
    }
    case SettingType::duration:
    case SettingType::size:
    case SettingType::rate:
    case SettingType::share:
    case SettingType::number:
    case SettingType::count: {
        auto number = magnitude(info.type, value);
        if (!number || !in_range(info, *number)) break;
        store_magnitude(setting, owner, *number);
        return {};
    }
    case SettingType::width: {
        const auto* bits = std::get_if<std::int64_t>(&value);
        if (!bits || (*bits != 32 && *bits != 64)) break;
        store(setting, owner, *bits == 32 ? std::optional(wrap_of_32_bits) : std::optional<double>());
        return {};
    }
    case SettingType::labels: {
        const auto* pairs = std::get_if<Labels>(&value);
        if (!pairs || !std::ranges::all_of(*pairs, [](const auto& pair) { return is_identifier(pair.first, label_punctuation); })) break;
        store(setting, owner, *pairs);
        return {};
    }
    case SettingType::hostlist: {
        auto names = expanded(value);
        if (!names) return std::unexpected(expectation(info) + names.error());
        store(setting, owner, *names);
        return {};
    }
    }
    return std::unexpected(expectation(info));
}

template <class Owner> void assign_default(const Setting<Owner>& setting, Owner& owner) {
    const SettingInfo& info = setting.info;
    assert(info.presence == Presence::defaulted);
    RawValue value = std::string(info.fallback);
    if (info.type == SettingType::number)
        value = *number_from(info.fallback);
    else if (info.type == SettingType::count || info.type == SettingType::width)
        value = static_cast<std::int64_t>(*number_from(info.fallback));
    [[maybe_unused]] auto stored = assign(setting, owner, value);
    assert(stored && "the row's default does not pass its own check");
}

template <class Owner> std::optional<std::string> written(const Setting<Owner>& setting, const Owner& owner) {
    const SettingInfo& info = setting.info;
    return std::visit(
        [&](auto access) -> std::optional<std::string> {
            // rows give access for writing as well; nothing is written here
            const auto& member = access(const_cast<Owner&>(owner));
            using T = std::remove_cvref_t<decltype(member)>;
            if constexpr (std::is_same_v<T, std::string>)
                return member.empty() ? std::nullopt : std::optional(member);
            else if constexpr (std::is_same_v<T, std::optional<std::string>>)
                return member;
            else if constexpr (std::is_same_v<T, std::optional<double>>)
                return member ? "32" : "64";
            else if constexpr (std::is_same_v<T, std::uint32_t>)
                return fmt::format("{}", member);
            else if constexpr (std::is_same_v<T, std::uint64_t>)
                return size_text(member);
            else if constexpr (std::is_same_v<T, double>) {
                if (info.type == SettingType::size) return size_text(static_cast<std::uint64_t>(member));
                if (info.type == SettingType::share) return share_text(member);
                if (info.type == SettingType::rate) return member > 0 ? std::optional(rate_text(member)) : std::nullopt;
                return fmt::format("{}", member);
            } else if constexpr (std::is_same_v<T, std::chrono::microseconds> || std::is_same_v<T, std::chrono::milliseconds>)
                return duration_text(member);
            else if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>)
                return std::string(info.choices[static_cast<std::size_t>(member)]);
            else if constexpr (std::is_same_v<T, Labels>) {
                std::vector<std::string> pairs;
                for (const auto& [name, wanted] : member) pairs.push_back(fmt::format("{}={}", name, wanted));
                return pairs.empty() ? std::nullopt : std::optional(fmt::format("{}", fmt::join(pairs, ",")));
            } else {
                static_assert(std::is_same_v<T, std::vector<std::string>>);
                return fold_hostlist(member);
            }
        },
        setting.member);
}

std::string_view unit_name(SettingType type) {
    switch (type) {
    case SettingType::duration: return "duration";
    case SettingType::size: return "size";
    case SettingType::rate: return "rate";
    case SettingType::share: return "share";
    case SettingType::number: return "number";
    case SettingType::count: return "count";
    case SettingType::width: return "bits";
    case SettingType::word:
    case SettingType::text:
    case SettingType::path:
    case SettingType::url:
    case SettingType::choice:
    case SettingType::metric_name:
    case SettingType::label_name:
    case SettingType::labels:
    case SettingType::hostlist: return "";
    }
    return "";
}

template std::expected<void, std::string> assign(const Setting<Config>&, Config&, const RawValue&);
template std::expected<void, std::string> assign(const Setting<SourceConfig>&, SourceConfig&, const RawValue&);
template std::expected<void, std::string> assign(const Setting<MetricMapping>&, MetricMapping&, const RawValue&);
template std::expected<void, std::string> assign(const Setting<PortGroup>&, PortGroup&, const RawValue&);
template void assign_default(const Setting<Config>&, Config&);
template void assign_default(const Setting<SourceConfig>&, SourceConfig&);
template void assign_default(const Setting<MetricMapping>&, MetricMapping&);
template void assign_default(const Setting<PortGroup>&, PortGroup&);
template std::optional<std::string> written(const Setting<Config>&, const Config&);
template std::optional<std::string> written(const Setting<SourceConfig>&, const SourceConfig&);
template std::optional<std::string> written(const Setting<MetricMapping>&, const MetricMapping&);
template std::optional<std::string> written(const Setting<PortGroup>&, const PortGroup&);

} // namespace aegis
