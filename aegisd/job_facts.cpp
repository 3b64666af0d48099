#include "aegisd/job_facts.h"

namespace aegis {

JobFacts parse_job_facts(std::string_view lines) {
    JobFacts facts;
    std::string_view uid;
    while (!lines.empty()) {
        const std::size_t end = lines.find('\n');
        const std::string_view line = lines.substr(0, end);
        lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string_view name = line.substr(0, equals), value = line.substr(equals + 1);
        if (name == "SLURM_JOB_NAME") facts.name = value;
        else if (name == "SLURM_JOB_USER") facts.user = value;
        else if (name == "SLURM_JOB_UID") uid = value;
        else if (name == "SLURM_JOB_ACCOUNT") facts.account = value;
        else if (name == "SLURM_JOB_PARTITION") facts.partition = value;
    }
    if (facts.user.empty()) facts.user = uid;
    return facts;
}

} // namespace aegis
