// What the administrator wrote, read and checked as a whole: aegisd.toml, and the topology.conf and port table it names.
//
// A Site is immutable; a reload builds another one. Threads share it by pointer. Failure is the list of every
// error found, each a line an operator can act on; nothing is half-loaded.
#pragma once

#include "lib/config.h"
#include "lib/fabric.h"
#include "lib/policy.h"
#include "lib/sample.h"

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace aegis {

struct Site {
    std::string file; // where the configuration was read
    Config config;
    Fabric fabric;
    Policy policy;                   // config.placement.policy, found
    std::optional<uid_t> slurm_uid;  // absent: no such user here, only root may connect
    EventTime loaded_at{};
};

// The files behind a Site, each good by itself: what aegisctl fabric check looks at.
struct SiteFiles {
    Config config;
    std::vector<TopologyLine> topology;
    std::vector<PortGroup> ports; // those of aegisd.toml, then those of the port table it names
};

std::expected<SiteFiles, std::vector<std::string>> read_site_files(const std::string& file);

using SitePointer = std::shared_ptr<const Site>;

// May wait for the user database (slurm_user) and the file system.
std::expected<SitePointer, std::vector<std::string>> load_site(const std::string& file, EventTime now);

// What `next` changes that only a restart can change; empty: a reload may take it.
std::vector<std::string> needs_restart(const Site& running, const Site& next);

} // namespace aegis
