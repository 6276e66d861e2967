"""flash-semicrf and torch-struct, in an environment of their own.

`KERNELFIELDS_TORCH_STRUCT` names the Python that has them, for example one set up by

    python -m venv rivals
    rivals/bin/pip install torch torch-struct flash-semicrf

This file is also the program which that Python runs: marginals of segments of at most K positions.

    python _segment_rivals.py RIVAL SCORES.npz MARGINALS.npz THREADS ROUNDS

Prints one JSON object: seconds per call, and by how much the peak of memory rose since before the first call.
Both libraries let the first segment change from any label, which adds Σ_i exp(edge_{i,j}) to it.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

PYTHON = os.environ.get("KERNELFIELDS_TORCH_STRUCT", "")
NEVER = -1e6
"""The score of a change from a label to itself: infinities become NaN in either library."""


def timed(rival: str, scores: Path, marginals: Path, threads: int, rounds: int) -> dict[str, float]:
    """Run a rival on the scores of a file; write its marginals to another."""
    call = [PYTHON, __file__, rival, str(scores), str(marginals), str(threads), str(rounds)]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


Rival = Callable[[], tuple[Any, Any]]
"""Returns the log-partitions and the marginals of labels, (S, T, L)."""


def _flash_semicrf(node: Any, edge: Any, duration: Any) -> Rival:
    """Return its gradient, by prefix sums and without a table of all segments."""
    import torch
    from flash_semicrf.streaming import semi_crf_streaming_forward

    S, T, L = node.shape
    lengths, K = torch.full((S,), T), len(duration)
    lasting = duration.clone().requires_grad_(True)

    def run() -> tuple[Any, Any]:
        given, pairs = node.clone().requires_grad_(True), edge.clone().requires_grad_(True)
        sums = torch.cat([torch.zeros(S, 1, L, dtype=node.dtype), given.cumsum(1)], 1)
        value = semi_crf_streaming_forward(sums, pairs, lasting, lengths, K)
        return value.detach(), torch.autograd.grad(value.sum(), [given, pairs, lasting])[0]

    return run


def _torch_struct(node: Any, edge: Any, duration: Any) -> Rival:
    """Return its marginals, from a table of all segments and label pairs, as those of labels."""
    import torch
    from torch_struct import SemiMarkovCRF

    S, T, L = node.shape
    K = len(duration) + 1
    sums = torch.cat([torch.zeros(S, 1, L, dtype=node.dtype), node.cumsum(1)], 1)
    table = torch.full((S, T, K, L, L), NEVER, dtype=node.dtype)
    for d in range(1, K):
        for t in range(T - d + 1):
            table[:, t, d] = (sums[:, t + d] - sums[:, t] + duration[d - 1])[:, :, None] + edge.T

    def run() -> tuple[Any, Any]:
        given = table.clone().requires_grad_(True)
        crf = SemiMarkovCRF(given, lengths=torch.full((S,), T + 1))
        return crf.partition.detach(), _of_labels(crf.marginals.detach())

    return run


def _of_labels(found: Any) -> Any:
    import torch

    S, T, K, L, _ = found.shape
    begins, result = found.sum(-1), torch.zeros(S, T, L, dtype=found.dtype)
    for d in range(1, K):
        for back in range(d):
            result[:, back:] += begins[:, : T - back, d]
    return result


def _main(rival: str, scores: str, marginals: str, threads: int, rounds: int) -> None:
    warnings.simplefilter("ignore")
    import numpy as np
    import torch

    torch.set_num_threads(threads)
    with np.load(scores) as file:
        given = [torch.from_numpy(file[name]) for name in ("node", "edge", "duration")]
    given[1].fill_diagonal_(NEVER)
    run = {"flash_semicrf": _flash_semicrf, "torch_struct": _torch_struct}[rival](*given)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    value, node = run()
    np.savez(marginals, value=value.numpy(), node=node.detach().numpy())
    seconds = []
    for _ in range(rounds):
        clock = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - clock)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"seconds": statistics.median(seconds), "kilobytes": float(grown)}))


if __name__ == "__main__":
    _main(*sys.argv[1:4], *(int(number) for number in sys.argv[4:6]))
