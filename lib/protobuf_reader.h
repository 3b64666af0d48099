// The protobuf wire format, read field by field: bytes in, fields out, nothing allocated.
//
// Every length is checked against the bytes that are there; a varint of more than ten bytes, a field number of zero,
// a group, or a field cut short makes the reader fail, and then it yields nothing more. It knows no schema: the caller
// compares numbers and types and skips what it does not know, as the format wants.
// https://protobuf.dev/programming-guides/encoding/
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace aegis {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct ProtobufField {
    std::uint32_t number = 0;
    WireType type{};
    std::uint64_t value = 0; // of a varint, fixed64 or fixed32, as it stands
    std::string_view bytes;  // of a length-delimited field: text, a message, packed numbers

    bool is(std::uint32_t wanted, WireType wanted_type) const { return number == wanted && type == wanted_type; }
    std::int64_t as_signed() const { return static_cast<std::int64_t>(value); }
    std::int32_t as_zigzag32() const; // sint32
    double as_double() const;         // fixed64
};

class ProtobufReader {
public:
    explicit ProtobufReader(std::string_view message) : rest_(message) {}

    std::optional<ProtobufField> next(); // nothing at the end, and after a failure
    bool failed() const { return failed_; }

private:
    bool varint(std::uint64_t& value);
    bool fixed(std::size_t bytes, std::uint64_t& value);
    std::optional<ProtobufField> fail();

    std::string_view rest_;
    bool failed_ = false;
};

// Appends the numbers of a repeated field, packed or one at a time. False: of another type, or cut short.
bool append_fixed64(const ProtobufField& field, std::vector<std::uint64_t>& numbers);
bool append_doubles(const ProtobufField& field, std::vector<double>& numbers);
bool append_varints(const ProtobufField& field, std::vector<std::uint64_t>& numbers);

} // namespace aegis
