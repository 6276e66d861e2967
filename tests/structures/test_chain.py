"""Chains at their limits, each tried alone, against forward-backward in long double."""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields.structures import ChainBatch
from kernelfields.testing import chain_reference

# Around every vector width, and the sizes of real tasks.
LABELS = [1, 2, 3, 4, 5, 8, 9, 12, 13, 16, 17, 26, 64, 128]


def offsets_of(lengths: list[int]) -> np.ndarray:
    return np.cumsum([0, *lengths])


def scored(
    rng, lengths: list[int], L: int, *, shared: bool = True, scale: float = 1.0, dtype: type = np.float64
):
    chain = ChainBatch(offsets_of(lengths), L, shared)
    return chain, {name: (scale * rng.normal(size=s)).astype(dtype) for name, s in chain.shapes.items()}


def reference(chain: ChainBatch, scores):
    """Log-partitions, node and edge marginals of a batch."""
    parts = [chain_reference(*chain.cut(scores, [s]).values()) for s in range(chain.n_instances)]
    edge = np.concatenate([p.edge for p in parts])
    return (
        np.array([p.log_partition for p in parts], dtype=float),
        np.concatenate([p.node for p in parts]).astype(float),
        (edge.sum(axis=0) if chain.shared_edges else edge).astype(float),
    )


def assert_right(chain: ChainBatch, scores, *, value: float = 1e-9, marginals: float = 1e-9) -> None:
    """Log-partitions to ``value`` relative, marginals to ``marginals`` absolute (sums: relative too)."""
    log_partition, node, edge = reference(chain, scores)
    found = chain.marginals(scores)
    np.testing.assert_allclose(found.log_partition, log_partition, rtol=value, atol=value)
    np.testing.assert_allclose(chain.log_partition(scores), log_partition, rtol=value, atol=value)
    np.testing.assert_allclose(found.parts["node"], node, rtol=0, atol=marginals)
    np.testing.assert_allclose(found.parts["edge"], edge, rtol=marginals, atol=marginals)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
@pytest.mark.parametrize("L", LABELS)
def test_numbers_of_labels(rng, L: int, shared: bool) -> None:
    """Six sequences: a full group of four, one of two, and every number still running."""
    lengths = [5, 1, 7, 2, 3, 0, 6] if L <= 26 else [3, 1, 2]
    assert_right(*scored(rng, lengths, L, shared=shared))


def test_many_labels(rng) -> None:
    assert_right(*scored(rng, [3, 2], 512))


@pytest.mark.parametrize("L", LABELS)
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
def test_best_is_the_limit_of_cold_chains(rng, L: int, shared: bool) -> None:
    """At scores β θ with large β all probability lies on the argmax."""
    chain, scores = scored(rng, [6, 1, 4, 0, 3], L, shared=shared)
    labels, value = chain.argmax(scores)
    node = chain.marginals({name: 1e6 * array for name, array in scores.items()}).parts["node"]
    np.testing.assert_array_equal(labels, node.argmax(axis=1))
    np.testing.assert_allclose(chain.score(scores, labels), value, rtol=1e-14)


@pytest.mark.parametrize("L", [1, 4, 9, 17])
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
def test_argmax_ties_go_to_the_lower_label(L: int, shared: bool) -> None:
    chain = ChainBatch([0, 20, 21, 30], L, shared)
    labels, value = chain.argmax({name: np.zeros(shape) for name, shape in chain.shapes.items()})
    assert not labels.any()
    assert not value.any()


@pytest.mark.parametrize("L", [2, 5, 9, 26])
def test_covariance_of_longer_chains(rng, L: int) -> None:
    """∇²g·d by differences of the long-double reference, at more labels than enumeration allows."""
    chain, scores = scored(rng, [6, 1, 3, 0, 9], L)
    direction = {name: rng.normal(size=shape) for name, shape in chain.shapes.items()}
    h = 1e-5
    ahead = reference(chain, {name: scores[name] + h * direction[name] for name in scores})
    behind = reference(chain, {name: scores[name] - h * direction[name] for name in scores})
    found = chain.covariance(scores, direction)
    for k, name in ((1, "node"), (2, "edge")):
        np.testing.assert_allclose(found[name], (ahead[k] - behind[k]) / (2 * h), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("length", [0, 1])
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
def test_shortest(rng, length: int, shared: bool) -> None:
    chain, scores = scored(rng, [length], 3, shared=shared)
    assert_right(chain, scores)
    assert chain.argmax(scores).labels.shape == (length,)
    assert chain.kbest(scores, 4).value[0].tolist()[1 if length == 0 else 3 :] == [-np.inf] * (
        3 if length == 0 else 1
    )
    assert chain.sample(scores, 5, seed=0).shape == (5, length)
    assert (chain.entropy(scores) >= 0).all()


def test_empty_batch() -> None:
    chain = ChainBatch([0], 3)
    scores = {"node": np.zeros((0, 3)), "edge": np.zeros((3, 3))}
    assert chain.log_partition(scores).shape == (0,)
    assert not chain.marginals(scores).parts["edge"].any()
    assert chain.argmax(scores).labels.shape == (0,)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
@pytest.mark.parametrize("scale", [30.0, 100.0, 300.0, 1e4])
def test_large_scores(rng, scale: float, shared: bool) -> None:
    chain, scores = scored(rng, [40, 3, 1, 17], 5, shared=shared, scale=scale)
    assert_right(chain, scores)
    # Shifting all scores by a large number must cost nothing but the digits of the number itself.
    assert_right(chain, {"node": scores["node"] - 1e4, "edge": scores["edge"] + 1e4})


@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_hundred_thousand_positions(rng, scale: float) -> None:
    assert_right(*scored(rng, [100_000], 3, scale=scale))


def forbid(rng, chain: ChainBatch, scores, share: float):
    """−inf here and there, but never along the labels 0."""
    for array, free in ((scores["node"], np.s_[..., 0]), (scores["edge"], np.s_[..., 0, 0])):
        kept = array[free].copy()
        array[rng.random(array.shape) < share] = -np.inf
        array[free] = kept
    return chain, scores


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
@pytest.mark.parametrize("L", [2, 5, 9])
def test_forbidden(rng, L: int, shared: bool, share: float) -> None:
    chain, scores = forbid(rng, *scored(rng, [30, 1, 12, 0, 2], L, shared=shared), share)
    assert_right(chain, scores)
    assert np.isfinite(chain.argmax(scores).value).all()
    samples = chain.sample(scores, 20, seed=3)
    assert np.isfinite([chain.score(scores, y) for y in samples]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
@pytest.mark.parametrize("length", [20, 300, 3000])
def test_sticky_chains_that_drift_apart(dtype: type, shared: bool, length: int) -> None:
    """Labels never change; the second gains one on the first at every step, until the last position
    forbids it. Messages scaled to sum one lose the first label long before that."""
    chain = ChainBatch([0, length, length + 7], 2, shared)
    edge = np.array([[0.0, -np.inf], [-np.inf, 0.0]], dtype=dtype)
    node = np.zeros((length + 7, 2), dtype=dtype)
    node[:, 1] = 1
    node[length - 1, 1] = -np.inf
    scores = {"node": node, "edge": edge if shared else np.tile(edge, (chain.n_edges, 1, 1))}
    found = chain.marginals(scores)
    np.testing.assert_allclose(found.log_partition[0], 0, atol=1e-5 if dtype == np.float32 else 1e-9)
    np.testing.assert_allclose(found.parts["node"][:length], [[1, 0]] * length, atol=1e-6)
    assert_right(chain, scores, value=1e-5, marginals=1e-4)
    assert not chain.argmax(scores).labels[:length].any()
    direction = {name: np.ones(shape, dtype) for name, shape in chain.shapes.items()}
    assert all(np.abs(part).max() < 1e-4 for part in chain.covariance(scores, direction).values())


@pytest.mark.parametrize("length", [20, 300, 3000])
def test_sticky_chains_forbidden_early(length: int) -> None:
    """The mirror image: the label that gains is forbidden at the first position."""
    node = np.zeros((length, 2))
    node[:, 1], node[0, 1] = 1, -np.inf
    chain = ChainBatch([0, length], 2)
    found = chain.marginals({"node": node, "edge": np.array([[0, -np.inf], [-np.inf, 0]])})
    np.testing.assert_allclose(found.log_partition, 0, atol=1e-9)
    np.testing.assert_allclose(found.parts["node"], [[1, 0]] * length, atol=1e-9)


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "per edge"])
@pytest.mark.parametrize("scale", [1.0, 10.0, 50.0])
@pytest.mark.parametrize("L", [2, 9, 26])
def test_single_precision(rng, L: int, scale: float, shared: bool) -> None:
    """Marginals within 1e-4 of double precision for scores up to ±50."""
    chain = ChainBatch(offsets_of([60, 1, 33, 2, 400]), L, shared)
    scores = {name: rng.uniform(-scale, scale, s).astype(np.float32) for name, s in chain.shapes.items()}
    exact = chain.marginals({name: array.astype(np.float64) for name, array in scores.items()})
    found = chain.marginals(scores)
    np.testing.assert_allclose(found.log_partition, exact.log_partition, rtol=1e-6)
    np.testing.assert_allclose(found.parts["node"], exact.parts["node"], rtol=0, atol=1e-4)
    np.testing.assert_allclose(found.parts["edge"], exact.parts["edge"], rtol=1e-4, atol=1e-4)


def test_positions_and_edges() -> None:
    chain = ChainBatch([0, 3, 3, 4, 6], 2)
    assert (chain.n_instances, chain.n_vertices, chain.n_edges) == (4, 6, 3)
    assert chain.edge_heads.tolist() == [1, 2, 5]
    assert chain.first_positions.tolist() == [0, 3, 4]
    assert chain.last_positions.tolist() == [2, 3, 5]
    assert chain.sources.tolist() == [0, 3, 4]
    assert chain.sinks.tolist() == [2, 3, 5]


def test_integer_and_strided_scores_are_converted() -> None:
    chain = ChainBatch([0, 4], 2)
    node = np.arange(16).reshape(8, 2)[::2]
    edge = np.arange(4).reshape(2, 2)
    wanted = chain.log_partition({"node": node.astype(float), "edge": edge.astype(float)})
    np.testing.assert_array_equal(chain.log_partition({"node": node, "edge": edge.T.copy().T}), wanted)
