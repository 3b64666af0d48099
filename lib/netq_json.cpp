#include "lib/netq_json.h"

#include "lib/json_text.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <unordered_map>

namespace aegis {

namespace json = boost::json;

namespace {

struct Device {
    std::string name;
    bool is_switch = false;
};

struct End {
    const Device* device = nullptr;
    std::string interface;
};

class Reader {
public:
    explicit Reader(const std::string& file) : place_{file, 0} {}

    std::expected<Discovery, ConfigErrors> run(const std::vector<json::value>& documents) {
        bool is_graph = false;
        for (const json::value& document : documents)
            for (const json::value* graph : elements(&document)) {
                is_graph |= member(graph, "links") && member(graph, "nodes");
                for (const json::value* tier : elements(member(graph, "nodes")))
                    for (const json::value* device : elements(member(tier, "compounded_nodes"))) read_device(device);
            }
        for (const json::value& document : documents)
            for (const json::value* graph : elements(&document))
                for (const json::value* bundle : elements(member(graph, "links")))
                    for (const json::value* cable : elements(member(bundle, "compounded_links"))) read_cable(cable);
        if (!is_graph) fail("", "a topology graph of NetQ: a list of objects with the keys links and nodes");
        if (!errors_.empty()) return std::unexpected(std::move(errors_));
        return std::move(found_);
    }

private:
    void fail(std::string_view value, std::string expected) { errors_.push_back({place_, "", std::string(value), std::move(expected)}); }

    void read_device(const json::value* value) {
        const std::string id(text_in(member(value, "id"))), name(text_in(member(value, "name")));
        const std::string_view type = text_in(member(value, "device_type"));
        const json::value* tier = member(value, "tier");
        const std::int64_t level = tier && tier->is_int64() ? tier->get_int64() : -1;
        if (id.empty() || name.empty()) {
            fail(json::serialize(*value).substr(0, 80), "a device with an id and a name");
            return;
        }
        const bool is_switch = type == "switch" || level > 0;
        if (!devices_.emplace(id, Device{name, is_switch}).second) {
            fail(id, "an id that is used once");
            return;
        }
        if (!is_switch)
            found_.nodes.push_back({name, place_});
        else
            found_.switches.push_back({name, {}, {}, level > 0 ? std::optional(static_cast<unsigned>(level - 1)) : std::nullopt, place_});
    }

    void read_cable(const json::value* value) {
        const std::string_view id = text_in(member(value, "id"));
        const auto interfaces = elements(member(value, "interfaces"));
        if (interfaces.size() != 2) {
            fail(id, "a cable with two interfaces");
            return;
        }
        End ends[2];
        for (std::size_t i = 0; i < 2; ++i) {
            const std::string node(text_in(member(interfaces[i], "node")));
            const auto found = devices_.find(node);
            ends[i].interface = text_in(member(interfaces[i], "interface"));
            if (found == devices_.end() || ends[i].interface.empty()) {
                fail(id, fmt::format("an interface of a device in nodes, but \"{}\" is none", node));
                return;
            }
            ends[i].device = &found->second;
        }
        if (!ends[0].device->is_switch) std::swap(ends[0], ends[1]);
        if (!ends[0].device->is_switch) {
            found_.findings.push_back({Severity::info, FindingKind::ignored_input, place_, std::string(id), "this cable joins two nodes",
                                       "it plays no part in placement"});
            return;
        }
        DiscoveredLink link;
        link.place = place_;
        link.sw = ends[0].device->name;
        link.port = ends[0].interface;
        link.peer_kind = ends[1].device->is_switch ? PeerKind::sw : PeerKind::node;
        link.peer = ends[1].device->name;
        link.peer_port = ends[1].interface;
        if (link.peer_kind == PeerKind::node) link.rail = link.peer_port;
        found_.links.push_back(std::move(link));
    }

    ConfigPlace place_;
    std::unordered_map<std::string, Device> devices_;
    Discovery found_;
    ConfigErrors errors_;
};

} // namespace

std::expected<Discovery, ConfigErrors> parse_netq_graph(std::string_view text, const std::string& file) {
    const auto documents = parse_json_documents(text, file);
    if (!documents) return std::unexpected(documents.error());
    return Reader(file).run(*documents);
}

} // namespace aegis
