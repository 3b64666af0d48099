#include "aegisd/daemon.h"

#include "aegisd/clock.h"
#include "aegisd/collector.h"
#include "aegisd/control_server.h"
#include "aegisd/directory_lock.h"
#include "aegisd/engine.h"
#include "aegisd/history_writer.h"
#include "aegisd/log.h"
#include "aegisd/select_server.h"
#include "aegisd/service_manager.h"
#include "aegisd/store_sync.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <thread>

namespace aegis {

namespace {

namespace asio = boost::asio;

// The collector publishes once a second. When it has been silent for this long something is wrong that a restart
// may cure, and the watchdog gets no more signs of life.
constexpr std::chrono::seconds collector_silence_limit{15};

void warn_about(const Site& site) {
    if (!site.slurm_uid)
        spdlog::warn("{}: select.slurm_user = \"{}\": no such user here: only root may connect", site.file,
                     site.config.select.slurm_user);
    if (site.config.sources.empty())
        spdlog::warn("{}: no [[source]]: without telemetry, placement knows the topology only", site.file);
}

void log_errors(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) spdlog::error("{}", line);
}

// Everything the daemon must have before it may serve.
struct Claims {
    SitePointer site;
    ListeningSocket control, select;
    DirectoryLock lock;
    Engine engine;
    Store sync_store;
};

std::expected<Claims, std::vector<std::string>> claim_all(const std::string& config_file) {
    const auto failed = [](std::string text) { return std::unexpected(std::vector{std::move(text)}); };
    auto site = load_site(config_file, wall_clock());
    if (!site) return std::unexpected(site.error());
    const Config& config = (*site)->config;
    auto control = ListeningSocket::claim(config.control.socket, (*site)->slurm_uid);
    if (!control) return failed(control.error());
    auto select = ListeningSocket::claim(config.select.socket, (*site)->slurm_uid);
    if (!select) return failed(select.error());
    auto lock = DirectoryLock::claim(config.store.directory);
    if (!lock) return failed(lock.error());
    auto store = Store::open(config.store.directory, StoreAccess::read_write);
    if (!store) return failed(store.error().text);
    auto engine = Engine::start(*site, std::move(*store));
    if (!engine) return failed(engine.error().text);
    auto sync_store = Store::open(config.store.directory, StoreAccess::read_write);
    if (!sync_store) return failed(sync_store.error().text);
    return Claims{*site, std::move(*control), std::move(*select), std::move(*lock), std::move(*engine), std::move(*sync_store)};
}

// Two event loops. The engine's runs on the main thread: it decides and answers Slurm, and waits for nothing else.
// The other one may wait for networks and the user database: sources, control server, reload. Immutable values cross
// by post; each object below belongs to the loop it is built with.
class Daemon {
public:
    explicit Daemon(Claims claims)
        : site_(std::move(claims.site)), lock_(std::move(claims.lock)), engine_(std::move(claims.engine)),
          select_(engine_loop_, engine_, std::move(claims.select)), tick_timer_(engine_loop_),
          signals_(engine_loop_, SIGTERM, SIGINT, SIGHUP),
          history_writer_({.directory = site_->config.store.directory, .keep_10s = site_->config.history.keep_10s,
                           .keep_5min = site_->config.history.keep_5min}),
          collector_(side_loop_, site_, history_writer_, [this](FabricStatePointer state) { on_engine([this, state] { observe(state); }); }),
          commands_(collector_, history_writer_, engine_port(), wall_clock()), control_(side_loop_, commands_, std::move(claims.control), site_),
          sync_(std::move(claims.sync_store), [this](std::optional<StoreError> error) {
              on_engine([this, error] { engine_.note_sync(error); });
          }) {}

    void run() {
        start();
        engine_loop_.run(); // until stop()
        finish();
    }

private:
    void start() {
        await_signal();
        select_.start();
        tick_timer_.expires_after(std::chrono::seconds(1));
        tick();
        history_writer_.start();
        collector_.start();
        control_.start();
        side_thread_ = std::jthread([this] { side_loop_.run(); });
        service_manager::ready();
        spdlog::info("aegisd " AEGIS_VERSION " answers on {}, mode {}, policy {}, {} leaves, {} links",
                     site_->config.select.socket, to_string(engine_.mode()), site_->policy.name,
                     site_->fabric.leaves().size(), site_->fabric.links().size());
    }

    // From the engine's loop; what is left of it then runs dry.
    void stop(int signal) {
        spdlog::info("{}: answering what has arrived, then ending", signal == SIGTERM ? "SIGTERM" : "SIGINT");
        service_manager::stopping();
        signals_.cancel();
        tick_timer_.cancel();
        select_.drain();
        engine_loop_work_.reset();
    }

    void finish() {
        on_side([this] {
            control_.stop();
            collector_.stop();
            side_loop_work_.reset();
        });
        side_thread_.join();
        history_writer_.stop();
        sync_.stop();
        spdlog::info("ended");
    }

    void await_signal() {
        signals_.async_wait([this](boost::system::error_code cancelled, int signal) {
            if (cancelled) return;
            if (signal != SIGHUP) return stop(signal);
            on_side([this] { reload(); });
            await_signal();
        });
    }

    void tick() {
        tick_timer_.async_wait([this](boost::system::error_code cancelled) {
            if (cancelled) return;
            const auto clock = std::chrono::steady_clock::now();
            tick_lateness_.add(std::chrono::duration_cast<std::chrono::microseconds>(clock - tick_timer_.expiry()));
            const EventTime now = wall_clock();
            engine_.tick(now);
            select_.tick(now);
            if (clock - observed_at_ < collector_silence_limit) service_manager::alive();
            tick_timer_.expires_at(std::max(tick_timer_.expiry() + std::chrono::seconds(1), clock));
            tick();
        });
    }

    void observe(FabricStatePointer state) {
        observed_at_ = std::chrono::steady_clock::now();
        engine_.observe(std::move(state), wall_clock());
        select_.tell_calm();
    }

    void reload() { // on the side loop
        service_manager::reloading();
        auto next = load_site(site_->file, wall_clock());
        if (next)
            if (auto lines = needs_restart(*site_, **next); !lines.empty()) next = std::unexpected(std::move(lines));
        if (next) {
            site_ = *next;
            warn_about(*site_);
            Log::set_level(site_->config.log.level);
            on_engine([this, site = site_] {
                engine_.adopt(site, wall_clock());
                select_.rebuild_tables();
                select_.announce();
                select_.tell_calm();
            });
            collector_.adopt(site_);
            control_.adopt(site_);
            commands_.note_reload(std::nullopt);
            spdlog::info("{}: read again and in force", site_->file);
        } else {
            log_errors(next.error());
            spdlog::error("{}: not in force: keeping the configuration as it was", site_->file);
            commands_.note_reload(fmt::format("{}", fmt::join(next.error(), "\n")));
        }
        service_manager::ready();
    }

    EnginePort engine_port() {
        EnginePort port;
        port.snapshot = [this](auto callback) {
            on_engine([this, callback] {
                EngineSnapshot snapshot{engine_.site(), engine_.status(), select_.status(), engine_.fabric_state(), engine_.view(), tick_lateness_.summary()};
                on_side([callback, snapshot] { callback(snapshot); });
            });
        };
        port.set_mode = [this](Mode mode, std::string actor, std::string reason, auto callback) {
            on_engine([this, mode, actor, reason, callback] {
                auto change = engine_.set_mode(mode, actor, reason, wall_clock());
                if (change) select_.announce();
                on_side([callback, change] { callback(change); });
            });
        };
        return port;
    }

    template <class Work> void on_engine(Work work) { asio::post(engine_loop_, std::move(work)); }
    template <class Work> void on_side(Work work) { asio::post(side_loop_, std::move(work)); }

    // The side loop is built first: what the engine's loop still holds at the end may belong to it.
    asio::io_context side_loop_{1}, engine_loop_{1};
    asio::executor_work_guard<asio::io_context::executor_type> side_loop_work_ = asio::make_work_guard(side_loop_);
    asio::executor_work_guard<asio::io_context::executor_type> engine_loop_work_ = asio::make_work_guard(engine_loop_);

    SitePointer site_; // of the side loop, once it runs
    DirectoryLock lock_;

    Engine engine_;
    SelectServer select_;
    asio::steady_timer tick_timer_;
    Lateness tick_lateness_;
    asio::signal_set signals_;
    std::chrono::steady_clock::time_point observed_at_ = std::chrono::steady_clock::now();

    HistoryWriter history_writer_;
    Collector collector_;
    ControlCommands commands_;
    ControlServer control_;
    std::jthread side_thread_;

    StoreSync sync_;
};

} // namespace

int run_daemon(const std::string& config_file) {
    std::signal(SIGPIPE, SIG_IGN); // a reader of our log that went away must not end us
    const Log log;
    auto claims = claim_all(config_file);
    if (!claims) {
        log_errors(claims.error());
        spdlog::error("not started");
        return 1;
    }
    Log::set_level(claims->site->config.log.level);
    warn_about(*claims->site);
    Daemon(std::move(*claims)).run();
    return 0;
}

int check_config(const std::string& config_file) {
    const auto site = load_site(config_file, wall_clock());
    if (!site) {
        for (const std::string& line : site.error()) fmt::print(stderr, "{}\n", line);
        return 1;
    }
    const Site& checked = **site;
    if (!checked.slurm_uid)
        fmt::print(stderr, "{}: warning: select.slurm_user = \"{}\": no such user here: only root may connect\n",
                   checked.file, checked.config.select.slurm_user);
    fmt::print("{}: ok: {} leaves, {} links, {} sources\n", checked.file, checked.fabric.leaves().size(),
               checked.fabric.links().size(), checked.config.sources.size());
    return 0;
}

} // namespace aegis
