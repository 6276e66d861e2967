"""How much memory there is, and a refusal of what would take more."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .errors import InputError

UNKNOWN = 4 * 2**30
"""Bytes assumed to be available on systems that do not say."""

SMALL = 2**28
"""Bytes that are asked for without a look at what there is."""


def require_memory(what: str, needed: int) -> None:
    """Refuse what would take more bytes than there are; systems promise them, and end who uses them."""
    if needed <= SMALL:
        return
    available = available_memory()
    if needed > available:
        raise InputError(
            f"{what} would take {needed / 2**30:.3g} GB of memory; {available / 2**30:.3g} GB are free."
        )


def available_memory() -> int:
    """Bytes that this process can still get without swapping; limits of containers and processes included."""
    known = [bytes_ for bytes_ in (_of_machine(), _of_container(), _of_process()) if bytes_ is not None]
    return min(known) if known else UNKNOWN


def peak_memory() -> int:
    """Bytes that this process has taken at most so far; 0 on systems that do not say."""
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _of_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        pass
    try:  # elsewhere: half of what there is
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return None


def _of_container(folder: Path = Path("/sys/fs/cgroup")) -> int | None:
    try:
        limit, used = ((folder / name).read_text().strip() for name in ("memory.max", "memory.current"))
        return None if limit == "max" else max(0, int(limit) - int(used))
    except (OSError, ValueError):
        return None


def _of_process() -> int | None:
    """Address space that ``ulimit -v`` leaves; None without such a limit."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return None
    return None if limit == resource.RLIM_INFINITY else max(0, limit - used)
