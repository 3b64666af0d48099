// Instant queries to /api/v1/query. Each mapped metric is asked for twice, with the same evaluation time: its values, and
// timestamp() of them. The server would pass off a value up to five minutes old as current; so each reading carries the
// time of its own sample, and a value that is not newer than the last one is no news.
//
// One poll is in flight at a time and ends within the source's timeout. If any query fails, the poll brings nothing.
#include "aegisd/source_promql.h"

#include "aegisd/clock.h"
#include "aegisd/http_client.h"
#include "aegisd/metric_mapper.h"
#include "lib/promql_response.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>
#include <fmt/format.h>

namespace aegis {

namespace asio = boost::asio;

namespace {

constexpr auto awaited = asio::as_tuple(asio::use_awaitable);

HttpClient::Options client_options(const PromqlOptions& options) {
    HttpClient::Options client{options.source.url, {{"Accept", "application/json"}}, options.source.body_limit_bytes};
    if (!options.tenant.empty()) client.headers.emplace_back("X-Scope-OrgID", options.tenant);
    if (!options.authorization.empty()) client.headers.emplace_back("Authorization", options.authorization);
    return client;
}

class PromqlSource final : public Source, public std::enable_shared_from_this<PromqlSource> {
public:
    PromqlSource(asio::io_context& io, const PromqlOptions& options, BatchSink sink)
        : io_(io), config_(options.source), mapper_(options.source), sink_(std::move(sink)),
          client_(io, client_options(options)), timer_(io) {
        path_ = boost::urls::parse_uri(config_.url).value().encoded_path();
        while (path_.ends_with('/')) path_.pop_back();
        // Two mappings may read the same selector in two ways; it is asked for once.
        for (const MetricMapping& metric : config_.metrics) selectors_.push_back(promql_selector(metric.name, metric.match));
        std::sort(selectors_.begin(), selectors_.end());
        selectors_.erase(std::unique(selectors_.begin(), selectors_.end()), selectors_.end());
    }

    void start() override { asio::co_spawn(io_, run(shared_from_this()), asio::detached); }

    void stop() override {
        stopped_ = true;
        timer_.cancel();
        client_.close();
    }

private:
    // `self` keeps the object alive as long as the coroutine runs.
    static asio::awaitable<void> run(std::shared_ptr<PromqlSource> self) { co_await self->poll_forever(); }

    asio::awaitable<void> poll_forever() {
        auto next = std::chrono::steady_clock::now();
        while (!stopped_) {
            const EventTime now = wall_clock();
            mapper_.begin(now);
            refused_ = 0;
            client_.expires_after(config_.timeout);
            const auto polled = co_await poll(now);
            if (stopped_) break;
            Batch batch = polled ? mapper_.end() : mapper_.fail(polled.error());
            batch.refused += refused_;
            sink_(batch);
            next = std::max(next + config_.interval, std::chrono::steady_clock::now());
            timer_.expires_at(next);
            co_await timer_.async_wait(awaited);
        }
    }

    asio::awaitable<std::expected<void, std::string>> poll(EventTime now) {
        for (const std::string& selector : selectors_) {
            auto values = co_await query(selector, now);
            if (!values) co_return std::unexpected(values.error());
            refused_ += values->histograms;
            if (values->samples.empty()) continue;
            const auto timestamps = co_await query("timestamp(" + selector + ")", now);
            if (!timestamps) co_return std::unexpected(timestamps.error());
            refused_ += date_samples(*values, *timestamps);
            for (const PromqlSample& sample : values->samples) take(sample);
        }
        co_return std::expected<void, std::string>();
    }

    asio::awaitable<std::expected<PromqlAnswer, std::string>> query(std::string expression, EventTime at) {
        boost::urls::url target;
        target.set_path(path_ + "/api/v1/query");
        target.params().append({"query", expression});
        target.params().append({"time", fmt::format("{:.3f}", static_cast<double>(at.time_since_epoch().count()) / 1e6)});
        const auto answer = co_await client_.get(std::string(target.encoded_target()));
        if (!answer) co_return std::unexpected(answer.error());
        auto decoded = decode_promql(answer->body);
        if (decoded && answer->status == 200) co_return decoded;
        // An error of the query engine comes with a reason in JSON, one of a proxy before it does not.
        co_return std::unexpected(fmt::format("{}: HTTP {}{}", expression, answer->status,
                                              decoded ? std::string() : ", " + decoded.error()));
    }

    void take(const PromqlSample& sample) {
        labels_.clear();
        std::string_view name;
        for (const auto& [label, value] : sample.labels) {
            if (label == "__name__") name = value;
            else labels_.push_back({label, value});
        }
        mapper_.take({name, labels_, sample.value,
                      std::chrono::duration_cast<std::chrono::milliseconds>(sample.time->time_since_epoch()).count()});
    }

    asio::io_context& io_;
    SourceConfig config_;
    MetricMapper mapper_;
    BatchSink sink_;
    HttpClient client_;
    asio::steady_timer timer_;
    std::string path_;
    std::vector<std::string> selectors_;
    std::vector<PrometheusLabel> labels_;
    std::uint64_t refused_ = 0;
    bool stopped_ = false;
};

} // namespace

std::shared_ptr<Source> make_promql_source(asio::io_context& io, const PromqlOptions& options, BatchSink sink) {
    return std::make_shared<PromqlSource>(io, options, std::move(sink));
}

} // namespace aegis
