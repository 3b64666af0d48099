#include "lib/infiniband_name.h"

namespace aegis {

namespace {

std::string_view take_word(std::string_view& text) {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    return word;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// "MT4129": the chip, as firmware writes it where no node description was set.
bool is_chip_name(std::string_view word) {
    if (word.size() < 4 || !word.starts_with("MT")) return false;
    return word.find_first_not_of("0123456789", 2) == word.npos;
}

bool is_adapter_name(std::string_view word) {
    for (std::string_view prefix : {"HCA-", "hfi", "mlx", "mthca", "qib", "bnxt_re", "irdma", "ib"})
        if (word.starts_with(prefix)) return true;
    return false;
}

} // namespace

InfinibandEnd infiniband_end(std::string_view description) {
    if (contains(description, "Aggregation Node")) return {PeerKind::device, {}, {}};
    std::string_view rest = description;
    const std::string_view host = take_word(rest);
    const std::string_view second = take_word(rest);
    const std::string adapter(is_adapter_name(second) ? second : std::string_view{});
    const bool vendor = contains(description, "Technologies") || contains(description, "ConnectX") || contains(description, "InfiniHost");
    if (host.empty() || is_chip_name(host) || vendor || host == "localhost" || host.starts_with("localhost.") || is_adapter_name(host))
        return {PeerKind::host, {}, adapter};
    return {PeerKind::node, std::string(host), adapter};
}

std::string short_switch_name(std::string_view description) {
    if (!description.starts_with("MF")) return std::string(description);
    const std::size_t semicolon = description.find(';');
    const std::size_t colon = description.rfind(':');
    if (semicolon == description.npos || colon == description.npos || colon < semicolon) return std::string(description);
    const std::string_view name = description.substr(semicolon + 1, colon - semicolon - 1);
    const std::string_view chip = description.substr(colon + 1); // MODEL/U1, or MODEL/L01/U1 in a director
    const std::size_t slash = chip.find('/');
    if (slash == chip.npos || chip.substr(slash) == "/U1") return std::string(name);
    return std::string(name) + std::string(chip.substr(slash));
}

} // namespace aegis
