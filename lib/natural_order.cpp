#include "lib/natural_order.h"

#include <algorithm>

namespace aegis {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_number(std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && is_digit(text[end])) ++end;
    const std::string_view digits = text.substr(0, end);
    text.remove_prefix(end);
    return digits;
}

std::string_view without_zeros(std::string_view digits) {
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

} // namespace

bool naturally_before(std::string_view a, std::string_view b) {
    const std::string_view whole_a = a, whole_b = b;
    while (!a.empty() && !b.empty()) {
        if (is_digit(a[0]) && is_digit(b[0])) {
            const std::string_view x = without_zeros(take_number(a)), y = without_zeros(take_number(b));
            if (x.size() != y.size()) return x.size() < y.size();
            if (x != y) return x < y;
            continue;
        }
        if (a[0] != b[0]) return a[0] < b[0];
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    if (a.empty() != b.empty()) return a.empty();
    return whole_a < whole_b; // n1 and n01 differ
}

} // namespace aegis
