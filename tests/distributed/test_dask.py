"""Fits on a Dask cluster of this machine, whose workers die."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from kernelfields import CRF, Run, distributed
from kernelfields.distributed import dask_pool
from kernelfields.errors import DistributedError, InputError
from kernelfields.features import TemplateFeatures, sets
from kernelfields.models import stream_chunks
from tests._clusters import local_cluster
from tests.distributed._sets import TOKENS, numbers, sentences

dask = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two processes with one thread each; nannies start them again."""
    with local_cluster(n_workers=2) as cluster, dask.Client(cluster) as found:
        yield found


@pytest.fixture(scope="module")
def undisturbed() -> Any:
    X, y = sentences()
    with distributed.use("threads", shards=3):
        return CRF(0.3, **TOKENS).fit(X, y).coef_


def test_a_cluster_finds_what_threads_find(client: Any, undisturbed: Any) -> None:
    X, y = sentences()
    with distributed.use(client) as sharing:
        assert sharing.shards == 2
    with distributed.use(client, shards=3):
        found = CRF(0.3, **TOKENS).fit(X, y).coef_
    np.testing.assert_array_equal(found, undisturbed)
    with pytest.raises(InputError, match="workers="), distributed.use(client, workers=2):
        pass


def test_workers_add_up_what_many_shards_say(client: Any) -> None:
    """In the order of the tree, which is that of other pools: 20 shards in sums of 8, 8 and 4."""
    X, y = numbers()
    X, y = X * 3, y * 3
    model = CRF(0.3, tol=1e-7)
    with distributed.use("threads", shards=20) as sharing:
        expected = clone(model).fit(X, y)
        assert len(sharing.pools[0].places) == 20
    with distributed.use(client, shards=20):
        found = clone(model).fit(X, y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    np.testing.assert_array_equal(found.transitions_, expected.transitions_)


def test_searches_for_settings_run_on_workers(client: Any) -> None:
    X, y = numbers()
    grid = {"penalty": [0.1, 1.0, 10.0]}
    alone = GridSearchCV(CRF(), grid, cv=2).fit(X, y)
    with joblib.parallel_config("dask"):
        shared = GridSearchCV(CRF(), grid, cv=2, n_jobs=2).fit(X, y)
    assert shared.best_params_ == alone.best_params_
    np.testing.assert_allclose(shared.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


def test_evaluations_of_a_round_are_a_group(client: Any) -> None:
    """Of their own, by their names: Dask spreads groups that grow without asking where shards are."""
    X, y = numbers()
    with distributed.use(client, shards=3) as sharing:
        CRF(0.3, max_iter=12).fit(X, y)
        pool: Any = sharing.pools[0]
        kept = pool._cluster._kept
        names = [{future.key[0] for future in futures} for futures in kept]
        places = [list(client.who_has(shard).values()) for shard in pool._cluster._made[False]]
    assert len(kept) > 1
    assert all(len(one) == 1 for one in names)
    assert len(set.union(*names)) == len(kept)
    assert all(len(workers) == 1 for (workers,) in places)


def test_workers_die_and_nothing_changes(client: Any, undisturbed: Any) -> None:
    X, y = sentences()
    alive = sorted(client.run(os.getpid).values())
    killed = []

    def kill(progress: Any) -> None:
        if progress.iteration in (2, 9):
            killed.append(alive[len(killed)])
            os.kill(killed[-1], signal.SIGKILL)

    with distributed.use(client, shards=3):
        found = CRF(0.3, run=Run(callback=kill), **TOKENS).fit(X, y).coef_
    assert len(set(killed)) == 2
    np.testing.assert_array_equal(found, undisturbed)


def test_streams_are_with_the_workers(client: Any, monkeypatch: Any) -> None:
    X, y = sentences()
    pairs = list(zip(X, y, strict=True))
    monkeypatch.setattr(stream_chunks, "_size", lambda *_: 60)
    model = CRF(0.3, features=TemplateFeatures(sets.chunking(), n_hash=2**12, dtype=np.float32))
    expected = clone(model).fit_stream(pairs).coef_
    with distributed.use(client):
        found = clone(model).fit_stream(pairs).coef_
    np.testing.assert_array_equal(found, expected)


def test_bags_are_streams() -> None:
    from dask import bag, config

    X, y = sentences()
    pairs = list(zip(X, y, strict=True))
    model = CRF(0.3, features=TemplateFeatures(sets.chunking(), n_hash=2**12, dtype=np.float32))
    expected = clone(model).fit_stream(pairs).coef_
    with config.set(scheduler="synchronous"):
        found = clone(model).fit_stream(bag.from_sequence(pairs, npartitions=3)).coef_
    np.testing.assert_array_equal(found, expected)


def test_a_cluster_without_workers_is_given_up(client: Any, monkeypatch: Any) -> None:
    """Nobody waits for ever for those who will not come."""
    monkeypatch.setattr(dask_pool, "PATIENCE", 0.1)
    monkeypatch.setattr(dask_pool, "DESERTED", 0.3)
    X, y = sentences(4)
    refused = pytest.raises(DistributedError, match="no workers for")
    with (
        local_cluster(n_workers=0) as cluster,
        dask.Client(cluster) as nobody,
        refused,
        distributed.use(nobody),
    ):
        CRF(0.3, **TOKENS).fit(X, y)


def test_work_that_the_cluster_forgot_is_begun_again(client: Any, undisturbed: Any) -> None:
    X, y = sentences()

    def forget(progress: Any) -> None:
        if progress.iteration == 4:
            client.restart()

    with distributed.use(client, shards=3):
        found = CRF(0.3, run=Run(callback=forget), **TOKENS).fit(X, y).coef_
    np.testing.assert_array_equal(found, undisturbed)


def wide_rows() -> tuple[Any, Any]:
    """Rows of numbers, so that every shard sees every coordinate: 200 kB of them."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(5, 600)) for _ in range(16)]
    return X, [[str(one) for one in rng.integers(40, size=5)] for _ in X]


def many_words() -> tuple[Any, Any]:
    """Words of which every shard sees its own: more than 100 kB of coordinates each."""
    rng = np.random.default_rng(0)
    X = [[tuple(map(str, rng.integers(10**6, size=2))) for _ in range(5)] for _ in range(16)]
    return X, [[str(one) for one in rng.integers(40, size=5)] for _ in X]


@pytest.mark.parametrize(("features", "data"), [(None, wide_rows), ("chunking", many_words)])
def test_large_elements_are_no_part_of_tasks(features: Any, data: Any, recwarn: Any) -> None:
    """Dask warns of tasks of more than 10 MB, which the scheduler keeps; here, of more than 100 kB."""
    from dask import config

    X, y = data()
    model = CRF(0.3, features=features)
    with (
        config.set({"distributed.admin.large-graph-warning-threshold": "100 kB"}),
        local_cluster(n_workers=2, processes=False, host=None) as cluster,
        dask.Client(cluster) as near,
        distributed.use(near, shards=2),
    ):
        found = clone(model).fit(X, y).coef_
    assert not [one for one in recwarn if "large graph" in str(one.message)]
    with distributed.use("threads", shards=2):
        np.testing.assert_array_equal(clone(model).fit(X, y).coef_, found)


def test_large_elements_die_with_workers(client: Any, undisturbed: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(dask_pool, "LARGE", 0)
    test_workers_die_and_nothing_changes(client, undisturbed)
