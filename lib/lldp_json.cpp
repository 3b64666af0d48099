#include "lib/lldp_json.h"

#include "lib/json_text.h"

#include <boost/json.hpp>
#include <charconv>
#include <fmt/format.h>
#include <unordered_set>
#include <utility>

namespace aegis {

namespace json = boost::json;

namespace {

// One neighbour on one interface, whatever the shape it came in.
struct Neighbour {
    std::string interface;
    std::string name, id, description;
    bool bridge = false, router = false, station = false;
    std::string port, port_description;
    double rate_bps = 0;
};

bool is_true(const json::value* value) {
    const bool* truth = value ? value->if_bool() : nullptr;
    return truth && *truth;
}

// "100GbaseCR4 - ..." -> 100e9, "1000BaseTFD - ..." -> 1e9.
double rate_of(std::string_view medium) {
    double number = 0;
    const auto [end, error] = std::from_chars(medium.data(), medium.data() + medium.size(), number);
    if (error != std::errc{}) return 0;
    std::string_view rest = medium.substr(static_cast<std::size_t>(end - medium.data()));
    const bool giga = rest.starts_with('G') || rest.starts_with('g');
    if (giga) rest.remove_prefix(1);
    if (!rest.starts_with("Base") && !rest.starts_with("base")) return 0;
    return number * (giga ? 1e9 : 1e6);
}

// {"id": …} in json0; {"leaf-01": {"id": …}} in json, or without the name where the neighbour sent none.
void read_chassis(const json::value* chassis, Neighbour& neighbour) {
    const json::object* object = chassis ? chassis->if_object() : nullptr;
    if (!object) return;
    if (const json::value* name = object->if_contains("name")) {
        neighbour.name = text_in(name);
    } else if (object->size() == 1 && object->begin()->key() != "id" && object->begin()->value().is_object()) {
        neighbour.name = object->begin()->key();
        chassis = &object->begin()->value();
    }
    neighbour.id = text_in(member(chassis, "id"));
    neighbour.description = text_in(member(chassis, "descr"));
    for (const json::value* capability : elements(member(chassis, "capability"))) {
        if (!is_true(member(capability, "enabled"))) continue;
        const std::string_view type = text_in(member(capability, "type"));
        neighbour.bridge |= type == "Bridge";
        neighbour.router |= type == "Router";
        neighbour.station |= type == "Station";
    }
}

Neighbour neighbour_of(std::string_view interface, const json::value* value) {
    Neighbour neighbour;
    neighbour.interface = interface;
    read_chassis(single(member(value, "chassis")), neighbour);
    const json::value* port = single(member(value, "port"));
    neighbour.port = text_in(member(port, "id"));
    neighbour.port_description = text_in(member(port, "descr"));
    // lldpd's own default: the address as the port, the interface's name as its description.
    if (text_in(member(single(member(port, "id")), "type")) == "mac" && !neighbour.port_description.empty()) std::swap(neighbour.port, neighbour.port_description);
    neighbour.rate_bps = rate_of(text_in(member(single(member(port, "auto-negotiation")), "current")));
    return neighbour;
}

// json0: {"interface": [{"name": "eth0", …}]}; json: {"interface": {"eth0": {…}}} or a list of such.
void read_neighbours(const json::value* lldp, std::vector<Neighbour>& neighbours) {
    for (const json::value* part : elements(lldp))
        for (const json::value* entry : elements(member(part, "interface"))) {
            const json::object* object = entry->if_object();
            if (!object) continue;
            if (const json::value* name = object->if_contains("name"); name && name->is_string()) {
                neighbours.push_back(neighbour_of(text_in(name), entry));
                continue;
            }
            for (const auto& [interface, value] : *object) neighbours.push_back(neighbour_of(interface, &value));
        }
}

Neighbour local_machine(const json::value& document) {
    Neighbour local;
    const json::value* found = single(member(&document, "local-chassis"));
    read_chassis(single(member(found, "chassis")), local);
    return local;
}

bool is_switch_system(std::string_view description) {
    for (std::string_view system : {"SONiC", "Cumulus", "Arista", "Cisco", "Juniper", "Onyx", "MLNX-OS", "NVOS", "Dell EMC Networking", "Nokia"})
        if (description.find(system) != description.npos) return true;
    return false;
}

PeerKind kind_of(const Neighbour& neighbour) {
    if (is_switch_system(neighbour.description)) return PeerKind::sw;
    if (neighbour.station && !neighbour.bridge && !neighbour.router) return PeerKind::node;
    return PeerKind::unknown;
}

class Builder {
public:
    Builder(const std::string& file, std::string local, bool is_switch) : place_{file, 0}, local_(std::move(local)), is_switch_(is_switch) {
        if (is_switch_)
            add_switch(local_, "");
        else
            found_.nodes.push_back({local_, place_});
    }

    void add(const Neighbour& neighbour) {
        const std::string name = neighbour.name.empty() ? neighbour.id : neighbour.name;
        if (name.empty() || neighbour.port.empty()) {
            found_.findings.push_back({Severity::warning, FindingKind::ignored_input, place_, fmt::format("{}/{}", local_, neighbour.interface),
                                       "its neighbour sent no name or no port", "this cable is left out of the map"});
            return;
        }
        DiscoveredLink link;
        link.place = place_;
        link.rate_bps = neighbour.rate_bps;
        const std::string also = neighbour.port_description == neighbour.port ? "" : neighbour.port_description;
        if (is_switch_) {
            link.sw = local_;
            link.port = neighbour.interface;
            link.peer_kind = kind_of(neighbour);
            link.peer = name;
            link.peer_port = neighbour.port;
            link.peer_port_also_named = also;
            link.peer_id = neighbour.id;
            link.peer_description = neighbour.description;
            if (link.peer_kind == PeerKind::sw) add_switch(name, neighbour.id);
            if (link.peer_kind == PeerKind::node) {
                link.rail = neighbour.port;
                if (nodes_.insert(name).second) found_.nodes.push_back({name, place_});
            }
        } else {
            add_switch(name, neighbour.id);
            link.sw = name;
            link.port = neighbour.port;
            link.port_also_named = also;
            link.peer_kind = PeerKind::node;
            link.peer = local_;
            link.peer_port = link.rail = neighbour.interface;
        }
        found_.links.push_back(std::move(link));
    }

    Discovery finish() { return std::move(found_); }

private:
    void add_switch(const std::string& name, const std::string& id) {
        if (switches_.insert(name).second) found_.switches.push_back({name, id, {}, {}, place_});
    }

    ConfigPlace place_;
    std::string local_;
    bool is_switch_;
    std::unordered_set<std::string> switches_, nodes_;
    Discovery found_;
};

} // namespace

std::expected<Discovery, ConfigErrors> parse_lldp_json(std::string_view text, const std::string& file, const LldpOrigin& origin) {
    auto documents = parse_json_documents(text, file);
    if (!documents) return std::unexpected(std::move(documents.error()));
    std::string local = origin.name;
    bool is_switch = origin.is_switch;
    std::vector<Neighbour> neighbours;
    bool is_lldp = false;
    for (const json::value& document : *documents) {
        const Neighbour machine = local_machine(document);
        if (local.empty()) local = machine.name;
        is_switch |= is_switch_system(machine.description);
        const json::value* lldp = member(&document, "lldp");
        is_lldp |= lldp != nullptr;
        read_neighbours(lldp, neighbours);
    }
    if (!is_lldp)
        return std::unexpected(ConfigErrors{{{file, 0}, "lldp", "", "an object with the key lldp, as lldpcli -f json0 show neighbors writes it"}});
    if (local.empty())
        return std::unexpected(ConfigErrors{{{file, 0}, "", "",
                                             "the name of the machine this was taken on: put the output of lldpcli -f json0 show chassis into the file too, or name the machine (NAME=FILE)"}});
    Builder builder(file, std::move(local), is_switch);
    for (const Neighbour& neighbour : neighbours) builder.add(neighbour);
    return builder.finish();
}

} // namespace aegis
