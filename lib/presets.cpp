#include "lib/presets.h"

#include <algorithm>
#include <array>

namespace aegis {

namespace {

constexpr double saturated32 = 4294967295.0; // InfiniBand's 32-bit counters stop here until they are cleared
constexpr double word_bytes = 4;             // InfiniBand counts data in words of four bytes
constexpr auto none = std::nullopt;

using enum Signal;
using enum Kind;

// name, signal, kind, factor, switch, port, queue, wraps_at, saturates_at, match label, match value
constexpr std::array node_infiniband{
    PresetMetric{"node_infiniband_port_transmit_wait_total", transmit_wait, counter, 1, "", "device", "", none, saturated32, "", ""},
    PresetMetric{"node_infiniband_port_data_transmitted_bytes_total", bytes, counter, 1, "", "device", "", none, none, "", ""},
    PresetMetric{"node_infiniband_port_packets_transmitted_total", packets, counter, 1, "", "device", "", none, none, "", ""},
    PresetMetric{"node_infiniband_port_discards_transmitted_total", drops, counter, 1, "", "device", "", none, none, "", ""},
};
constexpr std::array node_roce{
    PresetMetric{"node_infiniband_np_ecn_marked_roce_packets_received_total", ecn_marked_packets, counter, 1, "", "device", "", none, none, "", ""},
    PresetMetric{"node_infiniband_port_packets_received_total", packets, counter, 1, "", "device", "", none, none, "", ""},
    PresetMetric{"node_infiniband_port_data_received_bytes_total", bytes, counter, 1, "", "device", "", none, none, "", ""},
};
constexpr std::array node_qdisc{
    PresetMetric{"node_qdisc_backlog", queue_depth, snapshot, 1, "", "device", "", none, none, "", ""},
    PresetMetric{"node_qdisc_drops_total", drops, counter, 1, "", "device", "", none, none, "", ""},
    PresetMetric{"node_qdisc_bytes_total", bytes, counter, 1, "", "device", "", none, none, "", ""},
    PresetMetric{"node_qdisc_packets_total", packets, counter, 1, "", "device", "", none, none, "", ""},
};
constexpr std::array treydock{
    PresetMetric{"infiniband_switch_port_transmit_wait_total", transmit_wait, counter, 1, "guid", "port", "", none, saturated32, "", ""},
    PresetMetric{"infiniband_switch_port_transmit_data_bytes_total", bytes, counter, 1, "guid", "port", "", none, none, "", ""},
    PresetMetric{"infiniband_switch_port_transmit_discards_total", drops, counter, 1, "guid", "port", "", none, none, "", ""},
};
constexpr std::array treydock_before_0_10{
    PresetMetric{"infiniband_switch_port_transmit_wait_total", transmit_wait, counter, 1, "guid", "port", "", none, saturated32, "", ""},
    PresetMetric{"infiniband_switch_port_transmit_data_bytes_total", bytes, counter, word_bytes, "guid", "port", "", none, none, "", ""},
    PresetMetric{"infiniband_switch_port_transmit_discards_total", drops, counter, 1, "guid", "port", "", none, none, "", ""},
};
constexpr std::array guilbaults{
    PresetMetric{"infiniband_portxmitwait_total", transmit_wait, counter, 1, "local_guid", "local_port", "", none, saturated32, "component", "switch"},
    PresetMetric{"infiniband_portxmitdata_total", bytes, counter, word_bytes, "local_guid", "local_port", "", none, none, "component", "switch"},
};
constexpr std::array ufm_telemetry{
    PresetMetric{"PortXmitDataExtended", bytes, counter, word_bytes, "node_guid", "port_num", "", none, none, "", ""},
    PresetMetric{"PortXmitPktsExtended", packets, counter, 1, "node_guid", "port_num", "", none, none, "", ""},
};
constexpr std::array ufm_grafana{
    PresetMetric{"infiniband_port_xmit_wait_ticks", transmit_wait, counter, 1, "node_guid", "port_num", "", none, saturated32, "", ""},
};
constexpr std::array gnmic_openconfig{
    PresetMetric{"qos_interfaces_interface_output_queues_queue_state_ecn_marked_pkts", ecn_marked_packets, counter, 1, "source", "interface_interface_id", "queue_name", none, none, "", ""},
    PresetMetric{"qos_interfaces_interface_output_queues_queue_state_transmit_pkts", packets, counter, 1, "source", "interface_interface_id", "queue_name", none, none, "", ""},
    PresetMetric{"qos_interfaces_interface_output_queues_queue_state_transmit_octets", bytes, counter, 1, "source", "interface_interface_id", "queue_name", none, none, "", ""},
    PresetMetric{"qos_interfaces_interface_output_queues_queue_state_dropped_pkts", drops, counter, 1, "source", "interface_interface_id", "queue_name", none, none, "", ""},
    PresetMetric{"qos_interfaces_interface_output_queues_queue_state_max_queue_len", queue_depth, peak, 1, "source", "interface_interface_id", "queue_name", none, none, "", ""},
};
constexpr std::array gnmic_arista{
    PresetMetric{"qos_interfaces_interface_output_queues_queue_state_ecn_selected_pkts", ecn_marked_packets, counter, 1, "source", "interface_interface_id", "queue_name", none, none, "", ""},
    PresetMetric{"qos_interfaces_interface_output_queues_queue_state_transmit_pkts", packets, counter, 1, "source", "interface_interface_id", "queue_name", none, none, "", ""},
    PresetMetric{"qos_interfaces_interface_output_queues_queue_state_transmit_octets", bytes, counter, 1, "source", "interface_interface_id", "queue_name", none, none, "", ""},
    PresetMetric{"qos_interfaces_interface_output_queues_queue_state_dropped_pkts", drops, counter, 1, "source", "interface_interface_id", "queue_name", none, none, "", ""},
};
constexpr std::array sonic_exporter{
    PresetMetric{"sonic_queue_packets_total", packets, counter, 1, "", "device", "queue", none, none, "", ""},
    PresetMetric{"sonic_queue_bytes_total", bytes, counter, 1, "", "device", "queue", none, none, "", ""},
    PresetMetric{"sonic_queue_dropped_packets_total", drops, counter, 1, "", "device", "queue", none, none, "", ""},
    PresetMetric{"sonic_queue_shared_watermark_bytes_total", queue_depth, peak, 1, "", "device", "queue", none, none, "", ""},
};
constexpr std::array snmp{
    PresetMetric{"ifHCOutOctets", bytes, counter, 1, "instance", "ifName", "", none, none, "", ""},
    PresetMetric{"ifOutDiscards", drops, counter, 1, "instance", "ifName", "", 4294967296.0, none, "", ""},
};
constexpr std::array nvswitch{
    PresetMetric{"nvswitch_interface_tc_tx_ecn_marked_tc", ecn_marked_packets, counter, 1, "net.host.name", "interface", "tc", none, none, "", ""},
    PresetMetric{"nvswitch_interface_shared_buffer_port_tc_watermark", queue_depth, peak, 1, "net.host.name", "interface", "tc", none, none, "", ""},
    PresetMetric{"nvswitch_interface_shared_buffer_port_tc_curr_occupancy", queue_depth, snapshot, 1, "net.host.name", "interface", "tc", none, none, "", ""},
    PresetMetric{"nvswitch_interface_tc_tx_wred_discard", drops, counter, 1, "net.host.name", "interface", "tc", none, none, "", ""},
};
constexpr std::array otel_collector{
    PresetMetric{"nvswitch_interface_tc_tx_ecn_marked_tc", ecn_marked_packets, counter, 1, "net_host_name", "interface", "tc", none, none, "", ""},
    PresetMetric{"nvswitch_interface_shared_buffer_port_tc_watermark", queue_depth, peak, 1, "net_host_name", "interface", "tc", none, none, "", ""},
    PresetMetric{"nvswitch_interface_shared_buffer_port_tc_curr_occupancy", queue_depth, snapshot, 1, "net_host_name", "interface", "tc", none, none, "", ""},
};
constexpr std::array sonic_hft{
    PresetMetric{"sai_counter_type_21_stat_34", ecn_marked_packets, counter, 1, "", "object_name", "", none, none, "", ""},
    PresetMetric{"sai_counter_type_21_stat_0", packets, counter, 1, "", "object_name", "", none, none, "", ""},
    PresetMetric{"sai_counter_type_21_stat_2", drops, counter, 1, "", "object_name", "", none, none, "", ""},
    PresetMetric{"sai_counter_type_21_stat_24", queue_depth, snapshot, 1, "", "object_name", "", none, none, "", ""},
    PresetMetric{"sai_counter_type_21_stat_27", queue_depth, peak, 1, "", "object_name", "", none, none, "", ""},
};
constexpr std::array sonic_counters{
    PresetMetric{"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES", queue_depth, peak, 1, "", "", "", none, none, "", ""},
    PresetMetric{"SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES", queue_depth, snapshot, 1, "", "", "", none, none, "", ""},
    PresetMetric{"SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", ecn_marked_packets, counter, 1, "", "", "", none, none, "", ""},
    PresetMetric{"SAI_QUEUE_STAT_PACKETS", packets, counter, 1, "", "", "", none, none, "", ""},
    PresetMetric{"SAI_PORT_STAT_IF_OUT_OCTETS", bytes, counter, 1, "", "", "", none, none, "", ""},
    PresetMetric{"SAI_PORT_STAT_IF_OUT_DISCARDS", drops, counter, 1, "", "", "", none, none, "", ""},
    PresetMetric{"SAI_PORT_STAT_PFC_n_RX_PKTS", pfc_pause, counter, 1, "", "", "", none, none, "", ""},
};
constexpr std::array openconfig{
    PresetMetric{"ecn-marked-pkts", ecn_marked_packets, counter, 1, "", "interface-id", "name", none, none, "", ""},
    PresetMetric{"transmit-pkts", packets, counter, 1, "", "interface-id", "name", none, none, "", ""},
    PresetMetric{"transmit-octets", bytes, counter, 1, "", "interface-id", "name", none, none, "", ""},
    PresetMetric{"dropped-pkts", drops, counter, 1, "", "interface-id", "name", none, none, "", ""},
    PresetMetric{"max-queue-len", queue_depth, peak, 1, "", "interface-id", "name", none, none, "", ""},
};

constexpr std::array all{
    Preset{"gnmic-arista", PresetVia::prometheus, false, "Arista counts packets selected for marking, and only with 'ecn count' in the queue's configuration. gnmic keeps values for 60 s; last-change time stamps make series drop.", gnmic_arista},
    Preset{"gnmic-openconfig", PresetVia::prometheus, false, "gnmic's prometheus output, names by its documented rule. Values expire after 60 s; turn export-timestamps on. Cisco XR also counts packets that were marked before.", gnmic_openconfig},
    Preset{"infiniband-exporter-guilbaults", PresetVia::prometheus, false, "Data is counted in words of 4 bytes. 32-bit counters stop at their maximum, and with --can-reset-counter the exporter clears the hardware.", guilbaults},
    Preset{"infiniband-exporter-treydock", PresetVia::prometheus, false, "From version 0.10.0 on. The switch is named by GUID; infiniband_switch_info has its name. A sweep of 109 switches takes about 10 s.", treydock},
    Preset{"infiniband-exporter-treydock-old", PresetVia::prometheus, false, "Before version 0.10.0: bytes are 4 times too low, which this corrects.", treydock_before_0_10},
    Preset{"node-exporter-infiniband", PresetVia::prometheus, true, "Of a host's adapter; the port label is the adapter's, so a host with several ports on one adapter needs match = { port = \"1\" }. transmit_wait stops at 4294967295.", node_infiniband},
    Preset{"node-exporter-qdisc", PresetVia::prometheus, true, "The collector is off by default (--collector.qdisc). Queue of the kernel, not of a switch.", node_qdisc},
    Preset{"node-exporter-roce", PresetVia::prometheus, false, "From node_exporter 1.11.0 on (Debian 12 has 1.5.0: no such counters). Marks seen by the receiving adapter, so they stand for the last hop.", node_roce},
    Preset{"nvswitch-otlp", PresetVia::otlp, false, "Cumulus Linux 5.11 and later. All are sent as gauges. The unit of occupancies is not documented: bytes is assumed. Spectrum-1 and -2 count marks by port and may repeat them per class. Packets per class are not sent: map one for the mark rate.", nvswitch},
    Preset{"nvswitch-prometheus", PresetVia::prometheus, false, "The same through an OpenTelemetry collector's prometheus exporter; TYPE says gauge for counters. The host label needs resource_to_telemetry_conversion.", otel_collector},
    Preset{"openconfig-gnmi", PresetVia::gnmi, false, "Below /qos/interfaces/interface/output/queues/queue/state; ecn-marked-pkts since model 0.11.0. Queue names and what counts as marked differ between vendors.", openconfig},
    Preset{"snmp-exporter", PresetVia::prometheus, false, "No depth and no marks. ifOutDiscards is a 32-bit counter. Poll at 10 s or slower.", snmp},
    Preset{"sonic", PresetVia::sonic_redis, true, "Decoded as a whole, no mapping is needed. Depth is a peak since the last poll of the switch, 60 s by default: lower the interval of QUEUE_WATERMARK; WRED_ECN_QUEUE is disabled by default.", sonic_counters},
    Preset{"sonic-exporter", PresetVia::prometheus, false, "vinted's and its forks; caches for 15 s. The watermarks end in _total but are no counters. No ECN.", sonic_exporter},
    Preset{"sonic-high-frequency", PresetVia::otlp, false, "countersyncd sends gauges named by SAI numbers, in bursts of up to 10,000 points; object_name is the port with its queue.", sonic_hft},
    Preset{"ufm-grafana", PresetVia::prometheus, false, "The plugin of Mellanox/ufm_sdk_3.0; label names as in UFM telemetry are assumed.", ufm_grafana},
    Preset{"ufm-telemetry", PresetVia::prometheus, false, "UFM telemetry on port 9001. Samples carry milliseconds time stamps; a session of 30 s by default. Data in words of 4 bytes.", ufm_telemetry},
};

constexpr double ms = 1e-3, us = 1e-6;
using enum LatencyShape;
constexpr std::array all_latency{
    LatencyPreset{"envoy", "envoy_cluster_upstream_rq_time", classic_histogram, ms, "envoy_cluster_name", "", false, "Milliseconds. Clusters without traffic are hidden with usedonly."},
    LatencyPreset{"etcd", "grpc_server_handling_seconds", classic_histogram, 1, "grpc_method", ":2379/metrics", true, "Needs --metrics extensive."},
    LatencyPreset{"grpc", "grpc_server_handling_seconds", classic_histogram, 1, "grpc_service,grpc_method", "", true, "The common gRPC server middleware."},
    LatencyPreset{"istio", "istio_request_duration_milliseconds", classic_histogram, ms, "destination_service", "", false, "Milliseconds."},
    LatencyPreset{"nim-e2e", "e2e_request_latency_seconds", classic_histogram, 1, "model_name", ":8000/v1/metrics", false, "The path is /v1/metrics."},
    LatencyPreset{"nim-ttft", "time_to_first_token_seconds", classic_histogram, 1, "model_name", ":8000/v1/metrics", false, "The path is /v1/metrics."},
    LatencyPreset{"otel-http", "http.server.request.duration", classic_histogram, 1, "http.route", "", false, "OTLP; older SDKs send http.server.duration in milliseconds. Explicit or exponential buckets."},
    LatencyPreset{"otel-rpc", "rpc.server.call.duration", classic_histogram, 1, "rpc.method", "", true, "OTLP; older SDKs send rpc.server.duration in milliseconds. Explicit or exponential buckets."},
    LatencyPreset{"sglang-e2e", "sglang:e2e_request_latency_seconds", classic_histogram, 1, "model_name", ":30000/metrics", false, "Needs --enable-metrics."},
    LatencyPreset{"sglang-ttft", "sglang:time_to_first_token_seconds", classic_histogram, 1, "model_name", ":30000/metrics", false, "The last finite bound is 30 s: under load most requests lie above it, and p99 is 'at least 30 s'."},
    LatencyPreset{"tensorrt-llm-e2e", "e2e_request_latency_seconds", classic_histogram, 1, "model_name", "", false, "The names have no prefix."},
    LatencyPreset{"triton-first-response", "nv_inference_first_response_histogram_ms", classic_histogram, ms, "model,version", ":8002/metrics", false, "Needs histogram_latencies=true."},
    LatencyPreset{"triton-mean", "nv_inference_request_duration_us", mean_counter, us, "model,version", ":8002/metrics", false, "A sum of microseconds: gives a mean, never a tail."},
    LatencyPreset{"triton-summary", "nv_inference_request_summary_us", summary, us, "model,version", ":8002/metrics", false, "Needs summary_latencies=true. Quantiles of one replica; they cannot be merged over replicas."},
    LatencyPreset{"vllm-e2e", "vllm:e2e_request_latency_seconds", classic_histogram, 1, "model_name,engine", ":8000/metrics", false, "Buckets begin at 0.3 s."},
    LatencyPreset{"vllm-itl", "vllm:inter_token_latency_seconds", classic_histogram, 1, "model_name,engine", ":8000/metrics", false, "Older releases call it vllm:time_per_output_token_seconds."},
    LatencyPreset{"vllm-queue", "vllm:request_queue_time_seconds", classic_histogram, 1, "model_name,engine", ":8000/metrics", false, "Time spent waiting, without the network."},
    LatencyPreset{"vllm-ttft", "vllm:time_to_first_token_seconds", classic_histogram, 1, "model_name,engine", ":8000/metrics", false, "The most telling for a shared network."},
};

template <class Row, std::size_t n> const Row* named(const std::array<Row, n>& rows, std::string_view name) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
    return found == rows.end() ? nullptr : &*found;
}

} // namespace

std::span<const Preset> presets() { return all; }
std::span<const LatencyPreset> latency_presets() { return all_latency; }
const Preset* preset_named(std::string_view name) { return named(all, name); }
const LatencyPreset* latency_preset_named(std::string_view name) { return named(all_latency, name); }

MetricMapping mapping_of(const PresetMetric& metric, const std::string& sw) {
    MetricMapping mapping;
    mapping.name = metric.name;
    mapping.signal = metric.signal;
    mapping.kind = metric.kind;
    mapping.factor = metric.factor;
    if (sw.empty())
        mapping.switch_label = metric.switch_label;
    else
        mapping.sw = sw;
    mapping.port_label = metric.port_label;
    if (!metric.queue_label.empty()) mapping.queue_label = metric.queue_label;
    if (!metric.match_label.empty()) mapping.match.emplace_back(metric.match_label, metric.match_value);
    // A counter that wraps there is taken as stopped at the value before, too.
    mapping.wraps_at = metric.saturates_at ? std::optional(*metric.saturates_at + 1) : metric.wraps_at;
    return mapping;
}

std::string_view to_string(PresetVia via) {
    switch (via) {
    case PresetVia::prometheus: return "prometheus";
    case PresetVia::otlp: return "otlp";
    case PresetVia::sonic_redis: return "sonic";
    case PresetVia::gnmi: return "gnmi";
    }
    return {};
}

std::string_view to_string(LatencyShape shape) {
    switch (shape) {
    case LatencyShape::classic_histogram: return "histogram";
    case LatencyShape::summary: return "summary";
    case LatencyShape::mean_counter: return "mean";
    }
    return {};
}

} // namespace aegis
