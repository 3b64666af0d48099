// Values of aegisd as the JSON of the control protocol. Times are microseconds since the epoch; absent is null.
#pragma once

#include "aegisd/history_writer.h"
#include "aegisd/snapshot.h"
#include "aegisd/store.h"
#include "aegisd/telemetry.h"

#include <boost/json/object.hpp>
#include <optional>

namespace aegis {

boost::json::value plugin_json(const std::optional<PluginStatus>& plugin);
boost::json::object tick_json(const Lateness::Summary& tick);
boost::json::object source_json(const SourceState& source, const FreshnessLimits& limits, EventTime now);
boost::json::object decision_row_json(const DecisionRow& row);
boost::json::object explained_json(const DecisionRow& row); // with times and detail
boost::json::object fabric_json(const EngineSnapshot& snapshot, const std::set<std::string>& unmapped_ports, EventTime now);
boost::json::object policy_json(const Policy& policy, bool in_force);

boost::json::object history_status_json(const HistoryWriterStatus& status);

} // namespace aegis
