"""Latency histograms of real services: a quantile is an interval, and above the last finite bucket "at least" its bound."""

import contextlib
import http.server
import json
import math
import subprocess
import threading
import urllib.parse
import urllib.request

import pytest
import readers
from peers import BUILD, answers, free_port, need, running, wait_until
from test_promql import prometheus

METRIC = "grpc_server_handling_seconds"


def quantiles(form, metric, q, *files):
    """{labels: (n, lower, upper or None)}"""
    done = subprocess.run([BUILD / "tests/telemetry/print_quantiles", form, metric, str(q), *files], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done
    rows = map(json.loads, done.stdout.splitlines())
    return {frozenset(map(tuple, row["labels"])): (row["n"], row["lower"], row["upper"]) for row in rows}


def by_hand(text, method, q, before=""):
    """The same from the text, with a reader of our own: cumulative counts, walked until the rank is reached."""
    def cumulative(text):
        return {labels["le"]: value for name, labels, _, value, _ in readers.prometheus(text)
                if name == METRIC + "_bucket" and labels["grpc_method"] == method and labels["grpc_service"] == "etcdserverpb.KV"}
    now, then = cumulative(text), cumulative(before)
    counts = sorted((float(le), value - then.get(le, 0)) for le, value in now.items())
    n = counts[-1][1]
    below = 0.0
    for bound, count in counts:
        if count >= math.ceil(q * n):
            return n, below, None if bound == math.inf else bound
        below = bound
    raise AssertionError("no +Inf bucket")


@contextlib.contextmanager
def etcd(folder):
    client, peer = free_port(), free_port()
    url = f"http://127.0.0.1:{client}"
    with running([need("etcd"), "--data-dir", folder / "etcd", "--metrics", "extensive", "--listen-client-urls", url,
                  "--advertise-client-urls", url, "--listen-peer-urls", f"http://127.0.0.1:{peer}",
                  "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}", "--initial-cluster", f"default=http://127.0.0.1:{peer}"], folder):
        wait_until(lambda: answers(client) and healthy(url), "etcd having a leader")
        yield url


def healthy(url):
    with contextlib.suppress(OSError), urllib.request.urlopen(url + "/health", timeout=5) as answer:
        return json.load(answer)["health"] == "true"
    return False


def put(url, count):
    for number in range(count):
        body = json.dumps({"key": "YQ==", "value": "Yg=="}).encode()
        with urllib.request.urlopen(urllib.request.Request(url + "/v3/kv/put", body), timeout=20) as answer:
            answer.read()


def under_load(url, workers, count):
    threads = [threading.Thread(target=put, args=(url, count)) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def of_puts(found):
    (row,) = [value for labels, value in found.items() if ("grpc_method", "Put") in labels]
    return row


def test_the_quantiles_of_etcd_under_load_are_intervals_that_prometheus_agrees_with(tmp_path, report):
    with etcd(tmp_path) as url, prometheus(tmp_path, url.removeprefix("http://")) as (server, _):
        texts = []
        for workers, count in ((1, 50), (4, 100)):
            under_load(url, workers, count)
            with urllib.request.urlopen(url + "/metrics", timeout=20) as answer:
                texts.append(answer.read().decode())
        before, after = tmp_path / "before", tmp_path / "after"
        before.write_text(texts[0])
        after.write_text(texts[1])
        for q in (.5, .9, .99, 1):
            # exactly those that were sent: 400 between the two scrapes, 450 in all
            assert of_puts(quantiles("prometheus", METRIC, q, after, before)) == by_hand(texts[1], "Put", q, texts[0])
            assert of_puts(quantiles("prometheus", METRIC, q, after)) == by_hand(texts[1], "Put", q)
        assert of_puts(quantiles("prometheus", METRIC, .99, after, before))[0] == 400
        n, lower, upper = of_puts(quantiles("prometheus", METRIC, .99, after))
        assert n == 450 and upper is not None

        def asked(query):
            with urllib.request.urlopen(f"{server}/api/v1/query?" + urllib.parse.urlencode({"query": query}), timeout=20) as answer:
                return [float(row["value"][1]) for row in json.load(answer)["data"]["result"]]

        puts = f'{METRIC}_bucket{{grpc_method="Put"}}'
        wait_until(lambda: asked(f'{METRIC}_count{{grpc_method="Put"}}') == [450], "prometheus having scraped all of it")
        (point,) = asked(f"histogram_quantile(0.99, {puts})")
        # it draws a line through the bucket; where the 446th of 450 lies in it nobody knows
        assert lower <= point <= upper
        report.append(f"etcd, 450 puts: p99 in ({lower} s, {upper} s]; prometheus says {point:.4f} s")


class Sink(http.server.HTTPServer):
    """Keeps the bodies that the SDK sends."""

    def __init__(self):
        self.bodies = []
        sink = self

        class Post(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = b""
                if self.headers.get("Transfer-Encoding") == "chunked":
                    while size := int(self.rfile.readline(), 16):
                        body += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                else:
                    body = self.rfile.read(int(self.headers["Content-Length"]))
                sink.bodies.append(body)
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Post)
        threading.Thread(target=self.serve_forever, daemon=True).start()


@pytest.mark.parametrize("encoding", ["json", "protobuf"])
def test_with_77_percent_above_the_last_finite_bucket_p99_is_at_least_its_bound_and_never_a_number(tmp_path, sdk, encoding, report):
    sink = Sink()
    subprocess.run(["node", "otlp_client.cjs", encoding, f"http://127.0.0.1:{sink.server_address[1]}/v1/metrics", "none", "cumulative"], cwd=sdk,
                   check=True, timeout=60)
    sink.shutdown()
    (tmp_path / "body").write_bytes(sink.bodies[0])
    found = lambda metric, q: quantiles(f"otlp-{encoding}", metric, q, tmp_path / "body").popitem()[1]
    # 23 of 100 calls took half a second, 77 took 45 s; the buckets end at 30 s
    assert found("rpc.slow", .99) == (100, 30, None)
    assert found("rpc.slow", .24) == (100, 30, None)
    assert found("rpc.slow", .23) == (100, .1, 1)
    # the exponential histogram of 5 ms, 50 ms and 500 ms has no end
    n, lower, upper = found("rpc.exponential", .99)
    assert n == 3 and lower < .5 <= upper
    report.append(f"OpenTelemetry SDK, {encoding}, 77 of 100 calls above the last finite bucket: p99 >= 30 s, no number")
