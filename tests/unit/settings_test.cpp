#include "lib/policy.h"
#include "lib/settings.h"
#include "lib/settings_text.h"

#include <catch2/catch.hpp>
#include <set>

using namespace aegis;

namespace {

void check_each(const auto& rows) {
    std::set<std::string_view> keys;
    for (const auto& row : rows) {
        const SettingInfo& info = row.info;
        INFO(info.key);
        CHECK(keys.insert(info.key).second);
        CHECK_FALSE(info.doc.empty());
        CHECK(info.doc.ends_with('.'));
        CHECK(info.lowest.empty() == info.highest.empty());
        CHECK((info.type == SettingType::choice) == !info.choices.empty());
        CHECK((info.presence == Presence::required) == info.fallback.empty());
        CHECK_FALSE(expectation(info).empty());
    }
}

// The ends of a range are good, and shown again as they were written.
template <class Owner> void check_range(const Setting<Owner>& row) {
    const SettingInfo& info = row.info;
    if (info.lowest.empty() || info.type == SettingType::number || info.type == SettingType::count) return;
    INFO(info.key);
    for (std::string_view end : {info.lowest, info.highest}) {
        Owner owner{};
        REQUIRE(assign(row, owner, RawValue(std::string(end))).has_value());
        const auto again = written(row, owner);
        REQUIRE(again.has_value());
        Owner other{};
        REQUIRE(assign(row, other, RawValue(*again)).has_value());
        CHECK(written(row, other) == again);
    }
}

template <class Owner> void check_default(const Setting<Owner>& row) {
    if (row.info.presence != Presence::defaulted) return;
    INFO(row.info.key);
    Owner owner{};
    assign_default(row, owner);
    CHECK(written(row, owner) == std::string(row.info.fallback));
}

const Setting<Config>& scalar(std::string_view key) {
    for (const auto& row : scalar_settings())
        if (row.info.key == key) return row;
    FAIL("no setting " << key);
    return scalar_settings()[0];
}

std::string uncommented(const std::string& example) {
    std::string text;
    for (std::size_t from = 0; from < example.size();) {
        const std::size_t end = example.find('\n', from);
        const std::string line = example.substr(from, end - from);
        from = end + 1;
        if (line.starts_with("#") && line.size() > 1 && line[1] != ' ') text += line.substr(1) + "\n";
    }
    return text;
}

} // namespace

TEST_CASE("every row of the settings tables is whole") {
    check_each(scalar_settings());
    check_each(source_settings());
    check_each(metric_settings());
    check_each(ports_settings());
}

TEST_CASE("the default of every setting is written in its shortest form") {
    for (const auto& row : scalar_settings()) check_default(row);
    for (const auto& row : source_settings()) check_default(row);
    for (const auto& row : metric_settings()) check_default(row);
    for (const auto& row : ports_settings()) check_default(row);
}

TEST_CASE("the ends of every range are allowed and read back as shown") {
    for (const auto& row : scalar_settings()) check_range(row);
    for (const auto& row : source_settings()) check_range(row);
    for (const auto& row : metric_settings()) check_range(row);
    for (const auto& row : ports_settings()) check_range(row);
}

TEST_CASE("choices stand in the order of the enumerations they name") {
    for (Mode mode : {Mode::off, Mode::observe, Mode::steer}) {
        Config config;
        REQUIRE(assign(scalar("initial_mode"), config, RawValue(std::string(to_string(mode)))).has_value());
        CHECK(config.initial_mode == mode);
    }
    const std::pair<const char*, Signal> signals[] = {
        {"queue_depth", Signal::queue_depth}, {"ecn_marked_packets", Signal::ecn_marked_packets}, {"packets", Signal::packets},
        {"bytes", Signal::bytes}, {"drops", Signal::drops}, {"pfc_pause", Signal::pfc_pause}, {"transmit_wait", Signal::transmit_wait}};
    const std::pair<const char*, Kind> kinds[] = {{"counter", Kind::counter}, {"snapshot", Kind::snapshot}, {"peak", Kind::peak}};
    for (const auto& row : metric_settings()) {
        MetricMapping metric;
        if (row.info.key == "signal")
            for (const auto& [name, signal] : signals) {
                REQUIRE(assign(row, metric, RawValue(std::string(name))).has_value());
                CHECK(metric.signal == signal);
            }
        if (row.info.key == "kind")
            for (const auto& [name, kind] : kinds) {
                REQUIRE(assign(row, metric, RawValue(std::string(name))).has_value());
                CHECK(metric.kind == kind);
            }
    }
}

TEST_CASE("the policies a file may name are those that exist") {
    const auto choices = scalar("placement.policy").info.choices;
    std::vector<std::string> names;
    for (const Policy& policy : built_in_policies()) names.push_back(policy.name);
    CHECK(std::vector<std::string>(choices.begin(), choices.end()) == names);
}

TEST_CASE("a refused value leaves what was there") {
    Config config;
    config.select.deadline = std::chrono::microseconds(777);
    CHECK(assign(scalar("select.deadline"), config, RawValue(std::string("1h"))).error() == "a duration from 200us to 10ms, as in \"2ms\"");
    CHECK(config.select.deadline == std::chrono::microseconds(777));
}

TEST_CASE("the example file names every setting, and without its comment signs it is valid and changes no default") {
    const std::string example = example_config();
    const std::string text = uncommented(example);
    auto config = parse_config(text, "aegisd.toml");
    if (!config)
        for (const ConfigError& error : config.error()) UNSCOPED_INFO(to_string(error));
    REQUIRE(config.has_value());
    const Config defaults = parse_config("", "aegisd.toml").value();
    for (const auto& row : scalar_settings()) {
        INFO(row.info.key);
        CHECK(written(row, *config) == written(row, defaults));
    }
    CHECK(config->ports.size() == 1);
    REQUIRE(config->sources.size() == 1);
    CHECK(config->sources[0].metrics.size() == 1);

    // as installed nothing is set
    CHECK(parse_config(example, "aegisd.toml").has_value());
    CHECK(parse_config(example, "aegisd.toml")->sources.empty());

    const auto named = [&](const auto& rows) {
        for (const auto& row : rows) {
            const std::string name(row.info.key.substr(row.info.key.find('.') + 1));
            INFO(name);
            CHECK((example.find("\n#" + name + " = ") != example.npos || example.find("\n# " + name + " (") != example.npos));
        }
    };
    named(scalar_settings());
    named(source_settings());
    named(metric_settings());
    named(ports_settings());
}

TEST_CASE("the manual's settings are plain mdoc: every key is there, no line of prose begins with a control character") {
    const std::string text = settings_mdoc();
    for (const auto& row : metric_settings()) CHECK(text.find(".It Ic " + std::string(row.info.key) + " No = Ar ") != text.npos);
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = text.find('\n', from);
        const std::string line = text.substr(from, end - from);
        from = end + 1;
        CHECK_FALSE(line.empty());
        CHECK_FALSE(line.starts_with("'"));
        if (line.starts_with(".")) CHECK(std::set<std::string>{".Ss", ".Bl", ".It", ".Li", ".El"}.contains(line.substr(0, 3)));
    }
}
