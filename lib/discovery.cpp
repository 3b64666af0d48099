#include "lib/discovery.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>
#include <unordered_set>

namespace aegis {

namespace {

std::string port_key(std::string_view sw, std::string_view port) {
    std::string key(sw);
    key += '\0';
    key += port;
    return key;
}

std::string end_text(std::string_view name, std::string_view port) {
    return port.empty() ? std::string(name) : fmt::format("{}/{}", name, port);
}

// What is behind a port, for a message.
std::string peer_text(const DiscoveredLink& link) {
    switch (link.peer_kind) {
    case PeerKind::node:
    case PeerKind::sw:
    case PeerKind::unknown: return end_text(link.peer, link.peer_port);
    case PeerKind::host:
    case PeerKind::device: return fmt::format("\"{}\" ({})", link.peer_description, link.peer_id.empty() ? link.peer_port_id : link.peer_id);
    case PeerKind::none: return "nothing";
    }
    return {};
}

void fill(std::string& kept, const std::string& offered) {
    if (kept.empty()) kept = offered;
}

class Merger {
public:
    Discovery run(std::vector<Discovery> inputs) {
        for (Discovery& input : inputs) {
            std::ranges::move(input.findings, std::back_inserter(merged_.findings));
            for (DiscoveredSwitch& sw : input.switches) add_switch(std::move(sw));
            for (DiscoveredNode& node : input.nodes) add_node(std::move(node));
        }
        // Only now is it known which names are switches and which are nodes.
        for (Discovery& input : inputs)
            for (DiscoveredLink& link : input.links) add_link(std::move(link));
        return std::move(merged_);
    }

private:
    void contradict(const ConfigPlace& place, std::string subject, std::string fact, std::string meaning) {
        merged_.findings.push_back({Severity::error, FindingKind::contradiction, place, std::move(subject), std::move(fact), std::move(meaning)});
    }

    void add_switch(DiscoveredSwitch sw) {
        const auto [found, fresh] = switch_by_name_.emplace(sw.name, merged_.switches.size());
        if (fresh) {
            merged_.switches.push_back(std::move(sw));
            return;
        }
        DiscoveredSwitch& kept = merged_.switches[found->second];
        if (!kept.id.empty() && !sw.id.empty() && kept.id != sw.id)
            contradict(sw.place, sw.name, fmt::format("this switch is {} here and {} at {}:{}", sw.id, kept.id, kept.place.file, kept.place.line),
                       "two switches of one name count as one: give each its own name or map them by GUID");
        fill(kept.id, sw.id);
        fill(kept.also_named, sw.also_named);
        if (!kept.level) kept.level = sw.level;
    }

    void add_node(DiscoveredNode node) {
        if (nodes_.insert(node.name).second) merged_.nodes.push_back(std::move(node));
    }

    void add_link(DiscoveredLink link) {
        resolve(link);
        if (link.is_cable())
            add_cable(std::move(link));
        else
            add_branch(std::move(link));
    }

    void resolve(DiscoveredLink& link) const {
        if (link.peer_kind != PeerKind::unknown) return;
        if (nodes_.contains(link.peer))
            link.peer_kind = PeerKind::node;
        else if (switch_by_name_.contains(link.peer))
            link.peer_kind = PeerKind::sw;
    }

    // A link of Slurm's tree: a child has one parent.
    void add_branch(DiscoveredLink link) {
        const auto [found, fresh] = parent_.emplace(link.peer, merged_.links.size());
        if (fresh) {
            merged_.links.push_back(std::move(link));
            return;
        }
        const DiscoveredLink& kept = merged_.links[found->second];
        if (kept.sw == link.sw) return;
        contradict(link.place, link.peer, fmt::format("it stands below {} here and below {} at {}:{}", link.sw, kept.sw, kept.place.file, kept.place.line),
                   fmt::format("plans treat it as part of {}", kept.sw));
    }

    // Where either end is already known, by name or second name.
    std::optional<std::size_t> seen(const std::string& sw, const std::string& port, const std::string& alias) const {
        if (const auto found = cable_by_end_.find(port_key(sw, port)); found != cable_by_end_.end()) return found->second;
        if (alias.empty()) return std::nullopt;
        const auto found = cable_by_end_.find(port_key(sw, alias));
        return found == cable_by_end_.end() ? std::nullopt : std::optional(found->second);
    }

    void add_cable(DiscoveredLink link) {
        auto found = seen(link.sw, link.port, link.port_also_named);
        if (!found && has_two_switch_ends(link)) found = seen(link.peer, link.peer_port, link.peer_port_also_named);
        if (!found) {
            remember(link, merged_.links.size());
            merged_.links.push_back(std::move(link));
            return;
        }
        DiscoveredLink& kept = merged_.links[*found];
        if (has_two_switch_ends(link) && link.sw == kept.peer && link.peer == kept.sw && seen_from_other_side(kept, link)) turn(link);
        if (!same_end(kept.sw, kept.port, kept.port_also_named, link.sw, link.port, link.port_also_named) || !agree(kept, link)) {
            contradict(link.place, end_text(link.sw, link.port),
                       fmt::format("this cable leads to {} here, but {}:{} has {} - {}", peer_text(link), kept.place.file, kept.place.line,
                                   end_text(kept.sw, kept.port), peer_text(kept)),
                       "the first one stands; its counters may be charged to the wrong leaf: discover again");
            return;
        }
        join(kept, link);
        remember(kept, *found);
    }

    static bool has_two_switch_ends(const DiscoveredLink& link) { return link.peer_kind == PeerKind::sw && !link.peer_port.empty(); }

    // A cable may lead from a switch to itself: then the ports decide.
    static bool seen_from_other_side(const DiscoveredLink& kept, const DiscoveredLink& link) {
        return link.peer != link.sw ||
               same_end(kept.sw, kept.port, kept.port_also_named, link.peer, link.peer_port, link.peer_port_also_named);
    }

    static bool same_end(const std::string& sw, const std::string& port, const std::string& also, const std::string& other_sw,
                         const std::string& other_port, const std::string& other_also) {
        if (sw != other_sw) return false;
        return port == other_port || (!also.empty() && (also == other_port || also == other_also)) || (!other_also.empty() && port == other_also);
    }

    static void turn(DiscoveredLink& link) {
        std::swap(link.sw, link.peer);
        std::swap(link.port, link.peer_port);
        std::swap(link.port_also_named, link.peer_port_also_named);
        link.peer_id.clear();
        link.peer_description.clear();
    }

    // Whether both may describe what is behind one port.
    static bool agree(const DiscoveredLink& kept, const DiscoveredLink& link) {
        const auto vague = [](const DiscoveredLink& l) { return l.peer_kind == PeerKind::host || l.peer_kind == PeerKind::unknown; };
        if (vague(kept) || vague(link)) {
            if (kept.peer_kind == PeerKind::none || link.peer_kind == PeerKind::none) return false;
            if (!kept.peer.empty() && !link.peer.empty()) return kept.peer == link.peer;
            return may_be_same(kept.peer_id, link.peer_id) && may_be_same(kept.peer_port_id, link.peer_port_id);
        }
        if (kept.peer_kind != link.peer_kind || kept.peer != link.peer) return false;
        // The adapters of a node are named differently by every tool; the ports of a switch are not.
        if (kept.peer_kind != PeerKind::sw || kept.peer_port.empty() || link.peer_port.empty()) return true;
        return same_end(kept.peer, kept.peer_port, kept.peer_port_also_named, link.peer, link.peer_port, link.peer_port_also_named);
    }

    static bool may_be_same(const std::string& a, const std::string& b) { return a.empty() || b.empty() || a == b; }

    static void join(DiscoveredLink& kept, const DiscoveredLink& link) {
        if (kept.peer.empty() && !link.peer.empty()) {
            kept.peer_kind = link.peer_kind;
            kept.peer = link.peer;
        } else if (kept.peer_kind == PeerKind::unknown) {
            kept.peer_kind = link.peer_kind;
        }
        fill(kept.port_also_named, link.port_also_named);
        fill(kept.peer_port, link.peer_port);
        fill(kept.peer_port_also_named, link.peer_port_also_named);
        fill(kept.peer_id, link.peer_id);
        fill(kept.peer_port_id, link.peer_port_id);
        fill(kept.peer_description, link.peer_description);
        fill(kept.fabric, link.fabric);
        fill(kept.rail, link.rail);
        if (kept.rate_bps == 0) kept.rate_bps = link.rate_bps;
    }

    void remember(const DiscoveredLink& link, std::size_t position) {
        const auto end = [&](const std::string& sw, const std::string& port) {
            if (!port.empty()) cable_by_end_.emplace(port_key(sw, port), position);
        };
        end(link.sw, link.port);
        end(link.sw, link.port_also_named);
        if (link.peer_kind != PeerKind::sw) return;
        end(link.peer, link.peer_port);
        end(link.peer, link.peer_port_also_named);
    }

    Discovery merged_;
    std::unordered_map<std::string, std::size_t> switch_by_name_;
    std::unordered_set<std::string> nodes_;
    std::unordered_map<std::string, std::size_t> parent_;       // child in the tree -> link
    std::unordered_map<std::string, std::size_t> cable_by_end_; // switch\0port -> link
};

} // namespace

Discovery merge(std::vector<Discovery> inputs) { return Merger().run(std::move(inputs)); }

void name_hosts(Discovery& discovery, const std::vector<GuidName>& names) {
    std::unordered_map<std::string_view, std::string_view> name_of;
    for (const GuidName& entry : names) {
        const auto [found, fresh] = name_of.emplace(entry.guid, entry.name);
        if (!fresh && found->second != entry.name)
            discovery.findings.push_back({Severity::error, FindingKind::contradiction, entry.place, entry.guid,
                                          fmt::format("this GUID is {} here and {} earlier", entry.name, found->second),
                                          "the first name stands"});
    }
    std::unordered_set<std::string> known;
    for (const DiscoveredNode& node : discovery.nodes) known.insert(node.name);
    std::unordered_set<std::string> named_ports;
    for (DiscoveredLink& link : discovery.links) {
        if (link.peer_kind != PeerKind::host) continue;
        auto found = name_of.find(link.peer_id);
        if (found == name_of.end()) found = name_of.find(link.peer_port_id);
        if (found == name_of.end()) continue;
        link.peer_kind = PeerKind::node;
        link.peer = found->second;
        named_ports.insert(end_text(link.sw, link.port));
        if (known.insert(link.peer).second) discovery.nodes.push_back({link.peer, link.place});
    }
    std::erase_if(discovery.findings, [&](const Finding& finding) {
        return finding.kind == FindingKind::unknown_host && named_ports.contains(finding.subject);
    });
}

std::string normal_guid(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
    if (text.empty() || text.size() > 16) return {};
    std::string guid(16 - text.size(), '0');
    for (char c : text) {
        if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) return {};
        guid += c;
    }
    return guid;
}

std::string_view to_string(PeerKind kind) {
    switch (kind) {
    case PeerKind::node: return "node";
    case PeerKind::sw: return "switch";
    case PeerKind::host: return "host";
    case PeerKind::device: return "device";
    case PeerKind::unknown: return "unknown";
    case PeerKind::none: return "nothing";
    }
    return {};
}

} // namespace aegis
