#include "aegisd/select_connection.h"

#include "aegisd/clock.h"
#include "aegisd/select_server.h"
#include "lib/hostlist.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <spdlog/spdlog.h>

namespace aegis {

namespace {

// As much as a busy slurmctld sends in one turn: an ASK for 131,072 nodes is 48 KiB.
constexpr std::size_t chunk_bytes = 64u << 10;

// 30 advices with two plans for 131,072 nodes each. A plugin that leaves more unread is not reading at all.
constexpr std::size_t output_limit_bytes = 1u << 20;

// Input memory above this is given back after a large HELLO.
constexpr std::size_t input_kept_bytes = 256u << 10;

// A plugin greets at once and pings every second.
constexpr std::chrono::seconds silence_limit{60};
constexpr std::chrono::seconds greeting_limit{10};

// CALM comes once a second. One that is lost or late must not let jobs pass unasked for longer than a look at the switches takes.
constexpr std::chrono::milliseconds calm_valid{2500};

// How long a stopping aegisd waits for a plugin to take its last answer.
constexpr int last_write_tries = 50;

} // namespace

SelectConnection::SelectConnection(SelectServer& server, Socket socket, EventTime now)
    : server_(server), socket_(std::move(socket)), chunk_(chunk_bytes), heard_at_(now) {
    status_.since = now;
}

void SelectConnection::start() {
    boost::system::error_code failure;
    socket_.non_blocking(true, failure);
    read();
}

void SelectConnection::read() {
    socket_.async_read_some(boost::asio::buffer(chunk_),
                            [self = shared_from_this()](boost::system::error_code failure, std::size_t size) {
                                if (!self->socket_.is_open()) return;
                                if (failure) return self->close();
                                self->take_bytes(size);
                                if (self->take_frames()) self->read();
                            });
}

void SelectConnection::take_bytes(std::size_t size) {
    heard_at_ = wall_clock();
    input_.insert(input_.end(), chunk_.begin(), chunk_.begin() + static_cast<std::ptrdiff_t>(size));
}

bool SelectConnection::take_frames() {
    std::size_t used = 0;
    while (true) {
        aegis_header header{};
        const std::uint8_t* start = input_.data() + used;
        const std::int64_t length = aegis_frame_length(start, input_.size() - used, &header);
        if (length == 0) break;
        if (length == AEGIS_WIRE_VERSION_BAD)
            send(welcome_frame(AEGIS_REFUSED_VERSION, server_.engine().mode(), 0, 0, 0));
        if (length < 0) return refuse(wire_error_text(length));
        if (!take(header, start + AEGIS_HEADER_BYTES)) return false;
        used += static_cast<std::size_t>(length);
    }
    input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(used));
    if (input_.empty() && input_.capacity() > input_kept_bytes) input_.shrink_to_fit();
    return true;
}

bool SelectConnection::take(const aegis_header& header, const std::uint8_t* payload) {
    const auto type = static_cast<aegis_type>(header.type);
    if (type != AEGIS_HELLO && !status_.table) return refuse("a message before HELLO");
    switch (type) {
    case AEGIS_HELLO: return greet(payload, header.length);
    case AEGIS_ASK: return answer(header.request, payload, header.length);
    case AEGIS_OUTCOME: return take_outcome(payload, header.length);
    case AEGIS_JOB_BEGIN:
    case AEGIS_JOB_END: return take_job_event(type, payload, header.length);
    case AEGIS_PING: return take_ping(header.request, payload, header.length);
    case AEGIS_WELCOME:
    case AEGIS_ADVICE:
    case AEGIS_CALM:
    case AEGIS_PONG: break;
    }
    return refuse("a message that only aegisd sends");
}

bool SelectConnection::greet(const std::uint8_t* payload, std::size_t size) {
    aegis_hello hello{};
    if (const int error = aegis_decode_hello(payload, size, &hello); error < 0) return refuse(wire_error_text(error));
    const Engine& engine = server_.engine();
    const auto refuse_table = [&](std::string_view why) {
        spdlog::warn("node table of slurmctld (pid {}) refused: {}; it is asked to greet again", hello.pid, why);
        send(welcome_frame(AEGIS_REFUSED_NODE_TABLE, engine.mode(), 0, 0, hello.table_hash));
        return socket_.is_open();
    };
    const std::string_view text = text_of(hello.node_table);
    if (aegis_table_hash(text.data(), text.size(), hello.node_count) != hello.table_hash)
        return refuse_table("its hash does not match");
    auto names = expand_hostlist(text, AEGIS_NODES_MAX);
    if (!names) return refuse_table(names.error());
    if (names->size() != hello.node_count)
        return refuse_table(fmt::format("{} names for {} nodes", names->size(), hello.node_count));
    for (std::string& name : *names)
        if (name == "-") name.clear();
    status_.table = std::make_shared<const NodeTable>(hello.table_hash, std::move(*names), engine.site()->fabric);
    status_.connected = true;
    status_.slurm_version = hello.slurm_version;
    status_.release = text_of(hello.release);
    status_.since = wall_clock();
    spdlog::info("slurmctld {} (pid {}, plugin {}) greeted with {} nodes, {} of them on no leaf",
                 slurm_version_text(hello.slurm_version), hello.pid, status_.release, status_.table->size(),
                 status_.table->unmapped().count());
    server_.greeted(shared_from_this());
    send_welcome();
    send_calm();
    return socket_.is_open();
}

bool SelectConnection::answer(std::uint64_t request, const std::uint8_t* payload, std::size_t size) {
    aegis_ask message{};
    if (const int error = aegis_decode_ask(payload, size, &message); error < 0) return refuse(wire_error_text(error));
    Engine& engine = server_.engine();
    const bool kept = message.flags & AEGIS_ASK_KEPT;
    if (message.table_hash != status_.table->hash()) { // reconfigured in between: keep, and greet again
        if (kept) return true;
        send(advice_frame(request, 0, {}));
        send(welcome_frame(AEGIS_REFUSED_NODE_TABLE, engine.mode(), 0, 0, status_.table->hash()));
        return socket_.is_open();
    }
    const bool has_idle = message.flags & AEGIS_ASK_HAS_IDLE;
    const std::size_t nodes = status_.table->size();
    if (message.candidates.count != nodes || message.s1.count != nodes || (has_idle && message.idle.count != nodes))
        return refuse("a node set of another size than the node table");
    const Ask ask = ask_of(message);
    if (ask.s1.none()) return refuse("an ask without the nodes Slurm chose");
    if (!ask.s1.is_subset_of(ask.candidates)) return refuse("chosen nodes that were no candidates");
    if (kept) return note_kept(ask, message);
    const Advice advice = engine.ask(ask, parse_job_facts(text_of(message.facts)), *status_.table, wall_clock());
    send(advice_frame(request, advice.decision, advice.plan_nodes));
    return socket_.is_open();
}

bool SelectConnection::note_kept(Ask ask, const aegis_ask& message) {
    if (ask.s1.count() != 1) return refuse("a job of several nodes that was kept unasked");
    server_.later([ask = std::move(ask), facts = parse_job_facts(text_of(message.facts)), table = status_.table,
                   decided = time_of(message)](Engine& engine) { engine.note_kept(ask, facts, *table, decided); });
    return true;
}

bool SelectConnection::take_outcome(const std::uint8_t* payload, std::size_t size) {
    aegis_outcome message{};
    if (const int error = aegis_decode_outcome(payload, size, &message); error < 0) return refuse(wire_error_text(error));
    if (message.chosen.count != 0 && message.chosen.count != status_.table->size())
        return refuse("chosen nodes of another number than the node table");
    OutcomeRow row;
    row.decision = message.decision;
    row.time_us = wall_clock().time_since_epoch().count();
    row.result = result_name(message.result);
    row.inner_calls = message.inner_calls;
    row.s1_rc = message.s1_rc;
    row.final_rc = message.final_rc;
    row.waited_us = message.waited_us;
    server_.later([row = std::move(row), chosen = node_set_of(message.chosen), table = status_.table](Engine& engine) mutable {
        if (chosen.any()) row.nodes = table->hostlist(chosen);
        engine.record_outcome(row);
    });
    return true;
}

bool SelectConnection::take_job_event(aegis_type type, const std::uint8_t* payload, std::size_t size) {
    aegis_job_event message{};
    if (const int error = aegis_decode_job_event(payload, size, &message); error < 0)
        return refuse(wire_error_text(error));
    server_.later([row = job_event_of(message), type](Engine& engine) {
        if (type == AEGIS_JOB_BEGIN) engine.record_job_begin(row);
        else engine.record_job_end(row);
    });
    return true;
}

bool SelectConnection::take_ping(std::uint64_t request, const std::uint8_t* payload, std::size_t size) {
    if (const int error = aegis_decode_ping(payload, size, &status_.counters); error < 0)
        return refuse(wire_error_text(error));
    status_.last_ping = wall_clock();
    send(pong_frame(request));
    return socket_.is_open();
}

void SelectConnection::send_welcome() {
    if (!status_.table) return;
    const Engine& engine = server_.engine();
    const Config::Select& select = engine.site()->config.select;
    send(welcome_frame(AEGIS_ACCEPTED, engine.mode(), static_cast<std::uint32_t>(select.deadline.count()),
                       static_cast<std::uint32_t>(select.lease.count()), status_.table->hash()));
}

void SelectConnection::send_calm() {
    if (!status_.table) return;
    send(calm_frame(status_.table->hash(), calm_valid, server_.engine().one_node_advice(*status_.table)));
}

void SelectConnection::rebuild_table() {
    if (!status_.table) return;
    std::vector<std::string> names;
    names.reserve(status_.table->size());
    for (std::uint32_t i = 0; i < status_.table->size(); ++i) names.push_back(status_.table->name(NodeIndex{i}));
    status_.table = std::make_shared<const NodeTable>(status_.table->hash(), std::move(names),
                                                      server_.engine().site()->fabric);
}

void SelectConnection::finish() {
    boost::system::error_code failure;
    const std::size_t size = socket_.is_open() ? socket_.read_some(boost::asio::buffer(chunk_), failure) : 0;
    if (size > 0) {
        take_bytes(size);
        if (!take_frames()) return;
    }
    for (int tries = 0; socket_.is_open() && !output_.empty() && tries < last_write_tries; ++tries) {
        socket_.wait(Socket::wait_write, failure);
        const std::size_t written = socket_.write_some(boost::asio::buffer(output_), failure);
        if (failure && failure != boost::asio::error::would_block) break;
        output_.erase(output_.begin(), output_.begin() + static_cast<std::ptrdiff_t>(written));
    }
    close();
}

void SelectConnection::close_if_silent(EventTime now) {
    if (now - heard_at_ > silence_limit || (!status_.table && now - status_.since > greeting_limit)) close();
}

bool SelectConnection::refuse(std::string_view what) {
    server_.frame_refused(what);
    close();
    return false;
}

void SelectConnection::send(const Frame& frame) {
    if (!socket_.is_open()) return;
    std::size_t written = 0;
    if (output_.empty()) {
        boost::system::error_code failure;
        written = socket_.write_some(boost::asio::buffer(frame), failure);
        if (failure && failure != boost::asio::error::would_block) return close();
        if (written == frame.size()) return;
    }
    output_.insert(output_.end(), frame.begin() + static_cast<std::ptrdiff_t>(written), frame.end());
    if (output_.size() > output_limit_bytes) {
        spdlog::warn("a plugin does not read its answers: connection closed");
        return close();
    }
    write_rest();
}

void SelectConnection::write_rest() {
    if (writing_ || output_.empty()) return;
    writing_ = true;
    socket_.async_wait(Socket::wait_write, [self = shared_from_this()](boost::system::error_code failure) {
        self->writing_ = false;
        if (failure || !self->socket_.is_open()) return;
        const std::size_t written = self->socket_.write_some(boost::asio::buffer(self->output_), failure);
        if (failure && failure != boost::asio::error::would_block) return self->close();
        self->output_.erase(self->output_.begin(), self->output_.begin() + static_cast<std::ptrdiff_t>(written));
        self->write_rest();
    });
}

void SelectConnection::close() {
    if (!socket_.is_open()) return;
    boost::system::error_code failure;
    socket_.close(failure);
    status_.connected = false;
    server_.closed(shared_from_this());
}

} // namespace aegis
