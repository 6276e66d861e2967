"""Reports of models of graphs and grids, with pictures."""

import re

import numpy as np
import pytest

from kernelfields import CRF, InputError
from kernelfields.report import describe, evaluate
from kernelfields.report.page import page
from kernelfields.report.plots.network import layout
from kernelfields.structures import Grid, MultiLabel

from ._page import Page


def graphs(rng, n=6):
    X = [(rng.normal(size=(k, 2)), [[v, v - 1] for v in range(1, k)]) for k in (4, 1, 0, 3, 5, 6)[:n]]
    return X, [["a" if row[0] > 0 else "<b>" for row in x] for x, _ in X]


def test_figures_and_pictures_of_graphs(rng):
    X, y = graphs(rng)
    y[0][1] = None
    model = CRF(structure="graph").fit(X, y)
    found = evaluate(model, X, y)
    known = [
        (a, b)
        for one, truth in zip(model.predict(X), y, strict=True)
        for a, b in zip(one, truth, strict=True)
    ]
    assert found.token_error == pytest.approx(np.mean([a != b for a, b in known if b is not None]))
    assert found.noun == "graph"
    assert found.boundary_accuracy is None
    text = page(found)
    shown = Page(text)
    assert {"Graphs", "Pictures", "19 labels in 6 graphs"} <= set(shown.texts)
    drawn = re.findall(r"<figure>.*?</figure>", text, flags=re.S)
    assert len(drawn) == 5
    assert sum(one.count('class="vertex"') for one in drawn) == 19
    assert sum(one.count('class="joint"') for one in drawn) == sum(len(e) for _, e in X)
    wrong = sum(a != b for a, b in known if b is not None)
    assert sum(one.count('class="ring"') for one in drawn) == wrong
    assert "answer <b>" not in text
    assert describe(model).structure == "graph"
    assert describe(model).ends == {}


def test_figures_and_pictures_of_grids(rng):
    X = [rng.normal(size=(2, 3, 2)), rng.normal(size=(3, 1, 2))]
    y = [np.where(x[:, :, 0] > 0, "a", "b") for x in X]
    model = CRF(structure=Grid()).fit(X, y)
    found = evaluate(model, X, y)
    assert found.token_error == pytest.approx(1 - model.score(X, y))
    assert found.nll == pytest.approx(-model.sequence_log_proba(X, y).sum() / 9)
    text = page(found)
    drawn = re.findall(r"<figure>.*?</figure>", text, flags=re.S)
    assert len(drawn) == 2
    legends = sum(len(re.findall(r'<rect width="10" height="10"', one)) for one in drawn)
    assert sum(one.count("<rect") for one in drawn) - legends == 3 * 9
    assert "Grids" in Page(text).texts


def test_sequences_have_no_pictures(rng):
    X = [rng.normal(size=(3, 2))]
    assert "Pictures" not in page(evaluate(CRF().fit(X, [["a", "b", "a"]]), X, [["a", "b", "a"]]))


def test_rows_of_labels_have_no_report(rng):
    X, y = rng.normal(size=(9, 2)), rng.integers(2, size=(9, 2))
    model = CRF(structure=MultiLabel()).fit(X, y)
    with pytest.raises(InputError, match=r"^Reports are for sequences, trees, graphs and grids, not for "):
        evaluate(model, X, y)


def test_layout():
    """Within the unit square, everyone somewhere else, neighbours nearer than others on average."""
    edges = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [2, 3]])
    places = layout(6, edges)
    assert ((places >= -1e-9) & (places <= 1 + 1e-9)).all()
    far = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=-1))
    joined = np.zeros((6, 6), bool)
    joined[tuple(edges.T)] = joined[tuple(edges.T[::-1])] = True
    assert far[joined].mean() < far[~joined & ~np.eye(6, dtype=bool)].mean()
    assert far[~np.eye(6, dtype=bool)].min() > 0.05
    assert layout(0, np.empty((0, 2), int)).shape == (0, 2)
    assert layout(1, np.empty((0, 2), int)).tolist() == [[0.5, 0.5]]
