// Pressure of one link, 0 (idle) to 0.96 (marks, queue and load all at their limits): control-theory 5.2.
//
//   P = 1 - (1 - .8 phi_e)(1 - .6 phi_q)(1 - .5 phi_u),  fast (5 s) and slow (60 s):
//   P_link = max(.7 P_fast + .3 P_slow, P_slow)
//
// phi_e from the ratio of EWMAs of marked and all packets, phi_q the RED ramp of queue depth, phi_u from
// the share of the line rate. A signal the switch does not deliver contributes nothing: it is unknown, not zero,
// and `known` says whether there is any.
//
// A signal that stays away keeps its average, which weighs less and less against new readings; after three time
// constants (15 s fast, 3 min slow) it is forgotten and contributes nothing, as if it had never been.
#pragma once

#include "lib/sample.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace aegis {

struct PressureParameters {
    double mark_limit = 0.02;           // m*: contract mark rate, marked packets / packets
    double queue_min_bytes = 184'320;   // K_min: depth at which switches begin to mark
    double queue_max_bytes = 300'000;   // K_max: contract depth, above K_min
    std::chrono::milliseconds fast{5'000};
    std::chrono::milliseconds slow{60'000};
};

// What one link did in one interval; an absent signal is unknown. Marks count only with the packets they are
// among; more marks than packets is a contradiction, and both are left out.
struct LinkInterval {
    std::chrono::microseconds length{0};
    std::optional<double> marked_packets;
    std::optional<double> packets;
    std::optional<double> bytes;
    std::optional<double> depth_bytes; // the largest seen in the interval
};

struct PressureTerms {
    double phi_e = 0, phi_q = 0, phi_u = 0; // each in [0,1]
    bool operator==(const PressureTerms&) const = default;
};

// The noisy-OR of the three terms.
double pressure_of(const PressureTerms& terms);

class LinkPressure {
public:
    // rate_bps 0: the line rate is unknown, phi_u stays 0.
    LinkPressure(PressureParameters parameters, double rate_bps);

    // Intervals of one link in time order; one without length is ignored, one without signals only passes time.
    void add(const LinkInterval& interval);

    bool known() const; // at least one of the three terms rests on readings that are not forgotten
    double pressure() const;
    PressureTerms fast() const;
    PressureTerms slow() const;
    double mark_rate() const; // fast, marked/packets
    double load() const;      // fast, share of the line rate
    double depth_bytes() const; // fast

private:
    // Exponentially weighted average of what was seen, so far: sum of weighted values and sum of weights.
    // The first reading is its own average; no bias toward a start value.
    struct Average { // floats: half the memory of a link, and 1e-7 of a rate is nothing
        float sum = 0, weight = 0;
        void pass(double kept);
        void see(double kept, double value);
        bool any() const { return weight > 0; }
        double value() const { return any() ? double{sum} / double{weight} : 0; }
    };
    struct Averages { // one time constant; rates per second, depth in bytes
        Average marked, packets, bytes, depth;
    };
    // How long each signal has been away.
    struct Silence {
        std::chrono::microseconds marks{0}, bytes{0}, depth{0};
    };
    void blend(Averages& averages, const LinkInterval& interval, bool marks, std::chrono::milliseconds time_constant) const;
    PressureTerms terms(const Averages& averages) const;
    double mark_rate_of(const Averages& averages) const;
    double load_of(const Averages& averages) const;

    PressureParameters parameters_;
    double rate_bps_;
    Silence silence_;
    Averages fast_, slow_;
};

} // namespace aegis
