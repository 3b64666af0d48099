"""The formats of the recorded telemetry, read a second time and differently, to compare with what lib/ makes of them.

Each reader gives a list of (metric, {label: value}, shape, value, time in us or None); of a histogram the value is
(bounds, counts of each bucket alone). Nothing here is more than the recordings need.
"""

import json
import re
import struct

LINE = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+(-?\d+))?\s*$")
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')


def prometheus(text):
    samples = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, labels, value, time_ms = LINE.match(line).groups()
        unescape = lambda text: re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match[1], match[1]), text)
        samples.append((name, {key: unescape(text) for key, text in LABEL.findall(labels or "")}, "sample", float(value),
                        int(time_ms) * 1000 if time_ms else None))
    return samples


def promql(answer):
    data = answer["data"]
    pairs = [({}, data["result"])] if data["resultType"] == "scalar" else [(r["metric"], r["value"]) for r in data["result"]]
    return [("", labels, "sample", float(value), None) for labels, (_, value) in pairs]


def json_value(value):
    ((kind, content),) = value.items()
    return {"stringValue": str, "intValue": lambda number: str(int(number)), "doubleValue": str}[kind](content)


def otlp_json(text):
    samples = []
    labels_of = lambda attributes: {a["key"]: json_value(a["value"]) for a in attributes}
    for resource in json.loads(text)["resourceMetrics"]:
        common = labels_of(resource["resource"]["attributes"])
        for metric in (m for scope in resource["scopeMetrics"] for m in scope["metrics"]):
            shape = next(s for s in ("gauge", "sum", "histogram") if s in metric)
            for point in metric[shape]["dataPoints"]:
                value = (([float(b) for b in point["explicitBounds"]], [float(c) for c in point["bucketCounts"]]) if shape == "histogram"
                         else float(point.get("asDouble", point.get("asInt"))))
                samples.append((metric["name"], {**common, **labels_of(point["attributes"])}, shape, value,
                                int(point["timeUnixNano"]) // 1000))
    return samples


def fields(message):
    """(number, value) of each field of a protobuf message: a whole number, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                return value

    while at < len(message):
        number, wire = divmod(varint(), 8)
        if wire == 0:
            yield number, varint()
        else:
            length = {1: 8, 5: 4}[wire] if wire != 2 else varint()
            yield number, message[at:at + length]
            at += length


def otlp_protobuf(message):
    samples = []
    only = lambda message, number: [value for n, value in fields(message) if n == number]
    double = lambda word: struct.unpack("<d", word)[0]
    fixed = lambda word: struct.unpack("<Q", word)[0]
    packed = lambda chunks, form: [value for chunk in chunks for (value,) in struct.iter_unpack(form, chunk)]

    def labels_of(attributes):
        labels = {}
        for attribute in attributes:
            key, value = dict(fields(attribute)).values()
            ((kind, content),) = fields(value)
            labels[key.decode()] = {1: lambda: content.decode(), 3: lambda: str(content), 4: lambda: str(double(content))}[kind]()
        return labels

    for resource in only(message, 1):
        common = labels_of(a for r in only(resource, 1) for a in only(r, 1))
        for metric in (m for scope in only(resource, 2) for m in only(scope, 2)):
            (name,) = only(metric, 1)
            shape, content = next(({5: "gauge", 7: "sum", 9: "histogram"}[n], value) for n, value in fields(metric) if n in (5, 7, 9))
            for point in only(content, 1):
                if shape == "histogram":
                    value = packed(only(point, 7), "<d"), [float(count) for count in packed(only(point, 6), "<Q")]
                    attributes = only(point, 9)
                else:
                    value = next(double(v) if n == 4 else float(fixed(v)) for n, v in fields(point) if n in (4, 6))
                    attributes = only(point, 7)
                samples.append((name.decode(), {**common, **labels_of(attributes)}, shape, value, fixed(only(point, 3)[0]) // 1000))
    return samples
