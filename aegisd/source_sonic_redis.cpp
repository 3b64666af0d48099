// A SONiC switch's COUNTERS_DB, read over a Unix socket or TCP (an SSH tunnel ends in either).
//
// A poll is one pipeline: SELECT, the time stamps, one HMGET an object; then one more for queues whose watermark only
// the periodic table has. The name maps are read again every few seconds, before the values. One poll is in flight
// at a time and ends within the timeout, whatever the server does; its answer is parsed as it arrives and refused
// above the limit. After any failure the connection is closed and the next poll opens a new one.
//
// A multi-ASIC switch has a database per namespace: one [[source]] each, with the same switch name.
#include "aegisd/source_sonic_redis.h"

#include "aegisd/clock.h"
#include "aegisd/resp_reader.h"
#include "aegisd/text_file.h"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <fmt/format.h>

namespace aegis {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::asio::generic::stream_protocol;
using boost::asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr auto awaited = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t chunk_bytes = 256u << 10;

// Numbers of SONiC's databases, the same in every image (database_config.json).
constexpr std::string_view appl_db = "0", counters_db = "2", config_db = "4", state_db = "6";

using Failure = std::optional<std::string>; // in plain words
enum class Refusals { fail, ignore }; // what an error reply to one command means for the exchange
using OnReply = std::function<void(std::size_t index, const RespReply&)>;

std::optional<std::string_view> only(const RespReply& reply) {
    return reply.rows.size() == 1 ? reply.rows.front() : std::nullopt;
}

SonicHash hash_of(const RespReply& reply) {
    SonicHash hash;
    hash.reserve(reply.rows.size() / 2);
    for (std::size_t i = 0; i + 1 < reply.rows.size(); i += 2)
        if (reply.rows[i] && reply.rows[i + 1]) hash.emplace_back(*reply.rows[i], *reply.rows[i + 1]);
    return hash;
}

class Pipeline {
public:
    void add(const std::vector<std::string_view>& words) {
        append_redis_command(bytes_, words);
        ++commands_;
    }
    void add(std::initializer_list<std::string_view> words) { add(std::vector<std::string_view>(words)); }
    const std::string& bytes() const { return bytes_; }
    std::size_t commands() const { return commands_; }

private:
    std::string bytes_;
    std::size_t commands_ = 0;
};

class SonicRedisSource final : public Source, public std::enable_shared_from_this<SonicRedisSource> {
public:
    SonicRedisSource(asio::io_context& io, const SonicRedisOptions& options, BatchSink sink)
        : io_(io), options_(options), sink_(std::move(sink)), counters_(options.naming), stream_(io), resolver_(io),
          timer_(io), chunk_(chunk_bytes) {}

    void start() override { asio::co_spawn(io_, run(shared_from_this()), asio::detached); }

    void stop() override {
        stopped_ = true;
        timer_.cancel();
        resolver_.cancel();
        close();
    }

private:
    // `self` keeps the object alive as long as the coroutine runs.
    static asio::awaitable<void> run(std::shared_ptr<SonicRedisSource> self) { co_await self->poll_forever(); }

    asio::awaitable<void> poll_forever() {
        auto next = std::chrono::steady_clock::now();
        while (!stopped_) {
            const EventTime polled_at = wall_clock();
            Failure failure = co_await poll();
            if (stopped_) break;
            if (failure) {
                close();
                Batch batch;
                batch.source = options_.naming.source;
                batch.polled_at = polled_at;
                batch.failure = std::move(failure);
                batch.announced = std::move(announced_before_failure_);
                announced_before_failure_.clear();
                sink_(batch);
            } else {
                sink_(counters_.finish());
            }
            next = std::max(next + options_.interval, std::chrono::steady_clock::now());
            timer_.expires_at(next);
            co_await timer_.async_wait(awaited);
        }
    }

    asio::awaitable<Failure> poll() {
        stream_.expires_after(options_.timeout);
        received_bytes_ = 0;
        if (!stream_.socket().is_open()) {
            if (Failure failure = co_await connect()) co_return failure;
            if (options_.password_file)
                if (Failure failure = co_await authenticate()) co_return failure;
        }
        const auto now = std::chrono::steady_clock::now();
        if (now >= maps_due_) {
            if (Failure failure = co_await read_maps()) co_return failure;
            maps_due_ = now + options_.maps_interval;
        }
        if (Failure failure = co_await read_values()) {
            // The readings are lost, but series met in this poll have their numbers: they stay announced.
            announced_before_failure_ = counters_.finish().announced;
            co_return failure;
        }
        co_return std::nullopt;
    }

    asio::awaitable<Failure> connect() {
        reader_.reset();
        maps_due_ = {};
        const boost::urls::url_view url = boost::urls::parse_uri(options_.url).value();
        std::vector<stream_protocol::endpoint> endpoints;
        if (url.scheme() == "unix") {
            endpoints.emplace_back(asio::local::stream_protocol::endpoint(url.path()));
        } else {
            const std::string host = url.host_address();
            const std::string port = url.has_port() ? std::string(url.port()) : "6379";
            auto [failed, results] = co_await resolver_.async_resolve(host, port, awaited);
            if (failed) co_return fmt::format("the name {} cannot be resolved: {}", host, failed.message());
            for (const auto& entry : results) endpoints.emplace_back(entry.endpoint());
        }
        error_code failed = asio::error::host_not_found;
        for (const auto& endpoint : endpoints) {
            close();
            std::tie(failed) = co_await stream_.async_connect(endpoint, awaited);
            if (!failed) co_return std::nullopt;
        }
        if (failed == beast::error::timeout)
            co_return fmt::format("no connection to {} within {} ms", options_.url, options_.timeout.count());
        co_return fmt::format("no connection to {}: {}", options_.url, failed.message());
    }

    asio::awaitable<Failure> authenticate() {
        auto password = read_text_file(*options_.password_file);
        if (!password) co_return password.error();
        while (password->ends_with('\n') || password->ends_with('\r')) password->pop_back();
        Pipeline pipeline;
        if (options_.username)
            pipeline.add({"AUTH", *options_.username, *password});
        else
            pipeline.add({"AUTH", *password});
        co_return co_await exchange(pipeline, [](std::size_t, const RespReply&) {});
    }

    asio::awaitable<Failure> read_maps() {
        SonicMaps maps;
        const std::array<std::pair<std::string_view, SonicHash*>, 6> hashes{{
            {"COUNTERS_PORT_NAME_MAP", &maps.ports},
            {"COUNTERS_QUEUE_NAME_MAP", &maps.queues},
            {"COUNTERS_VOQ_NAME_MAP", &maps.voqs},
            {"COUNTERS_QUEUE_PORT_MAP", &maps.queue_ports},
            {"COUNTERS_QUEUE_INDEX_MAP", &maps.queue_indices},
            {"COUNTERS_QUEUE_TYPE_MAP", &maps.queue_types},
        }};
        const std::array<std::pair<std::string_view, bool*>, 4> groups{{
            {"FLEX_COUNTER_TABLE|PORT", &maps.ports_disabled},
            {"FLEX_COUNTER_TABLE|QUEUE", &maps.queues_disabled},
            {"FLEX_COUNTER_TABLE|QUEUE_WATERMARK", &maps.watermarks_disabled},
            {"FLEX_COUNTER_TABLE|WRED_ECN_QUEUE", &maps.ecn_disabled},
        }};
        Pipeline names;
        names.add({"SELECT", counters_db});
        for (const auto& [key, hash] : hashes) names.add({"HGETALL", key});
        if (Failure failure = co_await exchange(
                names, [&](std::size_t i, const RespReply& reply) { if (i > 0) *hashes[i - 1].second = hash_of(reply); }))
            co_return failure;

        // What other databases of the switch say helps, but its absence (an export, a proxy) is no failure.
        Pipeline context;
        context.add({"SELECT", config_db});
        for (const auto& [key, disabled] : groups) context.add({"HGET", key, "FLEX_COUNTER_STATUS"});
        const std::size_t hostname = context.commands();
        context.add({"HGET", "DEVICE_METADATA|localhost", "hostname"});
        context.add({"SELECT", state_db});
        const std::size_t capability = context.commands();
        context.add({"HGET", "QUEUE_COUNTER_CAPABILITIES|WRED_ECN_QUEUE_ECN_MARKED_PKT_COUNTER", "isSupported"});
        const OnReply take_context = [&](std::size_t i, const RespReply& reply) {
            if (i >= 1 && i < hostname) *groups[i - 1].second = only(reply) == "disable";
            if (i == hostname) maps.hostname = only(reply).value_or("");
            if (i == capability && only(reply)) maps.ecn_supported = only(reply) == "true";
        };
        if (Failure failure = co_await exchange(context, take_context, Refusals::ignore)) co_return failure;
        if (options_.naming.port_aliases)
            if (Failure failure = co_await read_aliases(maps)) co_return failure;
        counters_.take_maps(maps);
        write_requests();
        co_return std::nullopt;
    }

    asio::awaitable<Failure> read_aliases(SonicMaps& maps) {
        Pipeline pipeline;
        pipeline.add({"SELECT", appl_db});
        for (const auto& [port, oid] : maps.ports) pipeline.add({"HGET", "PORT_TABLE:" + port, "alias"});
        const OnReply take_alias = [&](std::size_t i, const RespReply& reply) {
            if (i > 0 && only(reply)) maps.aliases.emplace_back(maps.ports[i - 1].first, *only(reply));
        };
        co_return co_await exchange(pipeline, take_alias, Refusals::ignore);
    }

    // The pipeline of values is the same until the maps change.
    void write_requests() {
        values_ = Pipeline();
        values_.add({"SELECT", counters_db});
        values_.add({"HGETALL", "COUNTERS:TIME_STAMP"});
        std::vector<std::string_view> words;
        for (const SonicObject& object : counters_.objects()) {
            const std::string key = "COUNTERS:" + object.oid;
            const auto fields = SonicCounters::fields(object.table);
            words.assign({"HMGET", key});
            words.insert(words.end(), fields.begin(), fields.end());
            values_.add(words);
        }
    }

    asio::awaitable<Failure> read_values() {
        const EventTime polled_at = wall_clock();
        bool began = false;
        if (Failure failure = co_await exchange(values_, [&](std::size_t i, const RespReply& reply) {
                if (i == 1) {
                    counters_.begin(polled_at, hash_of(reply));
                    began = true;
                }
                if (i < 2 || !began) return;
                const std::size_t object = i - 2;
                const auto wanted = SonicCounters::fields(counters_.objects()[object].table).size();
                if (reply.rows.size() == wanted) counters_.take(object, reply.rows);
            }))
            co_return failure;

        Pipeline periodic;
        std::vector<std::size_t> asked;
        for (std::size_t i = 0; i < counters_.objects().size(); ++i) {
            if (!counters_.wants_periodic(i)) continue;
            periodic.add({"HGET", "PERIODIC_WATERMARKS:" + counters_.objects()[i].oid, SonicCounters::periodic_field});
            asked.push_back(i);
        }
        if (asked.empty()) co_return std::nullopt;
        co_return co_await exchange(
            periodic, [&](std::size_t i, const RespReply& reply) { counters_.take_periodic(asked[i], only(reply)); });
    }

    // Sends all commands and hands over each answer. Answers are read while the rest of a long pipeline goes out.
    asio::awaitable<Failure> exchange(const Pipeline& pipeline, const OnReply& on_reply,
                                      Refusals refusals = Refusals::fail) {
        std::size_t sent = 0, replies = 0;
        Failure refused;
        while (replies < pipeline.commands()) {
            if (sent < pipeline.bytes().size()) {
                const auto piece = std::min(chunk_bytes, pipeline.bytes().size() - sent);
                auto [failed, size] = co_await stream_.async_write_some(asio::buffer(pipeline.bytes().data() + sent, piece), awaited);
                if (failed) co_return broken(failed);
                sent += size;
                if (sent < pipeline.bytes().size() && stream_.socket().available() == 0) continue;
            }
            auto [failed, size] = co_await stream_.async_read_some(asio::buffer(chunk_), awaited);
            if (failed) co_return broken(failed);
            received_bytes_ += size;
            if (received_bytes_ > options_.answer_limit_bytes)
                co_return fmt::format("the answer is over the limit of {} bytes", options_.answer_limit_bytes);
            reader_.feed({chunk_.data(), size});
            while (replies < pipeline.commands()) {
                const auto reply = reader_.next();
                if (!reply) co_return reply.error();
                if (!*reply) break;
                if ((*reply)->error && !refused) refused = fmt::format("Redis refuses a command: {}", *(*reply)->error);
                if (!(*reply)->error) on_reply(replies, **reply);
                ++replies;
            }
        }
        co_return refusals == Refusals::fail ? refused : std::nullopt;
    }

    std::string broken(error_code failed) const {
        if (failed == beast::error::timeout)
            return fmt::format("no complete answer within {} ms", options_.timeout.count());
        if (failed == asio::error::eof || failed == asio::error::connection_reset || failed == asio::error::broken_pipe)
            return "the connection was closed before the answer was complete";
        return failed.message();
    }

    void close() {
        error_code ignored;
        stream_.socket().close(ignored);
    }

    asio::io_context& io_;
    SonicRedisOptions options_;
    BatchSink sink_;
    SonicCounters counters_;
    std::vector<Series> announced_before_failure_;
    beast::basic_stream<stream_protocol> stream_;
    tcp::resolver resolver_;
    asio::steady_timer timer_;
    RespReader reader_;
    std::vector<char> chunk_;
    Pipeline values_;
    std::chrono::steady_clock::time_point maps_due_{};
    std::uint64_t received_bytes_ = 0;
    bool stopped_ = false;
};

} // namespace

std::shared_ptr<Source> make_sonic_redis_source(asio::io_context& io, const SonicRedisOptions& options, BatchSink sink) {
    return std::make_shared<SonicRedisSource>(io, options, std::move(sink));
}

} // namespace aegis
