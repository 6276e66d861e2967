"""Kernel expansions: what the theorems of the papers say about them."""

from itertools import product

import numpy as np
import pytest

from kernelfields.gram import StoredGram
from kernelfields.kernels import RBF, Linear, Polynomial
from kernelfields.losses import LogLoss, PartialLog
from kernelfields.objective import Problem, Term
from kernelfields.solvers import LBFGS, NewtonCG, Reason, Stop
from kernelfields.spaces import Expansion, Free, LabelEmbedding, LinearFeatures
from kernelfields.structures import ChainBatch
from tests._problems import kernel_problem, small_chain, small_labels

TIGHT = Stop(gap=1e-12, iterations=3000)


def optimum(problem, solver=None):
    solver = LBFGS() if solver is None else solver
    return solver.minimize(problem, problem.zero(), TIGHT).point


class CountingGram(StoredGram):
    """Counts its products."""

    count = 0

    def times(self, columns):
        self.count += 1
        return super().times(columns)


@pytest.mark.parametrize("shared", [True, False])
def test_linear_kernel_is_the_linear_space(shared, rng):
    chain = small_chain(shared_edges=shared)
    features = rng.normal(size=(chain.n_vertices, 4))
    loss = LogLoss(chain, small_labels(chain, rng))
    gram = StoredGram(Linear()(features))
    linear = [Term("x", LinearFeatures(chain, "node", features), 0.5), Term("e", Free(chain, "edge"), 2.0)]
    kernel = [Term("x", Expansion(chain, "node", gram), 0.5), Term("e", Free(chain, "edge"), 2.0)]
    if not shared:
        linear.append(Term("xe", LinearFeatures(chain, "edge", features), 0.7))
        kernel.append(Term("xe", Expansion(chain, "edge", gram), 0.7))
    one, other = (optimum(Problem.of(loss, terms)) for terms in (linear, kernel))
    assert one.value == pytest.approx(other.value, rel=1e-10)
    for clique in chain.shapes:
        np.testing.assert_allclose(one.theta[clique], other.theta[clique], atol=1e-5)


def test_polynomial_kernel_is_the_explicit_feature_map(rng):
    chain = small_chain()
    x = rng.normal(size=(chain.n_vertices, 2))
    explicit = np.column_stack(
        [np.ones(len(x)), np.sqrt(2) * x, x**2, np.sqrt(2) * x[:, 0] * x[:, 1]]
    )  # (⟨x, x′⟩ + 1)²
    loss = LogLoss(chain, small_labels(chain, rng))
    spaces = (Expansion(chain, "node", StoredGram(Polynomial(2)(x))), LinearFeatures(chain, "node", explicit))
    one, other = (optimum(Problem.of(loss, [Term("x", space, 0.5)])) for space in spaces)
    assert one.value == pytest.approx(other.value, rel=1e-10)
    np.testing.assert_allclose(one.theta["node"], other.theta["node"], atol=1e-5)


def test_coefficients_at_the_optimum_are_the_mismatch(rng):
    problem = kernel_problem(rng, penalty=0.5)
    point = optimum(problem)
    chain = problem.structure
    alpha = problem.terms[0].space.coefficients(point.element[problem.slices["kernel"]])
    expected = (chain.parts(problem.loss.outputs)["node"] - chain.marginals(point.theta).parts["node"]) / 0.5
    np.testing.assert_allclose(alpha, expected, atol=1e-3)
    np.testing.assert_allclose(alpha.sum(axis=1), 0, atol=1e-3)


@pytest.mark.parametrize("n_labels", [2, 3])
def test_centred_labels_give_the_same_model(n_labels, rng):
    seed = rng.integers(1000)
    plain, centred = (
        kernel_problem(np.random.default_rng(seed), n_labels=n_labels, embedding=embedding)
        for embedding in (None, LabelEmbedding.centred(n_labels))
    )
    assert centred.terms[0].space.size < plain.terms[0].space.size
    one, other = optimum(plain), optimum(centred)
    assert one.value == pytest.approx(other.value, rel=1e-10)
    np.testing.assert_allclose(one.loss.gradient["node"], other.loss.gradient["node"], atol=1e-5)


def test_two_centred_labels_have_the_kernel_half_y_y():
    vectors = LabelEmbedding.centred(2).vectors
    np.testing.assert_allclose(vectors @ vectors.T, [[0.5, -0.5], [-0.5, 0.5]])
    assert vectors.shape == (2, 1)
    vectors = LabelEmbedding.centred(5).vectors
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(5) - 0.2, atol=1e-12)


def test_whole_labellings_collapse_to_cliques(rng):
    """K = ΛᵀK′Λ [altun2004gp, Proposition 1]: functions of labellings are functions of cliques."""
    chain = ChainBatch([0, 2, 5], n_labels=2)
    K = RBF(0.5)(rng.normal(size=(5, 3)))
    labellings = [(s, y) for s, T in ((0, 2), (1, 3)) for y in product(range(2), repeat=T)]
    counts = np.zeros((5, 2, len(labellings)))  # Λ: how often a labelling uses a labelled clique
    for n, (s, y) in enumerate(labellings):
        counts[chain.offsets[s] + np.arange(len(y)), y, n] = 1

    def whole(left, right):
        """k′((x, y), (x′, y′)) = Σ_st [y_s = y′_t] k(x_s, x′_t), from the definition."""
        (s, y), (s2, y2) = labellings[left], labellings[right]
        return sum(
            K[chain.offsets[s] + a, chain.offsets[s2] + b] * (y[a] == y2[b])
            for a in range(len(y))
            for b in range(len(y2))
        )

    wholes = np.array([[whole(m, n) for n in range(len(labellings))] for m in range(len(labellings))])
    beta = rng.normal(size=len(labellings))
    space = Expansion(chain, "node", StoredGram(K))
    element = space.representer(counts @ beta)
    scores = space.scores(element)
    by_clique = np.einsum("vl,vln->n", scores, counts)
    np.testing.assert_allclose(by_clique, wholes @ beta, atol=1e-10)
    assert space.inner(element, element) == pytest.approx(beta @ wholes @ beta)


def test_merged_kernels_are_separate_spaces(rng):
    """Two kernels with λ₁, λ₂ are the kernel K₁/λ₁ + K₂/λ₂ with λ = 1."""
    chain = small_chain()
    x = rng.normal(size=(chain.n_vertices, 4))
    first, second = RBF(0.3)(x), Polynomial(2)(x)
    loss = LogLoss(chain, small_labels(chain, rng))
    separate = Problem.of(
        loss,
        [
            Term("first", Expansion(chain, "node", StoredGram(first)), 0.5),
            Term("second", Expansion(chain, "node", StoredGram(second)), 3.0),
        ],
    )
    merged = Problem.of(
        loss, [Term("both", Expansion(chain, "node", StoredGram(first / 0.5 + second / 3.0)), 1.0)]
    )
    one, other = optimum(separate), optimum(merged)
    assert one.value == pytest.approx(other.value, rel=1e-10)
    np.testing.assert_allclose(one.theta["node"], other.theta["node"], atol=1e-5)


def test_kernels_of_labels_add_up_to_one_of_all(rng):
    seed = rng.integers(1000)
    together = kernel_problem(np.random.default_rng(seed))
    space = together.terms[0].space
    split = [
        Term(
            str(labels),
            Expansion(space.structure, "node", space.gram, embedding=LabelEmbedding.only(labels, 3)),
            0.5,
        )
        for labels in ([1], [0, 2])
    ]
    apart = Problem.of(together.loss, [*split, together.terms[1]])
    assert optimum(apart).value == pytest.approx(optimum(together).value, rel=1e-10)


def test_kernel_on_labels_is_a_kernel_on_pairs(rng):
    """The inner product of k_Y ⊗ k, against its whole Gram matrix."""
    chain = small_chain()
    K = RBF(0.3)(rng.normal(size=(chain.n_vertices, 4)))
    root = rng.normal(size=(3, 3))
    k_labels = root @ root.T
    space = Expansion(chain, "node", StoredGram(K), embedding=LabelEmbedding.of(k_labels))
    alpha = rng.normal(size=(chain.n_vertices, 3))
    element = space.representer(alpha)
    np.testing.assert_allclose(space.scores(element), K @ alpha @ k_labels, atol=1e-9)
    whole = alpha.ravel() @ np.kron(K, k_labels) @ alpha.ravel()
    assert space.inner(element, element) == pytest.approx(whole)
    np.testing.assert_allclose(space.coefficients(element), alpha @ k_labels, atol=1e-9)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (np.ones((2, 3)), "must be square"),
        ([[1.0, 2.0], [0.0, 1.0]], "not symmetric"),
        ([[1.0, np.nan], [np.nan, 1.0]], "not finite"),
        ([[1.0, 2.0], [2.0, 1.0]], "negative eigenvalue -1"),
    ],
)
def test_bad_kernels_on_labels_are_refused(kernel, words):
    with pytest.raises(ValueError, match=words):
        LabelEmbedding.of(kernel)


def test_newton_and_lbfgs_reach_one_value(rng):
    problem = kernel_problem(rng)
    results = [solver.minimize(problem, problem.zero(), Stop(gap=1e-10)) for solver in (LBFGS(), NewtonCG())]
    assert all(result.reason is Reason.GAP for result in results)
    assert results[0].point.value == pytest.approx(results[1].point.value, rel=1e-9)


def test_lower_bound_holds_everywhere(rng):
    problem = kernel_problem(rng)
    best = optimum(problem).value
    for scale in (0.0, 0.1, 1.0, 10.0):
        gradient = {clique: scale * rng.normal(size=s) for clique, s in problem.structure.shapes.items()}
        point = problem.at(problem.representer(gradient))
        assert point.certificate.lower_bound <= best + 1e-9
        direct = point.value - 0.5 * problem.inner(point.gradient, point.gradient)
        assert point.certificate.lower_bound == pytest.approx(direct, rel=1e-8)


def test_gradient_and_curvature_are_derivatives(rng):
    problem = kernel_problem(rng)
    shapes = problem.structure.shapes
    w, d = (
        problem.representer({clique: rng.normal(size=shape) for clique, shape in shapes.items()})
        for _ in range(2)
    )
    point, h = problem.at(w), 1e-5
    up, down = problem.at(w + h * d), problem.at(w - h * d)
    assert problem.inner(point.gradient, d) == pytest.approx((up.value - down.value) / (2 * h), rel=1e-7)
    expected = (up.gradient - down.gradient) / (2 * h)
    np.testing.assert_allclose(point.hessian_product(d), expected, rtol=1e-5, atol=1e-6)


def test_one_product_per_iteration(rng):
    """Neither the two-loop recursion nor the trials of the line search multiply by K."""
    problem = kernel_problem(rng)
    space = problem.terms[0].space
    gram = CountingGram(space.gram.matrix)
    counted = Problem.of(
        problem.loss, [Term("kernel", Expansion(space.structure, "node", gram), 0.5), problem.terms[1]]
    )
    result = LBFGS().minimize(counted, counted.zero(), Stop(gap=1e-8))
    assert gram.count == result.progress.iteration + 1


def test_images_are_computed_anew(rng):
    problem = kernel_problem(rng)
    space = problem.terms[0].space
    element = problem.representer(
        {clique: rng.normal(size=shape) for clique, shape in problem.structure.shapes.items()}
    )
    drifted = element.copy()
    space.image(drifted[problem.slices["kernel"]])[...] += 0.1
    np.testing.assert_allclose(problem.refreshed(drifted), element, atol=1e-12)


def test_unobserved_labels_have_the_same_gradient_as_by_differences(rng):
    full = kernel_problem(rng)
    chain = full.structure
    hidden = rng.random(chain.n_vertices) < 0.5
    allowed = hidden[:, None] | (full.loss.outputs[:, None] == np.arange(3))
    problem = Problem.of(PartialLog(chain, allowed), full.terms)
    w, d = (
        problem.representer({clique: rng.normal(size=shape) for clique, shape in chain.shapes.items()})
        for _ in range(2)
    )
    slope = (problem.at(w + 1e-5 * d).value - problem.at(w - 1e-5 * d).value) / 2e-5
    assert problem.inner(problem.at(w).gradient, d) == pytest.approx(slope, rel=1e-7)
    assert problem.at(w).certificate is None


def test_instances_add_up(rng):
    problem = kernel_problem(rng)
    shapes = problem.structure.shapes
    w = problem.representer({clique: rng.normal(size=shape) for clique, shape in shapes.items()})
    ids = np.arange(problem.structure.n_instances)
    halves = [problem.take(half).at(w) for half in (ids[:2], ids[2:])]
    assert sum(half.loss.value for half in halves) == pytest.approx(problem.at(w).loss.value)
    np.testing.assert_allclose(sum(half.mismatch for half in halves), problem.at(w).mismatch, atol=1e-10)


def test_single_precision_gram_certifies(rng):
    problem = kernel_problem(rng)
    space = problem.terms[0].space
    single = Expansion(space.structure, "node", StoredGram(space.gram.matrix.astype(np.float32)))
    rough = Problem.of(problem.loss, [Term("kernel", single, 0.5), problem.terms[1]])
    result = LBFGS().minimize(rough, rough.zero(), Stop(gap=1e-4))
    point = rough.at(rough.refreshed(result.point.element))
    assert point.certificate.relative_gap <= 1e-4
    assert point.value == pytest.approx(optimum(problem).value, rel=1e-4)


def test_edges_with_input_need_scores_of_their_own(rng):
    chain = small_chain()
    with pytest.raises(TypeError, match="scores of their own"):
        Expansion(chain, "edge", StoredGram(np.eye(chain.n_vertices)))


def test_edges_look_at_the_vertex_they_come_from(rng):
    chain = small_chain(shared_edges=False)
    K = RBF(0.3)(rng.normal(size=(chain.n_vertices, 4)))
    space = Expansion(chain, "edge", StoredGram(K))
    gradient = rng.normal(size=(chain.n_edges, 3, 3))
    by_hand = np.einsum("ef,fab->eab", K[np.ix_(chain.edge_tails, chain.edge_tails)], gradient)
    np.testing.assert_allclose(space.scores(space.representer(gradient)), by_hand, atol=1e-10)
