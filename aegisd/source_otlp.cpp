// OTLP/HTTP: POST /v1/metrics, JSON or protobuf, gzip or not, with a Content-Length or chunked.
//
// A request is taken as a whole or not at all: its points become one Batch, or it is answered with 4xx and the reason
// and becomes a Batch with that failure. Gauges and cumulative sums are read as they stand - what is a counter is for
// the site's mapping to say; delta sums are added up again first. Bodies are bounded before and after inflating, connections in number
// and in time. An open push port on the controller is an attack surface: loopback unless the site says otherwise.
//
// Nothing is polled: a source that nobody pushes to grows old by itself. A port that is taken is tried again.
#include "aegisd/source_otlp.h"

#include "aegisd/clock.h"
#include "aegisd/gzip.h"
#include "aegisd/metric_mapper.h"
#include "lib/otlp.h"

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
#include <boost/url/url_view.hpp>
#include <fmt/format.h>
#include <set>

namespace aegis {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr auto awaited = asio::as_tuple(asio::use_awaitable);
constexpr std::uint32_t header_limit_bytes = 16u << 10;
constexpr std::chrono::seconds listen_again{5};

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

enum class Encoding { json, protobuf };

struct Refusal {
    http::status status;
    std::string reason;
};

// Both are compared to the end, so that the time taken tells nothing of where they differ.
bool same_secret(std::string_view a, std::string_view b) {
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[b.empty() ? 0 : i % b.size()]);
    return difference == 0;
}

class OtlpSource final : public Source, public std::enable_shared_from_this<OtlpSource> {
public:
    OtlpSource(asio::io_context& io, const OtlpOptions& options, BatchSink sink)
        : io_(io), options_(options), mapper_(options.source), sink_(std::move(sink)), acceptor_(io), timer_(io) {}

    void start() override { asio::co_spawn(io_, listen(shared_from_this()), asio::detached); }

    void stop() override {
        stopped_ = true;
        error_code ignored;
        acceptor_.close(ignored);
        timer_.cancel();
        for (beast::tcp_stream* stream : streams_) stream->close();
    }

private:
    // `self` keeps the object alive as long as the coroutine runs.
    static asio::awaitable<void> listen(std::shared_ptr<OtlpSource> self) { co_await self->accept_forever(); }

    asio::awaitable<void> accept_forever() {
        while (!stopped_) {
            if (const auto failure = open()) {
                mapper_.begin(wall_clock());
                sink_(mapper_.fail(*failure));
                if (stopped_) break; // the sink may have had enough
                timer_.expires_after(listen_again);
                co_await timer_.async_wait(awaited);
                continue;
            }
            while (!stopped_) {
                auto [failed, socket] = co_await acceptor_.async_accept(awaited);
                if (stopped_) break;
                if (failed) { // out of descriptors, most likely: they come back
                    timer_.expires_after(std::chrono::milliseconds(100));
                    co_await timer_.async_wait(awaited);
                    continue;
                }
                if (streams_.size() >= options_.connections_max) continue; // the socket closes here
                asio::co_spawn(io_, serve(shared_from_this(), std::move(socket)), asio::detached);
            }
        }
    }

    std::optional<std::string> open() {
        const boost::urls::url_view url = boost::urls::parse_uri(options_.source.url).value();
        error_code failed;
        const auto address = asio::ip::make_address(url.host_address(), failed);
        if (failed) return fmt::format("{} is not an address to listen on", std::string(url.host_address()));
        if (!address.is_loopback() && !options_.allow_remote)
            return fmt::format("{} is not a loopback address, and remote senders are not allowed", address.to_string());
        const tcp::endpoint endpoint(address, url.has_port() ? url.port_number() : 4318);
        acceptor_.open(endpoint.protocol(), failed);
        if (!failed) acceptor_.set_option(asio::socket_base::reuse_address(true), failed);
        if (!failed) acceptor_.bind(endpoint, failed);
        if (!failed) acceptor_.listen(asio::socket_base::max_listen_connections, failed);
        if (!failed) return std::nullopt;
        error_code ignored;
        acceptor_.close(ignored);
        return fmt::format("cannot listen on {}: {}", options_.source.url, failed.message());
    }

    static asio::awaitable<void> serve(std::shared_ptr<OtlpSource> self, tcp::socket socket) {
        beast::tcp_stream stream(std::move(socket));
        self->streams_.insert(&stream);
        co_await self->answer_all(stream);
        self->streams_.erase(&stream);
        error_code ignored;
        stream.socket().shutdown(tcp::socket::shutdown_both, ignored);
    }

    asio::awaitable<void> answer_all(beast::tcp_stream& stream) {
        beast::flat_buffer buffer;
        while (!stopped_) {
            http::request_parser<http::string_body> parser;
            parser.header_limit(header_limit_bytes);
            parser.body_limit(options_.source.body_limit_bytes);
            stream.expires_after(options_.request_timeout);
            auto [no_header, header_bytes] = co_await http::async_read_header(stream, buffer, parser, awaited);
            std::ignore = header_bytes;
            if (no_header) {
                // Noise that is no HTTP, or a length that is too much already, gets an answer; a peer that left does not.
                if (no_header == http::error::body_limit) co_await send_last(stream, too_large());
                else if (no_header != http::error::end_of_stream && no_header != beast::error::timeout && !stopped_)
                    co_await send_last(stream, {http::status::bad_request, "not an HTTP request: " + no_header.message()});
                co_return;
            }
            const Request& head = parser.get();
            if (auto refusal = check_header(head)) {
                co_await send_last(stream, std::move(*refusal)); // its body is not read
                co_return;
            }
            if (beast::iequals(head[http::field::expect], "100-continue")) {
                http::response<http::empty_body> go_on(http::status::continue_, 11);
                auto [failed, size] = co_await http::async_write(stream, go_on, awaited);
                std::ignore = size;
                if (failed) co_return;
            }
            auto [failed, body_bytes] = co_await http::async_read(stream, buffer, parser, awaited);
            std::ignore = body_bytes;
            if (failed == http::error::body_limit) {
                co_await send_last(stream, too_large());
                co_return;
            }
            if (failed || stopped_) co_return;
            Request request = parser.release();
            Response response = take(request);
            response.keep_alive(request.keep_alive());
            response.prepare_payload();
            auto [unsent, size] = co_await http::async_write(stream, response, awaited);
            std::ignore = size;
            if (unsent || !request.keep_alive()) co_return;
        }
    }

    asio::awaitable<void> send_last(beast::tcp_stream& stream, Refusal refusal) {
        Response response = refused(std::move(refusal));
        response.keep_alive(false);
        response.prepare_payload();
        auto [failed, size] = co_await http::async_write(stream, response, awaited);
        std::ignore = failed;
        std::ignore = size;
    }

    Refusal too_large() const {
        return {http::status::payload_too_large, fmt::format("the body is over the limit of {} bytes", options_.source.body_limit_bytes)};
    }

    std::optional<Refusal> check_header(const Request& request) const {
        std::string_view target = request.target();
        target = target.substr(0, target.find('?'));
        if (target != "/v1/metrics") return Refusal{http::status::not_found, "only /v1/metrics is served here"};
        if (request.method() != http::verb::post) return Refusal{http::status::method_not_allowed, "metrics are sent with POST"};
        if (!options_.bearer_token.empty()) {
            constexpr std::string_view scheme = "Bearer ";
            const std::string_view sent = request[http::field::authorization];
            if (!sent.starts_with(scheme) || !same_secret(sent.substr(scheme.size()), options_.bearer_token))
                return Refusal{http::status::unauthorized, "the bearer token is missing or wrong"};
        }
        if (!encoding_of(request))
            return Refusal{http::status::unsupported_media_type, "expected Content-Type application/x-protobuf or application/json"};
        const std::string_view coding = request[http::field::content_encoding];
        if (!coding.empty() && coding != "gzip" && coding != "identity")
            return Refusal{http::status::unsupported_media_type, "expected Content-Encoding gzip or none"};
        return std::nullopt;
    }

    static std::optional<Encoding> encoding_of(const Request& request) {
        std::string_view type = request[http::field::content_type];
        type = type.substr(0, type.find(';'));
        while (type.ends_with(' ')) type.remove_suffix(1);
        if (beast::iequals(type, "application/json")) return Encoding::json;
        if (beast::iequals(type, "application/x-protobuf")) return Encoding::protobuf;
        return std::nullopt;
    }

    Response take(Request& request) {
        if (request[http::field::content_encoding] == "gzip") {
            auto inflated = gunzip(request.body(), options_.source.body_limit_bytes);
            if (!inflated) return refused({http::status::bad_request, "the gzip body: " + inflated.error()});
            request.body() = std::move(*inflated);
        }
        const Encoding encoding = *encoding_of(request);
        mapper_.begin(wall_clock());
        const OnOtlpPoint on_point = [this](const OtlpPoint& point) { take_point(point); };
        const auto count = encoding == Encoding::json ? decode_otlp_json(request.body(), on_point)
                                                      : decode_otlp_protobuf(request.body(), on_point);
        if (!count) return refused({http::status::bad_request, count.error()});
        Batch batch = mapper_.end();
        batch.refused += count->refused;
        sink_(batch);

        // An empty ExportMetricsServiceResponse: all is accepted, also what no mapping wants.
        Response response(http::status::ok, 11);
        response.set(http::field::content_type, encoding == Encoding::json ? "application/json" : "application/x-protobuf");
        if (encoding == Encoding::json) response.body() = "{}";
        return response;
    }

    void take_point(const OtlpPoint& point) {
        const double* number = std::get_if<double>(&point.value);
        if (!number) return; // a histogram is no signal of a link
        double value = *number;
        if (point.shape == OtlpPoint::Shape::sum && point.temporality == OtlpTemporality::delta) {
            const auto total = delta_sums_.add(point);
            if (!total) return;
            value = *total;
        }
        PrometheusSample sample{point.metric, point.labels, value, std::nullopt};
        if (point.time != EventTime{})
            sample.timestamp_ms = std::chrono::duration_cast<std::chrono::milliseconds>(point.time.time_since_epoch()).count();
        mapper_.take(sample);
    }

    Response refused(Refusal refusal) {
        mapper_.begin(wall_clock());
        sink_(mapper_.fail(fmt::format("a request was refused: {}", refusal.reason)));
        Response response(refusal.status, 11);
        response.set(http::field::content_type, "text/plain");
        if (refusal.status == http::status::unauthorized) response.set(http::field::www_authenticate, "Bearer");
        response.body() = refusal.reason + "\n";
        return response;
    }

    asio::io_context& io_;
    OtlpOptions options_;
    MetricMapper mapper_;
    DeltaSums delta_sums_;
    BatchSink sink_;
    tcp::acceptor acceptor_;
    asio::steady_timer timer_;
    std::set<beast::tcp_stream*> streams_;
    bool stopped_ = false;
};

} // namespace

std::shared_ptr<Source> make_otlp_source(asio::io_context& io, const OtlpOptions& options, BatchSink sink) {
    return std::make_shared<OtlpSource>(io, options, std::move(sink));
}

} // namespace aegis
