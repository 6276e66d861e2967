"""How fits on trees begin, go on and end: held-out trees, warm starts, checkpoints, further trees."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kernelfields import (
    AROW,
    CRF,
    BoostedCRF,
    FreeScores,
    GPSequenceClassifier,
    InputError,
    KernelCRF,
    KernelScores,
    LinearScores,
    Parts,
    PassiveAggressive,
    Run,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    TreeScores,
    load,
)
from kernelfields.constraints import Constraints
from kernelfields.kernels import RBF
from kernelfields.selection import GreedyCliques

from ._explicit import Explicit, random_task
from ._solvers import least_log_loss, log_objective

T = {"structure": "tree"}
SIZES = (4, 0, 5, 1, 6, 7, 3, 4, 8, 5)
ONLINE = [
    StructuredPerceptron(**T, random_state=0),
    PassiveAggressive(**T, random_state=0),
    AROW(**T, random_state=0),
    StochasticCRF(learning_rate=0.1, **T, random_state=0),
]


@pytest.fixture
def task(rng):
    return random_task(rng, "tree", SIZES)


@pytest.fixture
def dev(rng):
    return random_task(rng, "tree", (3, 5, 0, 6, 4))


def loss_of(model, task):
    return -model.sequence_log_proba(task.inputs, task.labels).sum()


@pytest.mark.parametrize(
    "model",
    [
        CRF(1e-3, tol=1e-9, run=Run(patience=3), **T),
        CRF(1e-3, parts=Parts(edge_features=LinearScores()), tol=1e-9, run=Run(patience=3), **T),
        KernelCRF(RBF(gamma=2.0), penalty=1e-3, tol=1e-9, run=Run(patience=3, dtype="float64"), **T),
        KernelCRF(
            RBF(gamma=2.0),
            penalty=1e-3,
            parts=Parts(edge_kernel=KernelScores()),
            tol=1e-9,
            run=Run(patience=3, dtype="float64"),
            **T,
        ),
        BoostedCRF(
            max_iter=30,
            parts=Parts(
                edge_trees=TreeScores(),
                edges=FreeScores(penalty=0.01),
                bias=FreeScores(penalty=0.01),
                boundaries=FreeScores(penalty=0.01),
            ),
            min_samples_leaf=1,
            penalty=0.01,
            run=Run(patience=3),
            **T,
            random_state=0,
        ),
    ],
    ids=["CRF", "edge features", "kernel", "kernel on edges", "boosting"],
)
def test_held_out_trees_decide_when_to_stop(model, task, dev):
    """A search ends early, with a better model for held-out trees than at its own end."""
    whole = clone(model).fit(task.inputs, task.labels)
    model = clone(model)
    model.fit(task.inputs, task.labels, X_dev=dev.inputs, y_dev=dev.labels)
    assert model.n_iter_ < whole.n_iter_
    assert loss_of(model, dev) < loss_of(whole, dev)
    if hasattr(model, "held_out_losses_"):
        assert loss_of(model, dev) == pytest.approx(min(model.held_out_losses_), rel=1e-6)


@pytest.mark.parametrize("model", ONLINE, ids=lambda m: type(m).__name__)
def test_online_learning_goes_on(model, task, dev, tmp_path):
    """Pass by pass, in memory or by a file; held-out trees choose an epoch."""
    first = clone(model).partial_fit(task.inputs, task.labels, classes=["blue", "green", "red"])
    first.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    for each in (first, again):
        each.partial_fit(dev.inputs, dev.labels)
    np.testing.assert_array_equal(first.coef_, again.coef_)
    best = clone(model).fit(task.inputs, task.labels, X_dev=dev.inputs, y_dev=dev.labels)
    scores = [
        clone(model).set_params(max_iter=n).fit(task.inputs, task.labels).score(dev.inputs, dev.labels)
        for n in (1, 2, 3, 4)
    ]
    assert best.score(dev.inputs, dev.labels) >= max(scores) - 1e-12


def test_further_trees_pull_at_what_was_learnt(task, dev, rng):
    """partial_fit minimises the loss of new trees plus (λ/2)‖w − w₀‖²."""
    first = CRF(0.7, parts=Parts(edges=FreeScores(penalty=1.3)), tol=1e-9, **T).fit(task.inputs, task.labels)
    small = random_task(rng, "tree", (4, 1, 0, 3))
    explicit = Explicit(small, {"features": 0.7, "bias": 0.7, "boundaries": 0.7, "edges": 1.3})

    def weights(model):
        ends = np.stack([model.start_, model.end_])
        return explicit.weights(
            features=model.coef_, bias=model.intercept_, boundaries=ends, edges=model.transitions_
        )

    before = weights(first)
    optimum = least_log_loss(explicit, rng, fixed=[phi @ before for phi in explicit.phi])
    first.partial_fit(small.inputs, small.labels)
    np.testing.assert_allclose(weights(first), before + optimum.w, atol=1e-3)
    value, _ = log_objective(explicit, optimum.w, fixed=[phi @ before for phi in explicit.phi])
    assert first.certificate_.value == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        CRF(tol=1e-6, warm_start=True, **T),
        KernelCRF(tol=1e-6, warm_start=True, run=Run(dtype="float64"), **T),
        GPSequenceClassifier(tol=1e-6, warm_start=True, run=Run(dtype="float64"), **T),
        StructuredSVM(tol=1e-4, warm_start=True, solver="n-slack", **T),
    ],
    ids=lambda m: type(m).__name__,
)
def test_warm_starts(model, task):
    """Fitted again, a search ends at once, where it was; other parents are another training set."""
    cold = clone(model).fit(task.inputs, task.labels)
    again = clone(model).fit(task.inputs, task.labels).fit(task.inputs, task.labels)
    assert again.n_iter_ < cold.n_iter_
    roots = [(x, [-1] * len(parents)) for x, parents in task.inputs]
    other = clone(model).fit(roots, task.labels)
    moved = clone(model).fit(task.inputs, task.labels).fit(roots, task.labels)
    assert moved.certificate_.value == pytest.approx(other.certificate_.value, rel=1e-3)


@pytest.mark.parametrize("kind", [CRF, KernelCRF])
def test_checkpoints(kind, task, tmp_path):
    """A search goes on from its file, for the same trees only."""
    path = tmp_path / "search"
    settings = {"run": Run(checkpoint=path, checkpoint_seconds=0), "tol": 1e-8, **T}
    with pytest.warns(ConvergenceWarning):
        kind(max_iter=5, **settings).fit(task.inputs, task.labels)
    assert path.exists()
    roots = [(x, [-1] * len(parents)) for x, parents in task.inputs]
    with pytest.raises(InputError, match="other data"):
        kind(**settings).fit(roots, task.labels)
    rest = kind(**settings).fit(task.inputs, task.labels)
    whole = kind(tol=1e-8, **T).fit(task.inputs, task.labels)
    assert not path.exists()
    assert rest.n_iter_ < whole.n_iter_
    assert rest.certificate_.value == pytest.approx(whole.certificate_.value, rel=1e-7)


def test_selection_goes_on_and_listens_to_held_out_trees(task, dev):
    model = KernelCRF(basis=GreedyCliques(size=8, step=2), warm_start=True, random_state=0, **T)
    small = model.fit(task.inputs, task.labels).certificate_.value
    model.set_params(basis=GreedyCliques(size=20, step=2)).fit(task.inputs, task.labels)
    assert model.certificate_.value < small
    judged = clone(model).fit(task.inputs, task.labels, X_dev=dev.inputs, y_dev=dev.labels)
    assert all(np.isfinite(step.held_out) for step in judged.path_)


def test_held_out_trees_obey_rules(rng):
    """The loss of held-out trees is that of the model with its rules."""
    rule = Constraints([("red", "blue")], [], [])
    X = [(rng.normal(size=(3, 2)), [-1, 0, 0]) for _ in range(6)]
    y = [["red", "green", "red"], ["blue", "blue", "red"], ["green", "red", "blue"]] * 2
    model = CRF(0.1, constraints=rule, tol=1e-8, **T).fit(X[:3], y[:3], X_dev=X[3:], y_dev=y[3:])
    assert np.isfinite(model.sequence_log_proba(X, y)).all()
    with pytest.raises(InputError, match=r"^Tree 1 of X_dev .* 'red' → 'blue' at vertex 1\.$"):
        CRF(constraints=rule, **T).fit(X, y, X_dev=X[:2], y_dev=[y[0], ["red", "blue", "red"]])
