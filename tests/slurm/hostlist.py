"""Slurm's hostlist notation, "n[00-03,07],login" -> ["n00", ...], for comparing what Slurm prints."""
import re

_ITEM = re.compile(r"([^,\[\]]+)(?:\[([^\]]*)\])?(?:,|$)")


def expand(text):
    """Names in the order written. "(null)", "None assigned" and "" are no nodes."""
    if not text or text in ("(null)", "None assigned", "None"):
        return []
    names, position = [], 0
    while position < len(text):
        item = _ITEM.match(text, position)
        if not item:
            raise ValueError(f"not a hostlist: {text!r} at {position}")
        prefix, ranges = item.groups()
        if ranges is None:
            names.append(prefix)
        else:
            for part in ranges.split(","):
                first, _, last = part.partition("-")
                for number in range(int(first), int(last or first) + 1):
                    names.append(f"{prefix}{number:0{len(first)}d}")
        position = item.end()
    return names
