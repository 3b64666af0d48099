// One peer of the select socket: a plugin in slurmctld, until it breaks the protocol or goes away.
//
// Lives on the engine's thread. Frames are handled in the order they came; an answer is written at once. What is kept
// per peer is bounded: one frame of input, `output_limit_bytes` of output. A peer that sends what the protocol does not
// allow is told nothing more and closed; nothing it sent is half-applied.
#pragma once

#include "aegisd/wire_messages.h"
#include "lib/node_table.h"
#include "lib/sample.h"

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace aegis {

class SelectServer;

// What a plugin said of itself, for `aegisctl status`.
struct PluginStatus {
    bool connected = false;
    std::uint32_t slurm_version = 0;
    std::string release;
    std::shared_ptr<const NodeTable> table;
    EventTime since{};
    std::optional<EventTime> last_ping;
    aegis_counters counters{};
};

class SelectConnection : public std::enable_shared_from_this<SelectConnection> {
public:
    using Socket = boost::asio::local::stream_protocol::socket;

    SelectConnection(SelectServer& server, Socket socket, EventTime now);

    void start();
    void send_welcome();   // again, because the mode or the configuration changed
    void send_calm();      // again, because the fabric was seen anew
    void rebuild_table();  // the fabric changed
    void finish();         // answer what has arrived, then close
    void close_if_silent(EventTime now);

    const PluginStatus& status() const { return status_; }

private:
    void read();
    void take_bytes(std::size_t size);
    bool take_frames(); // false: closed
    bool take(const aegis_header& header, const std::uint8_t* payload);
    bool greet(const std::uint8_t* payload, std::size_t size);
    bool answer(std::uint64_t request, const std::uint8_t* payload, std::size_t size);
    bool note_kept(Ask ask, const aegis_ask& message);
    bool take_outcome(const std::uint8_t* payload, std::size_t size);
    bool take_job_event(aegis_type type, const std::uint8_t* payload, std::size_t size);
    bool take_ping(std::uint64_t request, const std::uint8_t* payload, std::size_t size);
    bool refuse(std::string_view what); // counts, closes, returns false
    void send(const Frame& frame);
    void write_rest();
    void close();

    SelectServer& server_;
    Socket socket_;
    std::vector<std::uint8_t> chunk_;  // where the kernel writes
    std::vector<std::uint8_t> input_;  // bytes of frames not yet complete
    std::vector<std::uint8_t> output_; // bytes the kernel has not taken
    bool writing_ = false;
    EventTime heard_at_;
    PluginStatus status_;
};

} // namespace aegis
