// What the plugin tells of a job beside nodes: NAME=value lines (aegis-protocol(7)), as Slurm's job environment has them.
#pragma once

#include <string>
#include <string_view>

namespace aegis {

// For the record and the reader only; nothing is decided on them. Absent ones are empty.
struct JobFacts {
    std::string name;
    std::string user; // the name where Slurm gave one, else the uid
    std::string account;
    std::string partition;
};

// Unknown names are skipped, so that a newer plugin may tell more. A line without '=' is skipped as well.
JobFacts parse_job_facts(std::string_view lines);

} // namespace aegis
