// From readings to the state of every link: counters -> link intervals -> pressure.
//
// Owned by the thread that polls the sources, so that 64k readings a second never delay an answer to Slurm; what
// leaves it is an immutable FabricState. No I/O and no clock here: time is an argument.
// A series is known by (source, SeriesIndex); names are looked at once, when it is announced. A series of a port
// that no [[ports]] table maps is counted, its port named in a bounded list, its readings skipped.
// take() only collects; fold() makes one interval a link of all that has come since the last one, so that signals of
// one link may come from several sources and at several rates.
#pragma once

#include "aegisd/site.h"
#include "lib/counters.h"
#include "lib/pressure.h"
#include "lib/pressure_view.h"
#include "lib/sample.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace aegis {

inline constexpr std::size_t counter_event_count = static_cast<std::size_t>(CounterEvent::refused) + 1;

// One link at one moment. Rates and shares are those of LinkPressure.
struct LinkState {
    bool known = false; // at least one signal has been seen
    double pressure = 0;
    PressureTerms terms; // fast
    double mark_rate = 0;
    double load = 0;
    std::optional<double> depth_bytes; // the last one
    EventTime newest{};                // newest event of the link's series, if known
};

struct FabricState {
    SitePointer site;
    std::vector<LinkState> links; // by LinkIndex; empty: nothing has been measured yet
};

using FabricStatePointer = std::shared_ptr<const FabricState>;

// How one [[source]] is doing.
struct SourceState {
    std::string name, type, url;
    std::uint64_t polls = 0, failures = 0;
    std::optional<std::string> last_failure;
    EventTime last_failure_at{};
    std::uint64_t series = 0, unmapped_series = 0, refused_samples = 0;
    std::array<std::uint64_t, counter_event_count> events{}; // by CounterEvent
    std::optional<EventTime> newest;                         // event time of the newest reading
    bool failing = false;                                    // the last poll brought no readings
};

// What a decision sees of `state` at `now`: per leaf its worst link, how old that is, how far it is believed.
PressureView view_of(const FabricState& state, EventTime now);

// Age of an event; one that a fast clock stamped in the future has age 0.
std::chrono::milliseconds age_of(EventTime event, EventTime now);

class Telemetry {
public:
    // Links that `before` knew by the same switch and port, rate and parameters keep their pressure.
    explicit Telemetry(SitePointer site, const Telemetry* before = nullptr);

    void take(const Batch& batch);
    FabricStatePointer fold(); // once a second

    const SitePointer& site() const { return site_; }
    const std::vector<SourceState>& sources() const { return source_states_; } // in the order of the configuration
    const std::set<std::string>& unmapped_ports() const { return unmapped_ports_; } // "switch/port", bounded

private:
    struct SeriesState {
        std::optional<LinkIndex> link; // absent: unmapped
        Signal signal{};
        Kind kind{};
        Counter counter;
        // since the last fold
        double delta = 0;
        std::chrono::microseconds interval{0};
        // of a series that is no counter
        std::optional<double> largest{}; // since the last fold
        std::optional<EventTime> newest{};
        bool touched = false;
    };
    struct SeriesPlace {
        std::uint32_t source;
        SeriesIndex series;
    };
    struct Gathered { // what all series of one link say in one fold; rates are sums over its queues, per second
        std::optional<double> marked, packets, bytes;
        std::optional<double> depth_bytes;
        std::uint32_t marked_source = 0;     // where the marks come from
        std::chrono::microseconds length{0}; // the longest of its counters
        bool touched = false;
    };
    struct LinkRecord {
        LinkPressure pressure;
        std::optional<double> depth_bytes;
        std::optional<EventTime> newest;
        std::optional<EventTime> depth_at; // of the last depth, for the length of the next interval
    };

    void announce(std::size_t source, const Series& series);
    void read(std::size_t source, const Reading& reading);
    void gather(SeriesPlace place);
    void finish(LinkIndex link);

    SitePointer site_;
    std::vector<SourceState> source_states_;
    std::unordered_map<std::string, std::size_t> source_by_name_;
    std::vector<std::vector<SeriesState>> series_; // by source, then SeriesIndex
    std::vector<LinkRecord> links_;
    std::vector<SeriesPlace> touched_series_; // since the last fold
    std::vector<Gathered> gathered_;          // by LinkIndex; all untouched between folds
    std::vector<LinkIndex> touched_links_;    // of the fold in hand
    std::set<std::string> unmapped_ports_;
};

} // namespace aegis
