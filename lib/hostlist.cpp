#include "lib/hostlist.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <optional>

namespace aegis {

namespace {

// 18 digits always fit 64 bits; a longer run of digits is text, never a number that could overflow.
constexpr std::size_t most_digits = 18;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::uint64_t number_of(std::string_view digits) {
    std::uint64_t number = 0;
    for (char c : digits) number = number * 10 + static_cast<std::uint64_t>(c - '0');
    return number;
}

std::string padded(std::uint64_t number, std::size_t width) { return fmt::format("{:0{}}", number, width); }

struct Range {
    std::uint64_t first = 0, last = 0;
    std::size_t width = 0;
    std::uint64_t size() const { return last - first + 1; }
};

// One piece of a name: plain text, or the ranges of a bracket.
struct Piece {
    std::string_view text;
    std::vector<Range> ranges;
};

class Expander {
public:
    Expander(std::string_view text, std::size_t limit) : text_(text), limit_(limit) {}

    std::expected<std::vector<std::string>, std::string> run() {
        while (at_ < text_.size() || wants_name_) {
            if (!read_name()) return std::unexpected(std::move(error_));
            if (!emit()) return std::unexpected(std::move(error_));
            wants_name_ = at_ < text_.size(); // read_name() stops at the end or at a comma
            if (wants_name_) ++at_;
        }
        return std::move(names_);
    }

private:
    bool fail(std::string_view expected) {
        error_ = fmt::format("character {}: expected {}", at_ + 1, expected);
        return false;
    }

    bool at_char(char c) const { return at_ < text_.size() && text_[at_] == c; }

    bool read_name() {
        pieces_.clear();
        while (at_ < text_.size() && text_[at_] != ',') {
            if (text_[at_] == '[') {
                if (!read_bracket()) return false;
                continue;
            }
            const std::size_t begin = at_;
            for (; at_ < text_.size() && text_[at_] != ',' && text_[at_] != '['; ++at_) {
                const auto c = static_cast<unsigned char>(text_[at_]);
                if (c == ']') return fail("no ']' without a '['");
                if (c <= ' ' || c == 127) return fail("no blank or control character");
            }
            pieces_.push_back({text_.substr(begin, at_ - begin), {}});
        }
        return !pieces_.empty() || fail("a name");
    }

    bool read_bracket() {
        Piece piece;
        do {
            ++at_; // '[' or ','
            std::size_t width = 0;
            const auto first = read_number(width);
            if (!first) return false;
            Range range{*first, *first, width};
            if (at_char('-')) {
                ++at_;
                const std::size_t begin = at_;
                const auto last = read_number(width);
                if (!last) return false;
                range.last = *last;
                if (range.last < range.first) {
                    at_ = begin;
                    return fail("an end of the range that is not below its start");
                }
            }
            piece.ranges.push_back(range);
        } while (at_char(','));
        if (!at_char(']')) return fail("',', '-' or ']'");
        ++at_;
        pieces_.push_back(std::move(piece));
        return true;
    }

    std::optional<std::uint64_t> read_number(std::size_t& width) {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
        width = at_ - begin;
        if (width == 0) {
            fail("a number");
            return std::nullopt;
        }
        if (width > most_digits) {
            at_ = begin;
            fail("a number of at most 18 digits");
            return std::nullopt;
        }
        return number_of(text_.substr(begin, width));
    }

    bool emit() {
        // Count before anything is built: n[0-999999999] must cost nothing.
        const std::uint64_t left = limit_ - names_.size();
        std::uint64_t product = 1;
        for (const Piece& piece : pieces_) {
            if (piece.ranges.empty()) continue;
            std::uint64_t size = 0;
            for (const Range& range : piece.ranges) size = std::min(size + std::min(range.size(), left + 1), left + 1);
            product = std::min(product * size, left + 1);
        }
        if (product > left) return fail(fmt::format("at most {} names", limit_));
        emit_from(0, {});
        return true;
    }

    void emit_from(std::size_t piece, std::string prefix) {
        if (piece == pieces_.size()) {
            names_.push_back(std::move(prefix));
            return;
        }
        if (pieces_[piece].ranges.empty()) {
            prefix += pieces_[piece].text;
            emit_from(piece + 1, std::move(prefix));
            return;
        }
        for (const Range& range : pieces_[piece].ranges)
            for (std::uint64_t number = range.first;; ++number) {
                emit_from(piece + 1, prefix + padded(number, range.width));
                if (number == range.last) break;
            }
    }

    std::string_view text_;
    std::size_t limit_;
    std::size_t at_ = 0;
    bool wants_name_ = false; // after a comma
    std::vector<Piece> pieces_;
    std::vector<std::string> names_;
    std::string error_;
};

// A name as alternating fields of text and digits, starting with text (which may be empty).
using Fields = std::vector<std::string_view>;

bool is_number(const Fields& fields, std::size_t field) {
    return field % 2 == 1 && fields[field].size() <= most_digits;
}

Fields fields_of(std::string_view name) {
    Fields fields;
    std::size_t begin = 0;
    while (begin < name.size() || fields.empty()) {
        const bool digits = fields.size() % 2 == 1;
        std::size_t end = begin;
        while (end < name.size() && is_digit(name[end]) == digits) ++end;
        fields.push_back(name.substr(begin, end - begin));
        begin = end;
    }
    return fields;
}

// The one number in which the names differ.
std::optional<std::size_t> only_difference(const Fields& a, const Fields& b) {
    if (a.size() != b.size()) return std::nullopt;
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] == b[i]) continue;
        if (found || !is_number(a, i) || !is_number(b, i)) return std::nullopt;
        found = i;
    }
    return found;
}

// "8-10,12" for the values of the bracket, which hold at least two.
std::string ranges_text(const std::vector<std::string_view>& values) {
    std::string text;
    for (std::size_t i = 0; i < values.size();) {
        const std::uint64_t first = number_of(values[i]);
        std::size_t end = i + 1;
        while (end < values.size() && values[end] == padded(first + (end - i), values[i].size())) ++end;
        if (!text.empty()) text += ',';
        text += values[i];
        if (end - i > 1) {
            text += '-';
            text += values[end - 1];
        }
        i = end;
    }
    return text;
}

} // namespace

std::expected<std::vector<std::string>, std::string> expand_hostlist(std::string_view text, std::size_t limit) {
    return Expander(text, limit).run();
}

std::string fold_hostlist(std::span<const std::string> names) {
    std::string text;
    for (std::size_t i = 0; i < names.size();) {
        const Fields first = fields_of(names[i]);
        std::optional<std::size_t> varies;
        std::vector<std::string_view> values;
        std::size_t end = i + 1;
        for (; end < names.size(); ++end) {
            const Fields next = fields_of(names[end]);
            const auto difference = only_difference(first, next);
            if (!difference || (varies && difference != varies)) break;
            varies = difference;
            if (values.empty()) values.push_back(first[*varies]);
            values.push_back(next[*varies]);
        }
        if (!text.empty()) text += ',';
        if (!varies) {
            text += names[i];
        } else {
            for (std::size_t field = 0; field < first.size(); ++field) {
                if (field == *varies)
                    text += '[' + ranges_text(values) + ']';
                else
                    text += first[field];
            }
        }
        i = end;
    }
    return text;
}

} // namespace aegis
