"""A structure that is no labelling, dependency trees, through spaces, losses, solvers and decoders."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from kernelfields.approximation import Nystroem
from kernelfields.decoders import Best, MinimumRisk, Posterior, Viterbi
from kernelfields.gram import StoredGram
from kernelfields.kernels import RBF
from kernelfields.losses import CallbackHinge, LogLoss, MarginHinge, PartialLog, ZeroOneHinge, hamming_cost
from kernelfields.objective import BlockDual, Problem, Term
from kernelfields.solvers import LBFGS, BlockFrankWolfe, CuttingPlane, NewtonCG, Reason, Stop, WorkingSet
from kernelfields.spaces import Expansion, Free, LinearFeatures, LowRank, SparseFeatures
from kernelfields.testing import check_loss, check_space
from tests._dependency import DependencyBatch, projective_trees

WORDS = [3, 1, 4, 2, 3]


@pytest.fixture
def batch():
    return DependencyBatch(WORDS)


@pytest.fixture
def features(batch, rng):
    return rng.normal(size=(batch.arcs[-1], 3))


@pytest.fixture
def heads(batch, rng):
    return batch.argmax({"arc": rng.normal(size=batch.arcs[-1])}).labels


def wrong(true, guess):
    return float(np.sum(true != guess))


def test_there_are_as_many_trees_as_known():
    """Binomial(3n, n)/(2n + 1)."""
    assert [len(projective_trees(n)) for n in range(5)] == [1, 1, 3, 12, 55]


@pytest.mark.parametrize("kind", ["free", "linear", "sparse", "kernel", "low rank", "some arcs"])
def test_spaces_pass_all_checks(kind, batch, features, rng):
    gram = StoredGram(RBF(0.3)(features))
    space = {
        "free": lambda: Free(batch, "arc"),
        "some arcs": lambda: Free(batch, "arc", members=rng.random(len(features)) < 0.5),
        "linear": lambda: LinearFeatures(batch, "arc", features),
        "sparse": lambda: SparseFeatures(batch, "arc", sparse.csr_matrix(features)),
        "kernel": lambda: Expansion(batch, "arc", gram),
        "low rank": lambda: LowRank(
            batch, "arc", Nystroem(20).on(RBF(0.3), features, np.random.RandomState(0)).factor
        ),
    }[kind]()
    check_space(space, rng)


@pytest.mark.parametrize("name", ["log", "softmax-margin", "partial", "margin", "zero-one", "callback"])
def test_losses_pass_all_checks(name, batch, heads, rng):
    weights = rng.random(len(WORDS)) + 0.5
    known = batch.parts(heads)["arc"] > 0
    loss = {
        "log": LogLoss(batch, heads, weights),
        "softmax-margin": LogLoss(batch, heads, weights, hamming_cost(batch, heads)),
        "partial": PartialLog(batch, known | (rng.random(len(known)) < 0.5), weights),
        "margin": MarginHinge(batch, heads, hamming_cost(batch, heads), weights),
        "zero-one": ZeroOneHinge(batch, heads, weights),
        "callback": CallbackHinge(batch, heads, wrong, bound=4.0),
    }[name]
    check_loss(loss, {"arc": rng.normal(size=batch.arcs[-1])}, rng)


def linear(loss, features):
    batch = loss.structure
    return Problem.of(
        loss,
        [Term("arcs", LinearFeatures(batch, "arc", features), 0.4), Term("bias", Free(batch, "arc"), 1.0)],
    )


@pytest.mark.parametrize("solver", [LBFGS(), NewtonCG()], ids=["lbfgs", "newton"])
def test_log_loss_reaches_the_optimum_and_certifies_it(solver, batch, features, heads):
    problem = linear(LogLoss(batch, heads), features)
    found = solver.minimize(problem, problem.zero(), Stop(1e-9, 0.0, 500))

    def objective(w):
        scores = {"arc": features @ w[:3] + w[3]}
        loss = (batch.log_partition(scores) - batch.score(scores, heads)).sum()
        return loss + 0.2 * w[:3] @ w[:3] + 0.5 * w[3] ** 2

    best = minimize(objective, np.zeros(4), tol=1e-12).fun
    assert found.reason is Reason.GAP
    assert found.point.certificate.lower_bound <= best * (1 + 1e-12)
    assert found.point.value == pytest.approx(best, rel=1e-8)


def test_the_linear_kernel_reaches_the_linear_optimum(batch, features, heads):
    kernel = Expansion(batch, "arc", StoredGram(features @ features.T))
    expanded = Problem.of(
        LogLoss(batch, heads), [Term("arcs", kernel, 0.4), Term("bias", Free(batch, "arc"), 1.0)]
    )
    values = [
        LBFGS().minimize(problem, problem.zero(), Stop(1e-10, 0.0, 500)).point.value
        for problem in (expanded, linear(LogLoss(batch, heads), features))
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-9)


@pytest.mark.parametrize("kind", ["linear", "sparse", "kernel"])
def test_margins_reach_the_quadratic_programme_with_all_constraints(kind, features, rng):
    batch = DependencyBatch([2, 3, 1])
    features = features[: batch.arcs[-1]]
    heads = batch.argmax({"arc": rng.normal(size=len(features))}).labels
    loss = MarginHinge(batch, heads, hamming_cost(batch, heads))
    space = {
        "linear": lambda: LinearFeatures(batch, "arc", features),
        "sparse": lambda: LinearFeatures(batch, "arc", sparse.csr_matrix(features)),
        "kernel": lambda: Expansion(batch, "arc", StoredGram(features @ features.T)),
    }[kind]()
    problem = Problem.of(loss, [Term("arcs", space, 0.4)])
    levels, slopes, owner = every_constraint(batch, heads, features)
    found = minimize(
        lambda z: 0.2 * z[:3] @ z[:3] + z[3:].sum(),
        np.zeros(6),
        jac=lambda z: np.concatenate([0.4 * z[:3], np.ones(3)]),
        constraints={
            "type": "ineq",
            "fun": lambda z: z[3:][owner] - levels - slopes @ z[:3],
            "jac": lambda z: np.hstack([-slopes, np.eye(3)[owner]]),
        },
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 300},
    )
    assert found.success
    one_slack = CuttingPlane().minimize(problem, problem.zero(), Stop(1e-8, 0.0, 500))
    assert one_slack.point.value == pytest.approx(found.fun, rel=1e-6)
    for solver, gap in ((WorkingSet(), 1e-6), (BlockFrankWolfe(), 1e-3)):
        reached = solver.maximize(BlockDual(problem), Stop(gap, 0.0, 3000))
        assert reached.reason is Reason.GAP
        assert found.fun * (1 - 1e-6) <= reached.point.value <= found.fun * (1 + 2 * gap) + 1e-9


def every_constraint(batch, heads, features):
    """Wrong heads and difference of features of every tree, and whose it is."""
    levels, slopes, owner = [], [], []
    for s, n in enumerate(batch.words):
        mine, rows = batch.cut_outputs(heads, [s]), slice(*batch.arcs[s : s + 2])
        table = features[rows].reshape(n, n + 1, 3)
        for guess in projective_trees(int(n)):
            levels.append(wrong(mine, guess))
            slopes.append(sum(table[m, guess[m]] - table[m, mine[m]] for m in range(n)))
            owner.append(s)
    return np.array(levels), np.array(slopes), np.array(owner)


def test_decoders_choose_among_trees(batch, rng):
    scores = {"arc": rng.normal(size=batch.arcs[-1])}
    likely = batch.marginals(scores).parts["arc"]
    every = MinimumRisk(wrong, Best(100)).decode(batch, scores)
    posterior = Posterior().decode(batch, scores)
    np.testing.assert_array_equal(posterior, every)  # both the Bayes rule of the number of wrong heads
    best = [projective_trees(n) for n in WORDS]
    right = batch.score({"arc": likely}, posterior)
    for s, trees in enumerate(best):
        start = batch.arcs[s] + np.arange(WORDS[s]) * (WORDS[s] + 1)
        assert right[s] == pytest.approx(max(likely[start + heads].sum() for heads in trees))
    np.testing.assert_array_equal(Viterbi().decode(batch, scores), batch.argmax(scores).labels)
