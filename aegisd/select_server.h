// The select socket: where plugins ask. Accepts, checks who is there, keeps the connections and hands the engine's
// answers to them.
//
// Lives on the engine's thread. What a plugin reports back (OUTCOME, JOB_BEGIN, JOB_END) is written to the store
// in its order, but off the answer's path: after the asks that have already arrived.
#pragma once

#include "aegisd/engine.h"
#include "aegisd/select_connection.h"
#include "aegisd/unix_socket.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>

namespace aegis {

struct SelectStatus {
    std::optional<PluginStatus> plugin; // the one that greeted last; absent: none ever did
    std::uint64_t frames_refused = 0, peers_refused = 0;
};

class SelectServer {
public:
    SelectServer(boost::asio::io_context& io, Engine& engine, ListeningSocket socket);

    void start();
    void announce();           // mode or limits changed: WELCOME to every plugin
    void rebuild_tables();     // the fabric changed
    void tell_calm();          // the fabric was seen anew: CALM to every plugin
    void tick(EventTime now);  // drops peers that have gone silent, CALM to the others
    void drain();              // answer what has arrived, write what was reported, close everything
    SelectStatus status() const;

    // for SelectConnection
    Engine& engine() { return engine_; }
    void greeted(const std::shared_ptr<SelectConnection>& connection);
    void closed(const std::shared_ptr<SelectConnection>& connection);
    void frame_refused(std::string_view what);
    void later(std::function<void(Engine&)> write); // kept in order

private:
    void accept();
    void admit(SelectConnection::Socket socket);
    void write_reports();
    void write_one_report();

    boost::asio::io_context& io_;
    Engine& engine_;
    ListeningSocket file_;
    boost::asio::local::stream_protocol::acceptor acceptor_;
    boost::asio::steady_timer accept_again_; // after running out of descriptors
    std::set<std::shared_ptr<SelectConnection>> connections_;
    std::shared_ptr<SelectConnection> current_; // greeted last
    std::optional<PluginStatus> gone_;          // what was known of it when it went
    std::deque<std::function<void(Engine&)>> reports_;
    bool report_posted_ = false;
    std::uint64_t frames_refused_ = 0, peers_refused_ = 0;
    EventTime complained_at_{};
};

} // namespace aegis
