"""BoostedCRF: one round on every structure is what enumeration says it is; MEMM: logistic regressions."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from kernelfields import MEMM, BoostedCRF, InputError, Parts

from ..._parts import free
from ._explicit import STRUCTURES, Explicit, further_parts, random_task, same
from ._solvers import least_log_loss, log_objective

FREE = {"bias": 0.8, "boundaries": 0.8, "edges": 0.8}


def stump(x, g, h, penalty):
    """Return the values of the best tree of one split, at every row."""
    best, values = -np.inf, None
    for d in range(x.shape[1]):
        for threshold in np.unique(x[:, d])[:-1]:
            sides = [x[:, d] <= threshold, x[:, d] > threshold]
            gain = sum(g[s].sum() ** 2 / (h[s].sum() + penalty) for s in sides)
            if gain > best:
                best = gain
                values = np.where(sides[0], *[-g[s].sum() / (h[s].sum() + penalty) for s in sides])
    return values


def by_labelling(explicit, node):
    """Return Σ_v node[v, y_v] of every labelling."""
    ends = np.cumsum([len(item.y) for item in explicit.task.items])[:-1]
    return [
        part[np.arange(labels.shape[1]), labels].sum(axis=1)
        for part, labels in zip(np.split(node, ends), explicit.labels, strict=True)
    ]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_one_round(structure, rng):
    """Trees are grown on p(y_v|x) − [y_v] of the best free scores, and the loss is the explicit one."""
    task = random_task(rng, structure)
    explicit = Explicit(task, FREE | further_parts(structure, 0.8))
    optimum = least_log_loss(explicit, rng)
    x, y = (np.concatenate([item[k] for item in task.items]) for k in (0, 2))
    mu = np.concatenate(explicit.marginals(explicit.probabilities(optimum.w)))
    g, h = mu - np.eye(3)[y], mu * (1 - mu)
    trees = np.stack([stump(x, g[:, k], h[:, k], 0.3) for k in range(3)], axis=1)
    names = [name for name in explicit.names if name != "boundaries" or structure != "graph"]
    settings = {
        "max_leaf_nodes": 2,
        "min_samples_leaf": 1,
        "penalty": 0.3,
        "parts": Parts(free(0.8, *names)),
    }
    model = BoostedCRF(1, learning_rate=0.1, structure=structure, **settings, random_state=0).fit(
        task.inputs, task.labels
    )
    assert model.losses_[0] == pytest.approx(optimum.value, rel=1e-5)
    np.testing.assert_allclose(model.forests_["node"].scores(x), 0.1 * trees, atol=1e-3)
    w = explicit.weights(
        bias=model.intercept_,
        boundaries=np.stack([model.start_, model.end_]),
        edges=model.transitions_,
        second_order=model.second_order_,
        durations=model.durations_,
    )
    fixed = by_labelling(explicit, model.forests_["node"].scores(x))
    assert model.losses_[1] == pytest.approx(log_objective(explicit, w, fixed=fixed)[0], rel=1e-9)
    assert model.losses_[1] < model.losses_[0]
    same(model.predict_marginals(task.inputs), explicit.marginals(explicit.probabilities(w, fixed)), 1e-9)


@pytest.mark.parametrize("structure", ["chain", "tree"])
def test_memm(structure, rng):
    """Every label given that of its parent is a logistic regression on features and that label."""
    task = random_task(rng, structure)
    rows, y = [], []
    for item in task.items:
        for x, parent, label in zip(item.x, item.parents, item.y, strict=True):
            before = np.eye(4)[3 if parent < 0 else item.y[parent]]
            rows.append(np.concatenate([x / np.sqrt(0.7), [1 / np.sqrt(0.7)], before / np.sqrt(1.3)]))
            y.append(label)
    logistic = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=5000).fit(rows, y)
    model = MEMM(0.7, edge_penalty=1.3, structure=structure, tol=1e-9).fit(task.inputs, task.labels)
    W = logistic.coef_
    np.testing.assert_allclose(model.coef_, W[:, :2] / np.sqrt(0.7), atol=1e-4)
    np.testing.assert_allclose(model.transitions_, W[:, 3:6].T / np.sqrt(1.3), atol=1e-4)
    np.testing.assert_allclose(model.start_, W[:, 6] / np.sqrt(1.3), atol=1e-4)
    explicit = Explicit(task, {"bias": 1.0})
    local = [
        np.prod([_step(model, item, y, v) for v in range(len(y))], axis=0)
        for item, labels in zip(task.items, explicit.labels, strict=True)
        for y in labels
    ]
    p = np.split(np.array(local), np.cumsum([len(labels) for labels in explicit.labels])[:-1])
    same([each.sum() for each in p], [1.0] * len(p), 1e-9)
    same(model.predict_marginals(task.inputs), explicit.marginals(p), 1e-9)


def _step(model, item, y, v):
    """Return p(y_v|y_parent, x_v)."""
    scores = model.coef_ @ item.x[v] + model.intercept_
    scores = scores + (model.start_ if item.parents[v] < 0 else model.transitions_[y[item.parents[v]]])
    return np.exp(scores[y[v]]) / np.exp(scores).sum()


def test_memm_refuses_two_labels_before(rng):
    task = random_task(rng, "chain2")
    with pytest.raises(InputError, match=r"^MEMM conditions a label on one other label: [^.]*\.$"):
        MEMM(structure="chain2").fit(task.inputs, task.labels)
