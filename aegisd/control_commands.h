// The commands of aegisctl: a JSON object in, a JSON answer out.
//
// Lives on the collector's thread and reads the store through its own read-only connection. What only the engine's
// thread knows or may change goes through EnginePort and comes back later; an answer is given exactly once.
#pragma once

#include "aegisd/collector.h"
#include "aegisd/snapshot.h"
#include "aegisd/store.h"

#include <boost/json/fwd.hpp>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>

namespace aegis {

// The way to the engine's thread. Callbacks come back on the caller's thread.
struct EnginePort {
    using ModeResult = std::expected<ModeChange, StoreError>;
    std::function<void(std::function<void(EngineSnapshot)>)> snapshot;
    std::function<void(Mode, std::string actor, std::string reason, std::function<void(ModeResult)>)> set_mode;
};

// Exit codes of aegisctl that an answer can ask for.
enum class Refusal { failed = 1, refused = 4 };

class ControlCommands {
public:
    using Done = std::function<void(boost::json::object answer)>;

    ControlCommands(const Collector& collector, const HistoryWriter& writer, EnginePort engine, EventTime started);

    void run(const boost::json::object& request, uid_t caller, std::uint64_t peers_refused, Done done);
    void note_reload(std::optional<std::string> error) { last_reload_error_ = std::move(error); }

    static boost::json::object failure(Refusal code, std::string_view text);

private:
    void status(std::uint64_t peers_refused, Done done);
    void mode(const boost::json::object& request, uid_t caller, Done done);
    void decisions(const boost::json::object& request, Done done);
    void explain(const boost::json::object& request, Done done);
    void fabric(Done done);
    void fabric_top(const boost::json::object& request, Done done);
    void history(const boost::json::object& request, Done done);
    void policies(Done done);
    void config(Done done);
    std::expected<Store*, StoreError> store();

    const Collector& collector_;
    const HistoryWriter& writer_;
    EnginePort engine_;
    EventTime started_;
    std::optional<Store> store_;
    std::optional<TelemetryStore> telemetry_store_;
    std::optional<std::string> last_reload_error_;
};

} // namespace aegis
