"""A peer for the plugin that answers as a test wants: well, late, wrongly, or not at all.

    fake = FakeAegisd(path, advise=lambda ask, names: [frame, ...])
`advise` gets the decoded ASK (with its "request") and the node names in index order; it returns bytes to send, b"" for
silence, or raises Close to drop the connection. PING is answered with PONG unless `pong` is False. `calm` gets the decoded HELLO
and returns bytes to send after the welcome and with every PONG. What was kept by CALM is in `kept`.
"""
import os
import socket
import threading
import time

import wire


class Close(Exception):
    """Raised by a behaviour: close the connection now."""


def keep(ask, _names):
    return wire.encode_advice(ask["request"])


def avoid(*indices_of_bad):
    """Advice: all candidates but these indices, if enough are left."""
    bad = set(indices_of_bad)

    def advise(ask, _names):
        count, candidates = ask["candidates"]
        allowed = candidates - bad
        if not ask["s1"][1] & bad or len(allowed) < ask["min_nodes"]:
            return keep(ask, _names)
        return wire.encode_advice(ask["request"], plans=[(count, allowed)])

    return advise


class FakeAegisd:
    def __init__(self, path, advise=keep, mode=wire.MODE_STEER, deadline_us=10000, lease_ms=5000, pong=True, welcome=None,
                 calm=lambda _hello: b""):
        self.path, self.advise, self.mode, self.deadline_us, self.lease_ms = path, advise, mode, deadline_us, lease_ms
        self.pong, self.welcome, self.calm = pong, welcome, calm
        self.asks, self.kept, self.outcomes, self.events, self.counters = [], [], [], [], {}
        self.greetings, self.problems = 0, []
        self._stopping = False
        self._connection = None

    def __enter__(self):
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen(4)
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopping = True
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.hang_up()
        self._thread.join()
        os.unlink(self.path)

    def hang_up(self):
        connection = self._connection
        if connection:
            try:
                connection.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _accept(self):
        while not self._stopping:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self._connection = wire.Connection(sock)
            try:
                self._serve(self._connection)
            except (Close, OSError):
                pass
            except wire.WireError as problem:
                self.problems.append(str(problem))  # the plugin sent something it must not
            finally:
                self._connection.close()

    def _serve(self, connection):
        names, hello = [], None
        while True:
            received = connection.receive()
            if received is None:
                return
            kind, request, message = received
            if kind == wire.HELLO:
                self.greetings += 1
                hello = message
                names = wire.expand(message["node_table"])
                connection.send(self.welcome(message) if self.welcome else
                                wire.encode_welcome(message["table_hash"], mode=self.mode, deadline_us=self.deadline_us,
                                                    lease_ms=self.lease_ms))
                connection.send(self.calm(hello))
            elif kind == wire.ASK and message["flags"] & wire.ASK_KEPT:
                self.kept.append(message)
            elif kind == wire.ASK:
                message["request"] = request
                self.asks.append(message)
                connection.send(self.advise(message, names))
            elif kind == wire.OUTCOME:
                self.outcomes.append(message)
            elif kind == wire.PING:
                self.counters = message
                if self.pong:
                    connection.send(wire.encode_pong(request) + self.calm(hello))
            else:
                self.events.append((kind, message, time.time()))
