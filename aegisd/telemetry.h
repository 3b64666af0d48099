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
#include "lib/roll_up.h"
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

// What one link did since the fold before: counters over [from, to), peak and gauges as of `to`. By event time.
struct LinkActivity {
    LinkIndex link{};
    EventTime from{}, to{};
    RollUp amounts;
};

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
    const std::vector<LinkActivity>& activities() const { return activities_; } // of the last fold: links with a history that did something

    const SitePointer& site() const { return site_; }
    const std::vector<SourceState>& sources() const { return source_states_; } // in the order of the configuration
    const std::set<std::string>& unmapped_ports() const { return unmapped_ports_; } // "switch/port", bounded

private:
    // What many series share. The line rates of a fabric are few, so 15 bits number all there are (signals, kinds and widths: 42).
    struct Rule {
        Signal signal{};
        Kind kind{};
        CounterLimits limits;
        bool operator==(const Rule&) const = default;
    };
    // There may be millions: 32 bytes each. What happens between two folds needs no more than a float's precision; exact sums
    // are kept by the link.
    struct SeriesState {
        [[no_unique_address]] Counter counter;
        std::uint16_t rule : 15 = 0;
        std::uint16_t touched : 1 = false; // since the last fold
        std::uint32_t link = unmapped;
        float amount = 0; // since the last fold: of a counter the sum of its steps, else the largest value
        std::uint32_t interval_us = 0; // that the sum stands for
    };
    static_assert(sizeof(SeriesState) == 32);
    static constexpr std::uint32_t unmapped = UINT32_MAX, no_history = UINT32_MAX;
    static constexpr std::size_t rules_max = 1u << 15;

    struct Gathered { // what all series of one link say in one fold; rates are sums over its queues, per second
        std::optional<double> marked, packets, bytes;
        std::optional<double> depth_bytes;
        std::uint32_t marked_source = 0;     // where the marks come from
        std::chrono::microseconds marked_length{0}, packets_length{0};
        std::chrono::microseconds length{0}; // the longest of its counters
        bool any = false;
    };
    // What waits for its counterpart: marks are set against the packets of the same time, also where one of the two was lost once
    // or comes more seldom.
    struct Waiting { // small: there is one a link for each
        float amount = 0;
        std::chrono::duration<std::uint32_t, std::micro> covered{0};
    };
    struct LinkRecord {
        LinkPressure pressure;
        Waiting marked{}, packets{};
        bool broken = false; // since the last fold a reset or the like took an interval from one of the two
        std::optional<double> depth_bytes{};
        std::optional<EventTime> newest{};
        std::optional<EventTime> depth_at{}; // of the last depth, for the length of the next interval
    };

    void announce(std::size_t source, const Series& series);
    void read(std::size_t source, const Reading& reading);
    std::uint16_t rule_of(const CounterLimits& limits, const Series& series);
    void gather(std::uint32_t source, SeriesState& series, Gathered& link) const;
    void finish(LinkIndex link, const Gathered& gathered);
    static void pair_marks(LinkRecord& record, const Gathered& gathered, LinkInterval& interval);
    void record(LinkIndex link, std::chrono::microseconds length);
    void count(RollUp& amounts, const Rule& rule, double amount) const;

    SitePointer site_;
    std::vector<SourceState> source_states_;
    std::unordered_map<std::string, std::size_t> source_by_name_;
    std::vector<Rule> rules_;
    std::vector<std::vector<SeriesState>> series_; // by source, then SeriesIndex
    std::vector<std::uint32_t> touched_sources_; // since the last fold
    std::vector<LinkRecord> links_;
    std::vector<std::uint32_t> history_of_link_; // by LinkIndex: place in amounts_, or no_history
    std::vector<RollUp> amounts_;                // since the last fold, exact
    std::vector<LinkActivity> activities_;
    std::set<std::string> unmapped_ports_;
};

} // namespace aegis
