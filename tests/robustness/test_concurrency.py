"""Models used from several threads and after a fork, and trained at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pytest

from kernelfields import CRF, KernelCRF, StructuredPerceptron
from kernelfields.kernels import RBF

THREADS = 8
SENTENCES = [[(f"w{(3 * s + t) % 17}", f"p{t % 3}") for t in range(5 + s % 9)] for s in range(150)]
TAGS = [["B-NP" if word[0] in ("w1", "w5") else "O" for word in sentence] for sentence in SENTENCES]


def arrays(rng, count: int = 100):
    """Enough work for the core to use threads."""
    lengths = rng.integers(1, 30, count)
    X = [rng.normal(size=(T, 4)) for T in lengths]
    return X, [np.where(x[:, 0] * x[:, 1] > 0, "up", "down").tolist() for x in X]


def everything(model, X, y):
    """Every kind of prediction, as plain objects and arrays."""
    return [
        model.predict(X),
        model.predict(X, abstain=0.8),
        np.concatenate(model.predict_marginals(X)).tolist(),
        model.predict_kbest(X, 2),
        model.sequence_log_proba(X, y).tolist(),
        model.score(X, y),
    ]


def models(rng):
    X, y = arrays(rng)
    yield "linear", CRF(penalty=1.0), X, y
    yield "kernel", KernelCRF(RBF(gamma=0.5), penalty=0.1), X[:40], y[:40]
    yield "low rank", KernelCRF(RBF(gamma=0.5), penalty=0.1, basis="nystroem", random_state=0), X, y
    yield "tokens", CRF(features="chunking", constraints="iob2"), SENTENCES, TAGS
    yield "online", StructuredPerceptron(random_state=0), X, y


def test_one_model_from_eight_threads(rng) -> None:
    for name, model, X, y in models(rng):
        wanted = everything(model.fit(X, y), X, y)
        with ThreadPoolExecutor(THREADS) as pool:
            tasks = [pool.submit(everything, model, X, y) for _ in range(THREADS)]
            for task in tasks:
                assert task.result(timeout=600) == wanted, name


def test_threads_with_different_batches(rng) -> None:
    """Threads that predict other sequences do not see each other's."""
    X, y = arrays(rng, 160)
    model = CRF().fit(X, y)
    parts = [(X[k::THREADS], y[k::THREADS]) for k in range(THREADS)]
    wanted = [everything(model, *part) for part in parts]
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(3):
            assert list(pool.map(lambda part: everything(model, *part), parts)) == wanted


def test_training_from_two_threads(rng) -> None:
    for name, model, X, y in models(rng):
        wanted = everything(deepcopy(model).fit(X, y), X, y)
        with ThreadPoolExecutor(2) as pool:
            tasks = [pool.submit(deepcopy(model).fit, X, y) for _ in range(2)]
            for task in tasks:
                assert everything(task.result(timeout=600), X, y) == wanted, name


FORK = """
import os, signal
import numpy as np
from kernelfields import CRF, KernelCRF
from kernelfields.kernels import RBF

rng = np.random.default_rng(0)
X = [rng.normal(size=(40, 6)) for _ in range(400)]
y = [["ab"[int(v > 0)] for v in x[:, 0]] for x in X]
linear, kernel = CRF().fit(X, y), KernelCRF(RBF(gamma=0.1)).fit(X[:20], y[:20])
wanted = linear.predict(X), kernel.predict(X)
child = os.fork()
if child == 0:
    signal.alarm(300)  # ends a child that waits for ever
    same = (linear.predict(X), kernel.predict(X)) == wanted
    again = CRF().fit(X, y).predict(X) == wanted[0] and KernelCRF(RBF(gamma=0.1)).fit(X[:20], y[:20])
    os._exit(0 if same and again else 3)
_, status = os.waitpid(child, 0)
assert (linear.predict(X), kernel.predict(X)) == wanted
raise SystemExit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="This system cannot fork.")
def test_fork_after_a_fit() -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    result = subprocess.run(
        [sys.executable, "-c", FORK], env=environment, timeout=600, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
