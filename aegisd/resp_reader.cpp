#include "aegisd/resp_reader.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <iterator>

namespace aegis {

struct RespReader::Callbacks {
    static RespReader& self(const redisReadTask* task) { return *static_cast<RespReader*>(task->privdata); }

    static void* text(const redisReadTask* task, const char* bytes, std::size_t length, bool nil = false) {
        RespReader& reader = self(task);
        reader.begin_if_complete();
        if (task->type == REDIS_REPLY_ERROR && !task->parent) reader.is_error_ = true;
        reader.spans_.push_back({reader.text_.size(), length, nil});
        reader.text_.append(bytes, length);
        return &reader; // anything but null: hiredis only passes it back
    }

    static void* array(const redisReadTask* task, long long elements) {
        RespReader& reader = self(task);
        reader.begin_if_complete();
        if (task->parent || elements < 0 || static_cast<std::size_t>(elements) > elements_max) return nullptr;
        return &reader;
    }

    static redisReplyObjectFunctions* table() {
        static redisReplyObjectFunctions functions = [] {
            redisReplyObjectFunctions f{};
            f.createString = [](const redisReadTask* task, char* bytes, std::size_t length) {
                return text(task, bytes, length);
            };
            // int in hiredis 0.14, size_t from 1.0 on
            f.createArray = [](const redisReadTask* task, auto elements) {
                return array(task, static_cast<long long>(elements));
            };
            f.createInteger = [](const redisReadTask* task, long long value) {
                const auto digits = std::to_string(value);
                return text(task, digits.data(), digits.size());
            };
            f.createNil = [](const redisReadTask* task) { return text(task, "", 0, true); };
            f.freeObject = [](void*) {};
            return f;
        }();
        return &functions;
    }
};

RespReader::RespReader() : reader_(nullptr, redisReaderFree) { reset(); }

RespReader::~RespReader() = default;

void RespReader::reset() {
    reader_.reset(redisReaderCreateWithFunctions(Callbacks::table()));
    reader_->privdata = this;
    complete_ = true;
    begin_if_complete();
}

void RespReader::begin_if_complete() {
    if (!complete_) return;
    complete_ = false;
    is_error_ = false;
    text_.clear();
    spans_.clear();
}

void RespReader::feed(std::string_view bytes) { redisReaderFeed(reader_.get(), bytes.data(), bytes.size()); }

std::expected<const RespReply*, std::string> RespReader::next() {
    begin_if_complete();
    void* object = nullptr;
    if (redisReaderGetReply(reader_.get(), &object) != REDIS_OK)
        return std::unexpected(fmt::format("not an answer of a Redis server: {}", reader_->errstr));
    if (!object) return nullptr;
    complete_ = true;
    reply_.error.reset();
    reply_.rows.clear();
    const std::string_view text = text_;
    if (is_error_) {
        reply_.error = text.substr(spans_.front().begin, spans_.front().length);
        return &reply_;
    }
    for (const Span& span : spans_)
        reply_.rows.push_back(span.nil ? std::nullopt : std::optional(text.substr(span.begin, span.length)));
    return &reply_;
}

void append_redis_command(std::string& pipeline, const std::vector<std::string_view>& words) {
    fmt::format_to(std::back_inserter(pipeline), "*{}\r\n", words.size());
    for (const auto word : words) fmt::format_to(std::back_inserter(pipeline), "${}\r\n{}\r\n", word.size(), word);
}

void append_redis_command(std::string& pipeline, std::initializer_list<std::string_view> words) {
    append_redis_command(pipeline, std::vector<std::string_view>(words));
}

} // namespace aegis
