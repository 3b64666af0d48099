// The control socket: where aegisctl asks. One JSON object a line each way, several requests a connection.
//
// Lives on the collector's thread. Root, slurm_user and aegisd's own user only; others are told so, counted and
// closed. A line over its bound or one that is no JSON object ends the connection after an answer that says so.
#pragma once

#include "aegisd/control_commands.h"
#include "aegisd/unix_socket.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <set>

namespace aegis {

class ControlConnection;

class ControlServer {
public:
    ControlServer(boost::asio::io_context& io, ControlCommands& commands, ListeningSocket socket, SitePointer site);

    void start();
    void stop();
    void adopt(SitePointer site) { site_ = std::move(site); }

    // for ControlConnection
    void run(const boost::json::object& request, uid_t caller, ControlCommands::Done done);
    void closed(const std::shared_ptr<ControlConnection>& connection);

private:
    void accept();
    void admit(boost::asio::local::stream_protocol::socket socket);

    boost::asio::io_context& io_;
    ControlCommands& commands_;
    ListeningSocket file_;
    boost::asio::local::stream_protocol::acceptor acceptor_;
    boost::asio::steady_timer accept_again_;
    SitePointer site_;
    std::set<std::shared_ptr<ControlConnection>> connections_;
    std::uint64_t peers_refused_ = 0;
};

} // namespace aegis
