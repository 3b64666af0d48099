#include "aegisd/job_facts.h"

#include <catch2/catch.hpp>

using namespace aegis;

TEST_CASE("facts are read whatever stands between them") {
    const JobFacts facts = parse_job_facts("SLURM_JOB_QOS=normal\nSLURM_JOB_NAME=a=b c\nno sign\n\nSLURM_JOB_USER=ann\n"
                                           "SLURM_JOB_UID=1000\nSLURM_JOB_ACCOUNT=physics\nSLURM_JOB_PARTITION=gpu");
    CHECK(facts.name == "a=b c");
    CHECK(facts.user == "ann");
    CHECK(facts.account == "physics");
    CHECK(facts.partition == "gpu");
}

TEST_CASE("a user without a name is known by the uid, and absent facts are empty") {
    CHECK(parse_job_facts("SLURM_JOB_UID=1000\n").user == "1000");
    const JobFacts none = parse_job_facts("");
    CHECK(none.user.empty());
    CHECK(none.name.empty());
}
