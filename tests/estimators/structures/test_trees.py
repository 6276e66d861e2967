"""Options of estimators on branching trees, against models written out."""

import itertools

import numpy as np
import pytest

from kernelfields import (
    CRF,
    BoostedCRF,
    FixedScores,
    FreeScores,
    KernelCRF,
    KernelScores,
    Parts,
    Run,
    StructuredPerceptron,
    StructuredSVM,
)
from kernelfields.approximation import IncompleteCholesky, Nystroem
from kernelfields.constraints import Constraints
from kernelfields.kernels import RBF
from kernelfields.losses import LabellingCost, Log
from kernelfields.selection import SGPS, SGSA, GreedyCliques, InTurn, WholeSequences

from ._explicit import LABELS, Explicit, random_task, same
from ._solvers import least_log_loss, log_objective
from .test_log_loss import in_kernel_space

PARTS = {"features": 0.7, "bias": 0.7, "boundaries": 0.7, "edges": 1.3}
K = RBF(gamma=0.4)
RULE = Constraints([("red", "red"), ("blue", "green")], ["green"], ["blue"])


@pytest.fixture
def task(rng):
    return random_task(rng, "tree")


def broken(item, y):
    """Whether a labelling has a forbidden pair of parent and child, root or leaf."""
    names = [LABELS[k] for k in y]
    pairs = [(names[p], name) for p, name in zip(item.parents, names, strict=True) if p >= 0]
    roots = [name for p, name in zip(item.parents, names, strict=True) if p < 0]
    leaves = [name for v, name in enumerate(names) if v not in item.parents]
    return (
        any(pair in RULE.forbidden_pairs for pair in pairs)
        or any(name in RULE.forbidden_starts for name in roots)
        or any(name in RULE.forbidden_ends for name in leaves)
    )


def ruled_task(rng):
    """Return a task whose labels obey the rule, and −inf for labellings that do not."""
    task = random_task(rng, "tree", sizes=(4, 0, 1, 3, 4, 4, 3))
    items = []
    for item in task.items:
        every = itertools.product(range(3), repeat=len(item.y))
        good = [y for y in every if not broken(item, y)]
        items.append(item._replace(y=np.array(good[rng.integers(len(good))], int)))
    task = task._replace(items=items)
    explicit = Explicit(task, PARTS)
    fixed = [
        np.where([broken(item, y) for y in labels], -np.inf, 0.0)
        for item, labels in zip(items, explicit.labels, strict=True)
    ]
    return task, explicit, fixed


def fitted(model, task, **settings):
    return model.fit(task.inputs, task.labels, **settings)


def test_rule_in_training_and_in_every_decoder(rng):
    task, explicit, fixed = ruled_task(rng)
    model = fitted(
        CRF(
            0.7,
            parts=Parts(edges=FreeScores(penalty=1.3)),
            structure="tree",
            constraints=RULE,
            classes=LABELS,
            tol=1e-9,
        ),
        task,
    )
    optimum = least_log_loss(explicit, rng, fixed=fixed)
    assert model.certificate_.value == pytest.approx(optimum.value, rel=1e-6)
    p = explicit.probabilities(optimum.w, fixed)
    same(model.predict_marginals(task.inputs), explicit.marginals(p), 2e-4)
    draws = model.sample(task.inputs, 50)
    for labellings in [model.predict(task.inputs), model.predict(task.inputs, decoder="viterbi"), *draws]:
        for item, names in zip(task.items, labellings, strict=True):
            assert not broken(item, [LABELS.index(name) for name in names])


@pytest.mark.parametrize(
    "model",
    [
        KernelCRF(K),
        StructuredSVM(),
        StructuredSVM(rescaling="slack"),
        StructuredPerceptron(random_state=0),
        BoostedCRF(2, min_samples_leaf=1, random_state=0),
    ],
    ids=["kernel", "SVM", "slack", "perceptron", "boosted"],
)
def test_rule_in_other_models(model, rng):
    task, explicit, fixed = ruled_task(rng)
    model.set_params(structure="tree", constraints=RULE, classes=LABELS)
    fitted(model, task)
    for item, names in zip(task.items, model.predict(task.inputs, decoder="viterbi"), strict=True):
        assert not broken(item, [LABELS.index(name) for name in names])
    every = [[LABELS[k] for k in y] for y in explicit.labels[0]]
    log_p = model.sequence_log_proba([task.inputs[0]] * len(every), every)
    np.testing.assert_array_equal(np.isneginf(log_p), np.isneginf(fixed[0]))
    assert np.exp(log_p).sum() == pytest.approx(1.0, abs=1e-5)


def test_labels_not_observed(task, rng):
    hidden = [rng.random(len(item.y)) < 0.3 for item in task.items]
    y = [
        [None if h else label for h, label in zip(*both, strict=True)]
        for both in zip(hidden, task.labels, strict=True)
    ]
    explicit = Explicit(task, PARTS)
    possible = [
        ((labels == item.y) | h).all(axis=1)
        for item, labels, h in zip(task.items, explicit.labels, hidden, strict=True)
    ]
    model = CRF(
        0.7, parts=Parts(edges=FreeScores(penalty=1.3)), structure="tree", classes=LABELS, tol=1e-9
    ).fit(task.inputs, y)
    value, gradient = log_objective(explicit, _weights(model, explicit), possible=possible)
    assert np.abs(gradient).max() < 1e-3
    log_p = model.sequence_log_proba(task.inputs, y)
    assert value == pytest.approx(-log_p.sum() + 0.5 * explicit.penalty @ _weights(model, explicit) ** 2)


def _weights(model, explicit):
    ends = np.stack([model.start_, model.end_])
    return explicit.weights(
        features=model.coef_, bias=model.intercept_, boundaries=ends, edges=model.transitions_
    )


def test_log_loss_of_labels(task):
    """No derivative of Σ_v −log p(y_v|x) + (λ/2)‖w‖² is left."""
    model = fitted(
        CRF(0.7, parts=Parts(edges=FreeScores(penalty=1.3)), structure="tree", loss="marginal-log", tol=1e-9),
        task,
    )
    explicit = Explicit(task, PARTS)

    def value(w):
        marginals = explicit.marginals(explicit.probabilities(w))
        right = [m[np.arange(len(i.y)), i.y] for m, i in zip(marginals, task.items, strict=True)]
        return 0.5 * explicit.penalty @ w**2 - np.log(np.concatenate(right)).sum()

    w, step = _weights(model, explicit), 1e-5 * np.eye(len(explicit.penalty))
    slopes = [(value(w + d) - value(w - d)) / 2e-5 for d in step]
    assert np.abs(slopes).max() < 1e-3


@pytest.mark.parametrize("kernel", [False, True], ids=["linear", "kernel"])
def test_costs_inside_and_weights_of_items(kernel, task, rng):
    weights = rng.uniform(0.2, 2.0, size=len(task.items))
    explicit = Explicit(in_kernel_space(task, K) if kernel else task, PARTS)
    cost = [
        (np.where(item.y == 2, 1.5, 0.5) * (labels != item.y)).sum(axis=1)
        for item, labels in zip(task.items, explicit.labels, strict=True)
    ]
    optimum = least_log_loss(explicit, rng, cost=cost, weights=weights)
    loss = Log(class_weight={"red": 1.5, "green": 0.5, "blue": 0.5})
    settings = {"structure": "tree", "loss": loss, "tol": 1e-9}
    model = (
        KernelCRF(K, penalty=0.7, parts=Parts(edges=FreeScores(penalty=1.3)), run=Run(dtype="float64"))
        if kernel
        else CRF(0.7, parts=Parts(edges=FreeScores(penalty=1.3)))
    )
    fitted(model.set_params(**settings), task, sample_weight=weights)
    assert model.certificate_.value == pytest.approx(optimum.value, rel=1e-6)


def test_base_measure_and_kernel_on_labels(task, rng):
    on_labels = np.array([[1.0, 0.4, 0.0], [0.4, 1.0, 0.2], [0.0, 0.2, 1.0]])
    explicit = Explicit(in_kernel_space(task, K), PARTS)
    n = int(np.prod(explicit.shapes["features"]))
    root = np.linalg.cholesky(on_labels)
    for phi in explicit.phi:
        phi[:, :n] = np.einsum("kl,mkd->mld", root, phi[:, :n].reshape(-1, 3, n // 3)).reshape(-1, n)
    fixed = [0.8 * (labels == 2).sum(axis=1) for labels in explicit.labels]
    optimum = least_log_loss(explicit, rng, fixed=fixed)
    model = KernelCRF(
        K,
        penalty=0.7,
        parts=Parts(
            edges=FreeScores(penalty=1.3),
            kernel=KernelScores(labels=on_labels),
            known=FixedScores({"red": 0.8}),
        ),
    )
    fitted(model.set_params(structure="tree", tol=1e-9, run__dtype="float64"), task)
    assert model.certificate_.value == pytest.approx(optimum.value, rel=1e-6)
    expected = explicit.marginals(explicit.probabilities(optimum.w, fixed))
    same(model.predict_marginals(task.inputs), expected, 2e-4)


def test_what_is_known_beforehand(task):
    """Marginals and labels given some labels are those of the labellings that have them."""
    model = fitted(CRF(0.7, parts=Parts(edges=FreeScores(penalty=1.3)), structure="tree"), task)
    explicit = Explicit(task, PARTS)
    allowed = [[None if v % 2 else ["red", "blue"] for v in range(len(item.y))] for item in task.items]
    kept = [(labels[:, ::2] != LABELS.index("green")).all(axis=1) for labels in explicit.labels]
    p = explicit.probabilities(_weights(model, explicit), [np.where(k, 0.0, -np.inf) for k in kept])
    found = model.predict_marginals(task.inputs, allowed=allowed)
    same(found, explicit.marginals(p), 1e-9)
    best = [
        [LABELS[k] for k in labels[np.argmax(each)]] for labels, each in zip(explicit.labels, p, strict=True)
    ]
    assert model.predict(task.inputs, allowed=allowed, decoder="viterbi") == best


def test_best_labellings(task):
    """The k best of all labellings, with their probabilities; no more than there are."""
    model = fitted(CRF(0.7, parts=Parts(edges=FreeScores(penalty=1.3)), structure="tree"), task)
    explicit = Explicit(task, PARTS)
    found = model.predict_kbest(task.inputs, 10)
    for each, labels, p in zip(
        found, explicit.labels, explicit.probabilities(_weights(model, explicit)), strict=True
    ):
        order = np.argsort(-p)[:10]
        assert [names for names, _ in each] == [[LABELS[k] for k in labels[n]] for n in order]
        np.testing.assert_allclose([value for _, value in each], np.log(p[order]), atol=1e-9)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_cost_by_a_function(rescaling, task):
    """A function of whole labellings that counts errors is the cost that counts errors."""
    most = max(len(item.y) for item in task.items)
    cost = LabellingCost(lambda a, b: float((a != b).sum()), bound=most)
    values = [
        fitted(
            StructuredSVM(cost=c, rescaling=rescaling, structure="tree", tol=1e-6), task
        ).certificate_.value
        for c in (cost, "hamming")
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-5)


@pytest.mark.parametrize(
    "settings",
    [
        {"basis": SGPS(size=500, order=InTurn())},
        {"basis": SGSA(size=500, order=InTurn())},
        {"basis": GreedyCliques(size=500)},
        {"basis": WholeSequences(size=500, order=InTurn())},
        {"basis": Nystroem(100), "random_state": 0},
        {"basis": IncompleteCholesky(100)},
    ],
    ids=["SGPS", "SGSA", "cliques", "whole", "Nyström", "Cholesky"],
)
def test_a_subspace_that_holds_all_functions_has_the_optimum(settings, task, rng):
    explicit = Explicit(
        in_kernel_space(task, K), {"features": 0.7, "bias": 0.7, "boundaries": 0.7, "edges": 1.3}
    )
    optimum = least_log_loss(explicit, rng)
    model = KernelCRF(
        K,
        penalty=0.7,
        parts=Parts(edges=FreeScores(penalty=1.3)),
        structure="tree",
        tol=1e-8,
        run=Run(dtype="float64"),
        **settings,
    )
    fitted(model, task)
    assert model.certificate_.value == pytest.approx(optimum.value, rel=1e-4)
    whole = model.full_gap(task.inputs, task.labels)
    assert whole.lower_bound <= optimum.value + 1e-9 <= whole.value + 1e-6
