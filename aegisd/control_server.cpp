#include "aegisd/control_server.h"

#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace aegis {

namespace json = boost::json;
namespace asio = boost::asio;

namespace {

constexpr std::size_t line_max_bytes = 64u << 10;
constexpr std::size_t connections_max = 32;

// A connection that neither asks nor takes its answer for this long makes room for another.
constexpr std::chrono::seconds idle_limit{60};

std::string line_of(const json::object& answer) { return json::serialize(answer) + "\n"; }

} // namespace

class ControlConnection : public std::enable_shared_from_this<ControlConnection> {
public:
    ControlConnection(ControlServer& server, asio::local::stream_protocol::socket socket, uid_t uid)
        : server_(server), socket_(std::move(socket)), idle_(socket_.get_executor()), uid_(uid) {}

    void read() {
        wait_idle();
        asio::async_read_until(socket_, asio::dynamic_buffer(input_, line_max_bytes), '\n',
                               [self = shared_from_this()](boost::system::error_code failure, std::size_t size) {
                                   if (failure == asio::error::not_found)
                                       return self->refuse("a request is longer than 64 KiB");
                                   if (failure) return self->close();
                                   self->take(size);
                               });
    }

    void refuse(std::string_view text, Refusal code = Refusal::failed) {
        last_ = true;
        answer(ControlCommands::failure(code, text));
    }

    void close() {
        boost::system::error_code ignored;
        socket_.close(ignored);
        idle_.cancel();
        server_.closed(shared_from_this());
    }

private:
    void take(std::size_t size) {
        json::error_code failure;
        const json::value request = json::parse({input_.data(), size}, failure);
        input_.erase(0, size);
        if (failure) return refuse(fmt::format("not JSON: {}", failure.message()));
        if (!request.is_object()) return refuse("not a JSON object");
        server_.run(request.as_object(), uid_,
                    [self = shared_from_this()](json::object answer) { self->answer(answer); });
    }

    void answer(const json::object& answer) {
        if (!socket_.is_open()) return;
        output_ = line_of(answer);
        wait_idle();
        asio::async_write(socket_, asio::buffer(output_),
                          [self = shared_from_this()](boost::system::error_code failure, std::size_t) {
                              if (failure || self->last_) return self->close();
                              self->read();
                          });
    }

    void wait_idle() {
        idle_.expires_after(idle_limit);
        idle_.async_wait([self = shared_from_this()](boost::system::error_code stopped) {
            if (!stopped) self->close();
        });
    }

    ControlServer& server_;
    asio::local::stream_protocol::socket socket_;
    asio::steady_timer idle_;
    uid_t uid_;
    std::string input_, output_;
    bool last_ = false;
};

ControlServer::ControlServer(asio::io_context& io, ControlCommands& commands, ListeningSocket socket, SitePointer site)
    : io_(io), commands_(commands), file_(std::move(socket)),
      acceptor_(io, asio::local::stream_protocol(), file_.take_descriptor()), accept_again_(io), site_(std::move(site)) {}

void ControlServer::start() { accept(); }

void ControlServer::stop() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    accept_again_.cancel();
    const auto connections = connections_;
    for (const auto& connection : connections) connection->close();
}

void ControlServer::run(const json::object& request, uid_t caller, ControlCommands::Done done) {
    commands_.run(request, caller, peers_refused_, std::move(done));
}

void ControlServer::closed(const std::shared_ptr<ControlConnection>& connection) { connections_.erase(connection); }

void ControlServer::accept() {
    acceptor_.async_accept([this](boost::system::error_code failure, asio::local::stream_protocol::socket socket) {
        if (failure == asio::error::operation_aborted || !acceptor_.is_open()) return;
        if (!failure) {
            admit(std::move(socket));
            return accept();
        }
        spdlog::error("{}: a connection cannot be accepted: {}; trying again in a second", file_.path(),
                      failure.message());
        accept_again_.expires_after(std::chrono::seconds(1));
        accept_again_.async_wait([this](boost::system::error_code stopped) {
            if (!stopped) accept();
        });
    });
}

void ControlServer::admit(asio::local::stream_protocol::socket socket) {
    const auto peer = peer_of(socket.native_handle());
    const uid_t uid = peer ? peer->uid : static_cast<uid_t>(-1);
    const bool allowed = peer && may_connect(uid, site_->slurm_uid);
    const bool room = connections_.size() < connections_max;
    auto connection = std::make_shared<ControlConnection>(*this, std::move(socket), uid);
    if (allowed && room) {
        connections_.insert(connection);
        return connection->read();
    }
    ++peers_refused_;
    if (!room) return; // closed without a word: words need memory too
    connections_.insert(connection);
    connection->refuse(fmt::format("only root and {} may use this socket", site_->config.select.slurm_user),
                       Refusal::refused);
}

} // namespace aegis
