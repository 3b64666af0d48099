#include "plugin/job_facts.h"

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

struct Name {
    std::string key;
    std::uint32_t id;
    bool operator==(const Name&) const = default;
};

std::optional<Name> parse(const std::string& text) {
    job_name name{};
    if (!job_name_parse(text.c_str(), &name)) return std::nullopt;
    return Name{name.key, name.job_id};
}

std::vector<char*> pointers(std::vector<std::string>& lines) {
    std::vector<char*> out;
    for (auto& line : lines) out.push_back(line.data());
    out.push_back(nullptr);
    return out;
}

std::string facts(std::vector<std::string> lines, std::uint32_t size = AEGIS_FACTS_MAX) {
    std::string out(size, '?');
    auto environment = pointers(lines);
    out.resize(job_facts_write(environment.data(), out.data(), size));
    return out;
}

} // namespace

TEST_CASE("job facts: Slurm's text for a job gives its key and its number") {
    CHECK(parse("JobId=7") == Name{"7", 7});
    CHECK(parse("JobId=100_3(103)") == Name{"100_3", 103});
    CHECK(parse("JobId=9+1(10)") == Name{"9+1", 10});
    CHECK(parse("JobId=4294967295_4294967295(4294967295)") == Name{"4294967295_4294967295", 4294967295u});
}

TEST_CASE("job facts: what is no single job has no key") {
    for (const char* text : {"", "JobId=", "JobId=Invalid", "JobId=CORRUPT", "JobId=100_*", "JobId=100_[1-3](100)", "Job=7",
                             "JobId=7(", "JobId=7()", "JobId=7(8", "JobId=7(8)x", "JobId=7x", "JobId=7_", "JobId=-7",
                             "JobId=4294967296", "%.0sJobId=7"}) {
        INFO(text);
        CHECK_FALSE(parse(text));
    }
}

TEST_CASE("job facts: only the listed variables pass, SPANK ones after Slurm's") {
    CHECK(facts({"SPANK_AEGIS_CLASS=train", "HOME=/root", "SLURM_JOB_NAME=x", "SLURM_JOB_NAMES=no", "SLURM_JOB_NODELIST=n1",
                 "SLURM_JOB_UID=0", "SPANK_", "SPANKY=1"}) ==
          "SLURM_JOB_NAME=x\nSLURM_JOB_UID=0\nSPANK_AEGIS_CLASS=train\n");
}

TEST_CASE("job facts: a value cannot forge a second line") {
    CHECK(facts({"SLURM_JOB_NAME=a\nSLURM_JOB_UID=0\\n"}) == "SLURM_JOB_NAME=a\\nSLURM_JOB_UID=0\\\\n\n");
}

TEST_CASE("job facts: what Slurm prints for an unset value is left out") {
    CHECK(facts({"SLURM_JOB_ACCOUNT=(null)", "SLURM_JOB_QOS="}) == "SLURM_JOB_QOS=\n");
}

TEST_CASE("job facts: a long value is cut, and a line that does not fit is left out whole") {
    const std::string longest = "SLURM_JOB_NAME=" + std::string(FACT_VALUE_MAX, 'x');
    CHECK(facts({longest + "yz"}) == longest + "\n");
    CHECK(facts({"SLURM_JOB_NAME=abc", "SLURM_JOB_UID=1"}, 18) == "SLURM_JOB_UID=1\n");
    CHECK(facts({"SLURM_JOB_NAME=a\n"}, 19) == "SLURM_JOB_NAME=a\\n\n");
    CHECK(facts({"SLURM_JOB_NAME=a\n"}, 18) == "");
    CHECK(facts({"SLURM_JOB_NAME=a\n"}, 17) == "");
    CHECK(facts({"SLURM_JOB_NAME=a"}, 0) == "");
    std::vector<std::string> many;
    for (int i = 0; i < 200; i++) many.push_back("SPANK_V" + std::to_string(i) + "=" + std::string(100, 'v'));
    const std::string all = facts(many);
    CHECK(all.size() <= AEGIS_FACTS_MAX);
    CHECK(all.size() > AEGIS_FACTS_MAX - 120);
    CHECK(all.back() == '\n');
}

TEST_CASE("job facts: tasks of an array share theirs, components of a het job do not") {
    char out[AEGIS_JOB_KEY_MAX + 1];
    CHECK(facts_key("7", out) == std::string("7"));
    CHECK(facts_key("100_3", out) == std::string("100"));
    CHECK(facts_key("9+1", out) == std::string("9+1"));
    const std::string longest(AEGIS_JOB_KEY_MAX, '1');
    CHECK(facts_key(longest.c_str(), out) == longest);
}

TEST_CASE("job facts: the cache finds what it keeps, forgets what is old, and replaces the oldest") {
    constexpr std::uint64_t minute = 60000000;
    auto cache = std::make_unique<facts_cache>();
    const auto keep = [&](const std::string& key, std::uint64_t now) {
        std::vector<std::string> lines{"SLURM_JOB_NAME=" + key};
        facts_cache_keep(cache.get(), key.c_str(), pointers(lines).data(), now);
    };
    const auto found = [&](const std::string& key, std::uint64_t now) {
        const aegis_bytes bytes = facts_cache_find(cache.get(), key.c_str(), now);
        return bytes.data == nullptr ? std::string("none") : std::string(bytes.data, bytes.length);
    };
    CHECK(found("1", 0) == "none");
    keep("1", 0);
    CHECK(found("1", minute - 1) == "SLURM_JOB_NAME=1\n");
    CHECK(found("1", minute) == "none");
    keep("1", minute);
    CHECK(found("1", minute) == "SLURM_JOB_NAME=1\n");
    for (int i = 2; i < 2 + FACTS_KEPT; i++) keep(std::to_string(i), minute);
    CHECK(found("1", minute) == "none");
    CHECK(found("2", minute) != "none");
}
