#include "aegisd/site.h"

#include "aegisd/text_file.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <iterator>
#include <pwd.h>

namespace aegis {

namespace {

std::vector<std::string> lines_of(const ConfigErrors& errors) {
    std::vector<std::string> lines;
    for (const ConfigError& error : errors) lines.push_back(to_string(error));
    return lines;
}

std::optional<uid_t> uid_of(const std::string& user) {
    if (const passwd* entry = ::getpwnam(user.c_str())) return entry->pw_uid;
    uid_t uid = 0;
    const char* end = user.data() + user.size();
    if (auto [stop, failure] = std::from_chars(user.data(), end, uid); failure == std::errc{} && stop == end) return uid;
    return std::nullopt;
}

} // namespace

std::expected<SiteFiles, std::vector<std::string>> read_site_files(const std::string& file) {
    const auto text = read_text_file(file);
    if (!text) return std::unexpected(std::vector{text.error()});
    auto config = parse_config(*text, file);
    if (!config) return std::unexpected(lines_of(config.error()));

    const auto topology_text = read_text_file(config->fabric.topology);
    if (!topology_text)
        return std::unexpected(std::vector{fmt::format("{}: fabric.topology: {}", file, topology_text.error())});
    auto topology = parse_topology(*topology_text, config->fabric.topology);
    if (!topology) return std::unexpected(lines_of(topology.error()));

    std::vector<PortGroup> ports = config->ports;
    if (const auto& table_file = config->fabric.ports) {
        const auto table_text = read_text_file(*table_file);
        if (!table_text) return std::unexpected(std::vector{fmt::format("{}: fabric.ports: {}", file, table_text.error())});
        auto table = parse_port_table(*table_text, *table_file);
        if (!table) return std::unexpected(lines_of(table.error()));
        std::ranges::move(*table, std::back_inserter(ports));
    }
    return SiteFiles{std::move(*config), std::move(*topology), std::move(ports)};
}

std::expected<SitePointer, std::vector<std::string>> load_site(const std::string& file, EventTime now) {
    auto files = read_site_files(file);
    if (!files) return std::unexpected(std::move(files.error()));
    Config& config = files->config;
    auto fabric = Fabric::build(files->topology, files->ports);
    if (!fabric) return std::unexpected(lines_of(fabric.error()));

    const Policy* policy = find_policy(config.placement.policy);
    if (!policy) {
        std::string names;
        for (const Policy& known : built_in_policies()) names += (names.empty() ? "" : ", ") + known.name;
        return std::unexpected(std::vector{fmt::format("{}: placement.policy = \"{}\": expected one of {}", file,
                                                       config.placement.policy, names)});
    }
    const std::optional<uid_t> slurm_uid = uid_of(config.select.slurm_user);
    return std::make_shared<const Site>(
        Site{file, std::move(config), std::move(*fabric), *policy, slurm_uid, now});
}

std::vector<std::string> needs_restart(const Site& running, const Site& next) {
    std::vector<std::string> lines;
    const auto compare = [&](const char* key, const std::string& before, const std::string& after) {
        if (before != after)
            lines.push_back(fmt::format("{}: {} = \"{}\": expected \"{}\" as long as this aegisd runs; restart it to "
                                        "change this",
                                        next.file, key, after, before));
    };
    compare("select.socket", running.config.select.socket, next.config.select.socket);
    compare("select.slurm_user", running.config.select.slurm_user, next.config.select.slurm_user); // owns the sockets
    compare("control.socket", running.config.control.socket, next.config.control.socket);
    compare("store.directory", running.config.store.directory, next.config.store.directory);
    return lines;
}

} // namespace aegis
