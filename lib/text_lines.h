// The lines of a text, numbered from 1, without their line ends.
#pragma once

#include <algorithm>
#include <string_view>

namespace aegis {

class TextLines {
public:
    explicit TextLines(std::string_view text) : rest_(text) {}

    // False at the end.
    bool next(std::string_view& line) {
        if (rest_.empty()) return false;
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        line = rest_.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        ++number_;
        return true;
    }

    int number() const { return number_; } // of the line last returned

private:
    std::string_view rest_;
    int number_ = 0;
};

inline std::string_view without_blanks(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\f\v");
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r\f\v") - begin + 1);
}

} // namespace aegis
