#include "aegisd/select_server.h"

#include "aegisd/clock.h"

#include <boost/asio/post.hpp>
#include <spdlog/spdlog.h>

namespace aegis {

namespace {

// slurmctld, its backup, and both again while their old connections die.
constexpr std::size_t connections_max = 16;

// Reports are a few hundred bytes each. Beyond this they are written at once, and the peer that floods us waits.
constexpr std::size_t reports_max = 10'000;

constexpr std::chrono::seconds complaint_interval{1};

} // namespace

SelectServer::SelectServer(boost::asio::io_context& io, Engine& engine, ListeningSocket socket)
    : io_(io), engine_(engine), file_(std::move(socket)),
      acceptor_(io, boost::asio::local::stream_protocol(), file_.take_descriptor()), accept_again_(io) {}

void SelectServer::start() { accept(); }

void SelectServer::accept() {
    acceptor_.async_accept([this](boost::system::error_code failure, SelectConnection::Socket socket) {
        if (failure == boost::asio::error::operation_aborted || !acceptor_.is_open()) return;
        if (!failure) {
            admit(std::move(socket));
            return accept();
        }
        // Out of descriptors or memory: the kernel keeps the peer waiting, and trying at once would only spin.
        spdlog::error("{}: a connection cannot be accepted: {}; trying again in a second", file_.path(),
                      failure.message());
        accept_again_.expires_after(std::chrono::seconds(1));
        accept_again_.async_wait([this](boost::system::error_code stopped) {
            if (!stopped) accept();
        });
    });
}

void SelectServer::admit(SelectConnection::Socket socket) {
    const EventTime now = wall_clock();
    const auto peer = peer_of(socket.native_handle());
    if (!peer || !may_connect(peer->uid, engine_.site()->slurm_uid)) {
        ++peers_refused_;
        if (now - complained_at_ > complaint_interval) {
            complained_at_ = now;
            spdlog::warn("{}: uid {} (pid {}) refused: only root and {} may connect", file_.path(),
                         peer ? static_cast<long>(peer->uid) : -1, peer ? peer->pid : -1,
                         engine_.site()->config.select.slurm_user);
        }
        return;
    }
    if (connections_.size() >= connections_max) {
        ++peers_refused_;
        spdlog::warn("{}: pid {} refused: {} connections are open", file_.path(), peer->pid, connections_max);
        return;
    }
    auto connection = std::make_shared<SelectConnection>(*this, std::move(socket), now);
    connections_.insert(connection);
    connection->start();
}

void SelectServer::announce() {
    const auto connections = connections_; // one that breaks leaves the set
    for (const auto& connection : connections) connection->send_welcome();
}

void SelectServer::rebuild_tables() {
    for (const auto& connection : connections_) connection->rebuild_table();
}

void SelectServer::tell_calm() {
    const auto connections = connections_;
    for (const auto& connection : connections) connection->send_calm();
}

void SelectServer::tick(EventTime now) {
    const auto connections = connections_;
    for (const auto& connection : connections) connection->close_if_silent(now);
    tell_calm();
}

void SelectServer::drain() {
    boost::system::error_code failure;
    acceptor_.close(failure);
    accept_again_.cancel();
    const auto connections = connections_;
    for (const auto& connection : connections) connection->finish();
    write_reports();
}

SelectStatus SelectServer::status() const {
    SelectStatus status;
    status.plugin = current_ ? std::optional(current_->status()) : gone_;
    status.frames_refused = frames_refused_;
    status.peers_refused = peers_refused_;
    return status;
}

void SelectServer::greeted(const std::shared_ptr<SelectConnection>& connection) { current_ = connection; }

void SelectServer::closed(const std::shared_ptr<SelectConnection>& connection) {
    if (current_ == connection) {
        gone_ = connection->status();
        current_.reset();
        spdlog::info("the plugin in slurmctld has closed its connection");
    }
    connections_.erase(connection);
}

void SelectServer::frame_refused(std::string_view what) {
    ++frames_refused_;
    const EventTime now = wall_clock();
    if (now - complained_at_ <= complaint_interval) return;
    complained_at_ = now;
    spdlog::warn("{}: {}: connection closed", file_.path(), what);
}

void SelectServer::later(std::function<void(Engine&)> write) {
    reports_.push_back(std::move(write));
    if (reports_.size() > reports_max) return write_reports();
    if (report_posted_) return;
    report_posted_ = true;
    boost::asio::post(io_, [this] { write_one_report(); });
}

void SelectServer::write_one_report() {
    report_posted_ = false;
    if (reports_.empty()) return;
    reports_.front()(engine_);
    reports_.pop_front();
    if (reports_.empty()) return;
    report_posted_ = true;
    boost::asio::post(io_, [this] { write_one_report(); });
}

void SelectServer::write_reports() {
    for (; !reports_.empty(); reports_.pop_front()) reports_.front()(engine_);
}

} // namespace aegis
