"""A model adds up its scorers, whatever their order, and what it has not learnt; it changes none of them."""

from itertools import pairwise

import numpy as np
import pytest

from kernelfields.constraints import Constraints
from kernelfields.data.base_measure import CliqueMeasures
from kernelfields.data.inputs import Inputs
from kernelfields.models.attributes import learnt_model
from kernelfields.models.model import KnownScores, LabelScorer, Model
from kernelfields.models.scorers import WeightScorer
from kernelfields.structures import Chain, Tree

L, D = 3, 2
ALPHABET = np.array(["a", "b", "c"])
OFFSETS = np.array([0, 3, 3, 4, 8])
PARENTS = np.array([-1, 0, 1, -1, 5, -1, 5, 6])
STRUCTURES = [Chain(), Chain(order=2), Tree()]


def labels(rng, structure):
    tables = {"edge": rng.normal(size=(L, L))}
    if structure == Chain(order=2):
        tables["triple"] = rng.normal(size=(L, L, L))
    return LabelScorer(*(rng.normal(size=L) for _ in range(3)), tables)


def inputs(rng, structure):
    links = PARENTS if isinstance(structure, Tree) else None
    return Inputs(rng.normal(size=(8, D)), OFFSETS, None, links)


@pytest.mark.parametrize("own", [False, True], ids=["shared", "own"])
@pytest.mark.parametrize("structure", STRUCTURES, ids=repr)
def test_scores_are_sums_over_cliques(structure, own, rng):
    """Every labelling scores what its cliques score, written out vertex by vertex."""
    free, coef, edge_coef = labels(rng, structure), rng.normal(size=(L, D)), rng.normal(size=(L, L, D))
    scorers = (WeightScorer(None, coef), *([WeightScorer("edge", edge_coef)] if own else []), free)
    given = inputs(rng, structure)
    batch, theta, _ = Model(structure, ALPHABET, scorers).scores(given)
    assert batch.shared_edges is not own
    y, x = rng.integers(L, size=8), given.features
    before = np.where(np.isin(np.arange(8), OFFSETS), -1, np.arange(8) - 1)
    above, expected = PARENTS if isinstance(structure, Tree) else before, np.zeros(4)
    for s, (start, end) in enumerate(pairwise(OFFSETS)):
        for v in range(start, end):
            expected[s] += coef[y[v]] @ x[v] + free.every[y[v]]
            expected[s] += free.first[y[v]] if above[v] < 0 else free.tables["edge"][y[above[v]], y[v]]
            expected[s] += 0 if v in above[start:end] else free.last[y[v]]
            if own and above[v] >= 0:
                expected[s] += edge_coef[y[above[v]], y[v]] @ x[above[v]]
            if "triple" in free.tables and above[v] >= 0 and above[above[v]] >= 0:
                expected[s] += free.tables["triple"][y[above[above[v]]], y[above[v]], y[v]]
    np.testing.assert_allclose(batch.score(theta, y.astype(np.int32)), expected, atol=1e-12)


def test_what_nothing_scores_is_zero(rng):
    given = inputs(rng, Chain(order=2))
    theta = (
        Model(Chain(order=2), ALPHABET, (WeightScorer(None, rng.normal(size=(L, D)).astype(np.float32)),))
        .scores(given)
        .scores
    )
    assert {name: values.any() for name, values in theta.items()} == {
        "node": True,
        "edge": False,
        "triple": False,
    }
    assert {values.dtype for values in theta.values()} == {np.dtype(np.float64)}  # that of the features


@pytest.mark.parametrize("structure", STRUCTURES, ids=repr)
def test_rules_and_measures_are_added_and_nothing_else_changes(structure, rng):
    free, coef = labels(rng, structure), rng.normal(size=(L, D))
    before = [array.copy() for array in (coef, free.every, free.first, free.last, free.tables["edge"])]
    forbidden = Constraints([("a", "b")], ["c"], ["b"]).forbidden(ALPHABET.tolist())
    measure = CliqueMeasures(node={"b": 0.5}, edge=rng.normal(size=(L, L)))
    given = inputs(rng, structure)
    plain = Model(structure, ALPHABET, (WeightScorer(None, coef), free)).scores(given)
    model = Model(structure, ALPHABET, (WeightScorer(None, coef), free), measure, forbidden)
    theta = model.scores(given).scores
    node, edge = plain.scores["node"] + [0, 0.5, 0], plain.scores["edge"] + measure.edge
    node[plain.batch.sources, 2], node[plain.batch.sinks, 1], edge[0, 1] = -np.inf, -np.inf, -np.inf
    np.testing.assert_allclose(theta["node"], node)
    np.testing.assert_allclose(theta["edge"], edge)
    for array, old in zip(
        (coef, free.every, free.first, free.last, free.tables["edge"]), before, strict=True
    ):
        np.testing.assert_array_equal(array, old)
    np.testing.assert_array_equal(model.scores(given).scores["node"], theta["node"])  # the second time, too


def test_known_scores_are_left_alone(rng):
    given = inputs(rng, Chain())
    known = {"node": rng.normal(size=(8, L)), "edge": np.broadcast_to(np.float64(1.0), (L, L))}
    free = labels(rng, Chain())
    theta = Model(Chain(), ALPHABET, (KnownScores(known), free)).scores(given).scores
    again = Model(Chain(), ALPHABET, (KnownScores(known), KnownScores(known), free)).scores(given).scores
    np.testing.assert_allclose(again["node"] - theta["node"], known["node"])
    np.testing.assert_allclose(theta["edge"], 1.0 + free.tables["edge"])


def test_fitted_attributes_are_what_scores_are_made_of():
    """Users may change weights: the next prediction has them."""
    from kernelfields import CRF

    model = CRF().fit([np.eye(2)], [["a", "b"]])
    assert learnt_model(model).scorers[0].coef is model.coef_
    model.coef_ = np.array([[0.0, 5.0], [5.0, 0.0]])
    model.transitions_ = np.zeros((2, 2))
    assert model.predict([np.eye(2)]) == [["b", "a"]]
