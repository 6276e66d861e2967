"""Run all cases, one process per estimator, or a single one.

python -m tests.matrix [--share N] [--jobs N] [--journal FOLDER [--again]] [ESTIMATOR ...] [--kinds KIND ...]
python -m tests.matrix ESTIMATOR KIND [OPTION=VALUE ...]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

from .cases import Case
from .inputs import KINDS
from .journal import Journal
from .learners import LEARNERS
from .report import HEAD, Tally
from .running import run
from .worker import SECONDS, numbered

PATIENCE = 30 * SECONDS
"""Seconds without a word after which a process has stopped for good."""


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.matrix")
    parser.add_argument("what", nargs="*", help="estimators, or one case")
    parser.add_argument("--share", type=int, default=1, help="run every so manyth case only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument(
        "--journal", type=Path, help="keep what became of every case here, and go on where a run ended"
    )
    parser.add_argument("--kinds", nargs="+", choices=KINDS, help="these kinds of input only")
    parser.add_argument("--again", action="store_true", help="run cases again that failed, by the journal")
    given = parser.parse_args()
    if len(given.what) > 1 and given.what[1] in KINDS:
        sys.exit(_one(given.what))
    names = given.what or list(LEARNERS)
    print(HEAD, flush=True)
    chosen = partial(_all, share=given.share, again=given.again, kinds=given.kinds)
    with ThreadPoolExecutor(given.jobs) as pool:
        tallies = list(pool.map(lambda name: chosen(name, Journal.of(given.journal, name)), names))
    total = [sum(getattr(t, what) for t in tallies) for what in ("cases", "fits", "refusals", "failed")]
    print("{:26}{:8}{:8}{:10}{:10}".format("all", *total))
    sys.exit(1 if total[-1] else 0)


def _one(words: list[str]) -> int:
    """Run one case and say all about it."""
    outcome = run(Case.read(words))
    print("refused: " + outcome.refusal if outcome.refusal is not None else "fitted")
    for check, reason in outcome.failures.items():
        print(f"{check}: {reason}")
    return 1 if outcome.failures else 0


def _all(
    name: str, journal: Journal, share: int = 1, again: bool = False, kinds: list[str] | None = None
) -> Tally:
    """Run all cases of an estimator; where one ends the process, another goes on behind it."""
    tally, cases = Tally(name), dict(numbered(name, share))
    if kinds is not None:
        cases = {number: case for number, case in cases.items() if case.kind.name in kinds}
    for said in journal.read(again=again):
        tally.add(said)
        cases.pop(said["number"], None)
    left = list(cases)

    def note(said: dict[str, Any]) -> None:
        tally.add(said)
        journal.write(said)

    while left:
        begun = _run(name, left, note)
        if begun is None:
            break
        stopped = {"refusal": None, "failures": {"process": "it ended or stopped"}}
        note({"number": begun, "case": str(cases[begun]), **stopped})
        left = left[left.index(begun) + 1 :]
    print(tally.text([str(setting) for setting in LEARNERS[name].settings]), flush=True)
    return tally


def _run(name: str, numbers: list[int], note: Callable[[dict[str, Any]], None]) -> int | None:
    """Run some cases in a process; give the number of the one that ended it, if one did."""
    command = [sys.executable, "-m", "tests.matrix.worker", name]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        lines: Queue[str | None] = Queue()
        Thread(target=_pass_on, args=(process, lines), daemon=True).start()
        assert process.stdin is not None
        process.stdin.write(json.dumps(numbers))
        process.stdin.close()
        begun = None
        while (line := _next(lines)) is not None:
            said: dict[str, Any] = json.loads(line)
            begun = said.get("begun")
            if begun is None:
                note(said)
        process.kill()
        if begun is None and process.wait() > 0:
            raise SystemExit(f"The process of {name} could not start.")
    return begun


def _pass_on(process: subprocess.Popen[str], lines: Queue[str | None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put(None)


def _next(lines: Queue[str | None]) -> str | None:
    try:
        return lines.get(timeout=PATIENCE)
    except Empty:
        return None


if __name__ == "__main__":
    main()
