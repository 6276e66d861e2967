"""Losses without sums over labellings: pseudo-likelihood and piecewise."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

from kernelfields.arrays import offsets_of
from kernelfields.errors import InfeasibleError, InputError, ScoreError
from kernelfields.losses import LogLoss, PiecewiseLoss, PseudoLikelihoodLoss
from kernelfields.structures import ChainBatch, Factors, GraphBatch, StructureBatch
from kernelfields.testing import check_loss
from tests._problems import small_chain, small_forest, small_labels, small_scores, small_second_order

L = 3


def small_graphs(shared_edges=True, label_sets=None):
    """Cycles, an edge given twice, one both ways, triangles with scores of their own, lone vertices."""
    edges = [[0, 1], [1, 2], [2, 0], [0, 2], [2, 3], [5, 6], [6, 5], [5, 6], [7, 8], [8, 9], [9, 7]]
    factors = {
        "triangle": Factors(np.array([[0, 1, 2], [9, 7, 8]]), shared=False),
        "pair": Factors(np.array([[3, 1], [6, 5], [7, 9]]), shared=True),
    }
    return GraphBatch(
        offsets_of([5, 0, 2, 4]), edges, L, shared_edges=shared_edges, factors=factors, label_sets=label_sets
    )


def typed_graphs(shared_edges=True):
    """Vertices that cannot have every label; the label before the last is always among them."""
    sets = np.random.default_rng(3).random((11, L)) < 0.6
    sets[:, 1] = True
    return small_graphs(shared_edges, sets)


STRUCTURES = {
    "chain": small_chain,
    "second order": small_second_order,
    "forest": small_forest,
    "graph": small_graphs,
    "graph with types": typed_graphs,
}


def some_labels(structure, rng):
    """Labels that vertices can have."""
    if isinstance(structure, GraphBatch) and structure.label_sets is not None:
        return np.array([rng.choice(np.flatnonzero(allowed)) for allowed in structure.label_sets])
    return small_labels(structure, rng)


def some_beliefs(structure, rng):
    """Distributions of labels; nothing is known of one vertex, another is certain."""
    beliefs = rng.dirichlet(np.ones(L), size=structure.n_vertices)
    if isinstance(structure, GraphBatch) and structure.label_sets is not None:
        beliefs = np.where(structure.label_sets, beliefs, 0.0)
        beliefs /= beliefs.sum(axis=1, keepdims=True)
    beliefs[2] = 0.0
    beliefs[0] = np.arange(L) == 1
    return beliefs


def losses(rng, shared=True, make=small_chain):
    structure = make(shared_edges=shared)
    labels, weights = some_labels(structure, rng), rng.random(structure.n_instances) + 0.1
    kappa = rng.random(structure.n_vertices) * 2
    partly = np.where(rng.random(structure.n_vertices) < 0.7, labels, -1)
    table = {"beliefs": PseudoLikelihoodLoss(structure, some_beliefs(structure, rng), weights, kappa)}
    for kind in (PseudoLikelihoodLoss, PiecewiseLoss):
        name = kind.__name__
        table[name] = kind(structure, labels)
        table[f"{name}, weighted"] = kind(structure, labels, weights, kappa)
        table[f"{name}, partly observed"] = kind(structure, partly, weights)
    return table


EVERY = pytest.mark.parametrize("kind", STRUCTURES)
SHARED = pytest.mark.parametrize("shared", [True, False])
CASES = list(losses(np.random.default_rng(0)))


@EVERY
@SHARED
@pytest.mark.parametrize("name", CASES)
def test_loss_passes_all_checks(kind, name, shared, rng):
    loss = losses(rng, shared, STRUCTURES[kind])[name]
    check_loss(loss, small_scores(loss.structure, rng), rng)


def score_of(structure, scores, labels):
    """Σ_i score(y^i), −inf aside: of whole labellings, by the structure itself."""
    return float(structure.score(scores, np.asarray(labels, dtype=np.int32)).sum())


@EVERY
@SHARED
def test_pseudo_likelihood_by_scores_of_whole_labellings(kind, shared, rng):
    structure = STRUCTURES[kind](shared_edges=shared)
    labels, scores = some_labels(structure, rng), small_scores(structure, rng)
    wanted = np.zeros(structure.n_instances)
    owner = np.repeat(np.arange(structure.n_instances), np.diff(structure.offsets))
    for v in range(structure.n_vertices):
        changed = np.repeat(labels[None], L, axis=0)
        changed[:, v] = np.arange(L)
        every = [structure.score(scores, one)[owner[v]] for one in changed]
        wanted[owner[v]] += logsumexp(every) - every[labels[v]]
    np.testing.assert_allclose(PseudoLikelihoodLoss(structure, labels).at(scores).values, wanted, atol=1e-10)


@EVERY
@SHARED
def test_piecewise_clique_by_clique(kind, shared, rng):
    structure = STRUCTURES[kind](shared_edges=shared)
    labels, scores = some_labels(structure, rng), small_scores(structure, rng)
    sets = structure.label_sets if kind == "graph with types" else np.ones((structure.n_vertices, L), bool)
    wanted = 0.0
    for name, cliques in structure.cliques.items():
        for c, members in enumerate(cliques.members):
            table = scores[name] if cliques.shared else scores[name][c]
            inside = [table[z] for z in itertools.product(*(np.flatnonzero(sets[v]) for v in members))]
            wanted += logsumexp(inside) - table[tuple(labels[members])]
    np.testing.assert_allclose(PiecewiseLoss(structure, labels).at(scores).value, wanted, atol=1e-10)


@SHARED
@pytest.mark.parametrize("make", [small_chain, small_forest, small_second_order])
def test_piecewise_is_at_least_the_log_loss(make, shared, rng):
    structure = make(shared_edges=shared)
    labels, scores = small_labels(structure, rng), small_scores(structure, rng)
    whole, pieces = (kind(structure, labels).at(scores).values for kind in (LogLoss, PiecewiseLoss))
    assert (pieces >= whole - 1e-12).all()
    assert (pieces > whole + 1e-3).any()


@pytest.mark.parametrize("kind", [PseudoLikelihoodLoss, PiecewiseLoss])
def test_without_edges_it_is_the_log_loss(kind, rng):
    chain = ChainBatch(offsets_of([1] * 6), L)
    labels, scores, weights = small_labels(chain, rng), small_scores(chain, rng), rng.random(6)
    mine, log = (one(chain, labels, weights).at(scores) for one in (kind, LogLoss))
    np.testing.assert_allclose(mine.values, log.values, atol=1e-12)
    for name, values in log.gradient.items():
        np.testing.assert_allclose(mine.gradient[name], values, atol=1e-12)


@pytest.mark.parametrize("kind", [PseudoLikelihoodLoss, PiecewiseLoss])
@pytest.mark.parametrize("shared", [True, False])
def test_unobserved_vertices_are_left_out_with_their_cliques(kind, shared, rng):
    graph = small_graphs(shared)
    labels, scores = small_labels(graph, rng), small_scores(graph, rng)
    gone = np.array([2, 6])
    left = np.setdiff1d(np.arange(graph.n_vertices), gone)
    number = np.full(graph.n_vertices, -1)
    number[left] = np.arange(len(left))
    kept = {name: ~np.isin(cliques.members, gone).any(axis=1) for name, cliques in graph.cliques.items()}
    factors = {name: Factors(number[f.members[kept[name]]], f.shared) for name, f in graph.factors.items()}
    smaller = GraphBatch(
        offsets_of([4, 0, 1, 4]), number[graph.edges[kept["edge"]]], L, shared_edges=shared, factors=factors
    )
    part = {
        name: scores[name] if cliques.shared else scores[name][kept[name]]
        for name, cliques in graph.cliques.items()
    }
    partly = labels.copy()
    partly[gone] = -1
    np.testing.assert_allclose(
        kind(graph, partly).at(scores).values, kind(smaller, labels[left]).at(part).values, atol=1e-12
    )


@EVERY
@SHARED
def test_certain_beliefs_are_labels(kind, shared, rng):
    structure = STRUCTURES[kind](shared_edges=shared)
    labels, scores = some_labels(structure, rng), small_scores(structure, rng)
    sure = PseudoLikelihoodLoss(structure, (labels[:, None] == np.arange(L)).astype(float)).at(scores)
    plain = PseudoLikelihoodLoss(structure, labels).at(scores)
    np.testing.assert_allclose(sure.values, plain.values, atol=1e-12)
    for name, values in plain.gradient.items():
        np.testing.assert_allclose(sure.gradient[name], values, atol=1e-12)


@SHARED
def test_beliefs_stand_for_expected_scores(shared, rng):
    graph = GraphBatch(
        [0, 4],
        [[0, 1], [1, 2], [2, 0], [2, 3]],
        L,
        shared_edges=shared,
        factors={"triangle": Factors(np.array([[0, 1, 2]]), shared=shared)},
    )
    beliefs, scores = rng.dirichlet(np.ones(L), size=4), small_scores(graph, rng)
    expected = np.zeros((4, L))
    for y in itertools.product(range(L), repeat=4):
        for v in range(4):
            others = np.prod([beliefs[u, y[u]] for u in range(4) if u != v])
            expected[v, y[v]] += others * score_of(graph, scores, y)
    log_p = expected - logsumexp(expected, axis=1, keepdims=True)
    loss = PseudoLikelihoodLoss(graph, beliefs).at(scores)
    np.testing.assert_allclose(loss.value, -(beliefs * log_p).sum(), atol=1e-10)


@EVERY
@SHARED
@pytest.mark.parametrize("name", ["beliefs", "PseudoLikelihoodLoss, weighted", "PiecewiseLoss, weighted"])
def test_blocks_are_the_curvature_inside_single_cliques(kind, shared, name, rng):
    loss = losses(rng, shared, STRUCTURES[kind])[name]
    structure = loss.structure
    tied = [clique for clique, cliques in structure.cliques.items() if cliques.shared]
    if kind == "second order":
        tied = [clique for clique in tied if clique == "edge"]  # triples are always shared
    each = structure.untied(tied)
    own = type(loss)(each, loss.labels, loss.weights, loss.vertex_weights)
    scores = small_scores(structure, rng)
    blocks, spread = loss.blocks(scores), each.spread(scores)
    for clique, cliques in each.cliques.items():
        if cliques.shared:
            continue
        direction = rng.normal(size=structure.shapes[clique])
        wanted = np.zeros(each.shapes[clique])
        for c in range(cliques.count):
            alone = {other: np.zeros(shape) for other, shape in each.shapes.items()}
            alone[clique][c] = direction if structure.cliques[clique].shared else direction[c]
            wanted[c] = own.curvature(spread, alone)[clique][c]
        found = blocks[clique].times(direction)
        np.testing.assert_allclose(
            found, wanted.sum(axis=0) if structure.cliques[clique].shared else wanted, atol=1e-10
        )


@pytest.mark.parametrize("name", ["PseudoLikelihoodLoss, weighted", "PiecewiseLoss, partly observed"])
def test_expected_parts_are_gradient_plus_observed_ones(name, rng):
    loss = losses(rng, True, small_graphs)[name]
    scores = small_scores(loss.structure, rng)
    nothing = {clique: np.zeros(shape) for clique, shape in loss.structure.shapes.items()}
    # observed parts do not depend on scores
    there, at_zero = (
        {clique: loss.expected(theta)[clique] - values for clique, values in loss.at(theta).gradient.items()}
        for theta in (scores, nothing)
    )
    for clique, values in there.items():
        np.testing.assert_allclose(values, at_zero[clique], atol=1e-12)
        assert values.min() >= 0


@pytest.mark.parametrize("kind", [PseudoLikelihoodLoss, PiecewiseLoss])
def test_forbidden_and_impossible_scores_are_refused(kind, rng):
    chain = ChainBatch([0, 2, 4], 2)
    scores = {"node": np.zeros((4, 2)), "edge": np.array([[0.0, -np.inf], [0.0, 0.0]])}
    with pytest.raises(InfeasibleError, match="of sequence 1 is forbidden"):
        kind(chain, np.array([1, 0, 0, 1])).at(scores)
    allowed = kind(chain, np.array([1, 0, 1, 1])).at(scores)
    assert np.isfinite(allowed.value)
    assert np.isfinite(allowed.gradient["edge"]).all()
    scores["node"][2, 0] = np.nan
    with pytest.raises(ScoreError, match="Sequence 1 has scores that are NaN"):
        kind(chain, np.array([1, 0, 1, 1])).at(scores)


@pytest.mark.parametrize("kind", [PseudoLikelihoodLoss, PiecewiseLoss])
def test_what_does_not_label_vertices_is_refused(kind):
    class Arcs(StructureBatch):
        offsets = output_offsets = np.zeros(1, dtype=np.int64)
        cliques = {}  # noqa: RUF012
        take = subtract_parts = score = None

    with pytest.raises(TypeError, match="labelled vertices, which Arcs has not"):
        kind(Arcs(), np.zeros(0))


def test_beliefs_of_another_shape_are_refused():
    with pytest.raises(InputError, match=r"Distributions have shape \(2, 2\), expected \(2, 3\)"):
        PseudoLikelihoodLoss(ChainBatch([0, 2], 3), np.ones((2, 2)))
