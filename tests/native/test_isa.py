"""Every instruction set that this processor runs gives the same results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernelfields import native

COMPUTE = """
import sys
import numpy as np
from scipy import sparse
from kernelfields import native
from kernelfields.objective import Term
from kernelfields.online import Descent, Sweep
from kernelfields.spaces import Free, SparseFeatures, WeightPairs
from kernelfields.structures import ChainBatch, TreeBatch

OFFSETS = [0, 6, 6, 7, 12, 21, 24]
PARENTS = [-1, 0, 0, 1, 0, -1, -1, 11, 11, 11, 9, -1, -1, 12, 12, 12, 12, 12, 12, 18, 19, 22, -1, 22]

results = {"isa": np.array(native.isa())}
for L in (1, 3, 4, 5, 9, 17, 26):
    for dtype in (np.float32, np.float64):
        for shared in (True, False):
          for batch in (ChainBatch(OFFSETS, L, shared), TreeBatch(OFFSETS, PARENTS, L, shared)):
            rng = np.random.default_rng(L)
            scores, direction, large = (
                {n: (scale * rng.normal(size=s)).astype(dtype) for n, s in batch.shapes.items()}
                for scale in (1, 1, 300)
            )
            found = batch.marginals(scores)
            arrays = [found.log_partition, *found.parts.values(), batch.argmax(scores).labels,
                      batch.entropy(scores), *batch.covariance(scores, direction).values(),
                      batch.sample(scores, 3, seed=1), batch.kbest(scores, 3).value,
                      batch.marginals(large).parts["node"], batch.argmax(large).labels]
            for n, array in enumerate(arrays):
                results[f"{L} {np.dtype(dtype)} {shared} {type(batch).__name__} {n}"] = array
for L in (1, 3, 9, 17, 26, 40):
    for dtype in (np.float32, np.float64):
        rng = np.random.default_rng(L)
        chain = ChainBatch(np.arange(0, 31, 3), L)
        X = sparse.csr_matrix(((rng.random((30, 8)) < 0.4) * rng.normal(size=(30, 8))).astype(dtype))
        y = rng.integers(L, size=30).astype(np.int32)
        nodes = SparseFeatures(chain, "node", X, WeightPairs.of(X, L, y))
        sweep = Sweep(chain, [Term("features", nodes, 0.1), Term("edges", Free(chain, "edge"), 0.1)], y)
        sweep.begin_average()
        sweep.learn(Descent(0.3), np.arange(10))
        results[f"{L} {np.dtype(dtype)} sweep"] = sweep.element()
        results[f"{L} {np.dtype(dtype)} average"] = sweep.average()
np.savez(sys.argv[1], **results)
"""


def run(isa: str | None, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "KERNELFIELDS_ISA"}
    if isa is not None:
        environment["KERNELFIELDS_ISA"] = isa
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


def compute(isa: str | None, folder: Path) -> dict[str, np.ndarray]:
    target = folder / f"{isa}.npz"
    result = run(isa, COMPUTE, str(target))
    assert result.returncode == 0, result.stderr
    with np.load(target) as file:
        return dict(file)


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    return compute(None, tmp_path_factory.mktemp("isa"))


def test_the_best_is_the_default(default) -> None:
    assert native.supported_isas()[0] == "baseline"
    assert str(default["isa"]) == native.supported_isas()[-1]


@pytest.mark.parametrize("isa", native.supported_isas())
def test_forced(isa: str, default, tmp_path: Path) -> None:
    forced = compute(isa, tmp_path)
    assert str(forced.pop("isa")) == isa
    assert len(forced) == len(default) - 1
    for name, array in forced.items():
        tolerance = 5e-5 if "float32" in name else 1e-10
        np.testing.assert_allclose(array, default[name], rtol=tolerance, atol=tolerance, err_msg=name)


def test_unknown() -> None:
    result = run("sse9", "from kernelfields import native; native.isa()")
    assert result.returncode == 1
    assert "KERNELFIELDS_ISA=sse9 names no instruction set" in result.stderr


def test_empty_means_not_given() -> None:
    result = run("", "from kernelfields import native; print(native.isa())")
    assert result.stdout.strip() == native.supported_isas()[-1], result.stderr


def test_loading_leaves_denormals_alone() -> None:
    """A library linked with -ffast-math flushes denormals to zero in the whole process."""
    code = (
        "from kernelfields import native; native.isa(); import numpy; print(float(numpy.array(5e-324) * 1))"
    )
    result = run(None, code)
    assert result.stdout.strip() == "5e-324", result.stdout + result.stderr
