#include "lib/known_lines.h"

#include "lib/fingerprint.h"

#include <algorithm>

namespace aegis {

namespace {

constexpr std::size_t first_slots = 16;
// A name that has no labels ends at a blank that no labels follow: "up" is neither the beginning of "uptime 5" nor of "up {a="b"} 5".
bool ends_series(std::string_view text, std::size_t bytes) {
    if (text[bytes - 1] == '}') return true;
    const std::size_t next = text.find_first_not_of(" \t", bytes);
    return next != bytes && next != text.npos && text[next] != '{';
}

} // namespace

void KnownLines::rewind() { next_ = resume_ = 0; }

KnownLines::Line KnownLines::line_of(std::string_view series) const {
    return (fingerprint(series, seed_) & ~length_mask) | series.size();
}

bool KnownLines::begins(std::string_view text, std::size_t place) const {
    if (place >= lines_.size()) return false;
    const std::size_t bytes = lines_[place] & length_mask;
    return bytes <= text.size() && ends_series(text, bytes) && line_of(text.substr(0, bytes)) == lines_[place];
}

std::optional<KnownLines::Match> KnownLines::expected(std::string_view line) {
    std::size_t found = next_;
    if (!begins(line, found)) {
        found = resume_;
        if (!begins(line, found)) return std::nullopt;
    }
    next_ = resume_ = found + 1;
    seen_[found] = true;
    return Match{meanings_[found], lines_[found] & length_mask};
}

std::optional<std::uint32_t> KnownLines::find(std::string_view series) {
    if (series.empty() || series.size() > length_mask) return std::nullopt;
    if (slots_.empty()) rebuild(std::max(first_slots, lines_.size() * 3 / 2));
    const std::uint32_t place = slots_[slot_of(line_of(series))];
    if (place == empty) return std::nullopt;
    next_ = place + 1; // resume_ stays: a line met out of order is the exception, and the rest goes on where it was
    seen_[place] = true;
    return meanings_[place];
}

void KnownLines::add(std::string_view series, std::uint32_t meaning) {
    if (series.empty() || series.size() > length_mask) return;
    if ((lines_.size() + 1) * 8 > slots_.size() * 7) rebuild(std::max(first_slots, 2 * (lines_.size() + 1)));
    const Line line = line_of(series);
    const std::size_t slot = slot_of(line);
    if (slots_[slot] != empty) return;
    slots_[slot] = static_cast<std::uint32_t>(lines_.size());
    // While all is new the new line is where the order goes on.
    if (next_ == lines_.size()) ++next_;
    if (resume_ == lines_.size()) ++resume_;
    lines_.push_back(line);
    meanings_.push_back(meaning);
    seen_.push_back(true);
}

std::size_t KnownLines::slot_of(Line line) const {
    std::size_t slot = (line >> length_bits) % slots_.size();
    while (slots_[slot] != empty && lines_[slots_[slot]] != line)
        if (++slot == slots_.size()) slot = 0;
    return slot;
}

void KnownLines::rebuild(std::size_t slots) {
    slots_.assign(slots, empty);
    for (std::size_t place = 0; place < lines_.size(); ++place) slots_[slot_of(lines_[place])] = static_cast<std::uint32_t>(place);
}

void KnownLines::settle() {
    slots_ = std::vector<std::uint32_t>(); // "= {}" would keep the memory
    lines_.shrink_to_fit();
    meanings_.shrink_to_fit();
    seen_.shrink_to_fit();
}

void KnownLines::forget_unseen() {
    std::size_t kept = 0;
    for (std::size_t place = 0; place < lines_.size(); ++place) {
        if (!seen_[place]) continue;
        lines_[kept] = lines_[place];
        meanings_[kept++] = meanings_[place];
    }
    lines_.resize(kept);
    meanings_.resize(kept);
    seen_.assign(kept, false);
    settle();
    rewind();
}

} // namespace aegis
