"""Free TCP ports, below the range the kernel hands out to clients.

Another program can take a port between the look and the use; whoever starts a daemon on one notices and tries again.
"""
import os
import random
import socket

LOWEST, HIGHEST = 10000, 32000  # Linux gives client sockets 32768 and up


def _is_free(port):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def free_ports(count):
    """The first of `count` consecutive free ports. Seeded from the kernel, so that parallel runs do not meet."""
    generator = random.Random(os.urandom(8))
    for _ in range(200):
        first = generator.randrange(LOWEST, HIGHEST - count)
        if all(_is_free(first + offset) for offset in range(count)):
            return first
    raise OSError(f"no {count} consecutive free ports between {LOWEST} and {HIGHEST}")
