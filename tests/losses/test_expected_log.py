"""What EM minimises in a step, and the loss of hidden states, against enumeration and differences."""

import numpy as np
import pytest

from kernelfields import InputError
from kernelfields.losses import ExpectedLog, HiddenStateLog, OwnedStates, PartialLog
from kernelfields.structures import ChainBatch, SecondOrderChainBatch, TreeBatch
from kernelfields.testing import Enumerated, check_loss
from tests._problems import small_scores

STRUCTURES = {
    "chain": ChainBatch([0, 3, 4, 4, 8], 3),
    "chain, own edges": ChainBatch([0, 3, 4, 4, 8], 3, shared_edges=False),
    "second order": SecondOrderChainBatch([0, 3, 4, 4, 8], 3),
    "tree": TreeBatch([0, 3, 4, 4, 8], [2, 2, -1, -1, -1, 4, 4, 4], 3),
}
OWNERS = OwnedStates((0, 0, 1))


def partial(structure, rng, weights=None):
    return PartialLog(structure, rng.random((8, 3)) < [0.5, 1.0, 0.5], weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", list(STRUCTURES))
def test_it_touches_the_loss_from_above(name, weighted, rng):
    structure = STRUCTURES[name]
    weights = rng.random(4) + 0.1 if weighted else None
    loss, here = partial(structure, rng, weights), small_scores(structure, rng)
    bound = ExpectedLog(loss, here)
    np.testing.assert_allclose(bound.at(here).value, loss.at(here).value, rtol=1e-12)
    for clique, parts in loss.at(here).gradient.items():
        np.testing.assert_allclose(bound.at(here).gradient[clique], parts, atol=1e-12)
    for _ in range(10):
        there = small_scores(structure, rng, 2.0)
        assert bound.at(there).value >= loss.at(there).value - 1e-9
    found = bound.at(there)
    counted = found.values.sum() if weights is None else found.values @ weights
    np.testing.assert_allclose(counted, found.value, rtol=1e-9)
    assert bound.convex
    check_loss(bound, there, rng)


def test_forbidden_labels_have_no_part_in_it(rng):
    structure = STRUCTURES["chain"]
    here, there = small_scores(structure, rng), small_scores(structure, rng)
    for scores in (here, there):
        scores["edge"][0, 2] = -np.inf
    loss = PartialLog(structure, np.ones((8, 3), dtype=bool))
    found = ExpectedLog(loss, here).at(there)
    assert np.isfinite(found.value)
    assert found.value >= loss.at(there).value - 1e-12


@pytest.mark.parametrize("name", list(STRUCTURES))
def test_hidden_states_are_summed_over(name, rng):
    structure, scores = STRUCTURES[name], small_scores(STRUCTURES[name], rng)
    states = rng.integers(3, size=8)
    states[4] = -1
    loss = HiddenStateLog(structure, states, OWNERS)
    brute, owners = Enumerated(structure, scores), np.array(OWNERS.owners)
    wanted = []
    for s in range(4):
        seen = states[structure.offsets[s] : structure.offsets[s + 1]]
        agree = ((seen < 0) | (owners[brute.outputs(s)] == owners[seen])).all(axis=1)
        wanted.append(-np.log(brute.probabilities(s)[agree].sum()))
    np.testing.assert_allclose(loss.at(scores).values, wanted, rtol=1e-9)
    assert not loss.convex
    check_loss(loss, scores, rng)


def test_settings_are_checked():
    for bad in ((), (0, -1), [0.5], "ab"):
        with pytest.raises(InputError, match=r"^owners is "):
            OwnedStates(bad)
    with pytest.raises(InputError, match=r"^rounds is -1"):
        OwnedStates((0, 1), rounds=-1)
    with pytest.raises(InputError, match="owners has 2 states, but the model 3"):
        HiddenStateLog(STRUCTURES["chain"], np.zeros(8, int), OwnedStates((0, 1)))
