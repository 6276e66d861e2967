"""Max-margin solvers: all reach one optimum, their bounds hold, their guarantees are kept."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from kernelfields.arrays import offsets_of
from kernelfields.gram import StoredGram
from kernelfields.kernels import RBF
from kernelfields.losses import LogLoss, MarginHinge, SlackHinge, ZeroOneHinge, hamming_cost
from kernelfields.objective import BlockDual, Problem, Term
from kernelfields.solvers import (
    BlockFrankWolfe,
    CuttingPlane,
    Reason,
    Stop,
    Subgradient,
    WorkingSet,
    simplex_qp,
)
from kernelfields.spaces import Boundary, Expansion, Free, LabelEmbedding, LinearFeatures
from kernelfields.structures import ChainBatch
from kernelfields.testing import Enumerated
from tests._problems import small_forest

LENGTHS = [3, 1, 4, 0, 2]


def losses(structure, labels, weights=None):
    return {
        "margin": MarginHinge(structure, labels, hamming_cost(structure, labels), weights),
        "slack": SlackHinge(structure, labels, None, weights),
        "zero-one": ZeroOneHinge(structure, labels, weights),
    }


def problem_of(rng, loss="margin", space="linear", structure=None, weighted=False, offset=False):
    chain = ChainBatch(offsets_of(LENGTHS), 3) if structure is None else structure
    features = rng.normal(size=(chain.n_vertices, 4))
    labels = rng.integers(3, size=chain.n_vertices).astype(np.int32)
    weights = rng.random(chain.n_instances) + 0.5 if weighted else None
    if space == "linear":
        first = Term("features", LinearFeatures(chain, "node", features), 0.5)
    elif space == "sparse":
        features[rng.random(features.shape) < 0.5] = 0
        first = Term("features", LinearFeatures(chain, "node", sparse.csr_matrix(features)), 0.5)
    else:
        seen = rng.integers(7, size=chain.n_vertices)
        embedding = LabelEmbedding.centred(3) if space == "kernel, centred" else None
        first = Term(
            "kernel", Expansion(chain, "node", StoredGram(RBF(0.3)(features[:7])), seen, embedding), 0.5
        )
    terms = [first, Term("edges", Free(chain, "edge"), 1.0), Term("bias", Free(chain, "node"), 2.0)]
    terms.append(Term("boundaries", Boundary(chain), 0.7))
    fixed = {clique: rng.normal(size=shape) for clique, shape in chain.shapes.items()} if offset else None
    return Problem.of(losses(chain, labels, weights)[loss], terms, fixed)


SOLVERS = {
    "bcfw": BlockFrankWolfe(),
    "bcfw, plain": BlockFrankWolfe(memory=0),
    "n-slack": WorkingSet(),
    "subgradient": Subgradient(),
}


GAPS = {"subgradient": 0.2, "bcfw, plain": 0.05, "bcfw": 1e-3, "n-slack": 1e-3}


def solve(solver, problem, gap, iterations=3000):
    if isinstance(solver, CuttingPlane):
        return solver.minimize(problem, problem.zero(), Stop(gap, 0.0, iterations))
    return solver.maximize(BlockDual(problem), Stop(gap, 0.0, iterations))


def best(problem):
    """The minimum, by cutting planes to a gap of 1e-8: their bound needs no other solver."""
    result = solve(CuttingPlane(), problem, 1e-8)
    assert result.reason is Reason.GAP
    return result.point.value


CASES = [
    ("margin", "linear", {}),
    ("slack", "linear", {"weighted": True}),
    ("zero-one", "linear", {"weighted": True}),
    ("margin", "sparse", {"offset": True}),
    ("margin", "kernel", {"weighted": True}),
    ("slack", "kernel, centred", {}),
    ("margin", "linear", {"structure": "forest"}),
    ("slack", "linear", {"structure": "forest"}),
]


def make(rng, case):
    loss, space, options = case
    if options.get("structure") == "forest":
        options = {**options, "structure": small_forest()}
    return problem_of(rng, loss, space, **options)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_solvers_reach_the_same_primal_value(case, rng):
    problem = make(rng, case)
    value = best(problem)
    slow = ("bcfw, plain", "subgradient")
    for name, solver in SOLVERS.items():
        if name in slow and case is not CASES[0]:
            continue
        gap = GAPS[name]
        result = solve(solver, problem, gap)
        assert result.reason is Reason.GAP, name
        assert value * (1 - 1e-7) <= result.point.value <= value * (1 + gap) / (1 - gap), name
        assert result.progress.lower_bound <= value * (1 + 1e-7), name


def test_cutting_planes_reach_the_quadratic_programme_with_all_constraints(rng):
    problem = problem_of(rng, structure=ChainBatch([0, 2, 3], 3))
    levels, slopes, owner = every_constraint(problem)
    metric = np.concatenate([np.full(term.space.size, term.metric) for term in problem.terms])
    size, count = len(metric), problem.structure.n_instances
    found = minimize(
        lambda z: 0.5 * metric @ z[:size] ** 2 + z[size:].sum(),
        np.zeros(size + count),
        jac=lambda z: np.concatenate([metric * z[:size], np.ones(count)]),
        constraints={
            "type": "ineq",
            "fun": lambda z: z[size:][owner] - levels - slopes @ z[:size],
            "jac": lambda z: np.hstack([-slopes, np.eye(count)[owner]]),
        },
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-12},
    )
    assert found.success
    np.testing.assert_allclose(best(problem), found.fun, rtol=1e-6)


def every_constraint(problem):
    """Level and slope in the weights of the planes of all labellings, and whose they are."""
    levels, slopes, owner = [], [], []
    for s in range(problem.structure.n_instances):
        one = problem.take([s])
        labels = one.loss.outputs
        for guess in Enumerated(one.structure, one.arrays.scores(one.zero())).outputs(0):
            right, wrong = one.structure.parts(labels), one.structure.parts(guess)
            levels.append(np.sum(guess != labels))
            slopes.append(
                np.concatenate(
                    [t.space.adjoint(wrong[t.space.clique] - right[t.space.clique]) for t in one.terms]
                )
            )
            owner.append(s)
    return np.array(levels), np.array(slopes), np.array(owner)


@pytest.mark.parametrize("loss", ["margin", "slack", "zero-one"])
@pytest.mark.parametrize("epsilon", [0.3, 0.01])
def test_no_constraint_is_violated_by_more_than_epsilon(loss, epsilon, rng):
    problem = problem_of(rng, loss)
    dual = BlockDual(problem)
    looks = []
    solver = WorkingSet(epsilon=epsilon)
    result = solver.maximize(dual, Stop(1e-9, 0.0, 500), lambda progress, point: looks.append(point))
    assert result.reason is Reason.GAP
    assert looks[-1].violation <= epsilon
    excess = by_enumeration(problem, loss, dual.element) - looks[-1].slacks
    assert excess.max() <= epsilon + 1e-9
    np.testing.assert_allclose(excess.max(), looks[-1].violation, atol=1e-9)
    value = best(problem)
    assert problem.at(dual.element).value <= value + 1.2 * epsilon * problem.structure.n_instances


def by_enumeration(problem, loss, element):
    """The loss of every instance, from all its labellings."""
    structure, labels = problem.structure, problem.loss.outputs
    scores = problem.at(problem.refreshed(element)).theta
    every, observed = Enumerated(structure, scores), structure.score(scores, labels)
    result = np.zeros(structure.n_instances)
    for s in range(structure.n_instances):
        wrong = every.outputs(s) != labels[structure.offsets[s] : structure.offsets[s + 1]]
        cost, above = wrong.sum(axis=1), every.values(s) - observed[s]
        if loss == "margin":
            values = cost + above
        else:
            values = (np.minimum(cost, 1) if loss == "zero-one" else cost) * (1 + above)
        result[s] = max(values.max(), 0)
    return result


@pytest.mark.parametrize("structure", [None, small_forest()], ids=["chain", "forest"])
@pytest.mark.parametrize("space", ["linear", "sparse", "kernel", "kernel, centred"])
def test_moves_of_one_instance_are_those_of_the_whole_problem(space, structure, rng):
    problem = problem_of(rng, space=space, structure=structure, weighted=True, offset=True)
    dual = BlockDual(problem)
    gradient = {clique: np.zeros(shape) for clique, shape in problem.structure.shapes.items()}
    for i in (0, 2, 4):
        plane = dual.plane(i, dual.scores(i))
        image = dual.images(i, plane.direction[None])[0]
        before = dual.scores(i)
        dual.move(i, plane.level, plane.direction)
        np.testing.assert_allclose(dual.scores(i), before - image, atol=1e-12)
        parts = dual.instance(i).split(plane.direction)
        rows = slice(problem.structure.offsets[i], problem.structure.offsets[i + 1])
        gradient["node"][rows] += parts["node"]
        gradient["edge"] += parts["edge"]
    expected = -problem.representer(gradient)
    np.testing.assert_allclose(dual.point().element, expected, atol=1e-12)


def test_batched_planes_are_those_of_single_instances(rng):
    dual = BlockDual(problem_of(rng, offset=True, weighted=True))
    dual.element = rng.normal(size=dual.problem.size)
    point = dual.point()
    total = 0.0
    for i, plane in enumerate(dual.planes()):
        scores = dual.scores(i)
        alone = dual.plane(i, scores)
        np.testing.assert_allclose(
            plane.level + plane.direction @ scores, alone.level + alone.direction @ scores
        )
        total += plane.level + plane.direction @ scores
    np.testing.assert_allclose(total, point.loss.value)


def test_dual_points_stay_below_the_optimum_at_every_pass(rng):
    problem = problem_of(rng, "slack")
    value = best(problem)
    for solver in SOLVERS.values():
        bounds = []
        solver.maximize(
            BlockDual(problem), Stop(1e-3, 0.0, 8), lambda progress, _, seen=bounds: seen.append(progress)
        )
        assert all(
            progress.lower_bound <= value * (1 + 1e-9) <= progress.value * (1 + 2e-9) for progress in bounds
        )


def test_unused_constraints_leave_the_working_set(rng):
    problem = problem_of(rng)
    counts = {}
    for patience in (0, 1000):
        seen = counts[patience] = []
        WorkingSet(patience=patience).maximize(
            BlockDual(problem),
            Stop(1e-4, 0.0, 100),
            lambda progress, point, seen=seen: seen.append(point.constraints),
        )
    assert counts[0][-1] < counts[1000][-1]


def test_warm_start_is_a_point_of_the_dual_at_other_penalties(rng):
    problem = problem_of(rng)
    dual = BlockDual(problem)
    solve_from = BlockFrankWolfe().maximize(dual, Stop(1e-2, 0.0, 500))
    assert solve_from.reason is Reason.GAP
    other = Problem.of(problem.loss, [Term(t.name, t.space, 2 * t.penalty) for t in problem.terms])
    again = BlockDual(other)
    again.restart(dual.levels, dual.mixtures)
    np.testing.assert_allclose(again.element, dual.element / 2, atol=1e-12)
    assert again.reached(0).lower_bound <= best(other) * (1 + 1e-9)


@pytest.mark.parametrize("rank", [2, 5])
def test_simplex_programme_satisfies_its_optimality_conditions(rank, rng):
    for _ in range(20):
        root = rng.normal(size=(6, rank))
        gram, linear = root @ root.T, rng.normal(size=6)
        start = np.zeros(6)
        start[rng.integers(6)] = 1
        x = simplex_qp(gram, linear, start)
        assert (x >= 0).all()
        np.testing.assert_allclose(x.sum(), 1)
        gradient = linear - gram @ x
        assert gradient.max() - gradient @ x <= 1e-7


@pytest.mark.parametrize("rank", [2, 7])
def test_a_programme_on_several_simplices_satisfies_its_optimality_conditions(rank, rng):
    groups = np.array([0, 0, 0, 1, 2, 2, 2])
    for _ in range(20):
        root = rng.normal(size=(7, rank))
        gram, linear = root @ root.T, rng.normal(size=7)
        x = simplex_qp(gram, linear, np.array([1.0, 0, 0, 1, 0, 0.5, 0.5]), groups=groups)
        assert (x >= 0).all()
        np.testing.assert_allclose(np.bincount(groups, x), 1)
        gradient = linear - gram @ x
        for group in range(3):
            here = groups == group
            assert gradient[here].max() - gradient[here] @ x[here] <= 1e-7


@pytest.mark.parametrize("space", ["linear", "sparse", "kernel", "kernel, centred"])
def test_products_of_planes_of_different_instances_are_those_of_the_space(space, rng):
    dual = BlockDual(problem_of(rng, space=space, weighted=True, offset=True))
    directions = [rng.normal(size=(k, len(m))) for k, m in zip((2, 1, 0, 3, 1), dual.mixtures, strict=True)]
    elements = []
    for i, rows in enumerate(directions):
        for direction in rows:
            element = dual.problem.zero()
            dual.instance(i).add(element, direction)
            elements.append(dual.problem.refreshed(element))
    expected = [[dual.problem.inner(one, other) for other in elements] for one in elements]
    np.testing.assert_allclose(dual.gram(directions), expected, atol=1e-12)


def test_other_losses_and_missing_penalties_are_refused(rng):
    problem = problem_of(rng)
    with pytest.raises(TypeError, match="hinge loss, not LogLoss"):
        BlockDual(Problem.of(LogLoss(problem.structure, problem.loss.outputs), problem.terms))
    with pytest.raises(TypeError, match="positive penalty"):
        BlockDual(Problem.of(problem.loss, [Term("features", problem.terms[0].space, 0.0)]))


@pytest.mark.parametrize("share", [0.1, 0.3, 0.9])
def test_the_programme_is_exact_where_long_planes_are_nearly_parallel(share):
    """What keeps its systems regular must not stay in the solution."""
    long = np.array([[1e5, 0.0], [1e5, 0.3]])
    gram = long @ long.T
    # the objective along (t, 1 − t) is (c₁ − c₂ + 0.09) t − ½ · 0.09 t² and a constant
    found = simplex_qp(gram, np.array([0.09 * (share - 1), 0.0]), np.array([1.0, 0.0]))
    np.testing.assert_allclose(found, [share, 1 - share], atol=1e-3)
