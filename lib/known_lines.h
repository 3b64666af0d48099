// Which lines of a scrape were seen before, and what they stand for, without a look at their labels.
//
// A line is known by its length and 52 bits of the fingerprint of its name and labels as written; the text itself is not kept.
// Among 65,536 lines of one exporter the chance that any two of one length are mistaken for each other is 5e-7. Exporters write their series in the same order at every scrape, so the line behind the last one is tried first:
// a scrape that nothing is new in costs one fingerprint a line and reads memory in order. Any other order costs a look-up.
//
// A line costs 12 bytes, and 6 more while there are look-ups. Lines that were not seen since forget_unseen() was last called are dropped by
// the next call, which is how labels that change for ever do not fill the memory. `meaning` is the caller's own number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace aegis {

class KnownLines {
public:
    // `seed`: lib/fingerprint.h.
    explicit KnownLines(std::uint64_t seed) : seed_(seed) {}

    void rewind(); // a scrape begins

    struct Match {
        std::uint32_t meaning = 0;
        std::size_t bytes = 0; // of the line's beginning that are its name and labels
    };
    // Whether `line` begins with the name and labels of the line expected next.
    std::optional<Match> expected(std::string_view line);
    // By name and labels as written; the line behind it is expected next.
    std::optional<std::uint32_t> find(std::string_view series);
    // A line not found before. Names and labels over 4 KiB are not remembered.
    void add(std::string_view series, std::uint32_t meaning);

    std::size_t size() const { return lines_.size(); }
    void settle(); // give back what growing and look-ups have reserved
    void forget_unseen();

private:
    // A line's length in the low bits, its fingerprint in the others.
    using Line = std::uint64_t;
    static constexpr unsigned length_bits = 12;
    static constexpr Line length_mask = (Line{1} << length_bits) - 1;

    static constexpr std::uint32_t empty = UINT32_MAX;

    Line line_of(std::string_view series) const;
    bool begins(std::string_view text, std::size_t place) const;
    std::size_t slot_of(Line line) const; // where it stands, or would stand
    void rebuild(std::size_t slots);

    std::uint64_t seed_;
    std::vector<Line> lines_; // in the order first met
    std::vector<std::uint32_t> meanings_; // of lines_
    std::vector<bool> seen_;              // of lines_
    std::vector<std::uint32_t> slots_; // indices into lines_; open addressing, at most 7/8 full; none until there is a look-up
    std::size_t next_ = 0;             // the line expected next
    std::size_t resume_ = 0;           // and where the order went on before the last jump
};

} // namespace aegis
