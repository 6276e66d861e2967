"""With little address space, large problems are refused or go on with less; never do they crash."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("resource", reason="This system has no limits of address space.")

# What is imported and what threads reserve comes first; then a limit above what is in use.
FRAME = """
import resource
import numpy as np
from kernelfields import CRF, KernelCRF, native
from kernelfields.errors import InputError
from kernelfields.gram import PackedGram, TiledGram, gram_of
from kernelfields.kernels import RBF

rng = np.random.default_rng(0)
X = [rng.normal(size=(30, 5)) for _ in range(20)]
y = [["ab"[int(v > 0)] for v in x[:, 0]] for x in X]
model = CRF().fit(X, y)
KernelCRF(RBF(gamma=0.1)).fit(X, y)
model.sample(X)  # imports what it needs

def limit(megabytes):
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (megabytes << 20), resource.RLIM_INFINITY))

def ends_well(work):
    try:
        work()
    except MemoryError:
        return "refused"
    except InputError as error:
        assert "GB of memory" in str(error)
        return "refused"
    return "done"

"""


def run(code: str) -> str:
    """Run with limits; a crash is a negative code."""
    result = subprocess.run(
        [sys.executable, "-c", FRAME + code],
        capture_output=True,
        text=True,
        timeout=600,
        env={"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "PATH": ""},
    )
    assert result.returncode == 0, (result.returncode, result.stdout, result.stderr[-2000:])
    return result.stdout.strip()


@pytest.fixture(autouse=True)
def _linux() -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("Only Linux says how much address space is in use.")


WORKS = [
    "model.predict([rng.normal(size=(4_000_000, 5))])",
    "model.predict_kbest([np.zeros((100_000, 5))], 500)",
    "model.predict_marginals([np.zeros((1000, 5))] * 6000)",
    "model.sample([np.zeros((100_000, 5))], 1000)",
    "native.chain_marginals(np.zeros((200_000, 100)), np.zeros((100, 100)), np.array([0, 200_000]))",
    "CRF().fit([np.zeros((1000, 5000))] * 40, [['a', 'b'] * 500] * 40)",
    "CRF(structure='chain2').fit([np.zeros((3000, 2))], [list(range(300)) * 10])",
]


def test_large_problems() -> None:
    code = "".join(f"limit(60)\nprint(ends_well(lambda: {work}), flush=True)\n" for work in WORKS)
    answers = run(code).split()
    assert len(answers) == len(WORKS)
    assert set(answers) <= {"refused", "done"}
    assert "refused" in answers


def test_what_cannot_fit_is_refused() -> None:
    """And the same process goes on."""
    code = """
large = rng.normal(size=(4_000_000, 5))
limit(40)
print(ends_well(lambda: model.predict([large])))
print(ends_well(lambda: PackedGram.of(RBF(gamma=0.1), large[:20_000], np.float64)))
print(ends_well(lambda: model.predict(X[:1])))
"""
    assert run(code).split() == ["refused", "refused", "done"]


def test_a_gram_matrix_that_does_not_fit_is_tiled() -> None:
    code = """
many = rng.normal(size=(12_000, 5))
limit(400)
gram = gram_of(RBF(gamma=0.1), many)
product = gram.times(np.ones((12_000, 1)))
exact = np.exp(-0.1 * ((many[:3, None] - many) ** 2).sum(axis=2)).sum(axis=1)
print(type(gram).__name__, np.allclose(product[:3, 0], exact))
"""
    assert run(code) == "TiledGram True"


def test_threads_that_cannot_start_are_no_crash() -> None:
    """The first parallel region has to reserve stacks."""
    code = """
batch = np.zeros((20_000, 9)), np.zeros((9, 9)), np.arange(0, 20_001, 20)
limit(5)
print(ends_well(lambda: native.chain_entropy(*batch)))
"""
    assert run(code) in {"refused", "done"}
