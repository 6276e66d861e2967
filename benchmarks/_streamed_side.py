"""A fit to text on disk in a process of its own: the seconds of its parts, and its peak of memory.

python -m benchmarks._streamed_side FILE LIMIT COLUMNS ITERATIONS
"""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from ._conll2000 import ROOT, data_folder


def write_corpus(path: Path, tokens: int) -> int:
    """Write CoNLL-2000 again and again, with at least so many tokens; return how many."""
    with gzip.open(data_folder() / "train.txt.gz", "rt") as file:
        text = file.read().strip() + "\n\n"
    size = sum(bool(line.strip()) for line in text.splitlines())
    copies = -(-tokens // size)
    with path.open("w") as file:
        for _ in range(copies):
            file.write(text)
    return copies * size


def measured(path: Path, limit: int, columns: int, iterations: int) -> dict[str, Any]:
    """Run it."""
    call = [sys.executable, "-m", __spec__.name, str(path), str(limit), str(columns), str(iterations)]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _main(path: Path, limit: int, columns: int, iterations: int) -> None:
    import numpy as np

    from kernelfields import CRF
    from kernelfields.features import TemplateFeatures, sets

    warnings.simplefilter("ignore")
    stamps: list[float] = []
    features = TemplateFeatures(sets.chunking(), n_hash=columns, dtype=np.float32)
    model = CRF(1.0, features=features, max_iter=iterations)
    model.set_params(run__callback=lambda _: stamps.append(time.perf_counter()))
    started = time.perf_counter()
    model.fit_stream(path, memory_limit=limit, directory=path.parent)
    found = {
        "tokens": model.provenance_.positions,
        "seconds_reading": stamps[0] - started,
        "seconds_per_iteration": (stamps[-1] - stamps[0]) / max(len(stamps) - 1, 1),
        "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    _main(Path(sys.argv[1]), *(int(number) for number in sys.argv[2:5]))
