"""The OTLP receiver, fed by the OpenTelemetry JS SDK, by recorded bodies, and by senders that mean it no good."""

import gzip
import http.client
import json
import socket
import subprocess
import time

import pytest
from peers import Printed, answers, free_port, shared, values, wait_until

CUMULUS = ["nvswitch_interface_tc_tx_ecn_marked_tc,ecn_marked_packets,counter,net.host.name,interface,tc",
           "nvswitch_interface_shared_buffer_port_tc_watermark,queue_depth,peak,net.host.name,interface,tc"]
SDK = ["switch_packets,packets,counter,host.name,interface,tc", "switch_marked,ecn_marked_packets,counter,host.name,interface,tc"]


class Receiver(Printed):
    def __init__(self, *mappings, timeout_ms=2000):
        self.port = free_port()
        super().__init__("otlp", f"http://127.0.0.1:{self.port}", 100000, timeout_ms, *mappings)
        wait_until(lambda: answers(self.port), "the receiver listening")

    def post(self, body, content_type="application/json", path="/v1/metrics", method="POST", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path, body, {"Content-Type": content_type, **headers})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def gauge(name, value, time_ns=None):
    point = {"attributes": [{"key": "interface", "value": {"stringValue": "swp1"}}, {"key": "tc", "value": {"intValue": "3"}}],
             "asDouble": value, **({"timeUnixNano": str(time_ns)} if time_ns else {})}
    return json.dumps({"resourceMetrics": [{"resource": {"attributes": [{"key": "net.host.name", "value": {"stringValue": "leaf-01"}}]},
                                            "scopeMetrics": [{"metrics": [{"name": name, "gauge": {"dataPoints": [point]}}]}]}]})


MARKED = CUMULUS[0].split(",")[0]
MARKED_KEY = ("leaf-01", "swp1", 3, "ecn_marked_packets", "counter")


@pytest.mark.parametrize("temporality", ["cumulative", "delta"])
@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("encoding", ["json", "protobuf"])
def test_the_opentelemetry_sdk_is_understood_in_every_encoding(sdk, encoding, compression, temporality):
    with Receiver(*SDK) as receiver:
        before_us = time.time() * 1e6
        subprocess.run(["node", "otlp_client.cjs", encoding, f"http://127.0.0.1:{receiver.port}/v1/metrics", compression, temporality],
                       cwd=sdk, check=True, timeout=60)
        got = []
        for _ in range(2):
            batch = receiver.batch_when(lambda b: b["failure"] or b["readings"], "the SDK's export arrives")
            assert batch["failure"] is None and batch["refused"] == 0
            assert all(before_us - 1e6 <= time_us <= time.time() * 1e6 for _, _, time_us in batch["readings"])
            got.append(values(batch, receiver.series))
    packets, marked = ("leaf-01", "swp1", 3, "packets", "counter"), ("leaf-01", "swp1", 3, "ecn_marked_packets", "counter")
    assert got == [{packets: 7, marked: 41229}, {packets: 12, marked: 41230}]


def test_the_recorded_bodies_are_read_number_by_number():
    with Receiver(*CUMULUS) as receiver:
        assert receiver.post(shared("otlp", "cumulus-shape.json").read_bytes()) == (200, "{}")
        batch = receiver.batch()
        assert values(batch, receiver.series) == {("leaf-01", "swp1s1", 3, "ecn_marked_packets", "counter"): 41229,
                                                  ("leaf-01", "swp1s1", 3, "queue_depth", "peak"): 295775}
        assert {time_us for _, _, time_us in batch["readings"]} == {1722458198491000}
    js = "nvswitch_interface_tc_tx_ecn_marked_tc,ecn_marked_packets,counter,host.name,interface,tc"
    for name, content_type, recorded_us in (("js-sdk-export.json", "application/json", 1796096786799000),
                                            ("js-sdk-export.pb", "application/x-protobuf", 1796096796856000)):
        with Receiver(js) as receiver:
            # the recording was made a little in what may be our future
            status, _ = receiver.post(shared("otlp", name).read_bytes(), content_type)
            batch = receiver.batch()
            assert status == 200 and batch["failure"] is None
            assert batch["announced"] == [{"switch": "node001", "port": "swp1", "queue": 3, "signal": "ecn_marked_packets", "kind": "counter"}]
            in_future = recorded_us > batch["polled_at_us"] + 5e6
            assert batch["readings"] == ([] if in_future else [[0, 41229, recorded_us]])
            print(f"\n{name}: 1 of 1 mapped sample{' refused: dated in the future' if in_future else ' read'}")


def test_a_body_may_come_chunked_with_or_without_gzip_and_byte_by_byte():
    body = gauge(MARKED, 5).encode()
    with Receiver(*CUMULUS) as receiver:
        for coded, headers in ((body, b""), (gzip.compress(body), b"Content-Encoding: gzip\r\n")):
            with socket.create_connection(("127.0.0.1", receiver.port)) as peer:
                peer.sendall(b"POST /v1/metrics HTTP/1.1\r\nHost: x\r\nContent-Type: application/json; charset=utf-8\r\n"
                             b"Transfer-Encoding: chunked\r\n" + headers + b"\r\n")
                for i in range(len(coded)):
                    peer.sendall(b"1\r\n" + coded[i:i + 1] + b"\r\n")
                peer.sendall(b"0\r\n\r\n")
                assert peer.recv(4096).startswith(b"HTTP/1.1 200")
            assert values(receiver.batch(), receiver.series) == {MARKED_KEY: 5}


def test_a_point_without_a_time_has_the_time_of_its_arrival_and_one_from_the_future_is_refused():
    with Receiver(*CUMULUS) as receiver:
        receiver.post(gauge(MARKED, 5))
        batch = receiver.batch()
        assert batch["readings"] == [[0, 5, batch["polled_at_us"]]]
        receiver.post(gauge(MARKED, 6, time.time_ns() + 600 * 10**9))
        batch = receiver.batch()
        assert batch["readings"] == [] and batch["refused"] == 1


@pytest.mark.parametrize("status, reason, request_", [
    (404, "/v1/metrics", {"path": "/v1/traces"}),
    (405, "POST", {"method": "GET"}),
    (415, "application/x-protobuf", {"content_type": "text/plain"}),
    (415, "gzip", {"Content-Encoding": "br"}),
    (400, "not JSON", {"body": "<html>"}),
    (400, "no resourceMetrics", {"body": '{"resourceLogs":[]}'}),
    (400, "protobuf", {"body": "{}", "content_type": "application/x-protobuf"}),
    (400, "not gzip", {"body": "{}", "Content-Encoding": "gzip"}),
    (400, "cut short", {"body": gzip.compress(b"{}" * 500)[:-12], "Content-Encoding": "gzip"}),
    (413, "100000 bytes", {"body": " " * 100001}),
    (400, "more than 100000 bytes", {"body": gzip.compress(b" " * (64 << 20)), "Content-Encoding": "gzip"}),
], ids=lambda value: str(value)[:24] if isinstance(value, (int, str)) else "")
def test_a_request_that_is_no_metrics_request_is_answered_with_the_reason(status, reason, request_):
    with Receiver("limit=100000", *CUMULUS) as receiver:
        request = {"body": gauge(MARKED, 5), **request_}
        answer = receiver.post(**request)
        assert answer[0] == status
        assert reason in answer[1]
        batch = receiver.batch()
        assert reason in batch["failure"] and batch["readings"] == []
        assert receiver.post(gauge(MARKED, 5))[0] == 200
        assert values(receiver.batch(), receiver.series) == {MARKED_KEY: 5}


def test_only_a_sender_with_the_token_is_heard():
    with Receiver("token=s3cret", *CUMULUS) as receiver:
        for headers in ({}, {"Authorization": "Bearer s3cre"}, {"Authorization": "Bearer s3cretx"}, {"Authorization": "Basic s3cret"}):
            assert receiver.post(gauge(MARKED, 5), **headers)[0] == 401
            assert receiver.batch()["readings"] == []
        assert receiver.post(gauge(MARKED, 5), Authorization="Bearer s3cret")[0] == 200
        assert values(receiver.batch(), receiver.series) == {MARKED_KEY: 5}


def test_senders_that_hang_or_are_too_many_do_not_keep_others_out():
    with Receiver(*CUMULUS, timeout_ms=500) as receiver:
        hanging = [socket.create_connection(("127.0.0.1", receiver.port)) for _ in range(100)]
        for peer in hanging:
            peer.sendall(b"POST /v1/metrics HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
        def heard():
            try:
                return receiver.post(gauge(MARKED, 5))[0] == 200
            except (ConnectionError, http.client.HTTPException):
                return False
        wait_until(heard, "a good sender being heard", seconds=10)
        batch = receiver.batch_when(lambda b: b["readings"], "its point")
        assert values(batch, receiver.series) == {MARKED_KEY: 5}
        for peer in hanging:
            peer.close()


def test_a_remote_address_is_refused_unless_the_site_says_otherwise():
    with Printed("otlp", f"http://0.0.0.0:{free_port()}", 1, 1000, *CUMULUS) as source:
        assert "remote senders are not allowed" in source.batch()["failure"]


def test_a_port_that_is_taken_is_a_failure_in_words():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with Printed("otlp", f"http://127.0.0.1:{taken.getsockname()[1]}", 1, 1000, *CUMULUS) as source:
            assert "Address already in use" in source.batch()["failure"]
