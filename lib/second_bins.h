// Ten minutes of one link, a bin a second, in 5.4 KB.
//
// Bytes, packets, marked packets and the depth of the deepest queue as 16-bit logarithms (0.03 % apart, depth 0.05 %; zero is exact, missing
// is missing), pressure in steps of 1/250. Good enough to look at; exact sums are those of roll-ups. Depth is a peak if
// one was delivered for that second, else a snapshot, and says which.
#pragma once

#include "lib/roll_up.h"

#include <array>
#include <vector>

namespace aegis {

class SecondBins {
public:
    static constexpr std::int64_t length = 600; // seconds

    // What happened in this second, or a part of it. More than `length` before the newest: too late, and dropped.
    void add(std::int64_t second, const RollUp& part);
    // What is known of this second; nothing at all for one outside the ten minutes.
    RollUp at(std::int64_t second) const;
    std::optional<std::int64_t> newest() const;

private:
    struct Bin {
        std::uint16_t bytes, packets, marked, depth; // codes; 0 is missing
    };
    void advance(std::int64_t second);
    static std::size_t place(std::int64_t second) { return static_cast<std::size_t>(second % length); }

    std::vector<Bin> bins_;               // none before the first second
    std::vector<std::uint8_t> pressures_; // 0 is missing
    std::int64_t newest_ = -1;
};

} // namespace aegis
