"""How long the first commands of a newcomer take: ``import kernelfields`` and ``kf --help``.

Each runs in a new process, the interpreter's own start included; the median of several runs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

from . import _run


def seconds_of(command: list[str], times: int) -> float:
    """Return the median time of a command."""
    taken = []
    for _ in range(times):
        started = perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        taken.append(perf_counter() - started)
    return median(taken)


def run(quick: bool) -> _run.Result:
    times = 1 if quick else 9
    kf = str(Path(sys.executable).parent / "kf")
    commands = {
        "import_seconds": [sys.executable, "-c", "import kernelfields"],
        "help_seconds": [kf, "--help"],
        "estimator_seconds": [sys.executable, "-c", "from kernelfields import CRF"],
        "python_seconds": [sys.executable, "-c", "pass"],
    }
    found = {name: seconds_of(command, times) for name, command in commands.items()}
    bars = [
        _run.Bar("import_seconds", found["import_seconds"], at_most=0.3),
        _run.Bar("help_seconds", found["help_seconds"], at_most=0.4),
    ]
    return _run.Result("first_contact", bars, found)
