// One server asked over HTTP/1.1 with keep-alive: a request at a time, each within a deadline, answers bounded.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <chrono>
#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace aegis {

struct HttpAnswer {
    unsigned status = 0;
    std::string body;
};

class HttpClient {
public:
    struct Options {
        std::string url; // http://host[:port]; its path is not used
        std::vector<std::pair<std::string, std::string>> headers; // sent with each request
        std::uint64_t body_limit_bytes = 32u << 20;
    };

    HttpClient(boost::asio::io_context& io, Options options);

    // All requests until the next call of this must be answered within `timeout`.
    void expires_after(std::chrono::milliseconds timeout);
    // The error says why there is no answer. After one the connection is new.
    boost::asio::awaitable<std::expected<HttpAnswer, std::string>> get(std::string target);
    void close();

private:
    boost::asio::awaitable<boost::system::error_code> exchange(const std::string& target, HttpAnswer& answer);
    boost::asio::awaitable<std::expected<void, std::string>> connect();
    std::string in_words(boost::system::error_code failed) const;

    Options options_;
    std::string host_, port_, host_header_;
    boost::beast::tcp_stream stream_;
    boost::asio::ip::tcp::resolver resolver_;
    boost::beast::flat_buffer buffer_;
    std::chrono::milliseconds timeout_{0};
    std::chrono::steady_clock::time_point deadline_{};
};

} // namespace aegis
