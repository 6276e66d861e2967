"""torch-struct, supar and NLTK, in an environment of their own: not all are kept up to date with others.

`KERNELFIELDS_TORCH_STRUCT` names the Python that has them, for example one set up by

    python -m venv parsers
    parsers/bin/pip install torch torch-struct nltk
    parsers/bin/pip install --no-deps supar

This file is also the program which that Python runs: marginals of dependency trees with a single root word
(RIVAL/projective, RIVAL/all), or of labelled spans (RIVAL/spans, also for ourselves).

    python _parsing_rivals.py RIVAL SCORES.npy MARGINALS.npy THREADS ROUNDS

Prints one JSON object: seconds per call, and by how much the peak of memory rose since before the first call.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import time
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

PYTHON = os.environ.get("KERNELFIELDS_TORCH_STRUCT", "")


def has(package: str) -> bool:
    """Whether that Python has a package."""
    if not PYTHON:
        return False
    found = f"import importlib.util as u, sys; sys.exit(u.find_spec({package!r}) is None)"
    return subprocess.run([PYTHON, "-c", found], check=False).returncode == 0


def state() -> str:
    """Say whether there is anything to compare with."""
    return "found" if PYTHON else "not installed (KERNELFIELDS_TORCH_STRUCT names no Python that has it)"


def timed(
    rival: str, scores: Path, marginals: Path, threads: int, rounds: int, python: str = PYTHON
) -> dict[str, float]:
    """Run a rival on the scores of a file, (sentences, words, heads); write its marginals to another."""
    call = [python, __file__, rival, str(scores), str(marginals), str(threads), str(rounds)]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


Rival = tuple[Callable[[], Any], Callable[[Any], Any]]
"""What is timed, and how its result becomes an array (sentences, words, heads)."""


def _torch_struct(kind: str, scores: Any) -> Rival:
    """Return its marginals; it wants (head, word), arcs from the root on the diagonal."""
    import torch
    import torch_struct

    if kind == "spans":
        return _torch_struct_spans(scores)
    n = scores.shape[1]
    table = scores[:, :, 1:].transpose(0, 2, 1).copy()
    table[:, range(n), range(n)] = scores[:, :, 0]
    crf = {"projective": torch_struct.DependencyCRF, "all": torch_struct.NonProjectiveDependencyCRF}[kind]
    # Without a gradient it writes into views of its own leaves, which newer versions of torch refuse.
    given = torch.from_numpy(table).requires_grad_(True)
    return lambda: crf(given, multiroot=False).marginals, _from_diagonal


def _torch_struct_spans(scores: Any) -> Rival:
    """Return its marginals; it wants (first word, last word, label)."""
    import numpy as np
    import torch
    import torch_struct

    first, last, n = _places(scores)
    table = np.zeros((len(scores), n, n, scores.shape[2]), scores.dtype)
    table[:, first, last] = scores
    given = torch.from_numpy(table).requires_grad_(True)
    return (
        lambda: torch_struct.TreeCRF(given).marginals,
        lambda found: found.detach().numpy()[:, first, last],
    )


def _kernelfields(kind: str, scores: Any) -> Rival:
    """Return our own, for what it needs of memory."""
    from kernelfields.structures import ConstituencyBatch

    S, _, L = scores.shape
    batch, theta = ConstituencyBatch([_places(scores)[2]] * S, L), {"span": scores.reshape(-1, L)}
    return lambda: batch.marginals(theta).parts["span"], lambda found: found.reshape(scores.shape)


def _from_diagonal(found: Any) -> Any:
    import numpy as np

    found = found.detach().numpy()
    n = found.shape[1]
    result = np.zeros((len(found), n, n + 1))
    result[:, :, 1:] = found.transpose(0, 2, 1)
    result[:, range(n), range(1, n + 1)] = 0.0
    result[:, :, 0] = found[:, range(n), range(n)]
    return result


def _supar(kind: str, scores: Any) -> Rival:
    """Return its marginals; it wants (word, head) with the root as the first of both."""
    import numpy as np
    import torch

    root = Path(str(importlib.util.find_spec("supar").origin)).parent  # type: ignore[union-attr]
    for name, folder in (("supar", root), ("supar.utils", root / "utils")):
        bare = types.ModuleType(name)  # its own imports ask for half a dozen libraries of no use here
        bare.__path__ = [str(folder)]
        sys.modules[name] = bare
    if kind == "spans":
        return _supar_spans(scores)
    from supar.structs.tree import DependencyCRF, MatrixTree

    S, n = scores.shape[:2]
    table = np.zeros((S, n + 1, n + 1))
    table[:, 1:] = scores
    given, lengths = torch.from_numpy(table).requires_grad_(True), torch.full((S,), n)
    tree = {"projective": DependencyCRF, "all": MatrixTree}[kind]
    return lambda: tree(given, lens=lengths).marginals, lambda found: found.detach().numpy()[:, 1:]


def _supar_spans(scores: Any) -> Rival:
    """Return its marginals of spans, labels summed over first; it wants (first word, word behind)."""
    import numpy as np
    import torch
    from supar.structs.tree import ConstituencyCRF

    first, last, n = _places(scores)
    table = np.zeros((len(scores), n + 1, n + 1, scores.shape[2]), scores.dtype)
    table[:, first, last + 1] = scores
    given, lengths = torch.from_numpy(table).requires_grad_(True), torch.full((len(scores),), n)

    def marginals() -> Any:
        total = ConstituencyCRF(given.logsumexp(-1), lens=lengths).log_partition.sum()
        return torch.autograd.grad(total, given)[0]

    return marginals, lambda found: found.numpy()[:, first, last + 1]


def _places(scores: Any) -> tuple[Any, Any, int]:
    """Return the first and the last word of the spans of a sentence, and how many words it has."""
    import numpy as np

    n = round(((8 * scores.shape[1] + 1) ** 0.5 - 1) / 2)
    return *np.triu_indices(n), n


def _main(rival: str, scores: str, marginals: str, threads: int, rounds: int) -> None:
    warnings.simplefilter("ignore")
    import numpy as np

    library, kind = rival.split("/")
    if library != "kernelfields":
        import torch

        torch.set_num_threads(threads)
    make = {"torch_struct": _torch_struct, "supar": _supar, "kernelfields": _kernelfields}[library]
    run, read = make(kind, np.load(scores))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = run()
    result = found.nbytes
    np.save(marginals, read(found))
    seconds = []
    for _ in range(rounds):
        clock = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - clock)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    # What was free before is not seen to grow; the marginals themselves are there in any case.
    kilobytes = float(max(grown, result / 1024))
    print(json.dumps({"seconds": statistics.median(seconds), "kilobytes": kilobytes}))


if __name__ == "__main__":
    _main(*sys.argv[1:4], *(int(number) for number in sys.argv[4:6]))
