#include "lib/ibnetdiscover.h"

#include "lib/infiniband_cable.h"
#include "lib/text_lines.h"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace aegis {

namespace {

using Owner = InfinibandPort::Owner;

// Reads a line from the left; every step either succeeds or leaves the rest as it was.
class Cursor {
public:
    explicit Cursor(std::string_view text) : rest_(text) {}

    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

    bool take(std::string_view token) {
        if (!rest_.starts_with(token)) return false;
        rest_.remove_prefix(token.size());
        return true;
    }

    std::optional<std::string_view> between(char open, char close) {
        if (!rest_.starts_with(open)) return std::nullopt;
        const std::size_t end = rest_.find(close, 1);
        if (end == rest_.npos) return std::nullopt;
        const std::string_view inside = rest_.substr(1, end - 1);
        rest_.remove_prefix(end + 1);
        return inside;
    }

    std::optional<std::string_view> word() {
        skip_blanks();
        const std::size_t end = std::min(rest_.find_first_of(" \t"), rest_.size());
        if (end == 0) return std::nullopt;
        const std::string_view word = rest_.substr(0, end);
        rest_.remove_prefix(end);
        return word;
    }

    std::string_view rest() const { return rest_; }

private:
    std::string_view rest_;
};

bool is_port_number(std::string_view text) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() && number <= 255;
}

// Double-quoted text; a description may hold quotes itself, so it ends at the last one before `tail`.
std::optional<std::string_view> description_before(std::string_view text, std::string_view tail, char quote) {
    const std::size_t begin = text.find(quote);
    const std::size_t stop = tail.empty() ? text.npos : text.rfind(tail);
    const std::size_t end = text.rfind(quote, stop);
    if (begin == text.npos || end == text.npos || end <= begin) return std::nullopt;
    return text.substr(begin + 1, end - begin - 1);
}

std::optional<Owner> owner_of(std::string_view word) {
    if (word == "S" || word == "SW" || word == "Switch") return Owner::sw;
    if (word == "H" || word == "CA" || word == "Ca") return Owner::adapter;
    if (word == "R" || word == "RT" || word == "Rt") return Owner::router;
    return std::nullopt;
}

// "S-2c5eabf507e3c0fc"
bool take_node_id(std::string_view text, InfinibandPort& port) {
    const std::size_t dash = text.find('-');
    if (dash == text.npos) return false;
    const auto owner = owner_of(text.substr(0, dash));
    port.guid = normal_guid(text.substr(dash + 1));
    if (!owner || port.guid.empty()) return false;
    port.owner = *owner;
    return true;
}

class NormalParser {
public:
    explicit NormalParser(const std::string& file) : file_(file) {}

    std::expected<Discovery, ConfigErrors> run(std::string_view text) {
        TextLines lines(text);
        std::string_view line;
        while (lines.next(line)) {
            line_ = lines.number();
            if (line.starts_with("["))
                read_port(line);
            else if (const std::size_t blank = line.find_first_of(" \t"); blank != line.npos && owner_of(line.substr(0, blank)))
                read_owner(line, *owner_of(line.substr(0, blank)));
        }
        if (errors_.empty() && switches_.empty()) fail("", "a line that begins with Switch: this is no output of ibnetdiscover");
        if (!errors_.empty()) return std::unexpected(std::move(errors_));
        return discovery_of(cables_, switches_, file_);
    }

private:
    void fail(std::string_view value, std::string expected) {
        errors_.push_back({{file_, line_}, "", std::string(value), std::move(expected)});
    }

    // Switch	65 "S-2c5eabf507e3c0fc"		# "MF0;leaf:MQM9701/U1" enhanced port 0 lid 35 lmc 0
    void read_owner(std::string_view line, Owner owner) {
        owner_.reset();
        Cursor cursor(line);
        cursor.word();
        const auto ports = cursor.word();
        cursor.skip_blanks();
        const auto id = cursor.between('"', '"');
        InfinibandPort port;
        if (!ports || !is_port_number(*ports) || !id || !take_node_id(*id, port) || port.owner != owner) {
            fail(line, "TYPE PORTS \"TYPE-GUID\" # \"DESCRIPTION\"");
            return;
        }
        const std::string_view tail = owner == Owner::sw ? " port 0 " : "";
        port.description = description_before(cursor.rest(), tail, '"').value_or("");
        if (owner == Owner::sw) switches_.push_back(port);
        owner_ = std::move(port);
    }

    // [1]	"H-e09d731fcb9b3c29"[1](e09d731fcb9b3c29) 		# "node1 HCA-1" lid 47 4xNDR       below a switch
    // [1](e09d731fcb9b3c29) 	"S-2c5eabf507e3c0fc"[1]		# lid 47 lmc 0 "leaf-01" lid 35 4xNDR  below an adapter
    void read_port(std::string_view line) {
        if (!owner_) {
            fail(line, "a Switch, Ca or Rt line before its ports");
            return;
        }
        Cursor cursor(line);
        InfinibandCable cable{.near = *owner_, .far = InfinibandPort{}, .rate_bps = 0, .line = line_};
        InfinibandPort& far = *cable.far;
        const auto near_port = cursor.between('[', ']');
        while (cursor.rest().starts_with("[")) // [ext 12], with --grouping
            if (!cursor.between('[', ']')) break;
        cable.near.port_guid = normal_guid(cursor.between('(', ')').value_or(""));
        cursor.skip_blanks();
        const auto id = cursor.between('"', '"');
        const auto far_port = cursor.between('[', ']');
        while (cursor.rest().starts_with("["))
            if (!cursor.between('[', ']')) break;
        far.port_guid = normal_guid(cursor.between('(', ')').value_or(""));
        if (!near_port || !is_port_number(*near_port) || !id || !take_node_id(*id, far) || !far_port || !is_port_number(*far_port)) {
            fail(line, "[PORT] \"TYPE-GUID\"[PORT] # \"DESCRIPTION\" lid N RATE");
            return;
        }
        cable.near.port = *near_port;
        far.port = *far_port;
        cursor.skip_blanks();
        const std::string_view comment = cursor.rest();
        far.description = description_before(comment, " lid ", '"').value_or("");
        const std::size_t lid = comment.rfind(" lid ");
        Cursor tail(lid == comment.npos ? std::string_view{} : comment.substr(lid + 5));
        tail.word();
        cable.rate_bps = infiniband_rate_bps(tail.word().value_or(""));
        cables_.push_back(std::move(cable));
    }

    const std::string& file_;
    int line_ = 0;
    std::optional<InfinibandPort> owner_; // whose ports follow
    std::vector<InfinibandPort> switches_;
    std::vector<InfinibandCable> cables_;
    ConfigErrors errors_;
};

// CA   134  1 0x7cfe90547b54a0a1 4x EDR - SW  1719 10 0x7cfe90ce6456ba9d ( 'node001 HCA-1' - 'leaf-01' )
// SW  2052 37 0x506b4b9ce16990e5 4x ???                                    'leaf-04'
std::optional<InfinibandPort> read_end(Cursor& cursor) {
    const auto type = cursor.word();
    const auto lid = cursor.word();
    const auto port = cursor.word();
    const auto guid = cursor.word();
    if (!type || !lid || !port || !guid) return std::nullopt;
    const auto owner = owner_of(*type);
    InfinibandPort end;
    const std::string normal = normal_guid(*guid);
    if (!owner || !is_port_number(*port) || normal.empty() || !guid->starts_with("0x")) return std::nullopt;
    end.owner = *owner;
    end.port = *port;
    // of an adapter this is the GUID of the port, of a switch that of the switch
    (end.owner == Owner::sw ? end.guid : end.port_guid) = normal;
    return end;
}

std::optional<InfinibandCable> read_report_line(std::string_view line) {
    Cursor cursor(line);
    InfinibandCable cable;
    const auto near = read_end(cursor);
    const auto width = cursor.word();
    const auto speed = cursor.word();
    if (!near || !width || !speed) return std::nullopt;
    cable.near = *near;
    cable.rate_bps = infiniband_rate_bps(fmt::format("{}{}", *width, *speed));
    cursor.skip_blanks();
    if (!cursor.take("- ")) {
        const auto description = description_before(cursor.rest(), "", '\'');
        if (!description) return std::nullopt;
        cable.near.description = *description;
        return cable;
    }
    cable.far = read_end(cursor);
    cursor.skip_blanks();
    if (!cable.far || !cursor.take("(")) return std::nullopt;
    const auto both = description_before(cursor.rest(), "", '\'');
    const std::size_t middle = both ? both->find("' - '") : std::string_view::npos;
    if (middle == std::string_view::npos) return std::nullopt;
    cable.near.description = both->substr(0, middle);
    cable.far->description = both->substr(middle + 5);
    return cable;
}

} // namespace

double infiniband_rate_bps(std::string_view text) {
    unsigned lanes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), lanes);
    if (error != std::errc{} || end == text.data() + text.size() || *end != 'x') return 0;
    const std::string_view speed = text.substr(static_cast<std::size_t>(end - text.data()) + 1);
    // per lane and after encoding: 8/10 up to QDR, 64/66 from FDR10
    static constexpr std::array<std::pair<std::string_view, double>, 9> payload_bps = {{
        {"SDR", 2e9}, {"DDR", 4e9}, {"QDR", 8e9}, {"FDR10", 10e9}, {"FDR", 13.64e9},
        {"EDR", 25e9}, {"HDR", 50e9}, {"NDR", 100e9}, {"XDR", 200e9},
    }};
    for (const auto& [name, bps] : payload_bps)
        if (speed == name) return lanes * bps;
    return 0;
}

std::expected<Discovery, ConfigErrors> parse_ibnetdiscover(std::string_view text, const std::string& file) {
    return NormalParser(file).run(text);
}

std::expected<Discovery, ConfigErrors> parse_ibnetdiscover_ports(std::string_view text, const std::string& file) {
    std::vector<InfinibandCable> cables;
    ConfigErrors errors;
    TextLines lines(text);
    std::string_view line;
    while (lines.next(line)) {
        if (without_blanks(line).empty() || line.starts_with("#")) continue;
        auto cable = read_report_line(line);
        if (!cable) {
            errors.push_back({{file, lines.number()}, "", std::string(line),
                              "TYPE LID PORT 0xGUID WIDTH SPEED - TYPE LID PORT 0xGUID ( 'DESCRIPTION' - 'DESCRIPTION' ), as ibnetdiscover -p writes it"});
            continue;
        }
        cable->line = lines.number();
        cables.push_back(std::move(*cable));
    }
    if (errors.empty() && cables.empty()) errors.push_back({{file, 0}, "", "", "at least one port: this is no output of ibnetdiscover -p"});
    if (!errors.empty()) return std::unexpected(std::move(errors));
    return discovery_of(cables, {}, file);
}

std::expected<std::vector<GuidName>, ConfigErrors> parse_node_name_map(std::string_view text, const std::string& file) {
    std::vector<GuidName> names;
    ConfigErrors errors;
    TextLines lines(text);
    std::string_view line;
    while (lines.next(line)) {
        line = without_blanks(line);
        if (line.empty() || line.starts_with("#")) continue;
        Cursor cursor(line);
        const std::string guid = normal_guid(cursor.word().value_or(""));
        const std::string_view quoted = without_blanks(cursor.rest());
        const std::size_t close = quoted.starts_with('"') ? quoted.find('"', 1) : quoted.npos;
        if (guid.empty() || close == quoted.npos || close < 2) {
            errors.push_back({{file, lines.number()}, "", std::string(line), "0xGUID \"NAME\", as in a node-name-map of ibnetdiscover"});
            continue;
        }
        const std::string_view name = quoted.substr(1, close - 1);
        names.push_back({guid, std::string(name.substr(0, name.find(' '))), {file, lines.number()}});
    }
    if (!errors.empty()) return std::unexpected(std::move(errors));
    return names;
}

} // namespace aegis
