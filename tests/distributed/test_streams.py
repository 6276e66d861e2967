"""Fits to sentences that are kept in files are fits to sentences in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from kernelfields import CRF, load
from kernelfields.distributed import FilePool, ShardFile, split, write_shard
from kernelfields.errors import InputError
from kernelfields.features import TemplateFeatures, sets
from kernelfields.io import ConllSentences, Sentence, write_conll
from kernelfields.losses import Log
from kernelfields.models import streamed
from kernelfields.objective import ShardedData, Term, linear_chain_problem
from kernelfields.spaces import Free, SparseFeatures
from kernelfields.structures import ChainBatch
from tests.distributed._sets import sentences

HASHED = TemplateFeatures(sets.chunking(), n_hash=2**12, dtype=np.float32)
X, Y = sentences()
PAIRS = list(zip(X, Y, strict=True))


@pytest.fixture
def small_chunks(monkeypatch: Any) -> None:
    """A shard for every sixty tokens."""
    monkeypatch.setattr(streamed, "_chunk", lambda *_: 60)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"l1": 0.05},
        {"constraints": "iob2"},
        {"tol": 1e-7},
        {"solver": "conjugate-gradients", "tol": 1e-4},
        {"fit_intercept": False, "boundaries": False},
        {"classes": ["O", "I-x", "B-x", "B-y"]},
        {"features": TemplateFeatures(sets.chunking(), dtype=np.float32).fit(X)},
    ],
    ids=str,
)
@pytest.mark.usefixtures("small_chunks")
def test_the_model_is_that_of_memory(settings: Any, tmp_path: Any) -> None:
    model = CRF(0.3, features=HASHED).set_params(**settings)
    expected = clone(model).fit(X, Y)
    found = clone(model).fit_stream(PAIRS, directory=tmp_path)
    assert found.certificate_.value == pytest.approx(expected.certificate_.value, rel=1e-5)
    assert found.certificate_.relative_gap <= 1.01 * model.tol
    assert found.predict(X) == expected.predict(X)
    assert found.provenance_.sequences == len(X)
    assert found.provenance_.positions == sum(map(len, X))
    assert list(tmp_path.iterdir()) == []
    found.save(tmp_path / "model")
    assert load(tmp_path / "model").predict(X) == found.predict(X)


@pytest.mark.usefixtures("small_chunks")
def test_files_of_conll(tmp_path: Any) -> None:
    paths = []
    for k in range(2):
        columns = [[*map(list, zip(*x, strict=True)), y] for x, y in PAIRS[k::2]]
        paths.append(tmp_path / f"{k}.conll")
        write_conll([Sentence(one) for one in columns], paths[-1])
    model = CRF(0.3, features=HASHED)
    from_paths = clone(model).fit_stream([str(path) for path in paths])
    again = clone(model).fit_stream(ConllSentences(tuple(paths)))
    pairs = clone(model).fit_stream([*PAIRS[0::2], *PAIRS[1::2]])
    np.testing.assert_array_equal(from_paths.coef_, pairs.coef_)
    np.testing.assert_array_equal(again.coef_, pairs.coef_)
    Path(paths[0]).write_text("lonely\n")
    with pytest.raises(InputError, match="one column"):
        clone(model).fit_stream(paths[0])


@pytest.mark.usefixtures("small_chunks")
def test_a_search_goes_on_from_its_checkpoint(tmp_path: Any) -> None:
    begun: list[float] = []
    whole = CRF(0.3, features=HASHED, tol=1e-6, callback=lambda p: begun.append(p.value)).fit_stream(PAIRS)
    model = CRF(0.3, features=HASHED, tol=1e-6, checkpoint=tmp_path / "kept", checkpoint_seconds=0.0)

    def stop(progress: Any) -> None:
        if progress.iteration == 8:
            raise KeyError("power cut")

    with pytest.raises(KeyError, match="power"):
        clone(model).set_params(callback=stop).fit_stream(PAIRS)
    later: list[float] = []
    resumed = clone(model).set_params(callback=lambda p: later.append(p.value)).fit_stream(PAIRS)
    assert later[0] < begun[5]
    assert resumed.certificate_.value == pytest.approx(whole.certificate_.value, rel=1e-6)


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({"structure": "tree"}, PAIRS, "chains of order one"),
        ({"solver": "newton-cg"}, PAIRS, "needs curvatures"),
        ({"class_weight": "balanced"}, PAIRS, "class_weight='balanced'"),
        ({"features": None}, PAIRS, "templates or TemplateFeatures"),
        ({"features": TemplateFeatures(sets.chunking())}, PAIRS, "Call fit first"),
        ({}, iter(PAIRS), "gone through twice"),
        ({}, [], "empty"),
        ({}, [(X[0], [None] * len(X[0]))], "has None"),
        ({"classes": ["O"]}, PAIRS, "B-x"),
    ],
)
def test_what_cannot_be_is_refused(settings: Any, given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CRF(0.3, features=HASHED).set_params(**settings).fit_stream(given)


def test_too_little_memory() -> None:
    with pytest.raises(InputError, match=r"memory_limit is 100 MB, but \d+ weights"):
        CRF(0.3, features="chunking").fit_stream(PAIRS, memory_limit=100 * 2**20)
    with pytest.raises(InputError, match="memory_limit"):
        CRF(0.3, features="chunking").fit_stream(PAIRS, memory_limit="2G")  # type: ignore[arg-type]


def test_shards_come_back_from_files(tmp_path: Any) -> None:
    """Value, gradient and variances are those of one piece, in either precision."""
    rng = np.random.default_rng(0)
    features, lengths = HASHED.transform(X)
    chain = ChainBatch(np.cumsum([0, *lengths]), 3)
    loss = Log(chain, rng.integers(0, 3, chain.n_vertices).astype(np.int32))
    terms = [
        Term("features", SparseFeatures(chain, "node", features), 1.0),
        Term("edges", Free(chain, "edge"), 1.0),
    ]
    problem = linear_chain_problem(loss, terms, None, np.float32)
    paths = []
    for k, shard in enumerate(split(problem.data, 4)):
        if shard.places is not None:  # files have all coordinates
            shard = type(shard)(problem.data.take(np.arange(10 * k, 10 * k + 10)))
        paths.append(tmp_path / str(k))
        write_shard(shard, paths[-1])
    assert ShardFile(paths[0]).shard().data.structure.n_instances > 0
    data = ShardedData(problem.data, FilePool(paths))
    for whole, shared in ((problem.data, data), (problem.data.exact(), data.exact())):
        element = rng.normal(size=problem.size).astype(whole.dtype)
        expected, found = whole.at(element), shared.at(element)
        tolerance = 1e-5 if whole.dtype == np.float32 else 1e-12
        assert found.value == pytest.approx(expected.value, rel=tolerance)
        np.testing.assert_allclose(found.mismatch(), expected.mismatch(), atol=20 * tolerance)
        np.testing.assert_allclose(found.variances(), expected.variances(), atol=20 * tolerance)
