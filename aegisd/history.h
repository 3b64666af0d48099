// What the links did lately: ten minutes of seconds in memory, and roll-ups of ten seconds on their way to telemetry.db.
//
// Owned by the collector's thread. Links are known by their port, so that a reload which keeps a port keeps its seconds.
// Memory: 5.4 KB a link; which links have a history is a setting.
#pragma once

#include "aegisd/site.h"
#include "aegisd/telemetry.h"
#include "aegisd/telemetry_store.h"
#include "lib/second_bins.h"

#include <map>
#include <vector>

namespace aegis {

class History {
public:
    explicit History(const Site& site) { adopt(site); }

    void adopt(const Site& site);
    void take(const std::vector<LinkActivity>& activities); // of the site adopted last
    std::vector<RollUpRow> finished();                      // roll-ups that are complete, once
    std::vector<RollUpRow> unfinished();                    // the others, once: at the end, or before another site
    // None where this link has no history.
    const SecondBins* seconds_of(const std::string& link) const;

private:
    struct Record {
        SecondBins seconds;
        std::int64_t start_s = 0; // of the roll-up that grows
        RollUp growing;
        bool grows = false;
    };
    void close(const std::string& name, Record& record);

    std::map<std::string, Record> records_;                          // by "switch/port"
    std::vector<std::map<std::string, Record>::iterator> by_link_;   // by LinkIndex; end() where there is none
    std::vector<RollUpRow> finished_;
};

// Whether the site's configuration wants a history of this link.
bool has_history(const Site& site, const Link& link);

} // namespace aegis
