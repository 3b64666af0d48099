#include "aegisd/history.h"

#include <utility>

namespace aegis {

bool has_history(const Site& site, const Link& link) {
    const std::string& ports = site.config.history.ports;
    return ports == "all" || (ports == "trunk" && link.trunk);
}

void History::adopt(const Site& site) {
    for (auto& [name, record] : records_) close(name, record);
    std::map<std::string, Record> before = std::move(records_);
    records_.clear();
    by_link_.clear();
    for (const Link& link : site.fabric.links()) {
        if (!has_history(site, link)) {
            by_link_.push_back(records_.end());
            continue;
        }
        const std::string name = link.sw + "/" + link.port;
        const auto known = before.find(name);
        by_link_.push_back(records_.emplace(name, known == before.end() ? Record{} : std::move(known->second)).first);
    }
}

void History::take(const std::vector<LinkActivity>& activities) {
    const std::chrono::seconds second{1}, roll_up = width_of(Resolution::ten_seconds);
    for (const LinkActivity& activity : activities) {
        const auto place = by_link_.at(at(activity.link));
        if (place == records_.end()) continue;
        Record& record = place->second;
        cut(activity.amounts, activity.from, activity.to, second,
            [&](std::int64_t start_s, const RollUp& part) { record.seconds.add(start_s, part); });
        cut(activity.amounts, activity.from, activity.to, roll_up, [&](std::int64_t start_s, const RollUp& part) {
            if (record.grows && record.start_s != start_s) close(place->first, record);
            record.start_s = start_s;
            record.grows = true;
            merge(record.growing, part);
        });
    }
}

void History::close(const std::string& name, Record& record) {
    if (record.grows) finished_.push_back({name, record.start_s, record.growing});
    record.growing = {};
    record.grows = false;
}

std::vector<RollUpRow> History::finished() { return std::exchange(finished_, {}); }

std::vector<RollUpRow> History::unfinished() {
    for (auto& [name, record] : records_) close(name, record);
    return finished();
}

const SecondBins* History::seconds_of(const std::string& link) const {
    const auto found = records_.find(link);
    return found == records_.end() ? nullptr : &found->second.seconds;
}

} // namespace aegis
