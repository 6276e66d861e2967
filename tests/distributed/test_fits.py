"""Fits on shards are those of the whole: every kind of model, in threads, processes and on a cluster."""

from __future__ import annotations

import os
import pickle
import signal
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from kernelfields import CRF, HMM, KernelCRF, Run, distributed
from kernelfields.approximation import Nystroem
from kernelfields.approximation.columns import KernelColumns
from kernelfields.errors import DistributedError, InputError
from kernelfields.losses import EntropyRegularised
from tests.distributed._sets import FITS, HMMS, KERNEL, TOKENS, numbers, sentences


def weights(model: Any) -> Any:
    return np.asarray(getattr(model, "coef_", getattr(model, "dual_coef_", None)))


@pytest.mark.parametrize("name", FITS)
def test_the_optimum_is_that_of_the_whole(name: str) -> None:
    model, make = FITS[name]
    X, y = make()
    whole = clone(model).fit(X, y)
    with distributed.use("threads", shards=3) as sharing:
        shared = clone(model).fit(X, y)
    assert len(sharing.pools[0].places) == 3
    assert shared.certificate_.value == pytest.approx(whole.certificate_.value, rel=1e-6)
    assert shared.certificate_.relative_gap <= 1.01 * model.tol
    assert shared.predict(X) == whole.predict(X)


@pytest.mark.parametrize("backend", ["threads", "processes"])
def test_nothing_depends_on_who_computes(backend: str) -> None:
    X, y = sentences()
    found = []
    for workers in (1, 2):
        with distributed.use(backend, workers=workers, shards=4):
            found.append(CRF(0.3, **TOKENS).fit(X, y).coef_)
    with distributed.use("threads", workers=3, shards=4):
        found.append(CRF(0.3, **TOKENS).fit(X, y).coef_)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_shards_have_the_coordinates_that_they_have_seen() -> None:
    """Half of the words of a shard are in no other: their weights do not travel to those."""
    X, y = sentences()
    with distributed.use("threads", shards=8) as sharing:
        CRF(0.3, **TOKENS).fit(X, y)
    places = sharing.pools[0].places
    size = 1 + max(int(place.max()) for place in places)
    assert all(len(place) < 0.5 * size for place in places)
    assert len(np.unique(np.concatenate(places))) == size


def test_weights_of_instances() -> None:
    X, y = sentences()
    weight = np.linspace(0.1, 2, len(X))
    whole = CRF(0.3, **TOKENS).fit(X, y, sample_weight=weight)
    with distributed.use("threads", shards=3):
        shared = CRF(0.3, **TOKENS).fit(X, y, sample_weight=weight)
    assert shared.certificate_.value == pytest.approx(whole.certificate_.value, rel=1e-6)


def test_a_process_that_dies_is_replaced() -> None:
    X, y = sentences()
    with distributed.use("processes", workers=2, shards=3):
        expected = CRF(0.3, **TOKENS).fit(X, y).coef_
    killed = []

    def kill(progress: Any) -> None:
        if progress.iteration in (3, 7):
            workers = sharing.pools[0]._workers  # type: ignore[attr-defined]
            pid = next(iter(workers[progress.iteration % 2]._process._processes))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    with distributed.use("processes", workers=2, shards=3) as sharing:
        found = CRF(0.3, run=Run(callback=kill), **TOKENS).fit(X, y).coef_
    assert len(set(killed)) == 2
    np.testing.assert_array_equal(found, expected)


def test_kernel_values_are_computed_by_those_who_have_the_observations(monkeypatch: Any) -> None:
    """Not here: shards hold observations and landmarks, and values stay behind when they are sent."""
    X, y = numbers()
    model = KernelCRF("rbf", penalty=0.3, basis=Nystroem(8), **KERNEL)
    asked: list[int] = []
    plain = KernelColumns.fill

    def fill(columns: Any, basis: Any, out: Any) -> None:
        asked.append(len(out))
        plain(columns, basis, out)

    monkeypatch.setattr(KernelColumns, "fill", fill)
    with distributed.use("threads", shards=3) as sharing:
        clone(model).fit(X, y)
    shards = sharing.pools[0]._shards  # type: ignore[attr-defined]
    sizes = [shard.data.structure.n_vertices for shard in shards]
    assert all(asked.count(size) == 1 for size in sizes)  # once each, in single and in double
    assert "matrix" in vars(shards[0].data.spaces[0].factor.products)
    sent = pickle.loads(pickle.dumps(shards[0]))
    assert "matrix" not in vars(sent.data.spaces[0].factor.products)
    element = np.linspace(-1, 1, sent.data.spaces[0].size + sum(s.size for s in sent.data.spaces[1:]))
    np.testing.assert_array_equal(
        sent.evaluate("loss", element).array, shards[0].evaluate("loss", element).array
    )


@pytest.mark.parametrize(
    ("family", "backend"), [*((family, "threads") for family in HMMS), ("gaussian", "processes")]
)
def test_expectation_maximisation(family: str, backend: str) -> None:
    """Every step is that of the whole, whatever states emit; gaps and weights included."""
    model, X, weight = HMMS[family]
    whole = clone(model).fit(X, sample_weight=weight)
    with distributed.use(backend, shards=3) as sharing:
        shared = clone(model).fit(X, sample_weight=weight)
    assert len(sharing.pools) == 1
    np.testing.assert_allclose(shared.log_likelihoods_, whole.log_likelihoods_, rtol=1e-9)
    np.testing.assert_allclose(shared.transitions_, whole.transitions_, atol=1e-7)
    np.testing.assert_allclose(shared.start_, whole.start_, atol=1e-7)


def test_expectation_maximisation_with_some_labels() -> None:
    X, y = numbers()
    y = [[label if t else None for t, label in enumerate(one)] for one in y]
    whole = HMM("gaussian", max_iter=5, tol=0).fit(X, y)
    with distributed.use("threads", shards=3):
        shared = HMM("gaussian", max_iter=5, tol=0).fit(X, y)
    np.testing.assert_allclose(shared.log_likelihoods_, whole.log_likelihoods_, rtol=1e-9)


def test_what_is_not_shared_out_says_so() -> None:
    X, y = numbers()
    with distributed.use("threads"), pytest.warns(UserWarning, match="HMM is not learnt on shards"):
        HMM("gaussian").fit(X, y)
    with distributed.use("threads"), pytest.raises(InputError, match="not learnt on shards"):
        CRF(loss=EntropyRegularised(0.1)).fit(X, [*y[:-1], None])


@pytest.mark.parametrize(
    ("backend", "settings", "message"),
    [
        ("clouds", {}, "must be a Client, 'threads' or 'processes'"),
        (3, {}, "must be a Client"),
        ("threads", {"workers": 0}, "workers"),
        ("threads", {"shards": 1.5}, "shards"),
    ],
)
def test_bad_arguments(backend: Any, settings: Any, message: str) -> None:
    with pytest.raises(InputError, match=message), distributed.use(backend, **settings):
        pass


def test_more_shards_than_instances() -> None:
    X, y = numbers()
    with distributed.use("threads", shards=100) as sharing:
        shared = CRF(0.3, tol=1e-7).fit(X, y)
    assert 5 < len(sharing.pools[0].places) <= len(X)
    assert shared.certificate_.value == pytest.approx(CRF(0.3, tol=1e-7).fit(X, y).certificate_.value)


def test_errors_of_workers_arrive() -> None:
    """Not those that another attempt could mend."""
    assert issubclass(DistributedError, RuntimeError)
    X, y = numbers()
    with distributed.use("threads", shards=2) as sharing:
        CRF(0.3).fit(X, y)
        with pytest.raises(KeyError):
            list(sharing.pools[0].map("nothing", np.zeros(3), None))
