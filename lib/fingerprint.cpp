#include "lib/fingerprint.h"

#include <cstring>

namespace aegis {

namespace {

// Odd, and with as many ones as zeros in every byte (from wyhash, public domain).
constexpr std::uint64_t mix_a = 0xa0761d6478bd642f, mix_b = 0xe7037ed1a0b428db, mix_c = 0x8ebc6af09c88c6e3;

std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t load(const char* bytes, std::size_t count) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, count);
    return word;
}

} // namespace

std::uint64_t fingerprint(std::string_view text, std::uint64_t seed) {
    const char* at = text.data();
    std::size_t left = text.size();
    std::uint64_t state = seed ^ mix_a;
    for (; left > 16; at += 16, left -= 16) state = folded_product(load(at, 8) ^ mix_b, load(at + 8, 8) ^ state);
    const std::uint64_t low = left >= 8 ? load(at, 8) : load(at, left);
    const std::uint64_t high = left > 8 ? load(at + 8, left - 8) : 0;
    return folded_product(mix_c ^ text.size(), folded_product(low ^ mix_b, high ^ state));
}

} // namespace aegis
