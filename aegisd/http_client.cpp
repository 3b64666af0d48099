#include "aegisd/http_client.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <fmt/format.h>

namespace aegis {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr auto awaited = asio::as_tuple(asio::use_awaitable);
constexpr std::uint32_t header_limit_bytes = 64u << 10;

} // namespace

HttpClient::HttpClient(asio::io_context& io, Options options)
    : options_(std::move(options)), stream_(io), resolver_(io) {
    const boost::urls::url_view url = boost::urls::parse_uri(options_.url).value();
    host_ = url.host_address();
    port_ = url.has_port() ? std::string(url.port()) : "80";
    host_header_ = url.encoded_host_and_port();
}

void HttpClient::expires_after(std::chrono::milliseconds timeout) {
    timeout_ = timeout;
    deadline_ = std::chrono::steady_clock::now() + timeout;
}

asio::awaitable<std::expected<HttpAnswer, std::string>> HttpClient::get(std::string target) {
    HttpAnswer answer;
    const bool reused = stream_.socket().is_open();
    if (!reused)
        if (auto connected = co_await connect(); !connected) co_return std::unexpected(connected.error());
    error_code failed = co_await exchange(target, answer);
    if (failed && reused && failed != beast::error::timeout && failed != asio::error::operation_aborted) {
        // A server may close an idle connection at any time: once more on a new one.
        if (auto connected = co_await connect(); !connected) co_return std::unexpected(connected.error());
        failed = co_await exchange(target, answer);
    }
    if (failed) {
        close();
        co_return std::unexpected(in_words(failed));
    }
    co_return answer;
}

asio::awaitable<error_code> HttpClient::exchange(const std::string& target, HttpAnswer& answer) {
    http::request<http::empty_body> request(http::verb::get, target, 11);
    request.set(http::field::host, host_header_);
    request.set(http::field::user_agent, "aegisd/" AEGIS_VERSION);
    for (const auto& [name, value] : options_.headers) request.set(name, value);
    request.keep_alive(true);
    stream_.expires_at(deadline_);
    auto [unsent, sent] = co_await http::async_write(stream_, request, awaited);
    std::ignore = sent;
    if (unsent) co_return unsent;
    http::response_parser<http::string_body> parser;
    parser.header_limit(header_limit_bytes);
    parser.body_limit(options_.body_limit_bytes);
    auto [failed, size] = co_await http::async_read(stream_, buffer_, parser, awaited);
    std::ignore = size;
    if (failed) co_return failed;
    const bool keep_alive = parser.keep_alive();
    auto response = parser.release();
    answer = {response.result_int(), std::move(response.body())};
    if (!keep_alive) close();
    co_return error_code{};
}

asio::awaitable<std::expected<void, std::string>> HttpClient::connect() {
    close();
    std::vector<asio::ip::tcp::endpoint> endpoints;
    error_code no_literal;
    const auto address = asio::ip::make_address(host_, no_literal);
    if (!no_literal) {
        endpoints.emplace_back(address, static_cast<std::uint16_t>(std::stoul(port_)));
    } else {
        auto [failed, results] = co_await resolver_.async_resolve(host_, port_, awaited);
        if (failed) co_return std::unexpected(fmt::format("the name {} cannot be resolved: {}", host_, failed.message()));
        for (const auto& entry : results) endpoints.push_back(entry.endpoint());
    }
    stream_.expires_at(deadline_);
    auto [failed, endpoint] = co_await stream_.async_connect(endpoints, awaited);
    std::ignore = endpoint;
    if (!failed) co_return std::expected<void, std::string>();
    close();
    if (failed == beast::error::timeout)
        co_return std::unexpected(fmt::format("no connection to {}:{} within {} ms", host_, port_, timeout_.count()));
    co_return std::unexpected(fmt::format("no connection to {}:{}: {}", host_, port_, failed.message()));
}

void HttpClient::close() {
    resolver_.cancel();
    error_code ignored;
    stream_.socket().close(ignored);
    buffer_.clear();
}

std::string HttpClient::in_words(error_code failed) const {
    if (failed == beast::error::timeout) return fmt::format("no complete answer within {} ms", timeout_.count());
    if (failed == http::error::body_limit) return fmt::format("the body is over the limit of {} bytes", options_.body_limit_bytes);
    if (failed == http::error::partial_message || failed == http::error::end_of_stream || failed == asio::error::eof ||
        failed == asio::error::connection_reset)
        return "the connection was closed before the answer was complete";
    return fmt::format("not a valid HTTP answer: {}", failed.message());
}

} // namespace aegis
