"""Checkpoints belong to a problem: what it is made of is compared by content, in every process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelfields import CRF, KernelCRF, KernelScores, Parts, Run
from kernelfields.constraints import Constraints
from kernelfields.errors import InputError
from kernelfields.fitting.digest import digest
from kernelfields.kernels import RBF, Precomputed


def data(rng, count=20):
    X = [rng.normal(size=(int(rng.integers(2, 7)), 3)) for _ in range(count)]
    return X, [(x[:, 0] > 0).astype(int).tolist() for x in X]


def kept(model, path, X, y, **more):
    """Leave the checkpoint of a search that was stopped early."""
    model.set_params(run__checkpoint=path, run__checkpoint_seconds=0.0, max_iter=2, tol=1e-9)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y, **more)
    assert path.exists()
    return model


def refuses(model, X, y, **more):
    with pytest.raises(InputError, match="belongs to other data or settings"):
        model.fit(X, y, **more)


@pytest.mark.parametrize("make", [lambda: CRF(0.01), lambda: KernelCRF(penalty=0.01)])
def test_other_weights_of_sequences_are_another_problem(make, rng, tmp_path):
    X, y = data(rng)
    weights = np.linspace(0.5, 2, len(X))
    model = kept(make(), tmp_path / "state", X, y, sample_weight=weights)
    refuses(model, X, y)
    refuses(model, X, y, sample_weight=weights[::-1])
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y, sample_weight=weights)


def test_another_gram_matrix_is_another_problem(rng, tmp_path):
    points = rng.normal(size=(200, 3))
    grams = [RBF(gamma=1.0)(points) for _ in range(2)]
    grams[1][90, 90] += 0.5  # where a short text leaves out the middle
    X = [np.arange(k, k + 4)[:, None] for k in range(0, 200, 4)]
    y = [(points[x[:, 0], 0] > 0).astype(int).tolist() for x in X]
    model = kept(KernelCRF(Precomputed(grams[0]), penalty=0.01), tmp_path / "state", X, y)
    refuses(model.set_params(kernel=Precomputed(grams[1])), X, y)


def test_another_kernel_on_labels_is_another_problem(rng, tmp_path):
    X, y = data(rng)
    labels = [np.array([[1.0, 0.2], [0.2, 1.0]]), np.array([[1.0, 0.2], [0.2, 1.0 + 1e-12]])]
    model = kept(
        KernelCRF(penalty=0.01, parts=Parts(kernel=KernelScores(labels=labels[0]))), tmp_path / "state", X, y
    )
    refuses(model.set_params(parts=Parts(kernel=KernelScores(labels=labels[1]))), X, y)


SCRIPT = """
import sys
import numpy as np
from kernelfields.constraints import Constraints
from kernelfields.fitting.digest import digest
def measure(x):
    return np.zeros((x.shape[0], 2)) + len("abc")
rule = Constraints(forbidden_pairs=[(a, b) for a in "abcdef" for b in "ghijk"])
print(digest([measure, lambda x, y: x @ y, {"a", "b", "c", ("d", 1)}, rule, np.random.RandomState(3)]))
"""


def test_functions_sets_and_seeds_are_the_same_in_a_new_process():
    def run(seed):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        )
        return done.stdout

    assert run("1") == run("2") != ""


def test_what_differs_has_another_digest():
    seeds = [np.random.RandomState(3), np.random.RandomState(3)]
    seeds[1].rand()
    different = [
        *([1], [1.0], [True], ["1"], [None], [[1]], [(1,)], [{1}], [{1: 1}], [1, 1], []),
        *([seeds[0]], [seeds[1]], [lambda x: x + 1], [lambda x: x + 2], [RBF(1.0)], [RBF(2.0)]),
        *([np.zeros(2)], [np.zeros(2, np.float32)], [np.zeros((2, 1))], [np.array([0.0, -0.0])]),
        *([Constraints(forbidden_starts=["a"])], [Constraints(forbidden_starts=["b"])]),
    ]
    assert len({digest(parts) for parts in different}) == len(different)


@pytest.mark.parametrize("damage", ["size", "nan", "text", "shape"])
def test_damaged_checkpoints_are_refused(damage, rng, tmp_path):
    X, y = data(rng)
    path = tmp_path / "state"
    model = kept(CRF(0.01), path, X, y)
    with np.load(path) as saved:
        key, element = saved["key"], saved["element"]
    element = {
        "size": element[:-1],
        "nan": np.where(np.arange(len(element)) == 3, np.nan, element),
        "text": element.astype(str),
        "shape": element[None],
    }[damage]
    with path.open("wb") as file:
        np.savez(file, key=key, element=element)
    with pytest.raises(InputError, match="is damaged: it does not hold"):
        model.fit(X, y)


def test_a_partial_fit_keeps_no_checkpoint(rng, tmp_path):
    X, y = data(rng)
    with pytest.raises(InputError, match="partial_fit keeps no checkpoints"):
        CRF(run=Run(checkpoint=tmp_path / "state")).partial_fit(X, y)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"parts": Parts(edge_kernel=KernelScores())},
        {"parts": Parts(bias=None)},
        {"parts": Parts(kernel=KernelScores(labels=np.eye(2)))},
        {"structure": "chain2"},
    ],
    ids=repr,
)
def test_a_warm_start_saves_iterations(settings, rng):
    X, y = data(rng, 40)
    model = KernelCRF(penalty=0.01, tol=1e-6, run=Run(dtype="float64"), warm_start=True, **settings).fit(X, y)
    cold, value = model.n_iter_, model.certificate_.value
    model.fit(X, y)
    assert model.n_iter_ <= 5 < cold
    assert model.certificate_.value == pytest.approx(value, rel=1e-6)
    more, labels = data(rng, 5)
    model.fit([*X, *more], [*y, *labels])
    fresh = KernelCRF(penalty=0.01, tol=1e-6, run=Run(dtype="float64"), **settings).fit(
        [*X, *more], [*y, *labels]
    )
    assert model.certificate_.value == pytest.approx(fresh.certificate_.value, rel=1e-5)
    assert model.n_iter_ < fresh.n_iter_


def test_a_warm_start_with_other_labels_or_features_is_a_cold_one(rng):
    X, y = data(rng)
    model = KernelCRF(penalty=0.1, warm_start=True).fit(X, y)
    named = [["x" if label else "z" for label in labels] for labels in y]
    model.fit([x[:, :2] for x in X], named)
    fresh = KernelCRF(penalty=0.1).fit([x[:, :2] for x in X], named)
    np.testing.assert_array_equal(model.dual_coef_, fresh.dual_coef_)
    with pytest.raises(InputError, match="warm_start does not go with an approximation"):
        model.set_params(basis="nystroem").fit(X, y)
