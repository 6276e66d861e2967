"""Models that see candidate segments: against explicit features, chains, files, and what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from kernelfields import (
    CRF,
    InputError,
    KernelCRF,
    KernelScores,
    Parts,
    Run,
    StructuredPerceptron,
    StructuredSVM,
    load,
)
from kernelfields.structures import CandidateSegments, Segments


def recordings(rng: Any, count: int = 20, noise: float = 1.0) -> tuple[list[Any], list[Any]]:
    """Runs of labels, each with a level that positions show in noise."""
    X, y = [], []
    for _ in range(count):
        lengths = rng.integers(2, 6, size=rng.integers(2, 5))
        labels = np.repeat(np.cumsum(rng.integers(1, 3, size=len(lengths))) % 3, lengths)
        X.append(np.eye(3)[labels] + noise * rng.normal(size=(len(labels), 3)))
        y.append(["abc"[k] for k in labels])
    return X, y


def every_span(n: int, longest: int) -> list[tuple[int, int]]:
    return [(b, e) for b in range(n) for e in range(b + 1, min(n, b + longest) + 1)]


def with_means(X: list[Any], longest: int, kind: Any = np.asarray) -> list[Any]:
    """The same as (features, spans, span_features), the spans in any order."""
    items = []
    for x in X:
        spans = every_span(len(x), longest)[::-1]
        items.append((x, spans, kind([x[b:e].mean(axis=0) for b, e in spans])))
    return items


def test_means_are_those_written_out(rng: Any) -> None:
    X, y = recordings(rng)
    settings: dict[str, Any] = {"penalty": 0.5, "tol": 1e-8, "max_iter": 5000}
    implicit = CRF(structure=Segments(6, means=4), **settings).fit(X, y)
    explicit = CRF(structure=CandidateSegments(6), **settings).fit(with_means(X, 4), y)
    stored = CRF(structure=CandidateSegments(6), **settings).fit(with_means(X, 4, sparse.csr_matrix), y)
    for other, items in ((explicit, with_means(X, 4)), (stored, with_means(X, 4, sparse.csr_matrix))):
        np.testing.assert_allclose(other.segment_coef_, implicit.segment_coef_, atol=1e-4)
        for mine, its in zip(implicit.predict_marginals(X), other.predict_marginals(items), strict=True):
            np.testing.assert_allclose(its, mine, atol=1e-4)
    bare = [item[:2] for item in with_means(X, 4)]
    means = CRF(structure=CandidateSegments(6), **settings).fit(bare, y)
    np.testing.assert_allclose(means.segment_coef_, implicit.segment_coef_, atol=1e-4)
    assert implicit.certificate_.relative_gap < 1e-7


def test_features_of_spans_tell_what_positions_do_not(rng: Any) -> None:
    """Positions say nothing; a span's feature is whether it is a true segment."""
    X, y = recordings(rng, 30)

    def items(X: Any, y: Any) -> list[Any]:
        found = []
        for x, labels in zip(X, y, strict=True):
            spans = every_span(len(x), 5)
            change = [0, *(t for t in range(1, len(x)) if labels[t] != labels[t - 1]), len(x)]
            true = {(b, e): labels[b] for b, e in itertools.pairwise(change)}
            seen = [[float(true.get(span) == label) for label in "abc"] for span in spans]
            found.append((np.ones((len(x), 1)), spans, seen))
        return found

    model = CRF(0.1, structure=CandidateSegments()).fit(items(X, y), y)
    test = recordings(rng, 10)
    assert model.score(items(*test), test[1]) > 0.99


def test_labels_that_only_candidates_have(rng: Any, tmp_path: Any) -> None:
    X, y = recordings(rng)
    spans = []
    for labels in y:
        change = [0, *(t for t in range(1, len(labels)) if labels[t] != labels[t - 1]), len(labels)]
        spans.append([(b, e, "c") for b, e in itertools.pairwise(change) if labels[b] == "c"])
    items = list(zip(X, spans, strict=True))
    model = CRF(structure=CandidateSegments(4, only=["c"])).fit(items, y)
    for labels, given in zip(model.predict(items), spans, strict=True):
        runs = [0, *(t for t in range(1, len(labels)) if labels[t] != labels[t - 1]), len(labels)]
        mine = {(b, e, "c") for b, e in itertools.pairwise(runs) if labels[b] == "c"}
        assert mine <= set(given)
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    assert again.predict(items) == model.predict(items)
    assert again.structure_.only == ["c"] or again.structure_.only == ("c",)
    assert model.predict([(X[0], [])])[0].count("c") == 0
    assert clone(model).fit(items, y).predict(items) == model.predict(items)
    with pytest.raises(InputError, match="run of 'c' that is not a candidate"):
        CRF(structure=CandidateSegments(4, only=["c"])).fit([(x, []) for x in X], y)


def test_a_kernel_on_means_is_linear_in_them(rng: Any) -> None:
    X, y = recordings(rng, 8)
    structure = Segments(4, means=3)
    parts = Parts(runs=KernelScores("linear", on="segment", view="run", penalty=0.5))
    kernel = KernelCRF(
        "linear",
        penalty=0.5,
        structure=structure,
        parts=parts,
        tol=1e-7,
        run=Run(dtype="float64"),
        max_iter=5000,
    ).fit(X, y)
    linear = CRF(0.5, structure=structure, tol=1e-7, max_iter=5000).fit(X, y)
    for mine, its in zip(kernel.predict_marginals(X), linear.predict_marginals(X), strict=True):
        np.testing.assert_allclose(mine, its, atol=1e-3)


def test_a_nonlinear_kernel_on_segments(rng: Any) -> None:
    """Two labels differ in the distance of a segment's mean from zero, which no linear function sees."""
    X, y, spans = [], [], []
    for _ in range(40):
        level = rng.choice([-2.0, 2.0, 0.0], size=4, p=[0.25, 0.25, 0.5])
        level = [v for k, v in enumerate(level) if k == 0 or (v == 0) != (level[k - 1] == 0)]
        X.append(np.repeat(level, 4)[:, None] + rng.normal(size=(4 * len(level), 1)))
        y.append(["in" if v == 0 else "out" for v in np.repeat(level, 4)])
        spans.append([(4 * k, 4 * k + 4) for k in range(len(level))])
    items = list(zip(X, spans, strict=True))
    parts = Parts(runs=KernelScores("rbf", on="segment", view="run", penalty=0.1))
    model = KernelCRF("linear", penalty=1.0, structure=CandidateSegments(), parts=parts)
    model.fit(items[:30], y[:30])
    assert model.score(items[30:], y[30:]) > 0.9
    assert CRF(structure=CandidateSegments()).fit(items[:30], y[:30]).score(items[30:], y[30:]) < 0.85


def test_tokens_and_empty_items(rng: Any) -> None:
    tokens = [[{"w": "a"}, {"w": "b"}], [], [{"w": "b"}]]
    items = [(x, [(0, len(x))] if x else []) for x in tokens]
    model = CRF(structure=CandidateSegments()).fit(items, [["A", "B"], [], ["B"]])
    assert [len(found) for found in model.predict(items)] == [2, 0, 1]
    rows = [(np.ones((2, 1), np.float32), [(0, 1)]), ([], [])]
    assert CRF(structure=CandidateSegments()).fit(rows, [["A", "B"], []]).predict(rows)[1] == []


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (np.ones((2, 1)), "is not \\(features, spans\\)"),
        ((np.ones((2, 1)), [(0, 3)]), "2 positions, and a span from 0 to 3"),
        ((np.ones((2, 1)), [(1, 1)]), "span from 1 to 1"),
        ((np.ones((2, 1)), None), "spans are None, expected a list"),
        ((np.ones((2, 1)), [(0.5, 1)]), "whole numbers"),
        ((np.ones((2, 1)), [(0, 1, 2, 3)]), "is not \\(begin, end\\)"),
        ((np.ones((2, 1)), [(0, 1, "z")], [[1.0]]), "'z', which the model does not know"),
        ((np.ones((2, 1)), [(0, 1)], [[1.0], [2.0]]), "1 spans and span_features"),
        ((np.ones((2, 1)), [(0, 1)], [[np.nan]]), "NaN"),
        ((np.ones((2, 1)), [(0, 1)], [["x"]]), "not numbers"),
        ((np.ones((2, 1)), [(0, 1), (0, 1)], [[1.0], [2.0]]), "twice"),
    ],
)
def test_bad_items(item: Any, reason: str) -> None:
    good = (np.ones((2, 1)), [(0, 1)], [[1.0]])
    with pytest.raises(InputError, match=reason):
        CRF(structure=CandidateSegments()).fit([good, item], [["a", "b"], ["b", "a"]])


def test_items_without_labels_are_left_out(rng: Any) -> None:
    X, y = recordings(rng, 6)
    items = with_means(X, 3)
    model = CRF(structure=CandidateSegments()).fit(items, [*y[:5], None])
    few = CRF(structure=CandidateSegments()).fit(items[:5], y[:5])
    np.testing.assert_allclose(model.segment_coef_, few.segment_coef_, atol=1e-6)
    assert [len(labels) for labels in model.predict(items)] == [len(x) for x in X]


@pytest.mark.parametrize(
    "model", [StructuredPerceptron(max_iter=30, random_state=0), StructuredSVM(penalty=0.01)], ids=repr
)
def test_margins_learn_features_of_segments(model: Any, rng: Any) -> None:
    X, y = recordings(rng, 6, noise=0.1)
    model.set_params(structure=CandidateSegments()).fit(with_means(X, 3), y)
    assert np.abs(model.segment_coef_).sum() > 0
    assert model.score(with_means(X, 3), y) == 1.0


def test_refusals(rng: Any) -> None:
    X, y = recordings(rng, 4)
    with pytest.raises(InputError, match="features of 'segment' cliques, which this model"):
        KernelCRF("linear", structure=Segments(means=2)).fit(X, y)
    with pytest.raises(InputError, match="which y has not"):
        CRF(structure=CandidateSegments(only=["q"])).fit([(x, []) for x in X], y)
    with pytest.raises(InputError, match="only is 'c'"):
        CandidateSegments(only="c")
    model = CRF(structure=CandidateSegments()).fit([(np.ones((2, 1)), [(0, 1)], [[1.0]])], [["a", "b"]])
    with pytest.raises(InputError, match="2 features per span, expected 1"):
        model.predict([(np.ones((2, 1)), [(0, 1)], [[1.0, 2.0]])])
