// The OpenTelemetry SDK as a sender: otlp_client.cjs json|protobuf URL none|gzip cumulative|delta
// Exports twice: a counter that stands at 7 and then at 12, a gauge, two kinds of histogram, and one most of whose
// samples lie above its last finite bound.
const { MeterProvider, PeriodicExportingMetricReader, AggregationTemporality, AggregationType } = require("@opentelemetry/sdk-metrics");
const { resourceFromAttributes } = require("@opentelemetry/resources");

const [format, url, compression, temporality] = process.argv.slice(2);
const { OTLPMetricExporter } = require(`@opentelemetry/exporter-metrics-otlp-${format === "json" ? "http" : "proto"}`);

const exporter = new OTLPMetricExporter({
  url,
  compression,
  temporalityPreference: temporality === "delta" ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE,
});
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3600000, exportTimeoutMillis: 10000 });
const provider = new MeterProvider({
  resource: resourceFromAttributes({ "host.name": "leaf-01" }),
  readers: [reader],
  views: [{ instrumentName: "rpc.exponential", aggregation: { type: AggregationType.EXPONENTIAL_HISTOGRAM } }],
});
const meter = provider.getMeter("test");
const where = { interface: "swp1", tc: 3 };
const packets = meter.createCounter("switch_packets");
const marked = meter.createGauge("switch_marked");
const classic = meter.createHistogram("rpc.classic", { advice: { explicitBucketBoundaries: [0.01, 0.1] } });
const slow = meter.createHistogram("rpc.slow", { advice: { explicitBucketBoundaries: [0.1, 1, 30] } });
const exponential = meter.createHistogram("rpc.exponential");

(async () => {
  for (let call = 0; call < 100; ++call) slow.record(call < 23 ? 0.5 : 45);
  for (const [added, mark] of [[7, 41229], [5, 41230]]) {
    packets.add(added, where);
    marked.record(mark, where);
    for (const seconds of [0.005, 0.05, 0.5]) {
      classic.record(seconds);
      exponential.record(seconds);
    }
    await reader.forceFlush();
  }
  await provider.shutdown();
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
