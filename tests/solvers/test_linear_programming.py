"""ℓ1 structured SVMs: the linear program with the constraints of all labellings at once."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.optimize import linprog

from kernelfields import CRF, FreeScores, InputError, Parts, Run, StructuredSVM, load
from kernelfields.losses import LogLoss, MarginHinge
from kernelfields.objective import L1Norm, Problem, Term
from kernelfields.solvers import OWLQN, LinearProgramming, Stop
from kernelfields.spaces import Free, LinearFeatures
from tests._problems import small_chain

LABELS = ["a", "b", "c"]
L1 = {"norm": "l1", "solver": "linear-program"}


@pytest.fixture
def data(rng):
    X = [rng.normal(size=(length, 2)) for length in (3, 1, 4, 2, 3, 4)]
    y = [[LABELS[int(np.digitize(row[0] + 0.8 * rng.normal(), [-0.5, 0.5]))] for row in x] for x in X]
    y[0][0], y[2][0], y[4][0] = LABELS
    return X, y


def features(x, labels):
    """Weights of features, of labels, of pairs, and of ends."""
    coef, bias, pairs, start, end = (np.zeros(shape) for shape in ((3, 2), 3, (3, 3), 3, 3))
    for row, k in zip(x, labels, strict=True):
        coef[k] += row
        bias[k] += 1
    for a, b in pairwise(labels):
        pairs[a, b] += 1
    start[labels[0]] += 1
    end[labels[-1]] += 1
    return np.concatenate([part.ravel() for part in (coef, bias, start, end, pairs)])


def all_at_once(X, y, penalty, edge_penalty, rescaling, weights):
    """min Σ κ|w| + Σ weight ξ, a constraint for every labelling of every sequence."""
    D = 24
    rows, levels = [], []
    for i, (x, labels) in enumerate(zip(X, y, strict=True)):
        truth = tuple(LABELS.index(label) for label in labels)
        for other in product(range(3), repeat=len(x)):
            wrong = sum(a != b for a, b in zip(truth, other, strict=True))
            change = features(x, other) - features(x, truth)
            scale = {"margin": 1.0, "slack": wrong, "zero-one": 1.0}[rescaling]
            level = wrong if rescaling != "zero-one" else float(wrong > 0)
            slack = np.zeros(len(X))
            slack[i] = -1
            rows.append(np.concatenate([scale * change, -scale * change, slack]))
            levels.append(-level)
    kappa = np.r_[np.full(15, penalty), np.full(9, edge_penalty)]
    found = linprog(np.r_[kappa, kappa, weights], np.array(rows), levels, method="highs")
    return found.fun, found.x[:D] - found.x[D : 2 * D]


@pytest.mark.parametrize("rescaling", ["margin", "slack", "zero-one"])
@pytest.mark.parametrize(("penalty", "edge_penalty"), [(0.3, None), (0.05, 0.4)])
def test_optimum_is_that_of_all_labellings(rescaling, penalty, edge_penalty, data):
    X, y = data
    weights = np.array([1.0, 2.0, 0.5, 1.0, 0.0, 3.0])
    model = StructuredSVM(
        penalty=penalty,
        parts=Parts(edges=FreeScores(penalty=edge_penalty)),
        rescaling=rescaling,
        tol=1e-8,
        **L1,
    )
    model.fit(X, y, sample_weight=weights)
    best, _ = all_at_once(X, y, penalty, edge_penalty or penalty, rescaling, weights)
    assert model.certificate_.value == pytest.approx(best, rel=1e-7)
    assert best * (1 - 2e-8) <= model.certificate_.lower_bound + 1e-12
    assert model.certificate_.lower_bound <= best * (1 + 1e-9)
    assert model.certificate_.relative_gap <= 1e-8
    every = [model.coef_, model.intercept_, model.start_, model.end_]
    assert sum((part == 0).sum() for part in every) >= 5
    own = penalty * sum(np.abs(part).sum() for part in every)
    own += (edge_penalty or penalty) * np.abs(model.transitions_).sum()
    assert own < model.certificate_.value


def test_bounds_rise_and_constraints_are_few(data):
    X, y = data
    seen = []
    model = StructuredSVM(penalty=0.2, tol=1e-9, run=Run(callback=seen.append), **L1).fit(X, y)
    best, _ = all_at_once(X, y, 0.2, 0.2, "margin", np.ones(6))
    bounds = [progress.lower_bound for progress in seen]
    assert bounds == sorted(bounds)
    assert all(bound <= best * (1 + 1e-9) <= seen[k].value * (1 + 2e-9) for k, bound in enumerate(bounds))
    assert model.history_[-1].constraints < sum(3 ** len(x) for x in X) / 4
    assert model.history_[-1].violation < 1e-7


def test_large_penalties_leave_nothing(data):
    """At w = 0 the loss is the number of labels, and no step is worth its price."""
    X, y = data
    model = StructuredSVM(penalty=1e3, **L1).fit(X, y)
    assert not model.coef_.any()
    assert model.certificate_.value == sum(map(len, y))
    assert model.certificate_.gap == pytest.approx(0, abs=1e-9)


def test_models_are_kept_and_started_from(data, tmp_path):
    X, y = data
    model = StructuredSVM(penalty=0.2, warm_start=True, tol=1e-7, **L1).fit(X, y)
    model.save(tmp_path / "model.kf")
    assert load(tmp_path / "model.kf").predict(X) == model.predict(X)
    value = model.certificate_.value
    assert model.fit(X, y).certificate_.value == pytest.approx(value, rel=1e-6)


def test_any_loss_of_planes_or_curves(rng):
    """Of the log loss every round adds a tangent; OWL-QN finds the same minimum."""
    chain = small_chain(3)
    labels = rng.integers(3, size=chain.n_vertices).astype(np.int32)
    spaces = LinearFeatures(chain, "node", rng.normal(size=(chain.n_vertices, 2))), Free(chain, "edge")
    terms = [Term(name, s, 0.0, L1Norm(1.0)) for name, s in zip(("features", "edges"), spaces, strict=True)]
    problem, stop = Problem.of(LogLoss(chain, labels), terms), Stop(gap=1e-5, iterations=300)
    by_program = LinearProgramming().minimize(problem, problem.zero(), stop)
    by_newton = OWLQN().minimize(problem, problem.zero(), Stop(gap=1e-7))
    assert by_program.progress.relative_gap <= 1e-5
    assert by_program.point.value == pytest.approx(by_newton.point.value, rel=2e-5)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"norm": "l1"}, "go together"),
        ({"solver": "linear-program"}, "go together"),
        ({**L1, "kernel": "rbf"}, "leave out the kernel"),
        ({"norm": "l2"}, "choose one of 'squared', 'l1'"),
    ],
    ids=str,
)
def test_what_is_no_linear_program(settings, reason, data):
    with pytest.raises(InputError, match=reason):
        StructuredSVM(**settings).fit(*data)


def test_squared_penalties_are_refused(rng):
    chain = small_chain(3)
    labels = rng.integers(3, size=chain.n_vertices).astype(np.int32)
    for norm in (None, L1Norm(1.0)):
        problem = Problem.of(MarginHinge(chain, labels), [Term("edges", Free(chain, "edge"), 1.0, norm)])
        with pytest.raises(TypeError, match="no squared ones"):
            LinearProgramming().minimize(problem, problem.zero(), Stop())
    with pytest.raises(InputError, match="solver"):
        CRF(solver="linear-program").fit([[[0.0]], [[1.0]]], [["a"], ["b"]])
