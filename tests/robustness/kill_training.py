"""Kill a training run at random moments and resume it: ``python tests/robustness/kill_training.py DATA``.

Every round starts ``kf train --checkpoint``, kills it (SIGKILL) after a random share of the time that an
undisturbed run takes, resumes it, and compares objectives: both are certified to be within their gaps
of the optimum, hence of each other. Not a test: it takes minutes.
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

ROUNDS = 20


def main(data: Path, rounds: int = ROUNDS) -> int:
    rng = random.Random(0)
    failures = kills = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.perf_counter()
        reference = _train(data, folder)
        seconds = time.perf_counter() - started
        print(f"undisturbed: {seconds:.1f} s, objective {reference['objective']:.6f}", flush=True)
        for number in range(1, rounds + 1):
            shutil.rmtree(folder / "state", ignore_errors=True)
            moment = rng.uniform(0.02, 0.98) * seconds
            process = subprocess.Popen(
                _command(data, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            try:
                process.wait(moment)
                word = "had ended"
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
                word = "killed"
            kept = any((folder / "state").glob("*.checkpoint"))
            result = _train(data, folder)
            difference = abs(result["objective"] - reference["objective"]) / reference["objective"]
            good = difference <= max(result["relative_gap"], reference["relative_gap"])
            failures += not good
            print(
                f"{number:2}: {word} after {moment:5.1f} s, checkpoint {'kept' if kept else 'none'}, "
                f"relative difference {difference:.1e}, {'good' if good else 'BAD'}",
                flush=True,
            )
    print(f"{kills} kills, {rounds - failures} of {rounds} resumed within the certified gap.")
    return 1 if failures else 0


def _command(data: Path, folder: Path) -> list[str]:
    kf = Path(sys.executable).with_name("kf")
    words = ["train", data, "-o", folder / "m.kf", "--checkpoint", folder / "state", "--resume", "--json"]
    return [str(word) for word in [kf, *words, "--checkpoint-seconds", 0.2]]


def _train(data: Path, folder: Path) -> dict[str, Any]:
    done = subprocess.run(_command(data, folder), capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(int, sys.argv[2:])))
