"""Waiting for a condition: poll until it holds or the deadline passes. Nothing here sleeps for a fixed time and hopes."""
import time


class Timeout(AssertionError):
    """The condition did not come true; the message says which and what was seen last."""


def wait_for(condition, what, seconds=20.0, interval=0.05):
    """Return the first true value of condition(); raise Timeout naming `what` and the last false value after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= end:
            raise Timeout(f"waited {seconds:g} s for {what}; last seen: {value!r}")
        time.sleep(interval)
