// A Prometheus exporter, scraped over HTTP/1.1 with keep-alive.
//
// One poll is in flight at a time; it ends within the source's timeout, whatever the exporter does. The body is
// parsed as it arrives, so memory does not depend on its size, and it is refused above the source's limit. A poll that
// fails half-way brings no readings at all.
#include "aegisd/clock.h"
#include "aegisd/metric_mapper.h"
#include "aegisd/source.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>
#include <boost/url/url_view.hpp>
#include <fmt/format.h>
#include <vector>

namespace aegis {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::size_t chunk_bytes = 64u << 10;
constexpr std::uint32_t header_limit_bytes = 64u << 10;

constexpr auto awaited = asio::as_tuple(asio::use_awaitable);

using Failure = std::optional<std::string>; // in plain words

class PrometheusSource final : public Source, public std::enable_shared_from_this<PrometheusSource> {
public:
    PrometheusSource(asio::io_context& io, const SourceConfig& config, BatchSink sink)
        : io_(io), timeout_(config.timeout), interval_(config.interval), body_limit_bytes_(config.body_limit_bytes),
          mapper_(config), sink_(std::move(sink)), stream_(io), resolver_(io), timer_(io), chunk_(chunk_bytes) {
        const boost::urls::url_view url = boost::urls::parse_uri(config.url).value();
        host_ = url.host_address();
        port_ = url.has_port() ? std::string(url.port()) : "80";
        const std::string_view target = url.encoded_target();
        request_.method(http::verb::get);
        request_.target(target.empty() ? "/" : target);
        request_.set(http::field::host, std::string_view(url.encoded_host_and_port()));
        request_.set(http::field::user_agent, "aegisd/" AEGIS_VERSION);
        request_.set(http::field::accept, "text/plain;version=0.0.4");
        request_.keep_alive(true);
    }

    void start() override { asio::co_spawn(io_, run(shared_from_this()), asio::detached); }

    void stop() override {
        stopped_ = true;
        timer_.cancel();
        resolver_.cancel();
        stream_.close();
    }

private:
    // `self` keeps the object alive as long as the coroutine runs.
    static asio::awaitable<void> run(std::shared_ptr<PrometheusSource> self) { co_await self->poll_forever(); }

    asio::awaitable<void> poll_forever() {
        auto next = std::chrono::steady_clock::now();
        while (!stopped_) {
            mapper_.begin(wall_clock());
            Failure failure = co_await poll();
            if (stopped_) break;
            sink_(failure ? mapper_.fail(std::move(*failure)) : mapper_.end());
            next = std::max(next + interval_, std::chrono::steady_clock::now());
            timer_.expires_at(next);
            co_await timer_.async_wait(awaited);
        }
    }

    asio::awaitable<Failure> poll() {
        const bool reused = stream_.socket().is_open();
        stream_.expires_after(timeout_);
        if (!reused)
            if (Failure failure = co_await connect()) co_return failure;
        auto [written, sent] = co_await http::async_write(stream_, request_, awaited);
        std::ignore = sent;
        auto parser = fresh_parser();
        error_code failed = written;
        if (!failed) failed = co_await read_header(*parser);
        if (failed && reused && failed != beast::error::timeout && !stopped_) {
            // An exporter may close an idle connection at any time: once more on a new one.
            close();
            stream_.expires_after(timeout_);
            if (Failure failure = co_await connect()) co_return failure;
            auto [written_again, sent_again] = co_await http::async_write(stream_, request_, awaited);
            std::ignore = sent_again;
            parser = fresh_parser();
            failed = written_again;
            if (!failed) failed = co_await read_header(*parser);
        }
        if (failed) co_return broken(failed);
        Failure failure = co_await read_body(*parser);
        if (failure || !parser->keep_alive()) close();
        co_return failure;
    }

    asio::awaitable<Failure> connect() {
        buffer_.clear();
        std::vector<tcp::endpoint> endpoints;
        error_code literal;
        const auto address = asio::ip::make_address(host_, literal);
        if (!literal) {
            endpoints.emplace_back(address, static_cast<std::uint16_t>(std::stoul(port_)));
        } else {
            auto [failed, results] = co_await resolver_.async_resolve(host_, port_, awaited);
            if (failed) co_return fmt::format("the name {} cannot be resolved: {}", host_, failed.message());
            for (const auto& entry : results) endpoints.push_back(entry.endpoint());
        }
        auto [failed, endpoint] = co_await stream_.async_connect(endpoints, awaited);
        std::ignore = endpoint;
        if (!failed) co_return std::nullopt;
        close();
        if (failed == beast::error::timeout) co_return fmt::format("no connection to {}:{} within {} ms", host_, port_, timeout_.count());
        co_return fmt::format("no connection to {}:{}: {}", host_, port_, failed.message());
    }

    using Parser = http::response_parser<http::buffer_body>;

    std::unique_ptr<Parser> fresh_parser() const {
        auto parser = std::make_unique<Parser>();
        parser->header_limit(header_limit_bytes);
        parser->body_limit(body_limit_bytes_);
        return parser;
    }

    asio::awaitable<error_code> read_header(Parser& parser) {
        auto [failed, size] = co_await http::async_read_header(stream_, buffer_, parser, awaited);
        std::ignore = size;
        co_return failed;
    }

    asio::awaitable<Failure> read_body(Parser& parser) {
        const auto status = parser.get().result_int();
        if (status != 200) {
            const char* hint = status / 100 == 3 ? " (redirects are not followed)" : "";
            co_return fmt::format("HTTP {} {}{}", status, std::string_view(parser.get().reason()), hint);
        }
        PrometheusText text([this](const PrometheusSample& sample) { mapper_.take(sample); });
        text.recognise_with([this](std::string_view line) { return mapper_.recognise(line); });
        while (!parser.is_done()) {
            parser.get().body().data = chunk_.data();
            parser.get().body().size = chunk_.size();
            auto [failed, size] = co_await http::async_read(stream_, buffer_, parser, awaited);
            std::ignore = size;
            if (failed && failed != http::error::need_buffer) co_return broken(failed);
            const std::size_t filled = chunk_.size() - parser.get().body().size;
            if (const auto fed = text.feed({chunk_.data(), filled}); !fed) co_return not_metrics(fed.error());
        }
        if (const auto finished = text.finish(); !finished) co_return not_metrics(finished.error());
        co_return std::nullopt;
    }

    std::string broken(error_code failed) {
        close();
        if (failed == beast::error::timeout) return fmt::format("no complete answer within {} ms", timeout_.count());
        if (failed == http::error::body_limit) return fmt::format("the body is over the limit of {} bytes", body_limit_bytes_);
        if (failed == http::error::partial_message || failed == http::error::end_of_stream || failed == asio::error::eof ||
            failed == asio::error::connection_reset)
            return "the connection was closed before the answer was complete";
        return fmt::format("not a valid HTTP answer: {}", failed.message());
    }

    static std::string not_metrics(const PrometheusError& error) {
        return fmt::format("not Prometheus text: {}", to_string(error));
    }

    void close() {
        error_code ignored;
        stream_.socket().close(ignored);
        buffer_.clear();
    }

    asio::io_context& io_;
    std::chrono::milliseconds timeout_, interval_;
    std::uint64_t body_limit_bytes_;
    MetricMapper mapper_;
    BatchSink sink_;
    std::string host_, port_;
    http::request<http::empty_body> request_;
    beast::tcp_stream stream_;
    tcp::resolver resolver_;
    asio::steady_timer timer_;
    beast::flat_buffer buffer_{chunk_bytes + header_limit_bytes};
    std::vector<char> chunk_;
    bool stopped_ = false;
};

} // namespace

std::shared_ptr<Source> make_prometheus_source(asio::io_context& io, const SourceConfig& config, BatchSink sink) {
    return std::make_shared<PrometheusSource>(io, config, std::move(sink));
}

} // namespace aegis
