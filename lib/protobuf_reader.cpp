#include "lib/protobuf_reader.h"

#include <bit>

namespace aegis {

std::int32_t ProtobufField::as_zigzag32() const {
    const auto n = static_cast<std::uint32_t>(value);
    return static_cast<std::int32_t>((n >> 1) ^ (~(n & 1) + 1));
}

double ProtobufField::as_double() const { return std::bit_cast<double>(value); }

bool ProtobufReader::varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (rest_.empty()) return false;
        const auto byte = static_cast<std::uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        if (shift == 63 && byte > 1) return false; // more than 64 bits
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

bool ProtobufReader::fixed(std::size_t bytes, std::uint64_t& value) {
    if (rest_.size() < bytes) return false;
    value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(rest_[i])) << (8 * i);
    rest_.remove_prefix(bytes);
    return true;
}

std::optional<ProtobufField> ProtobufReader::fail() {
    failed_ = true;
    rest_ = {};
    return std::nullopt;
}

std::optional<ProtobufField> ProtobufReader::next() {
    if (rest_.empty()) return std::nullopt;
    std::uint64_t tag = 0;
    if (!varint(tag) || tag >> 3 == 0 || tag >> 32 != 0) return fail();
    ProtobufField field;
    field.number = static_cast<std::uint32_t>(tag >> 3);
    switch (tag & 7) {
    case 0: field.type = WireType::varint; return varint(field.value) ? std::optional(field) : fail();
    case 1: field.type = WireType::fixed64; return fixed(8, field.value) ? std::optional(field) : fail();
    case 5: field.type = WireType::fixed32; return fixed(4, field.value) ? std::optional(field) : fail();
    case 2: {
        std::uint64_t length = 0;
        if (!varint(length) || length > rest_.size()) return fail();
        field.type = WireType::bytes;
        field.bytes = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return field;
    }
    }
    return fail(); // groups, and types that do not exist
}

bool append_fixed64(const ProtobufField& field, std::vector<std::uint64_t>& numbers) {
    if (field.type == WireType::fixed64) {
        numbers.push_back(field.value);
        return true;
    }
    if (field.type != WireType::bytes || field.bytes.size() % 8 != 0) return false;
    for (std::size_t at = 0; at < field.bytes.size(); at += 8) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < 8; ++i)
            value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(field.bytes[at + i])) << (8 * i);
        numbers.push_back(value);
    }
    return true;
}

bool append_doubles(const ProtobufField& field, std::vector<double>& numbers) {
    std::vector<std::uint64_t> raw;
    if (!append_fixed64(field, raw)) return false;
    for (const auto bits : raw) numbers.push_back(std::bit_cast<double>(bits));
    return true;
}

bool append_varints(const ProtobufField& field, std::vector<std::uint64_t>& numbers) {
    if (field.type == WireType::varint) {
        numbers.push_back(field.value);
        return true;
    }
    if (field.type != WireType::bytes) return false;
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const char c : field.bytes) {
        const auto byte = static_cast<std::uint8_t>(c);
        if (shift > 63 || (shift == 63 && byte > 1)) return false;
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        shift += 7;
        if (byte >= 0x80) continue;
        numbers.push_back(value);
        value = 0;
        shift = 0;
    }
    return shift == 0;
}

} // namespace aegis
