// aegisctl config: check a file without aegisd, or show the settings of the aegisd that runs.
#include "aegisctl/commands.h"
#include "aegisctl/output.h"
#include "aegisctl/words.h"
#include "aegisd/site.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace aegis {

namespace json = boost::json;

namespace {

constexpr Column columns[] = {
    {"KEY", "key", as_text},
    {"VALUE", "value", as_text},
    {"DEFAULT", "default", as_text},
    {"TYPE", "unit", as_text},
};

} // namespace

// The same reading that aegisd does: aegisd.toml, then the topology.conf it names, then the fabric of both.
int run_config_check(const std::string& file, bool json) {
    const auto site = load_site(file, EventTime{});
    if (json) {
        json::array errors;
        if (!site)
            for (const std::string& line : site.error()) errors.push_back(json::string(line));
        print_document(json::object{{"file", file}, {"ok", site.has_value()}, {"errors", std::move(errors)}});
    } else if (site) {
        const Site& good = **site;
        fmt::print("{}: good: {} leaves and {} links in the fabric, {} sources\n", file, good.fabric.leaves().size(),
                   good.fabric.links().size(), good.config.sources.size());
        if (!good.slurm_uid)
            fmt::print("{}: warning: select.slurm_user = \"{}\": no such user here, so only root may connect\n", file,
                       good.config.select.slurm_user);
    } else {
        for (const std::string& line : site.error()) fmt::print(stderr, "{}\n", line);
    }
    return static_cast<int>(site ? Exit::ok : Exit::failed);
}

std::string config_text(const json::value& result) {
    return fmt::format("# {}\n", text_at(result, "file")) + table_text(columns, list_at(result, "settings"));
}

int run_config_show(const Asking& asking) { return ask_and_print(asking, {{"command", "config"}}, config_text); }

} // namespace aegis
