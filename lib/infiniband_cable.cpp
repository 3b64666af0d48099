#include "lib/infiniband_cable.h"

#include "lib/infiniband_name.h"

#include <fmt/format.h>
#include <unordered_map>
#include <unordered_set>

namespace aegis {

namespace {

class Builder {
public:
    explicit Builder(const std::string& file) : file_(file) {}

    void add_switch(const InfinibandPort& sw, int line) {
        const auto [found, fresh] = switches_.emplace(sw.guid, Known{sw.description, line});
        if (fresh) order_.push_back(sw.guid);
        if (found->second.description.empty()) found->second.description = sw.description;
    }

    // After the last switch: only then is it known which descriptions are unique.
    void name_switches() {
        std::unordered_map<std::string_view, int> uses;
        for (const auto& [guid, known] : switches_) ++uses[known.description];
        for (const std::string& guid : order_) {
            Known& known = switches_.at(guid);
            const bool unique = !known.description.empty() && uses[known.description] == 1;
            known.name = unique ? known.description : "0x" + guid;
            const std::string shorter = short_switch_name(known.description);
            found_.switches.push_back({known.name, guid, unique && shorter != known.name ? shorter : "", {}, {file_, known.line}});
            if (!unique && !known.description.empty())
                found_.findings.push_back({Severity::info, FindingKind::ignored_input, {file_, known.line}, known.name,
                                           fmt::format("its description \"{}\" names {} switches, so its GUID names it", known.description, uses[known.description]),
                                           "map it by GUID if telemetry labels it by description"});
        }
    }

    void add_cable(const InfinibandCable& cable) {
        const bool near_is_switch = cable.near.owner == InfinibandPort::Owner::sw;
        if (!near_is_switch && !(cable.far && cable.far->owner == InfinibandPort::Owner::sw)) return; // back to back, or unplugged
        const InfinibandPort& sw = near_is_switch ? cable.near : *cable.far;
        DiscoveredLink link;
        link.sw = switches_.at(sw.guid).name;
        link.port = sw.port;
        link.rate_bps = cable.rate_bps;
        link.place = {file_, cable.line};
        if (near_is_switch && !cable.far)
            leave_open(link);
        else
            attach(link, near_is_switch ? *cable.far : cable.near);
        found_.links.push_back(std::move(link));
    }

    Discovery finish() {
        std::vector<Discovery> one;
        one.push_back(std::move(found_));
        return merge(std::move(one)); // every cable is listed from both ends
    }

private:
    struct Known {
        std::string description;
        int line = 0;
        std::string name{};
    };

    void report(const DiscoveredLink& link, Severity severity, FindingKind kind, std::string fact, std::string meaning) {
        if (reported_.insert(fmt::format("{}/{}", link.sw, link.port)).second)
            found_.findings.push_back({severity, kind, link.place, fmt::format("{}/{}", link.sw, link.port), std::move(fact), std::move(meaning)});
    }

    void leave_open(DiscoveredLink& link) {
        link.peer_kind = PeerKind::none;
        report(link, Severity::info, FindingKind::silent_port, "nothing is connected to this port", "");
    }

    void attach(DiscoveredLink& link, const InfinibandPort& peer) {
        link.peer_description = peer.description;
        link.peer_port_id = peer.port_guid;
        link.peer_id = peer.guid;
        switch (peer.owner) {
        case InfinibandPort::Owner::sw:
            link.peer_kind = PeerKind::sw;
            link.peer = switches_.at(peer.guid).name;
            link.peer_port = peer.port;
            return;
        case InfinibandPort::Owner::router:
            link.peer_kind = PeerKind::device;
            link.peer_port = peer.port;
            report(link, Severity::info, FindingKind::not_a_host, fmt::format("it leads to the router \"{}\"", peer.description), "");
            return;
        case InfinibandPort::Owner::adapter: break;
        }
        const InfinibandEnd end = infiniband_end(peer.description);
        link.peer_kind = end.kind;
        link.peer = end.node;
        link.peer_port = fmt::format("{}/{}", end.adapter.empty() ? "HCA" : end.adapter, peer.port);
        // a second port of an adapter is a rail of its own
        if (!end.adapter.empty()) link.rail = peer.port == "1" ? end.adapter : link.peer_port;
        if (end.kind == PeerKind::node && nodes_.insert(end.node).second) found_.nodes.push_back({end.node, link.place});
        if (end.kind == PeerKind::device)
            report(link, Severity::info, FindingKind::not_a_host, fmt::format("\"{}\" is part of the switch (SHARP), not a host", peer.description), "");
        if (end.kind == PeerKind::host)
            report(link, Severity::warning, FindingKind::unknown_host,
                   fmt::format("the host behind it calls itself \"{}\" ({})", peer.description, peer.guid.empty() ? peer.port_guid : peer.guid),
                   "the port counts for the leaf of its switch, but which node uses it is unknown: give a GUID map, or set the node description on the host");
    }

    const std::string& file_;
    std::unordered_map<std::string, Known> switches_; // by GUID
    std::vector<std::string> order_;
    std::unordered_set<std::string> nodes_, reported_;
    Discovery found_;
};

} // namespace

Discovery discovery_of(const std::vector<InfinibandCable>& cables, const std::vector<InfinibandPort>& lone_switches, const std::string& file) {
    Builder builder(file);
    for (const InfinibandCable& cable : cables) {
        if (cable.near.owner == InfinibandPort::Owner::sw) builder.add_switch(cable.near, cable.line);
    }
    for (const InfinibandCable& cable : cables)
        if (cable.far && cable.far->owner == InfinibandPort::Owner::sw) builder.add_switch(*cable.far, cable.line);
    for (const InfinibandPort& sw : lone_switches) builder.add_switch(sw, 0);
    builder.name_switches();
    for (const InfinibandCable& cable : cables) builder.add_cable(cable);
    return builder.finish();
}

} // namespace aegis
