// 64 bits that stand for a text: equal texts have equal ones, different texts practically never.
//
// Two multiplications of 64 x 64 bits a 16 bytes, folded (the construction of wyhash). Among 262,144 texts the chance of any two
// sharing a fingerprint is 2^36 / 2^65 = 2e-9. With a secret seed a stranger cannot choose texts that collide.
#pragma once

#include <cstdint>
#include <string_view>

namespace aegis {

std::uint64_t fingerprint(std::string_view text, std::uint64_t seed);

} // namespace aegis
