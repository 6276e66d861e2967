"""Fits to sentences that are kept in files are fits to sentences in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from kernelfields import CRF, Parts, Run, load
from kernelfields.distributed import FilePool, ShardFile, split, write_shard
from kernelfields.errors import InputError
from kernelfields.features import TemplateFeatures, sets
from kernelfields.io import ConllSentences, Sentence, write_conll
from kernelfields.losses import Log, LogLoss
from kernelfields.models import stream_chunks
from kernelfields.objective import ShardedData, Term, linear_chain_problem
from kernelfields.spaces import Free, SparseFeatures
from kernelfields.structures import ChainBatch
from tests.distributed._sets import sentences

HASHED = TemplateFeatures(sets.chunking(), n_hash=2**12, dtype=np.float32)
X, Y = sentences()
PAIRS = list(zip(X, Y, strict=True))
COUNTED = TemplateFeatures(sets.chunking(), min_count=3, dtype=np.float32)


@pytest.fixture
def small_chunks(monkeypatch: Any) -> None:
    """A shard for every sixty tokens."""
    monkeypatch.setattr(stream_chunks, "_size", lambda *_: 60)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"l1": 0.05},
        {"constraints": "iob2"},
        {"tol": 1e-7, "loss": Log()},
        {"solver": "conjugate-gradients", "tol": 1e-4},
        {"parts": Parts(bias=None, boundaries=None)},
        {"classes": ["O", "I-x", "B-x", "B-y"]},
        {"features": TemplateFeatures(sets.chunking(), dtype=np.float32).fit(X)},
        {"features": TemplateFeatures(sets.chunking())},
        {"features": COUNTED},
        {"features": COUNTED, "classes": ["O", "I-x", "B-x", "B-y"], "tol": 1e-7},
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


@pytest.mark.parametrize("size", [1, 7, 60, 10**6])
@pytest.mark.parametrize("min_count", [1, 3])
def test_the_vocabulary_is_that_of_memory(min_count: int, size: int, monkeypatch: Any) -> None:
    """Columns, their order and what is learnt for them, however the stream is cut; nothing else changes."""
    monkeypatch.setattr(stream_chunks, "_size", lambda *_: size)
    pairs = [([], []), *PAIRS[:9], ([("straße", "日"), ("\\&", "日")], ["O", "B-x"]), *PAIRS[9:], ([], [])]
    given = TemplateFeatures(sets.chunking(), min_count)
    model = CRF(0.3, features=given, tol=1e-8)
    expected = clone(model).fit(*map(list, zip(*pairs, strict=True)))
    found = model.fit_stream(pairs)
    assert found.features_.names() == expected.features_.names()
    assert ("w[0]=straße" in found.features_.names()) == (min_count == 1)
    assert found.certificate_.value == pytest.approx(expected.certificate_.value, rel=1e-6)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-3)
    assert model.features is given
    assert not given.fitted


@pytest.mark.usefixtures("small_chunks")
def test_a_refit_counts_again() -> None:
    model = CRF(0.3, features=COUNTED).fit_stream(PAIRS[:20])
    few, first = model.features_.names(), model.features_
    model.fit_stream(PAIRS)
    assert model.features_.names() == clone(model).fit(X, Y).features_.names() != few
    assert first.names() == few


@pytest.mark.usefixtures("small_chunks")
def test_a_vocabulary_that_is_there_is_used() -> None:
    few = TemplateFeatures(sets.chunking()).fit(X[:5])
    assert CRF(0.3, features=few).fit_stream(PAIRS).features_.names() == few.names()


@pytest.mark.usefixtures("small_chunks")
def test_a_stream_is_gone_through_twice_at_most() -> None:
    class Passes(list[Any]):
        begun = 0

        def __iter__(self) -> Any:
            self.begun += 1
            return super().__iter__()

    for settings, wanted in (
        ({"features": COUNTED}, 2),
        ({"features": COUNTED, "classes": ["B-x", "I-x", "O"]}, 2),
        ({"features": HASHED}, 2),
        ({"features": HASHED, "classes": ["B-x", "I-x", "O"]}, 1),
    ):
        given = Passes(PAIRS)
        CRF(0.3, **settings).fit_stream(given)
        assert given.begun == wanted


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
    whole = CRF(0.3, features=HASHED, tol=1e-6, run=Run(callback=lambda p: begun.append(p.value))).fit_stream(
        PAIRS
    )
    model = CRF(0.3, features=HASHED, tol=1e-6, run=Run(checkpoint=tmp_path / "kept", checkpoint_seconds=0.0))

    def stop(progress: Any) -> None:
        if progress.iteration == 8:
            raise KeyError("power cut")

    with pytest.raises(KeyError, match="power"):
        clone(model).set_params(run__callback=stop).fit_stream(PAIRS)
    later: list[float] = []
    resumed = clone(model).set_params(run__callback=lambda p: later.append(p.value)).fit_stream(PAIRS)
    assert later[0] < begun[5]
    assert resumed.certificate_.value == pytest.approx(whole.certificate_.value, rel=1e-6)


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({"structure": "tree"}, PAIRS, "chains of order one"),
        ({"solver": "newton-cg"}, PAIRS, "needs curvatures"),
        ({"loss": Log(class_weight="balanced")}, PAIRS, "class_weight='balanced'"),
        ({"features": None}, PAIRS, "templates or TemplateFeatures"),
        ({"features": TemplateFeatures(sets.arcs())}, PAIRS, "templates of arcs"),
        ({}, iter(PAIRS), "gone through twice"),
        ({}, [], "empty"),
        ({}, [(X[0], [None] * len(X[0]))], "has None"),
        ({"features": COUNTED}, [], "empty"),
        ({"features": COUNTED}, [(X[0], [None] * len(X[0]))], "has None"),
        ({"features": COUNTED}, [(["lonely"], ["O"])], "the token is one string"),
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


def test_too_many_counts_for_memory(monkeypatch: Any) -> None:
    """What counts take is looked at again after every chunk."""
    taken = iter([2**20, 2**20, 2**28])
    monkeypatch.setattr(stream_chunks, "COUNTED", 60)
    monkeypatch.setattr(stream_chunks, "peak_memory", lambda: next(taken))
    with pytest.raises(InputError, match=r"memory_limit is 200 MB, but counts of features .* take 320 MB"):
        CRF(0.3, features=COUNTED).fit_stream(PAIRS, memory_limit=200 * 2**20)


def test_shards_come_back_from_files(tmp_path: Any) -> None:
    """Value, gradient and variances are those of one piece, in either precision."""
    rng = np.random.default_rng(0)
    features, lengths = HASHED.transform(X)
    chain = ChainBatch(np.cumsum([0, *lengths]), 3)
    loss = LogLoss(chain, rng.integers(0, 3, chain.n_vertices).astype(np.int32))
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


@pytest.mark.usefixtures("small_chunks")
def test_files_of_parquet_and_arrow(tmp_path: Any) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    def table(pairs: Any) -> Any:
        words, ends = ([[token[c] for token in x] for x, _ in pairs] for c in range(2))
        ids = list(range(len(pairs)))
        return pyarrow.table({"id": ids, "tokens": words, "ends": ends, "labels": [y for _, y in pairs]})

    parquet.write_table(table(PAIRS[0::2]), tmp_path / "0.parquet", row_group_size=7)
    feather.write_feather(table(PAIRS[1::2]), tmp_path / "1.feather", chunksize=7)
    model = CRF(0.3, features=HASHED)
    pairs = clone(model).fit_stream([*PAIRS[0::2], *PAIRS[1::2]])
    paths = [str(tmp_path / "0.parquet"), tmp_path / "1.feather"]
    found = clone(model).fit_stream(paths, memory_limit=2**32)
    np.testing.assert_array_equal(found.coef_, pairs.coef_)
    np.testing.assert_array_equal(found.transitions_, pairs.transitions_)
    assert found.provenance_.data_hash == pairs.provenance_.data_hash
    one = clone(model).fit_stream(str(paths[0]))
    np.testing.assert_array_equal(one.coef_, clone(model).fit_stream(PAIRS[0::2]).coef_)
    with pytest.raises(InputError, match="different formats"):
        clone(model).fit_stream([*paths, tmp_path / "2.conll"])
