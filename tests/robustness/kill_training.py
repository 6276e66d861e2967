"""Kill a training run at random moments and resume it: ``python tests/robustness/kill_training.py DATA``.

Every round starts ``kf train --checkpoint``, kills it (SIGKILL) after a random share of the time that an
undisturbed run takes, resumes it, and compares objectives: both are certified to be within their gaps
of the optimum, hence of each other. Runs that end before their moment do not count; at most twice as
many are started as kills are wanted. Not a test: it takes minutes.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

KILLS = 20


def main(data: Path, wanted: int = KILLS) -> int:
    rng = random.Random(0)
    kills = resumed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.perf_counter()
        reference = _train(data, folder)
        seconds = time.perf_counter() - started
        print(f"undisturbed: {seconds:.1f} s, objective {reference['objective']:.6f}", flush=True)
        for _ in range(2 * wanted):
            if kills == wanted:
                break
            shutil.rmtree(folder / "state", ignore_errors=True)
            moment = rng.uniform(0.02, 0.98) * seconds
            if _killed(data, folder, moment):
                kills += 1
                resumed += _resumes(data, folder, reference, f"{kills:2}: killed after {moment:5.1f} s")
    print(f"{kills} kills, {resumed} resumed within the certified gap.")
    return 0 if resumed == kills == wanted else 1


def _killed(data: Path, folder: Path, moment: float) -> bool:
    """Start a run and kill it after some seconds; False if it had ended."""
    process = subprocess.Popen(_command(data, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True
    return False


def _resumes(data: Path, folder: Path, reference: dict[str, Any], what: str) -> bool:
    """Go on with a run that was killed; whether it ends where an undisturbed one does."""
    kept = any((folder / "state").glob("*.checkpoint"))
    result = _train(data, folder)
    difference = abs(result["objective"] - reference["objective"]) / reference["objective"]
    good = bool(difference <= max(result["relative_gap"], reference["relative_gap"]))
    print(
        f"{what}, checkpoint {'kept' if kept else 'none'}, "
        f"relative difference {difference:.1e}, {'good' if good else 'BAD'}",
        flush=True,
    )
    return good


def _command(data: Path, folder: Path) -> list[str]:
    kf = Path(sys.executable).with_name("kf")
    words = ["train", data, "-o", folder / "m.kf", "--checkpoint", folder / "state", "--resume", "--json"]
    return [str(word) for word in [kf, *words, "--checkpoint-seconds", 0.2]]


def _train(data: Path, folder: Path) -> dict[str, Any]:
    done = subprocess.run(_command(data, folder), capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(int, sys.argv[2:])))
