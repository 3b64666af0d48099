// Real topologies and discoveries, read where they are at hand (AEGIS_SHARED, default ../shared). Prints what was in each.
#include "lib/fabric_check.h"
#include "lib/fabric_input.h"
#include "lib/fabric_text.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace aegis;

namespace {

std::filesystem::path fixtures() {
    const char* shared = std::getenv("AEGIS_SHARED");
    return std::filesystem::path(shared ? shared : "../shared") / "fixtures" / "telemetry";
}

std::string content(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::size_t count(const Findings& findings, FindingKind kind) { return static_cast<std::size_t>(std::ranges::count(findings, kind, &Finding::kind)); }

struct Expected {
    std::string_view file;
    std::size_t switches, nodes, links, unknown_hosts;
};

// Counted by hand from the files, with grep.
constexpr Expected expectations[] = {
    {"topology/topograph-tree.conf", 19, 96, 114, 0},
    {"topology/slurm-3level-10000-nodes.conf", 529, 10'000, 10'528, 0},
    {"topology/multi-topology.yaml", 3, 4, 6, 0},
    {"lldp/lldpcli-json-two-neighbours.json", 1, 1, 2, 0},
    {"lldp/lldpcli-json0-two-neighbours.json", 1, 1, 2, 0},
    {"lldp/netq-topologyGraph.json", 3, 8, 79, 0},
    {"infiniband/ibnetdiscover-dgx-fabric.txt", 12, 39, 208, 44},
    {"infiniband/ibnetdiscover-p.txt", 4, 3, 6, 0},
};

} // namespace

TEST_CASE("every topology and discovery file of the shared fixtures is read") {
    if (!std::filesystem::exists(fixtures())) {
        WARN("skipped, not found: " << fixtures().string() << " (set AEGIS_SHARED)");
        return;
    }
    std::string table = fmt::format("{:<44} {:<24} {:>8} {:>6} {:>6} {:>8}\n", "file", "format", "switches", "nodes", "links", "unknown");
    for (const char* folder : {"topology", "lldp", "infiniband"})
        for (const auto& entry : std::filesystem::directory_iterator(fixtures() / folder)) {
            const std::string name = fmt::format("{}/{}", folder, entry.path().filename().string());
            const std::string text = content(entry.path());
            const auto expected = std::ranges::find(expectations, name, &Expected::file);
            const auto found = read_fabric_input({name, text, {.name = "node001", .is_switch = false}, {}});
            if (expected == std::end(expectations)) { // counters of a port, not a map
                CHECK(name == "infiniband/perfquery-x-leaf-2ports.txt");
                REQUIRE_FALSE(found.has_value());
                table += fmt::format("{:<44} {}\n", name, "refused: no map of a fabric");
                continue;
            }
            if (!found) FAIL(to_string(found.error().front()));
            const std::size_t unknown = count(found->findings, FindingKind::unknown_host);
            table += fmt::format("{:<44} {:<24} {:>8} {:>6} {:>6} {:>8}\n", name, to_string(*format_of(text)), found->switches.size(), found->nodes.size(),
                                 found->links.size(), unknown);
            INFO(name);
            CHECK(found->switches.size() == expected->switches);
            CHECK(found->nodes.size() == expected->nodes);
            CHECK(found->links.size() == expected->links);
            CHECK(unknown == expected->unknown_hosts);
        }
    fmt::print("{}", table);
}
