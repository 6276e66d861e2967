"""Slack rescaling by searches with more and less of the cost, against all outputs."""

import numpy as np
import pytest

from kernelfields.losses import PairCost, SearchedSlackHinge, pair_cost
from kernelfields.structures import SearchedGraphBatch
from kernelfields.testing.brute import every_output
from tests._listed_pairs import ListedLinks, ListedMatchings
from tests._listed_trees import ListedTrees


def enumerated(loss, scores):
    """The largest plane of every instance."""
    batch, result = loss.structure, []
    for s in range(batch.n_instances):
        one, mine = loss.take([s]), batch.cut(scores, [s])
        every = every_output(batch.take([s]))
        above = [one.structure.score(mine, y)[0] - one.structure.score(mine, one.outputs)[0] for y in every]
        cost = [one.total_cost(y)[0] for y in every]
        result.append(max(0.0, *(d * (1 + a) for d, a in zip(cost, above, strict=True))))
    return np.array(result)


def problems(rng):
    matchings = ListedMatchings([[3, 3], [2, 4], [1, 1], [3, 2], [0, 2]])
    outputs = matchings.argmax({"pair": rng.normal(size=matchings.shapes["pair"])}).labels
    yield matchings, outputs, pair_cost(matchings, outputs, PairCost(missing=2.0, superfluous=1.0)), {}
    links = ListedLinks([[3, 3], [2, 4]], [0.3])
    outputs = links.argmax({"pair": rng.normal(size=links.shapes["pair"]), **links.known_scores()}).labels
    yield links, outputs, links.hamming(outputs), links.known_scores()
    trees = ListedTrees([3, 1, 4])
    outputs = trees.argmax({"arc": rng.normal(size=trees.shapes["arc"])}).labels
    yield trees, outputs, trees.hamming(outputs), {}


@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0])
def test_the_largest_plane_is_between_value_and_bound(scale, rng):
    """Most searches are proved exact."""
    proved = []
    for _ in range(10):
        for batch, outputs, cost, known in problems(rng):
            loss = SearchedSlackHinge(batch, outputs, cost)
            scores = {name: scale * rng.normal(size=shape) for name, shape in batch.shapes.items()} | known
            planes, wanted = loss.planes(scores), enumerated(loss, scores)
            assert (planes.value <= wanted + 1e-9).all()
            assert (wanted <= planes.value + planes.excess + 1e-6 * np.maximum(1, wanted)).all()
            proved += (planes.excess <= 1e-6 * np.maximum(1, wanted)).tolist()
            np.testing.assert_allclose(planes.level, loss.total_cost(planes.outputs), atol=1e-9)
    assert np.mean(proved) > 0.5


def test_value_and_gradient_belong_together(rng):
    batch, outputs, cost, _ = next(iter(problems(rng)))
    loss = SearchedSlackHinge(batch, outputs, cost, np.array([1.0, 2.0, 0.5, 1.0, 1.0]))
    scores = {"pair": rng.normal(size=batch.shapes["pair"])}
    at = loss.at(scores)
    step = {"pair": 1e-6 * rng.normal(size=batch.shapes["pair"])}
    moved = loss.at({"pair": scores["pair"] + step["pair"]})
    assert moved.value - at.value == pytest.approx(
        float(at.gradient["pair"] @ step["pair"]), rel=1e-4, abs=1e-10
    )
    assert at.slack >= 0


def test_structures_that_are_only_searched_are_refused():
    graph = SearchedGraphBatch([0, 2], [[0, 1]], 2)
    with pytest.raises(
        TypeError, match="Slack rescaling needs the best output, which SearchedGraphBatch does not"
    ):
        SearchedSlackHinge(graph, np.zeros(2, int), {"node": np.zeros((2, 2))})
