"""Best scores for every number of errors, against all labellings."""

import numpy as np
import pytest

from kernelfields.errors import InputError, ScoreError
from kernelfields.structures import ChainBatch, ErrorCountOracle, SecondOrderChainBatch
from kernelfields.structures import _errors_base as base
from kernelfields.testing import Enumerated
from tests._problems import small_chain, small_forest, small_scores

STRUCTURES = {
    "chain": small_chain,
    "chain, own edges": lambda: small_chain(shared_edges=False),
    "forest": small_forest,
    "forest, own edges": lambda: small_forest(shared_edges=False),
}


def by_enumeration(structure, scores, errors, levels):
    every = Enumerated(structure, scores)
    best = np.full((structure.n_instances, levels), -np.inf)
    for s in range(structure.n_instances):
        mine = errors[structure.offsets[s] : structure.offsets[s + 1]]
        for labels, value in zip(every.outputs(s), every.values(s), strict=True):
            k = int(mine[np.arange(len(labels)), labels].sum())
            best[s, k] = max(best[s, k], value)
    return best


@pytest.mark.parametrize("forbidding", [False, True])
@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("name", STRUCTURES)
def test_values_are_those_of_all_labellings(name, most, forbidding, rng):
    structure = STRUCTURES[name]()
    scores = small_scores(structure, rng)
    if forbidding:
        scores["node"][rng.random(scores["node"].shape) < 0.2] = -np.inf
        scores["edge"][..., 1, 2] = -np.inf
    errors = rng.integers(0, most + 1, size=(structure.n_vertices, 3))
    found = structure.best_by_errors(scores, errors)
    np.testing.assert_allclose(found, by_enumeration(structure, scores, errors, found.shape[1]), atol=1e-12)


@pytest.mark.parametrize("name", STRUCTURES)
def test_labels_have_the_errors_and_the_score_that_were_asked_for(name, rng):
    structure = STRUCTURES[name]()
    scores = small_scores(structure, rng)
    errors = rng.integers(0, 3, size=(structure.n_vertices, 3))
    best = structure.best_by_errors(scores, errors)
    for k in range(best.shape[1]):
        labels, value = structure.argmax_at_errors(scores, errors, np.full(structure.n_instances, k))
        np.testing.assert_array_equal(value, best[:, k])
        there = np.repeat(np.isfinite(value), np.diff(structure.offsets))
        assert ((labels >= 0) == there).all()
        chosen = np.where(there, labels, 0)
        counted = np.concatenate([[0], np.cumsum(errors[np.arange(len(labels)), chosen])])
        ids = np.isfinite(value)
        assert (np.diff(counted[structure.offsets])[ids] == k).all()
        np.testing.assert_allclose(structure.score(scores, chosen)[ids], value[ids], atol=1e-12)


def test_single_precision_scores_are_taken(rng):
    chain = small_chain()
    scores = small_scores(chain, rng)
    errors = rng.integers(0, 2, size=(chain.n_vertices, 3))
    single = {clique: values.astype(np.float32) for clique, values in scores.items()}
    expected = chain.best_by_errors(scores, errors)
    np.testing.assert_allclose(chain.best_by_errors(single, errors), expected, atol=1e-5)


def test_no_numbers_no_whole_numbers_and_no_room_are_refused(monkeypatch):
    chain = ChainBatch([0, 2, 5], 2)
    scores = {"node": np.zeros((5, 2)), "edge": np.zeros((2, 2))}
    with pytest.raises(InputError, match="whole"):
        chain.best_by_errors(scores, np.full((5, 2), 0.5))
    scores["node"][3, 0] = np.nan
    with pytest.raises(ScoreError, match="Sequence 1"):
        chain.best_by_errors(scores, np.zeros((5, 2)))
    monkeypatch.setattr(base, "NUMBERS", 30)
    with pytest.raises(InputError, match="Instance 1 has 3 vertices"):
        chain.argmax_at_errors(scores, np.zeros((5, 2)), [2, 2])


def test_second_order_does_not_offer_it():
    assert not issubclass(SecondOrderChainBatch, ErrorCountOracle)
