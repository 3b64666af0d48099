#include "lib/finding.h"

#include <algorithm>
#include <fmt/format.h>

namespace aegis {

std::string_view to_string(Severity severity) {
    switch (severity) {
    case Severity::info: return "info";
    case Severity::warning: return "warning";
    case Severity::error: return "error";
    }
    return {};
}

std::string_view to_string(FindingKind kind) {
    switch (kind) {
    case FindingKind::contradiction: return "contradiction";
    case FindingKind::unknown_host: return "unknown-host";
    case FindingKind::not_a_host: return "not-a-host";
    case FindingKind::silent_port: return "silent-port";
    case FindingKind::ignored_input: return "ignored-input";
    case FindingKind::unmapped_port: return "unmapped-port";
    case FindingKind::unmapped_switch: return "unmapped-switch";
    case FindingKind::unmapped_node: return "unmapped-node";
    case FindingKind::unknown_to_slurm: return "unknown-to-slurm";
    case FindingKind::two_leaves_one_rail: return "two-leaves-one-rail";
    case FindingKind::shared_switch: return "shared-switch";
    case FindingKind::parted_fabric: return "parted-fabric";
    case FindingKind::no_uplinks: return "no-uplinks";
    case FindingKind::uneven_rails: return "uneven-rails";
    case FindingKind::telemetry_only: return "telemetry-only";
    case FindingKind::leaf_without_ports: return "leaf-without-ports";
    case FindingKind::rate_unknown: return "rate-unknown";
    case FindingKind::not_measured: return "not-measured";
    case FindingKind::table_differs: return "table-differs";
    }
    return {};
}

void gravest_first(Findings& findings) {
    std::ranges::stable_sort(findings, [](const Finding& a, const Finding& b) {
        return a.severity != b.severity ? a.severity > b.severity : a.kind < b.kind;
    });
}

std::string to_string(const Finding& finding) {
    std::string text = finding.place.file;
    if (finding.place.line > 0) text += fmt::format(":{}", finding.place.line);
    if (!text.empty()) text += ": ";
    text += fmt::format("{}: {}: {}", to_string(finding.severity), finding.subject, finding.fact);
    if (!finding.meaning.empty()) text += fmt::format("; {}", finding.meaning);
    return text;
}

} // namespace aegis
