// Replies of a Redis server, parsed by hiredis into flat rows: bytes in, one reply at a time out.
//
// Only what the commands we send can answer: a text, a number, nil, an error, or one array of texts and nils.
// Bounded: an array of more than `elements_max` elements, or one inside another, is a protocol error. The bytes
// are counted by the caller, who owns the socket. After an error the reader is of no use until reset().
#pragma once

#include <expected>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct redisReader;

namespace aegis {

struct RespReply {
    std::optional<std::string_view> error;             // the server refused the command
    std::vector<std::optional<std::string_view>> rows; // elements of the array, or the one value; nil is nullopt
};

class RespReader {
public:
    static constexpr std::size_t elements_max = 1u << 20; // a hash of half a million fields; the largest map has 50,000

    RespReader();
    ~RespReader();
    RespReader(const RespReader&) = delete;
    RespReader& operator=(const RespReader&) = delete;

    void reset();
    void feed(std::string_view bytes);
    // The next complete reply, valid until the next call; nullptr: more bytes are needed. An error says what is wrong.
    std::expected<const RespReply*, std::string> next();

private:
    struct Callbacks; // what hiredis calls
    void begin_if_complete();
    struct Span {
        std::size_t begin = 0, length = 0;
        bool nil = false;
    };

    std::unique_ptr<redisReader, void (*)(redisReader*)> reader_;
    std::string text_;        // of the reply that is being read
    std::vector<Span> spans_; // into text_
    bool is_error_ = false;
    bool complete_ = false;   // text_ and spans_ belong to a reply that was handed out
    RespReply reply_;
};

// A command as the server wants it, appended to a pipeline.
void append_redis_command(std::string& pipeline, std::initializer_list<std::string_view> words);
void append_redis_command(std::string& pipeline, const std::vector<std::string_view>& words);

} // namespace aegis
