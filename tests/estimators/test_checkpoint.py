"""Searches that go on where they were killed."""

from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelfields import CRF, KernelCRF, KernelScores, Parts, Run
from kernelfields.errors import InputError
from kernelfields.kernels import RBF
from kernelfields.selection import GreedyCliques


def data(rng, count=30):
    X = [rng.normal(size=(int(rng.integers(2, 9)), 6)) for _ in range(count)]
    return X, [(x[:, 0] + 0.5 * rng.normal(size=len(x)) > 0).astype(int).tolist() for x in X]


def test_an_interrupted_search_goes_on(rng, tmp_path):
    X, y = data(rng)
    path = tmp_path / "deep" / "state.npz"
    settings = {"penalty": 0.01, "tol": 1e-7, "run": Run(checkpoint=path, checkpoint_seconds=0.0)}
    whole = CRF(penalty=0.01, tol=1e-7).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        CRF(**settings, max_iter=5).fit(X, y)
    assert path.exists()
    resumed = CRF(**settings).fit(X, y)
    assert not path.exists()
    assert resumed.n_iter_ < whole.n_iter_
    assert resumed.certificate_.value == pytest.approx(whole.certificate_.value, rel=1e-6)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"parts": Parts(edge_kernel=KernelScores("linear")), "run": Run(dtype="float64")},
        {"basis": "nystroem", "random_state": 0},
    ],
)
def test_an_interrupted_search_of_a_kernel_model_goes_on(rng, tmp_path, more):
    X, y = data(rng)
    path = tmp_path / "state.npz"
    settings = {"kernel": RBF(), "penalty": 0.01, "tol": 1e-5, **more}
    whole = KernelCRF(**settings).fit(X, y)
    kept = {"run__checkpoint": path, "run__checkpoint_seconds": 0.0}
    values = []
    with pytest.warns(ConvergenceWarning):
        short = KernelCRF(**settings, max_iter=whole.n_iter_ // 2).set_params(**kept).fit(X, y)
    assert path.exists()
    kept["run__callback"] = lambda progress: values.append(progress.value)
    resumed = KernelCRF(**settings).set_params(**kept).fit(X, y)
    assert not path.exists()
    assert values[0] <= short.certificate_.value * (1 + 1e-4)
    assert resumed.n_iter_ < whole.n_iter_
    assert resumed.certificate_.value == pytest.approx(whole.certificate_.value, rel=1e-4)


def test_checkpoints_that_would_not_fit_are_refused(rng, tmp_path):
    X, y = data(rng)
    path = tmp_path / "state.npz"
    with pytest.warns(ConvergenceWarning):
        KernelCRF(run=Run(checkpoint=path), max_iter=2, tol=1e-9).fit(X, y)
    for changed in ({"kernel": "linear"}, {"penalty": 3.0}, {"run__dtype": "float64"}):
        with pytest.raises(InputError, match="belongs to other data or settings"):
            KernelCRF(run=Run(checkpoint=path)).set_params(**changed).fit(X, y)
    with pytest.raises(InputError, match="needs a random_state"):
        KernelCRF(run=Run(checkpoint=path), basis="nystroem").fit(X, y)
    with pytest.raises(InputError, match="goes on by warm_start"):
        KernelCRF(run=Run(checkpoint=path), basis=GreedyCliques(size=2)).fit(X, y)


def test_a_checkpoint_of_other_data_is_refused(rng, tmp_path):
    X, y = data(rng)
    path = tmp_path / "state.npz"
    with pytest.warns(ConvergenceWarning):
        CRF(run=Run(checkpoint=path), max_iter=2, tol=1e-9).fit(X, y)
    for changed in (
        CRF(run=Run(checkpoint=path), penalty=3.0),
        CRF(run=Run(checkpoint=path), parts=Parts(bias=None)),
    ):
        with pytest.raises(InputError, match="belongs to other data or settings"):
            changed.fit(X, y)
    with pytest.raises(InputError, match="belongs to other data or settings"):
        CRF(run=Run(checkpoint=path)).fit([x + 1 for x in X], y)
    assert path.exists()


@pytest.mark.parametrize("content", [b"", b"no zip file", b"PK\x03\x04 cut"])
def test_a_broken_file_is_refused(rng, tmp_path, content):
    X, y = data(rng)
    path = tmp_path / "state.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not a checkpoint"):
        CRF(run=Run(checkpoint=path)).fit(X, y)
    assert path.read_bytes() == content


KILLED = """
import io
import sys
import threading
from pathlib import Path
import numpy as np
from kernelfields import CRF, Run
path, save = Path(sys.argv[1]), np.savez

def save_or_stop(file, **arrays):
    whole = io.BytesIO()
    save(whole, **arrays)
    if not path.exists():
        file.write(whole.getvalue())
        return
    file.write(whole.getvalue()[:200])
    file.flush()
    print("in the middle of the second file", flush=True)
    threading.Event().wait()

np.savez = save_or_stop
rng = np.random.default_rng(1)
X = [rng.normal(size=(5, 3)) for _ in range(40)]
y = [rng.integers(4, size=5).tolist() for _ in X]
CRF(penalty=1e-6, tol=1e-12, run=Run(checkpoint=path, checkpoint_seconds=0.0)).fit(X, y)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="There is no SIGKILL.")
def test_a_killed_process_leaves_a_whole_file(tmp_path):
    path = tmp_path / "state.npz"
    command = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "in the middle of the second file\n"
        process.send_signal(signal.SIGKILL)
    assert len(list(tmp_path.iterdir())) == 2  # what was begun lies beside it
    with np.load(path) as saved:
        assert np.isfinite(saved["element"]).all()
