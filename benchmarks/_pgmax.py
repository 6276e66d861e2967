"""PGMax, in an environment of its own: it needs an older JAX than others do.

`KERNELFIELDS_PGMAX` names the Python that has it, for example one set up by

    python -m venv pgmax && pgmax/bin/pip install pgmax "jax<0.5" "jaxlib<0.5"

This file is also the program which that Python runs: loopy belief propagation on a grid.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

PYTHON = os.environ.get("KERNELFIELDS_PGMAX", "")


def state() -> str:
    """Say whether there is anything to compare with."""
    return "found" if PYTHON else "not installed (KERNELFIELDS_PGMAX names no Python that has it)"


def seconds_per_iteration(side: int, labels: int, iterations: int, scores: Path, beliefs: Path) -> float:
    """Run it on one core, on the scores of a file; write beliefs of vertices to another."""
    call = [PYTHON, __file__, str(side), str(labels), str(iterations), str(scores), str(beliefs)]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


def _main(side: int, labels: int, iterations: int, scores: str, beliefs: str) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    import jax
    import numpy as np
    from pgmax import fgraph, fgroup, infer, vgroup

    given = np.load(scores)
    v = vgroup.NDVarArray(num_states=labels, shape=(side, side))
    pairs = [[v[i, j], v[i, j + 1]] for i in range(side) for j in range(side - 1)]
    pairs += [[v[i, j], v[i + 1, j]] for i in range(side - 1) for j in range(side)]
    graph = fgraph.FactorGraph(variable_groups=[v])
    graph.add_factors(
        fgroup.PairwiseFactorGroup(variables_for_factors=pairs, log_potential_matrix=given["edge"])
    )
    bp = infer.build_inferer(graph.bp_state, backend="bp")
    start = bp.init(evidence_updates={v: given["node"].reshape(side, side, labels)})

    def run() -> object:
        return jax.block_until_ready(bp.run(start, num_iters=iterations, damping=0.5, temperature=1.0))

    run()  # compiles
    clock = time.perf_counter()
    found = run()
    seconds = time.perf_counter() - clock
    np.save(beliefs, np.asarray(infer.get_marginals(bp.get_beliefs(found))[v]).reshape(-1, labels))
    print(json.dumps(seconds / iterations))


if __name__ == "__main__":
    _main(*(int(number) for number in sys.argv[1:4]), *sys.argv[4:6])
