"""Runs cases in processes of their own, and counts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Case(NamedTuple):
    """One value for one parameter."""

    target: str
    name: str
    index: int


def start() -> subprocess.Popen[str]:
    """Start a process that tries cases."""
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.signatures._worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env=alone,
    )


def faults(cases: list[Case]) -> dict[Case, str]:
    """Try all cases; return what was wrong with those that did not end well."""
    found: dict[Case, str] = {}
    worker = start()
    for case in cases:
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(f"{case.target} {case.name} {case.index}\n")
        worker.stdin.flush()
        answer = worker.stdout.readline()
        if not answer.endswith("\n"):
            found[case] = f"the process ended with {worker.wait()}"
            worker = start()
        elif answer != "\n":
            found[case] = answer.strip()
    worker.communicate()
    return found
