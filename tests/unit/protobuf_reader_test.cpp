#include "lib/protobuf_reader.h"

#include <catch2/catch.hpp>
#include <rapidcheck.h>
#include <string>

using namespace aegis;

namespace {

// Written after the encoding guide's text, the other way round than the reader.
std::string varint(std::uint64_t value) {
    std::string out;
    do {
        const char low = static_cast<char>(value & 0x7f);
        value >>= 7;
        out += static_cast<char>(low | (value ? 0x80 : 0));
    } while (value);
    return out;
}

std::vector<ProtobufField> fields_of(std::string_view message, bool& failed) {
    ProtobufReader reader(message);
    std::vector<ProtobufField> fields;
    while (const auto field = reader.next()) fields.push_back(*field);
    failed = reader.failed();
    return fields;
}

} // namespace

TEST_CASE("the examples of the encoding guide are read") {
    bool failed = false;
    auto fields = fields_of(std::string_view("\x08\x96\x01", 3), failed);
    REQUIRE(fields.size() == 1);
    CHECK((fields[0].is(1, WireType::varint) && fields[0].value == 150));
    fields = fields_of("\x12\x07testing", failed);
    REQUIRE(fields.size() == 1);
    CHECK((fields[0].is(2, WireType::bytes) && fields[0].bytes == "testing"));
    CHECK_FALSE(failed);
    std::vector<std::uint64_t> packed; // 3, 270, 86942
    fields = fields_of(std::string_view("\x32\x06\x03\x8e\x02\x9e\xa7\x05", 8), failed);
    REQUIRE(fields.size() == 1);
    CHECK(append_varints(fields[0], packed));
    CHECK(packed == std::vector<std::uint64_t>{3, 270, 86942});
}

TEST_CASE("zigzag numbers, doubles and negative varints keep their sign") {
    bool failed = false;
    const auto fields = fields_of("\x08" + varint(0xffff'ffff'ffff'ffff) + "\x10\x03" + "\x18\x04" +
                                      std::string("\x21\x00\x00\x00\x00\x00\x00\xf8\xbf", 9),
                                  failed);
    REQUIRE(fields.size() == 4);
    CHECK(fields[0].as_signed() == -1);
    CHECK(fields[1].as_zigzag32() == -2);
    CHECK(fields[2].as_zigzag32() == 2);
    CHECK(fields[3].as_double() == -1.5);
}

TEST_CASE("what is cut short, too long or of no type fails") {
    using namespace std::string_literals;
    for (const auto& bad : {"\x08"s, "\x08\x80"s, "\x12\x07test"s, "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s, "\x21\x00"s, "\x25\x00\x00"s,
                            "\x00\x01"s, "\x0b\x0c"s, "\x0e\x00"s, "\x0f\x00"s, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"s,
                            "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"s}) {
        bool failed = false;
        CHECK(fields_of(bad, failed).empty());
        CHECK(failed);
    }
    std::vector<std::uint64_t> numbers;
    CHECK_FALSE(append_varints({1, WireType::bytes, 0, "\x80"}, numbers));
    CHECK_FALSE(append_fixed64({1, WireType::bytes, 0, "1234567"}, numbers));
    CHECK_FALSE(append_fixed64({1, WireType::varint, 5, ""}, numbers));
}

TEST_CASE("every varint that is written is read again") {
    CHECK(rc::check("varint", [](std::uint64_t value) {
        const std::string message = "\x08" + varint(value);
        ProtobufReader reader(message);
        const auto field = reader.next();
        RC_ASSERT(field.has_value());
        RC_ASSERT(field->value == value);
        RC_ASSERT(!reader.next());
        RC_ASSERT(!reader.failed());
    }));
}

TEST_CASE("any bytes at all end within their own length") {
    CHECK(rc::check("garbage", [](const std::string& bytes) {
        ProtobufReader reader(bytes);
        std::size_t fields = 0;
        while (const auto field = reader.next()) {
            ++fields;
            RC_ASSERT(field->bytes.empty() || (field->bytes.data() >= bytes.data() &&
                                              field->bytes.data() + field->bytes.size() <= bytes.data() + bytes.size()));
        }
        RC_ASSERT(fields <= bytes.size());
    }));
}
