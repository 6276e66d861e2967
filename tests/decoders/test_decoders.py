"""Decoders against expected costs by enumeration."""

import itertools

import numpy as np
import pytest

from kernelfields.decoders import ABSTAINED, Abstain, BayesRule, Best, Draws, MinimumRisk, Posterior, Viterbi
from kernelfields.structures import ChainBatch, StructureBatch
from tests._problems import small_scores


def labellings(length, n_labels):
    return np.array(list(itertools.product(range(n_labels), repeat=length)))


@pytest.fixture
def one(rng):
    """One chain, its scores with a forbidden pair, all its labellings and their probabilities."""
    chain = ChainBatch([0, 4], 3)
    scores = small_scores(chain, rng, 1.5)
    scores["edge"][0, 2] = -np.inf
    ways = labellings(4, 3)
    log_p = np.array([chain.score(scores, y.astype(np.int32))[0] for y in ways])
    p = np.exp(log_p - chain.log_partition(scores)[0])
    return chain, scores, ways, p


def best_by_hand(ways, p, cost, allowed):
    risk = np.array([sum(p[k] * cost(ways[k], guess) for k in range(len(ways))) for guess in ways])
    return ways[np.argmin(np.where(allowed, risk, np.inf))]


def test_viterbi_minimises_the_zero_one_cost(one):
    chain, scores, ways, p = one
    np.testing.assert_array_equal(Viterbi().decode(chain, scores), ways[p.argmax()])


def test_posterior_minimises_the_hamming_cost(one):
    chain, scores, ways, p = one
    hamming = lambda true, guess: (true != guess).sum()  # noqa: E731
    np.testing.assert_array_equal(Posterior().decode(chain, scores), best_by_hand(ways, p, hamming, p > 0))


def test_respecting_constraints_can_change_the_answer():
    chain = ChainBatch([0, 2], 3)
    edge = np.full((3, 3), -np.inf)
    edge[0, 1] = edge[0, 2] = edge[1, 0] = 0.0  # (0,1), (0,2), (1,0): marginals favour 0 then 0
    scores = {"node": np.array([[0.0, 0.5, 0.0], [0.0, 0.0, 0.0]]), "edge": edge}
    free = chain.marginals(scores).parts["node"].argmax(axis=1)
    assert chain.score(scores, free)[0] == -np.inf
    assert np.isfinite(chain.score(scores, Posterior().decode(chain, scores))[0])


def test_bayes_rule_for_vertex_and_edge_costs(one, rng):
    chain, scores, ways, p = one
    vertex, edge = rng.random((3, 3)), rng.random((3, 3, 3, 3))

    def cost(true, guess):
        pairs = sum(edge[true[t], true[t + 1], guess[t], guess[t + 1]] for t in range(3))
        return vertex[true, guess].sum() + pairs

    expected = best_by_hand(ways, p, cost, p > 0)
    np.testing.assert_array_equal(BayesRule(vertex, edge).decode(chain, scores), expected)


def test_minimum_risk_over_all_labellings_is_the_bayes_rule_of_any_cost(one):
    chain, scores, ways, p = one

    def one_minus_f1(true, guess):
        hits = ((true == 1) & (guess == 1)).sum()
        total = (true == 1).sum() + (guess == 1).sum()
        return 1 - (2 * hits / total if total else 1.0)

    decoder = MinimumRisk(one_minus_f1, Best(k=len(ways)))
    guess = decoder.decode(chain, scores)
    risk = lambda y: sum(q * one_minus_f1(true, y) for q, true in zip(p, ways, strict=True))  # noqa: E731
    assert risk(guess) == pytest.approx(min(risk(y) for y, q in zip(ways, p, strict=True) if q > 0))
    drawn = MinimumRisk(one_minus_f1, Draws(count=2000, seed=1)).decode(chain, scores)
    assert risk(drawn) <= risk(guess) + 0.05


def test_abstain_leaves_out_the_uncertain(one):
    chain, scores, _, _ = one
    marginals = chain.marginals(scores).parts["node"]
    threshold = np.median(marginals.max(axis=1))
    labels = Abstain(Posterior(), threshold).decode(chain, scores)
    np.testing.assert_array_equal(labels == ABSTAINED, marginals.max(axis=1) < threshold)
    answered = labels != ABSTAINED
    np.testing.assert_array_equal(labels[answered], marginals.argmax(axis=1)[answered])


def test_decoder_names_the_oracle_it_misses(one):
    class Blind(StructureBatch):
        offsets = output_offsets = np.zeros(1, dtype=np.int64)
        cliques = {}  # noqa: RUF012
        take = subtract_parts = score = None

    with pytest.raises(TypeError, match="Viterbi needs a MaxOracle, which Blind is not"):
        Viterbi().decode(Blind(), {})
