"""Second-order chains: against chains, at their limits, with bad scores, on any number of threads."""

import os
import subprocess
import sys

import numpy as np
import pytest

from kernelfields import native
from kernelfields.decoders import BayesRule
from kernelfields.errors import InfeasibleError, ScoreError
from kernelfields.structures import Chain, ChainBatch, SecondOrderChainBatch
from kernelfields.testing import Enumerated

OFFSETS = [0, 5, 5, 6, 8, 11]
ORACLES = ["log_partition", "marginals", "entropy", "argmax", "covariance", "sample", "kbest"]


def call(structure, oracle, scores):
    finite = {name: np.zeros_like(array) for name, array in scores.items()}
    more = {"covariance": (finite,), "sample": (2, 0), "kbest": (3,)}.get(oracle, ())
    return getattr(structure, oracle)(scores, *more)


def normal(structure, rng, scale=1.0):
    return {name: scale * rng.normal(size=shape) for name, shape in structure.shapes.items()}


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_without_triples_it_is_a_chain(shared, scale, rng):
    second, first = SecondOrderChainBatch(OFFSETS, 4, shared), ChainBatch(OFFSETS, 4, shared)
    scores, direction = normal(second, rng, scale), normal(second, rng)
    for array in (scores["triple"], direction["triple"]):
        array[:] = 0
    plain = {name: scores[name] for name in ("node", "edge")}
    weights = rng.random(5)
    found, expected = second.marginals(scores, weights), first.marginals(plain, weights)
    np.testing.assert_allclose(found.log_partition, expected.log_partition, rtol=1e-12)
    changed, wanted = second.covariance(scores, direction), first.covariance(plain, direction)
    for name in plain:
        np.testing.assert_allclose(found.parts[name], expected.parts[name], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(changed[name], wanted[name], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(second.entropy(scores), first.entropy(plain), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(second.argmax(scores).labels, first.argmax(plain).labels)
    np.testing.assert_array_equal(second.kbest(scores, 3).labels, first.kbest(plain, 3).labels)


def pairs_of(scores, T, L):
    """A chain whose labels are the pairs (y_t, y_{t+1}), neighbours of which must agree."""
    node = (scores["edge"] + scores["node"][1:, None, :]).reshape(T - 1, L * L)
    node[0] += np.repeat(scores["node"][0], L)
    edge = np.full((L, L, L, L), -np.inf)
    for j in range(L):
        edge[:, j, j, :] = scores["triple"][:, j, :]
    return {"node": node, "edge": edge.reshape(L * L, L * L)}


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_it_is_a_chain_over_label_pairs(scale, rng):
    T, L = 12, 5
    second, pairs = SecondOrderChainBatch([0, T], L, shared_edges=False), ChainBatch([0, T - 1], L * L)
    scores = normal(second, rng, scale)
    scores["triple"][1, 2, 3] = scores["edge"][4, 0, 0] = scores["node"][7, 2] = -np.inf
    twin = pairs_of(scores, T, L)
    found, expected = second.marginals(scores), pairs.marginals(twin)
    np.testing.assert_allclose(found.log_partition, expected.log_partition, rtol=1e-12)
    np.testing.assert_allclose(
        found.parts["edge"].reshape(T - 1, L * L), expected.parts["node"], rtol=1e-9, atol=1e-12
    )
    agreeing = expected.parts["edge"].reshape(L, L, L, L)[:, np.arange(L), np.arange(L), :]
    np.testing.assert_allclose(found.parts["triple"], agreeing, atol=1e-9)
    np.testing.assert_allclose(second.entropy(scores), pairs.entropy(twin), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(second.kbest(scores, 6).value, pairs.kbest(twin, 6).value, rtol=1e-12)
    best = second.argmax(scores).labels
    np.testing.assert_array_equal(pairs.argmax(twin).labels, best[:-1] * L + best[1:])


def test_nothing_at_all():
    chain = SecondOrderChainBatch([0, 0, 0], 2, shared_edges=False)
    scores = {name: np.zeros(shape) for name, shape in chain.shapes.items()}
    np.testing.assert_array_equal(chain.log_partition(scores), [0.0, 0.0])
    np.testing.assert_array_equal(chain.marginals(scores).parts["triple"], np.zeros((2, 2, 2)))
    assert chain.sample(scores, 3, seed=0).shape == (3, 0)
    np.testing.assert_array_equal(chain.kbest(scores, 2).value, [[0.0, -np.inf]] * 2)


def test_ties_go_to_the_lower_label():
    chain = SecondOrderChainBatch([0, 4], 3)
    scores = {name: np.zeros(shape) for name, shape in chain.shapes.items()}
    np.testing.assert_array_equal(chain.argmax(scores).labels, [0, 0, 0, 0])
    scores["triple"][1, 2] = scores["triple"][2, 1] = 1
    np.testing.assert_array_equal(chain.argmax(scores).labels, [1, 2, 1, 0])


def test_few_labellings_make_short_lists():
    chain = SecondOrderChainBatch([0, 3, 4], 2)
    scores = {name: np.zeros(shape) for name, shape in chain.shapes.items()}
    scores["triple"][:] = -np.inf
    scores["triple"][0, 1, 0] = 2.0
    labels, value = chain.kbest(scores, 3)
    np.testing.assert_array_equal(value, [[2, -np.inf, -np.inf], [0, 0, -np.inf]])
    np.testing.assert_array_equal(labels, [[0, 1, 0, 0], [-1, -1, -1, 1], [-1, -1, -1, -1]])


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_scores_are_refused(oracle, shared, bad):
    chain = SecondOrderChainBatch([0, 1, 4], 2, shared)
    for name, shape in chain.shapes.items():
        scores = {name: np.zeros(shape) for name, shape in chain.shapes.items()}
        scores[name][(-1,) * len(shape)] = bad
        with pytest.raises(ScoreError, match="Sequence 1 has scores that are NaN or"):
            call(chain, oracle, scores)


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("clique", ["node", "edge", "triple"])
def test_sequences_without_labelling_are_refused(oracle, clique):
    chain = SecondOrderChainBatch([0, 1, 4], 2)
    scores = {name: np.zeros(shape) for name, shape in chain.shapes.items()}
    scores[clique][2 if clique == "node" else slice(None)] = -np.inf
    with pytest.raises(InfeasibleError, match="Sequence 1 has no allowed labelling"):
        call(chain, oracle, scores)


def test_short_sequences_do_not_look_at_bad_triples():
    chain = SecondOrderChainBatch([0, 2, 3], 2)
    scores = {"node": np.zeros((3, 2)), "edge": np.zeros((2, 2)), "triple": np.full((2, 2, 2), np.nan)}
    np.testing.assert_allclose(chain.log_partition(scores), np.log([4, 2]))


def test_wrong_shapes_are_named():
    chain = SecondOrderChainBatch([0, 2], 2)
    scores = {name: np.zeros(shape) for name, shape in chain.shapes.items()}
    with pytest.raises(ValueError, match=r"triple scores have shape \(2, 2\), expected \(2, 2, 2\)"):
        chain.log_partition({**scores, "triple": np.zeros((2, 2))})


def test_length_costs_no_precision(rng):
    T = 50_000
    second, first = SecondOrderChainBatch([0, T], 3), ChainBatch([0, T], 3)
    scores = {"node": rng.normal(size=(T, 3)), "edge": 4 * np.eye(3), "triple": np.zeros((3, 3, 3))}
    direction = {
        "node": 10 + rng.normal(size=(T, 3)),
        "edge": rng.normal(size=(3, 3)),
        "triple": np.zeros((3, 3, 3)),
    }
    np.testing.assert_allclose(second.log_partition(scores), first.log_partition(scores), rtol=1e-13)
    node = second.marginals(scores).parts["node"]
    np.testing.assert_allclose(node, first.marginals(scores).parts["node"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(node.sum(axis=1), 1, rtol=0, atol=2e-15)
    change = second.covariance(scores, direction)["node"]
    np.testing.assert_allclose(change, first.covariance(scores, direction)["node"], rtol=0, atol=1e-9)


def test_the_core_differentiates_log_partitions_too(rng):
    chain = SecondOrderChainBatch([0, 6], 3)
    scores, direction = normal(chain, rng), normal(chain, rng)
    found = native.chain2_covariance(*scores.values(), chain.offsets, *direction.values())[0]
    parts = chain.marginals(scores).parts
    np.testing.assert_allclose(found, [sum(np.vdot(parts[name], direction[name]) for name in parts)])


def test_scores_of_any_size_keep_the_best():
    """Two contexts whose exponentials underflow against each other."""
    chain = SecondOrderChainBatch([0, 3], 2)
    scores = {name: np.zeros(shape) for name, shape in chain.shapes.items()}
    scores["triple"][:, :, 0] = -900.0
    scores["node"][2, 0] = 900.0
    np.testing.assert_allclose(chain.log_partition(scores), np.log(8))
    np.testing.assert_allclose(chain.marginals(scores).parts["node"], 0.5)


def test_costs_over_edges_can_be_decided_for(rng):
    chain = SecondOrderChainBatch(OFFSETS, 3)
    scores = normal(chain, rng)
    hamming = 1 - np.eye(3)
    twice = hamming[:, None, :, None] + hamming[None, :, None, :]
    labels = BayesRule(vertex_cost=hamming, edge_cost=np.zeros((3,) * 4)).decode(chain, scores)
    np.testing.assert_array_equal(labels, chain.marginals(scores).parts["node"].argmax(axis=1))
    assert BayesRule(edge_cost=twice).decode(chain, scores).shape == (11,)


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_triples_apart_are_those_of_graphs(rng, scale):
    """The same scores for each triple lead to the same answers; scores of each, to those of enumeration."""
    chain = SecondOrderChainBatch(OFFSETS, 3)
    apart = Chain(order=2).on(np.asarray(OFFSETS), None, 3, own={"triple", "edge"})
    assert not apart.cliques["triple"].shared
    np.testing.assert_array_equal(apart.sources, chain.sources)
    np.testing.assert_array_equal(apart.sinks, chain.sinks)
    scores = normal(chain, rng, scale)
    found, expected = apart.marginals(apart.spread(scores)), chain.marginals(scores)
    np.testing.assert_allclose(found.log_partition, expected.log_partition, rtol=1e-12)
    for clique, parts in chain.gathered(found.parts).items():
        np.testing.assert_allclose(parts, expected.parts[clique], atol=1e-10)
    np.testing.assert_array_equal(apart.argmax(apart.spread(scores)).labels, chain.argmax(scores).labels)
    each = normal(apart, rng, scale)
    listed = Enumerated(apart, each)
    np.testing.assert_allclose(apart.log_partition(each), listed.log_partition(), rtol=1e-10)
    np.testing.assert_allclose(
        apart.marginals(each).parts["triple"], listed.marginals().parts["triple"], atol=1e-9
    )
    taken = apart.take([4, 0])
    np.testing.assert_allclose(
        taken.log_partition(apart.cut(each, [4, 0])), apart.log_partition(each)[[4, 0]], rtol=1e-12
    )


PROGRAM = """
import hashlib, numpy as np
from kernelfields.structures import SecondOrderChainBatch
rng = np.random.default_rng(0)
chain = SecondOrderChainBatch(np.arange(0, 8001, 20), 6)
scores = {name: rng.standard_normal(shape) for name, shape in chain.shapes.items()}
found = chain.marginals(scores)
arrays = [found.log_partition, *found.parts.values(), *chain.covariance(scores, scores).values()]
arrays += [chain.sample(scores, 5, 3), chain.entropy(scores), *chain.argmax(scores), *chain.kbest(scores, 2)]
print(hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest())
"""


def test_results_do_not_depend_on_the_number_of_threads():
    digests = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "3")
    }
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 64
