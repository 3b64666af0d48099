// toml++ stays behind this file. Structure is walked here; what a value must look like is the settings table's business.
#include "lib/config.h"

#include "lib/presets.h"
#include "lib/settings.h"
#include "lib/toml_library.h"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <numeric>
#include <set>

namespace aegis {
namespace {

using std::chrono::milliseconds;

// What is shown of a value in a message; longer ones are cut.
constexpr std::size_t shown_value_bytes = 60;

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j)
            diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, diagonal + (a[i] != b[j])}));
    }
    return row.back();
}

// The known word that was most likely meant, if any is near enough: about one edit for every three letters.
std::optional<std::string_view> meant(std::string_view wrong, const std::vector<std::string_view>& known) {
    std::optional<std::string_view> best;
    std::size_t best_distance = std::max<std::size_t>(1, (wrong.size() + 1) / 3) + 1;
    for (std::string_view word : known)
        if (std::size_t distance = edit_distance(wrong, word); distance < best_distance) {
            best_distance = distance;
            best = word;
        }
    return best;
}

// Of a URL whose form is good.
bool is_loopback_url(std::string_view text) {
    const auto url = boost::urls::parse_uri(boost::core::string_view(text.data(), text.size())).value();
    if (url.host_type() == boost::urls::host_type::ipv4) return url.host_ipv4_address().is_loopback();
    if (url.host_type() == boost::urls::host_type::ipv6) return url.host_ipv6_address().is_loopback();
    return url.host() == "localhost";
}

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

std::optional<RawValue> raw_value(const toml::node& node) {
    if (const auto* text = node.as_string()) return RawValue(text->get());
    if (const auto* whole = node.as_integer()) return RawValue(whole->get());
    if (const auto* real = node.as_floating_point()) return RawValue(real->get());
    if (const auto* flag = node.as_boolean()) return RawValue(flag->get());
    if (const auto* array = node.as_array()) {
        std::vector<std::string> texts;
        for (const toml::node& element : *array) {
            if (!element.is_string()) return std::nullopt;
            texts.push_back(element.as_string()->get());
        }
        return RawValue(std::move(texts));
    }
    if (const auto* table = node.as_table()) {
        std::vector<std::pair<std::string, std::string>> pairs;
        for (const auto& [key, value] : *table) {
            if (!value.is_string()) return std::nullopt;
            pairs.emplace_back(std::string(key.str()), value.as_string()->get());
        }
        return RawValue(std::move(pairs));
    }
    return std::nullopt; // dates and times: no setting has one
}

class Reader {
public:
    Reader(std::string_view text, const std::string& file) : file_(file) {
        for (std::size_t from = 0; from <= text.size();) {
            std::size_t end = std::min(text.find('\n', from), text.size());
            lines_.push_back(text.substr(from, end - from));
            from = end + 1;
        }
    }

    Config read(const toml::table& root);
    std::vector<PortGroup> read_port_table(const toml::table& root);

    // In the order of the file.
    ConfigErrors errors() && {
        std::ranges::stable_sort(errors_, {}, [](const ConfigError& error) { return error.place.line; });
        return std::move(errors_);
    }

private:
    void fail(int line, std::string key, std::string value, std::string expected) {
        errors_.push_back({{file_, line}, std::move(key), std::move(value), std::move(expected)});
    }

    std::string as_written(const toml::node& node) const;
    void refuse_unknown(const toml::table& table, const std::string& prefix, std::string_view shown_table,
                        const std::vector<std::string_view>& known);
    template <class Owner>
    bool read_rows(const toml::table& table, std::string_view section, const std::string& prefix,
                   std::span<const Setting<Owner>> rows, Owner& owner, bool completes = false);
    template <class Owner, class Then>
    void read_repeating(const toml::table& parent, std::string_view key, const std::string& prefix, std::string_view shown_table,
                        std::span<const Setting<Owner>> rows, std::vector<std::string_view> more, std::vector<Owner>& owners,
                        Then then, bool (*begin)(const toml::table&, Owner&, std::span<const Owner>) = nullptr,
                        std::span<const Owner> models = {});
    void read_ports(const toml::table& root, std::vector<PortGroup>& ports);
    void read_source(const toml::table& table, SourceConfig& source, bool fine);
    void read_metrics(const toml::table& table, SourceConfig& source);
    void check_preset(const toml::table& table, const SourceConfig& source);
    void check_sonic(const toml::table& table, const SourceConfig& source);
    void check_metric(const toml::table& table, const MetricMapping& metric);
    void check_sources(const Config& config);
    void check_order(const toml::table& root, std::string_view lower, std::string_view higher, const Config& config);
    bool was_refused(std::string_view key) const {
        return std::ranges::any_of(errors_, [key](const ConfigError& error) { return error.key == key; });
    }
    void check_scalars(const toml::table& root, const Config& config);

    std::string file_;
    std::vector<std::string_view> lines_;
    ConfigErrors errors_;
};

// Empty for a table that is not inline: there is nothing short to show. toml++ counts columns in code points; a byte that
// continues one (10xxxxxx) is none of its own.
std::string Reader::as_written(const toml::node& node) const {
    if ((node.is_table() && !node.as_table()->is_inline()) || node.is_array_of_tables()) return {};
    auto [begin, end, path] = node.source();
    if (begin.line < 1 || begin.line > lines_.size()) return {};
    std::string_view line = lines_[begin.line - 1];
    auto byte_of = [line](std::size_t column) {
        std::size_t byte = 0;
        for (std::size_t seen = 0; byte < line.size(); ++byte)
            if ((static_cast<unsigned char>(line[byte]) & 0xc0) != 0x80 && ++seen == column) break;
        return byte;
    };
    std::size_t from = byte_of(begin.column);
    bool one_line = end.line == begin.line;
    std::string text(line.substr(from, one_line ? byte_of(end.column) - from : std::string_view::npos));
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.pop_back();
    if (text.size() > shown_value_bytes) {
        std::size_t cut = shown_value_bytes;
        while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
        return text.substr(0, cut) + "...";
    }
    return one_line ? text : text + " ...";
}

void Reader::refuse_unknown(const toml::table& table, const std::string& prefix, std::string_view shown_table,
                            const std::vector<std::string_view>& known) {
    for (const auto& [key, value] : table) {
        if (std::ranges::find(known, key.str()) != known.end()) continue;
        auto near = meant(key.str(), known);
        fail(static_cast<int>(key.source().begin.line), prefix + std::string(key.str()), as_written(value),
             near ? fmt::format("a key of {}; did you mean \"{}\"?", shown_table, *near)
                  : fmt::format("a key of {}: {}", shown_table, fmt::join(known, ", ")));
    }
}

// `section` is what the rows' keys have before the dot (empty where they are plain), `prefix` what messages show before the key.
// True where all is well: only then is it worth comparing one setting with another.
template <class Owner>
bool Reader::read_rows(const toml::table& table, std::string_view section, const std::string& prefix,
                       std::span<const Setting<Owner>> rows, Owner& owner, bool completes) {
    std::size_t errors_before = errors_.size();
    for (const Setting<Owner>& row : rows) {
        std::string_view key = row.info.key;
        std::size_t dot = key.find('.');
        if (key.substr(0, dot == key.npos ? 0 : dot) != section) continue;
        if (dot != key.npos) key.remove_prefix(dot + 1);
        const toml::node* node = table.get(key);
        if (!node) {
            if (row.info.presence == Presence::required && !completes)
                fail(line_of(table), prefix + std::string(key), "", expectation(row.info) + ", but it is missing");
            continue;
        }
        auto raw = raw_value(*node);
        auto stored = raw ? assign(row, owner, *raw) : std::unexpected(expectation(row.info));
        if (!stored) fail(line_of(*node), prefix + std::string(key), as_written(*node), stored.error());
    }
    return errors_.size() == errors_before;
}

template <class Owner> std::vector<std::string_view> keys_of(std::span<const Setting<Owner>> rows) {
    std::vector<std::string_view> keys;
    for (const auto& row : rows) keys.push_back(row.info.key);
    return keys;
}

template <class Owner, class Then>
void Reader::read_repeating(const toml::table& parent, std::string_view key, const std::string& prefix, std::string_view shown_table,
                            std::span<const Setting<Owner>> rows, std::vector<std::string_view> more, std::vector<Owner>& owners,
                            Then then, bool (*begin)(const toml::table&, Owner&, std::span<const Owner>), std::span<const Owner> models) {
    const toml::node* node = parent.get(key);
    if (!node) return;
    const toml::array* tables = node->as_array();
    if (!tables || !std::ranges::all_of(*tables, [](const toml::node& element) { return element.is_table(); })) {
        fail(line_of(*node), prefix.substr(0, prefix.size() - 1), as_written(*node),
             fmt::format("tables that begin with {}", shown_table));
        return;
    }
    std::vector<std::string_view> known = keys_of(rows);
    known.insert(known.end(), more.begin(), more.end());
    for (const toml::node& element : *tables) {
        const toml::table& table = *element.as_table();
        Owner owner;
        owner.place = {file_, line_of(table)};
        for (const Setting<Owner>& row : rows)
            if (row.info.presence == Presence::defaulted) assign_default(row, owner);
        refuse_unknown(table, prefix, shown_table, known);
        const bool completes = begin && begin(table, owner, models);
        bool fine = read_rows(table, "", prefix, rows, owner, completes);
        then(table, owner, fine);
        owners.push_back(std::move(owner));
    }
}

void Reader::check_metric(const toml::table& table, const MetricMapping& metric) {
    if (metric.sw.empty() == metric.switch_label.empty() || (table.contains("switch") && table.contains("switch_label")))
        fail(line_of(table), "source.metric", "", "exactly one of switch_label and switch");
    const toml::node& kind = table.contains("kind") ? *table.get("kind") : table; // told by the preset
    if (metric.signal == Signal::queue_depth && metric.kind == Kind::counter)
        fail(line_of(kind), "source.metric.kind", as_written(kind), "\"snapshot\" or \"peak\": a depth does not accumulate");
    if (metric.signal != Signal::queue_depth && metric.kind != Kind::counter)
        fail(line_of(kind), "source.metric.kind", as_written(kind), "\"counter\": only queue_depth is read as it stands");
    if (const toml::node* bits = table.get("counter_bits"); bits && metric.wraps_at && metric.kind != Kind::counter)
        fail(line_of(*bits), "source.metric.counter_bits", as_written(*bits), "kind = \"counter\" beside it");
}

// What goes with type "sonic" and with no other, and that no password crosses a network in the clear.
void Reader::check_sonic(const toml::table& table, const SourceConfig& source) {
    const toml::node& url = *table.get("url");
    const bool is_sonic = source.type == "sonic", is_local = source.url.starts_with("unix:") || is_loopback_url(source.url);
    if (is_sonic == source.url.starts_with("http:"))
        fail(line_of(url), "source.url", as_written(url), is_sonic ? "unix:///PATH or redis://HOST:PORT" : "http://HOST:PORT/PATH");
    for (std::string_view key : {"switch", "port_names", "username", "password_file"}) {
        const toml::node* node = table.get(key);
        const bool is_default = key == "port_names" && !source.port_aliases; // says nothing
        const bool is_of_preset = key == "switch" && source.preset;
        if (node && !is_sonic && !is_default && !is_of_preset)
            fail(line_of(*node), fmt::format("source.{}", key), as_written(*node), key == "switch" ? "type = \"sonic\" or a preset beside it" : "type = \"sonic\" beside it");
    }
    if (!is_sonic) return;
    if (source.sw.empty()) fail(line_of(table), "source.switch", "", "the switch's name, as [[ports]] has it, but it is missing");
    if (const toml::node* node = table.get("metric"))
        fail(line_of(*node), "source.metric", "", "no [[source.metric]]: what a SONiC switch counts is known");
    if (source.username && !source.password_file)
        fail(line_of(*table.get("username")), "source.username", as_written(*table.get("username")), "password_file beside it");
    if (source.password_file && !is_local)
        fail(line_of(*table.get("password_file")), "source.password_file", as_written(*table.get("password_file")),
             "a unix:// URL or a loopback address beside it, so that no password crosses the network in the clear");
}

// Presets of Prometheus exporters fit whatever asks for their metrics.
void Reader::check_preset(const toml::table& table, const SourceConfig& source) {
    const toml::node& node = *table.get("preset");
    const Preset* preset = preset_named(*source.preset);
    if (!preset) {
        std::vector<std::string_view> names;
        for (const Preset& known : presets()) names.push_back(known.name);
        return fail(line_of(node), "source.preset", as_written(node), fmt::format("one of \"{}\"", fmt::join(names, "\", \"")));
    }
    const bool fits = source.type == to_string(preset->via) || (preset->via == PresetVia::prometheus && source.type == "promql");
    if (!fits)
        return fail(line_of(node), "source.preset", as_written(node),
                    fmt::format("a preset for type = \"{}\"; this is one for \"{}\"", source.type, to_string(preset->via)));
    const bool named = std::ranges::none_of(preset->metrics, [](const PresetMetric& metric) { return metric.switch_label.empty(); });
    if (source.sw.empty() && !named && source.type != "sonic")
        fail(line_of(table), "source.switch", "", "the switch's name beside this preset, whose exporter does not tell it, but it is missing");
}

// The preset's rows, each as the site's [[source.metric]] of that name changes it, then the site's others.
void Reader::read_metrics(const toml::table& table, SourceConfig& source) {
    std::vector<MetricMapping> models;
    const Preset* preset = source.preset ? preset_named(*source.preset) : nullptr;
    if (preset && preset->via != PresetVia::sonic_redis)
        for (const PresetMetric& metric : preset->metrics) {
            models.push_back(mapping_of(metric, source.sw));
            models.back().place = source.place;
        }
    const auto begin = +[](const toml::table& inner, MetricMapping& metric, std::span<const MetricMapping> all) {
        const auto model = std::ranges::find(all, inner["name"].value_or(std::string()), &MetricMapping::name);
        if (model == all.end()) return false;
        const ConfigPlace place = metric.place;
        metric = *model;
        metric.place = place;
        if (inner.contains("switch")) metric.switch_label.clear();
        if (inner.contains("switch_label")) metric.sw.clear();
        return true;
    };
    std::vector<MetricMapping> own;
    read_repeating<MetricMapping>(
        table, "metric", "source.metric.", "[[source.metric]]", metric_settings(), {}, own,
        [this](const toml::table& inner, const MetricMapping& metric, bool inner_fine) {
            if (inner_fine) check_metric(inner, metric);
        },
        begin, std::span<const MetricMapping>(models));
    for (MetricMapping& model : models)
        if (std::ranges::find(own, model.name, &MetricMapping::name) == own.end()) source.metrics.push_back(std::move(model));
    std::ranges::move(own, std::back_inserter(source.metrics));
}

void Reader::read_source(const toml::table& table, SourceConfig& source, bool fine) {
    if (fine) check_sonic(table, source);
    if (const toml::node* timeout = table.get("timeout"); !timeout)
        source.timeout = std::min(source.interval * 4 / 5, milliseconds(10'000));
    else if (fine && source.timeout >= source.interval)
        fail(line_of(*timeout), "source.timeout", as_written(*timeout), "less than the interval");
    if (fine && source.preset) check_preset(table, source);
    read_metrics(table, source);
    if (!table.contains("metric") && !source.preset && source.type != "sonic") fail(line_of(table), "source.metric", "", "at least one [[source.metric]] after this [[source]]");
    std::map<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>, int> seen;
    for (const MetricMapping& metric : source.metrics) {
        if (metric.name.empty()) continue;
        auto match = metric.match;
        std::ranges::sort(match);
        auto [first, is_new] = seen.try_emplace({metric.name, match}, metric.place.line);
        if (!is_new)
            fail(metric.place.line, "source.metric.name", fmt::format("\"{}\"", metric.name),
                 fmt::format("another name or another match; line {} maps the same samples", first->second));
    }
}

void Reader::check_sources(const Config& config) {
    std::map<std::string, int> seen;
    for (const SourceConfig& source : config.sources) {
        if (source.name.empty()) continue;
        auto [first, is_new] = seen.try_emplace(source.name, source.place.line);
        if (!is_new)
            fail(source.place.line, "source.name", fmt::format("\"{}\"", source.name),
                 fmt::format("a name no other source has; line {} has it", first->second));
    }
}

const Setting<Config>& scalar(std::string_view key) {
    return *std::ranges::find(scalar_settings(), key, [](const Setting<Config>& row) { return row.info.key; });
}

const toml::node* node_at(const toml::table& root, std::string_view key) { return root.at_path(key).node(); }

// Both settings have one type with a range; `higher` must be above `lower`. Said of whichever the file has, the higher first.
void Reader::check_order(const toml::table& root, std::string_view lower, std::string_view higher, const Config& config) {
    if (was_refused(lower) || was_refused(higher)) return;
    auto shown = [&](std::string_view key) {
        const toml::node* node = node_at(root, key);
        return node ? as_written(*node) : fmt::format("\"{}\"", written(scalar(key), config).value_or(""));
    };
    if (const toml::node* node = node_at(root, higher))
        fail(line_of(*node), std::string(higher), shown(higher), fmt::format("more than {}, which is {}", lower, shown(lower)));
    else if (const toml::node* other = node_at(root, lower))
        fail(line_of(*other), std::string(lower), shown(lower), fmt::format("less than {}, which is {}", higher, shown(higher)));
}

void Reader::check_scalars(const toml::table& root, const Config& config) {
    if (config.pressure.queue_max_bytes <= config.pressure.queue_min_bytes)
        check_order(root, "pressure.queue_min", "pressure.queue_max", config);
    if (config.pressure.slow <= config.pressure.fast) check_order(root, "pressure.fast", "pressure.slow", config);
    if (config.freshness.lagged <= config.freshness.fresh) check_order(root, "freshness.fresh", "freshness.lagged", config);
    if (config.freshness.stale <= config.freshness.lagged) check_order(root, "freshness.lagged", "freshness.stale", config);
    if (config.select.socket == config.control.socket) {
        const toml::node* node = node_at(root, "control.socket");
        if (!node) node = node_at(root, "select.socket");
        fail(node ? line_of(*node) : 0, "control.socket", fmt::format("\"{}\"", config.control.socket), "another path than select.socket");
    }
}

void Reader::read_ports(const toml::table& root, std::vector<PortGroup>& ports) {
    read_repeating<PortGroup>(root, "ports", "ports.", "[[ports]]", ports_settings(), {}, ports,
                              [](const toml::table& table, PortGroup& group, bool) {
                                  if (!table.contains("leaf")) group.leaves = {group.sw};
                              });
}

std::vector<PortGroup> Reader::read_port_table(const toml::table& root) {
    std::vector<PortGroup> ports;
    refuse_unknown(root, "", "a port table", {"ports"});
    read_ports(root, ports);
    return ports;
}

Config Reader::read(const toml::table& root) {
    Config config;
    for (const Setting<Config>& row : scalar_settings())
        if (row.info.presence == Presence::defaulted) assign_default(row, config);

    std::vector<std::string_view> top;
    std::map<std::string_view, std::vector<std::string_view>> sections;
    for (std::string_view key : keys_of(scalar_settings())) {
        std::size_t dot = key.find('.');
        if (dot == key.npos)
            top.push_back(key);
        else
            sections[key.substr(0, dot)].push_back(key.substr(dot + 1));
    }
    read_rows(root, "", "", scalar_settings(), config);
    for (const auto& [section, keys] : sections) {
        top.push_back(section);
        const toml::node* node = root.get(section);
        if (!node) continue;
        if (const toml::table* table = node->as_table()) {
            std::string prefix = fmt::format("{}.", section);
            refuse_unknown(*table, prefix, fmt::format("[{}]", section), keys);
            read_rows(*table, section, prefix, scalar_settings(), config);
        } else
            fail(line_of(*node), std::string(section), as_written(*node), fmt::format("a table that begins with [{}]", section));
    }
    top.insert(top.end(), {"ports", "source"});
    refuse_unknown(root, "", "the file", top);

    read_ports(root, config.ports);
    read_repeating<SourceConfig>(root, "source", "source.", "[[source]]", source_settings(), {"metric"}, config.sources,
                                 [this](const toml::table& table, SourceConfig& source, bool fine) { read_source(table, source, fine); });
    check_scalars(root, config);
    check_sources(config);
    return config;
}

// What `read` makes of the file, if neither TOML nor the reader has anything against it.
template <class Result>
std::expected<Result, ConfigErrors> parse(std::string_view text, const std::string& file, Result (Reader::*read)(const toml::table&)) {
    toml::parse_result parsed = toml::parse(text);
    if (!parsed) {
        const toml::parse_error& error = parsed.error();
        return std::unexpected(ConfigErrors{{{file, static_cast<int>(error.source().begin.line)},
                                             "",
                                             "",
                                             fmt::format("valid TOML: {} (column {})", error.description(), error.source().begin.column)}});
    }
    Reader reader(text, file);
    Result result = (reader.*read)(parsed.table());
    ConfigErrors errors = std::move(reader).errors();
    if (!errors.empty()) return std::unexpected(std::move(errors));
    return result;
}

} // namespace

std::expected<Config, ConfigErrors> parse_config(std::string_view text, const std::string& file) { return parse(text, file, &Reader::read); }

std::expected<std::vector<PortGroup>, ConfigErrors> parse_port_table(std::string_view text, const std::string& file) {
    return parse(text, file, &Reader::read_port_table);
}

} // namespace aegis
