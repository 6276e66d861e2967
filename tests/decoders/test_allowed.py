"""Whatever a decoder prefers, it says only what the scores allow."""

import itertools

import numpy as np
import pytest

from kernelfields.decoders import (
    ABSTAINED,
    Abstain,
    BayesRule,
    Best,
    Candidates,
    Decoder,
    Draws,
    LinearProgram,
    MinimumRisk,
    Posterior,
    SemidefiniteProgram,
    Viterbi,
)
from kernelfields.errors import InfeasibleError, InputError
from kernelfields.structures import ChainBatch, SecondOrderChainBatch, SemidefiniteMax, TreeBatch
from tests._names import shown
from tests._problems import small_scores


class Stubborn(Decoder):
    """Chooses the same label everywhere."""

    def __init__(self, label=0):
        self.label = label

    def choose(self, structure, scores):
        return np.full(structure.n_vertices, self.label)


class Anything(Candidates):
    """Labellings that nobody allowed."""

    def of(self, structure, scores):
        labels = np.zeros((2, structure.n_vertices), dtype=np.int32)
        labels[1] = 1
        return labels, np.full((structure.n_instances, 2), 0.5)


def differing(true, guess):
    return float((true != guess).mean()) if len(true) else 0.0


DECODERS = [
    Viterbi(),
    Posterior(),
    BayesRule(1.0 - np.eye(3)),
    LinearProgram(),
    SemidefiniteProgram(SemidefiniteMax(max_iter=20)),
    MinimumRisk(differing, Best(5)),
    MinimumRisk(differing, Draws(20, seed=1)),
    MinimumRisk(differing, Anything()),
    Stubborn(),
]
STRUCTURES = [
    ChainBatch([0, 4, 4, 5, 9], 3),
    ChainBatch([0, 4, 9], 3, shared_edges=False),
    TreeBatch([0, 4, 9], [1, -1, 1, 2, -1, 4, 4, 6, -1], 3),
    SecondOrderChainBatch([0, 4, 9], 3),
]


def forbidding(structure, rng):
    """Scores under which labelling each vertex by itself breaks something."""
    scores = small_scores(structure, rng, 1.0)
    scores["edge"][..., np.arange(3), np.arange(3)] = -np.inf
    scores["node"][0, 0] = -np.inf
    return scores


def allowed(structure, scores, labels):
    """Whether labels can be completed where there are none."""
    node = scores["node"].copy()
    for v in np.flatnonzero(labels != ABSTAINED):
        node[v, np.arange(3) != labels[v]] = -np.inf
    try:
        structure.argmax({**scores, "node": node})
    except InfeasibleError:
        return False
    return True


def applies(decoder, structure):
    sequences = isinstance(structure, ChainBatch | SecondOrderChainBatch)
    if isinstance(decoder, LinearProgram | SemidefiniteProgram):
        return not isinstance(structure, SecondOrderChainBatch)
    return sequences or not (isinstance(decoder, MinimumRisk) and isinstance(decoder.candidates, Best))


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("decoder", DECODERS, ids=shown)
def test_labels_are_allowed_also_inside_abstain(structure, decoder, rng):
    if not applies(decoder, structure):
        return
    for _ in range(5):
        scores = forbidding(structure, rng)
        labels = decoder.decode(structure, scores)
        assert np.isfinite(structure.score(scores, labels)).all()
        for threshold in (0.0, 0.4):
            partial = Abstain(decoder, threshold).decode(structure, scores)
            assert allowed(structure, scores, partial)
            assert threshold or (partial == labels).all()


def test_the_nearest_allowed_labelling_takes_the_place_of_a_forbidden_one(rng):
    chain = ChainBatch([0, 4], 3)
    scores = forbidding(chain, rng)
    ways = np.array(list(itertools.product(range(3), repeat=4)), dtype=np.int32)
    fine = np.array([np.isfinite(chain.score(scores, y)[0]) for y in ways])
    found = Stubborn(1).decode(chain, scores)
    fewest = (ways[fine] != 1).sum(axis=1).min()
    assert (found != 1).sum() == fewest > 0


def test_a_rule_that_breaks_nothing_is_left_alone():
    chain = ChainBatch([0, 3], 2)
    scores = {"node": np.zeros((3, 2)), "edge": np.array([[0.0, -np.inf], [0.0, 0.0]])}
    np.testing.assert_array_equal(Stubborn(1).decode(chain, scores), [1, 1, 1])
    np.testing.assert_array_equal(Stubborn(ABSTAINED).decode(chain, scores), [ABSTAINED] * 3)


def test_abstain_twice_answers_where_both_do(rng):
    chain = ChainBatch([0, 6], 3)
    scores = small_scores(chain, rng, 1.0)
    once = Abstain(Viterbi(), 0.6).decode(chain, scores)
    assert (once == ABSTAINED).any()
    np.testing.assert_array_equal(Abstain(Abstain(Viterbi(), 0.6), 0.0).decode(chain, scores), once)


@pytest.mark.parametrize("threshold", [2, -0.1, float("nan"), float("inf"), "half", None, True, [0.5]])
def test_thresholds_are_probabilities(threshold):
    with pytest.raises(InputError, match=r"threshold is .*; it must be a number from 0 to 1"):
        Abstain(Viterbi(), threshold)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Best(0), "k is 0"),
        (lambda: Best(2.5), "k is 2.5"),
        (lambda: Best("many"), "k is 'many'"),
        (lambda: Draws(-1), "count is -1"),
        (lambda: Draws(3, seed=-1), "seed is -1"),
        (lambda: MinimumRisk("f1"), "cost is 'f1'; it must be a function"),
        (lambda: MinimumRisk(differing, 5), r"candidates is 5; it must be Best\(k\)"),
        (lambda: Abstain("viterbi", 0.5), "decoder is 'viterbi'; it must be a Decoder"),
    ],
)
def test_settings_are_checked_where_they_are_given(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("decoder", "message"),
    [
        (BayesRule(np.eye(2)), r"vertex_cost is float64 of shape \(2, 2\); it must .* shape \(3, 3\)"),
        (BayesRule(np.full((3, 3), np.nan)), "vertex_cost"),
        (BayesRule(edge_cost=np.eye(3)), r"edge_cost .* shape \(3, 3, 3, 3\)"),
        (BayesRule("hamming"), "vertex_cost is <U7"),
        (Stubborn(3), "Stubborn chose label 3 at vertex 0, expected -1 to 2"),
        (Stubborn(0.5), "Stubborn chose labels of shape .* and type float64, expected integers"),
    ],
    ids=shown,
)
def test_tables_and_choices_of_other_shapes_are_refused(decoder, message):
    chain = ChainBatch([0, 2], 3)
    with pytest.raises(InputError, match=message):
        decoder.decode(chain, {"node": np.zeros((2, 3)), "edge": np.zeros((3, 3))})
