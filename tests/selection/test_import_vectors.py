"""Import vectors: every candidate by a step of Newton's method, written out with matrices."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from kernelfields import InputError, KernelCRF, KernelLogisticRegression, Parts, load
from kernelfields.kernels import RBF
from kernelfields.selection import (
    SGPS,
    SGSA,
    Atoms,
    GreedyCliques,
    ImportVectors,
    NewtonGains,
    RefitAll,
    WholeSequences,
)
from tests.selection.test_growing import grown_to, small_task, view_of

EXACT = RefitAll(iterations=500, tol=1e-12)
PENALTY, NAMES = 0.3, ["a", "b", "c"]


@pytest.fixture
def data(rng):
    X = rng.normal(size=(16, 2))
    return X, rng.integers(3, size=16)


class Machine:
    """Σ −log p + (λ/2)(Σ_y A_yᵀ K A_y + ‖b‖²) over A (m, 3) at some points and b: all by matrices."""

    def __init__(self, X, y, chosen):
        K = RBF(0.5)(X)
        self.features = np.column_stack([K[:, chosen], np.ones(len(X))])
        self.price = np.zeros((len(chosen) + 1,) * 2)
        self.price[:-1, :-1], self.price[-1, -1] = K[np.ix_(chosen, chosen)], 1.0
        self.wanted = np.eye(3)[y]

    def value(self, A):
        scores = self.features @ A
        fit = logsumexp(scores, axis=1).sum() - (scores * self.wanted).sum()
        return fit + PENALTY / 2 * np.trace(A.T @ self.price @ A)

    def newton(self, A):
        p = softmax(self.features @ A, axis=1)
        gradient = self.features.T @ (p - self.wanted) + PENALTY * self.price @ A
        size = self.features.shape[1]
        hessian = np.kron(self.price * PENALTY, np.eye(3))
        for row, q in zip(self.features, p, strict=True):
            hessian += np.kron(np.outer(row, row), np.diag(q) - np.outer(q, q))
        return A - np.linalg.lstsq(hessian, gradient.ravel(), rcond=1e-13)[0].reshape(size, 3)

    def best(self):
        A = np.zeros((self.features.shape[1], 3))
        for _ in range(50):
            A = self.newton(A)
        return A


def brute_force(X, y, count):
    """Import vectors in order, and R with each of them: Zhu's and Hastie's algorithm."""
    chosen, values = [], [Machine(X, y, []).value(Machine(X, y, []).best())]
    while len(chosen) < count:
        A, tried = Machine(X, y, chosen).best(), {}
        for o in set(range(len(X))) - set(chosen):
            machine = Machine(X, y, [*chosen, o])
            start = np.insert(A, len(chosen), 0.0, axis=0)
            tried[o] = machine.value(machine.newton(start))
        chosen.append(min(tried, key=tried.get))
        values.append(Machine(X, y, chosen).value(Machine(X, y, chosen).best()))
    return chosen, values


def fitted(data, selection):
    X, y = data
    labels = [NAMES[k] for k in y]
    return KernelLogisticRegression(RBF(0.5), penalty=PENALTY, basis=selection, tol=1e-10).fit(X, labels)


def test_vertices_are_those_of_brute_force(data):
    chosen, values = brute_force(*data, 6)
    model = fitted(data, ImportVectors(12, change=0.0, refit=EXACT))
    found = model.selected_["kernel"]
    assert list(dict.fromkeys(found.observations.tolist())) == chosen
    assert [step.observations for step in model.path_] == list(range(7))
    np.testing.assert_allclose([step.value for step in model.path_], values, rtol=1e-8)


def test_search_ends_when_little_changes(data):
    _, values = brute_force(*data, 15)
    model = fitted(data, ImportVectors(10**6, change=0.02, refit=EXACT))
    falls = [(before - now) / now for before, now in pairwise(values)]
    expected = next(k for k, fall in enumerate(falls) if fall < 0.02) + 1
    assert len(model.path_) == expected + 1 < 16
    assert "less than the change" in model.stop_reason_
    assert "was reached" in fitted(data, ImportVectors(8, change=1e-9)).stop_reason_


@pytest.mark.parametrize(
    "selection",
    [ImportVectors(10**6, change=0.0), GreedyCliques(10**6), SGPS(10**6), SGSA(10**6), WholeSequences(10**6)],
    ids=lambda one: type(one).__name__,
)
def test_all_vertices_are_the_dense_model(selection, data, tmp_path):
    dense, model = fitted(data, None), fitted(data, selection)
    assert model.certificate_.value == pytest.approx(dense.certificate_.value, rel=1e-7)
    np.testing.assert_allclose(model.predict_proba(data[0]), dense.predict_proba(data[0]), atol=1e-5)
    assert model.certificate_space_ == "selection"
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    assert again.path_ == model.path_
    np.testing.assert_array_equal(again.predict_proba(data[0]), model.predict_proba(data[0]))


def test_gains_of_a_chain_are_those_of_numerical_derivatives(rng):
    """Pairs and edges with input, other penalties: R itself, differenced in all coordinates."""
    task = small_task(rng, share=0.0, free=True, edges=True)
    growth = grown_to(task, 4, GreedyCliques(4, step=2, refit=RefitAll(iterations=2)))
    gains = NewtonGains(view_of(growth))
    for name, o in (("kernel", 3), ("kernel", 7), ("edge_kernel", 2)):
        width = task.pools[name].width
        functions = Atoms.single(np.full(width, o), np.arange(width))
        assert gains.of(name, functions) == pytest.approx(
            numerical_gain(task, growth.state, name, functions), rel=1e-4
        )


def numerical_gain(task, state, name, functions, h=1e-3):
    grown = state.grown | {name: state.grown[name].appended(functions).grown}
    wide = {n: np.pad(state.parts[n], (0, one.size - len(state.parts[n]))) for n, one in grown.items()}
    names = [*grown, *(term.name for term in task.free)]
    parts = [wide.get(n, state.parts[n]) for n in names]
    cuts, start = np.cumsum([len(part) for part in parts])[:-1], np.concatenate(parts)

    def value(x):
        split = dict(zip(names, np.split(x, cuts), strict=True))
        return task.point(state._replace(grown=grown, parts=split)).value

    e = h * np.eye(len(start))
    gradient = np.array([value(start + u) - value(start - u) for u in e]) / (2 * h)
    above = np.array([[value(start + u + v) + value(start - u - v) for v in e] for u in e])
    across = np.array([[value(start + u - v) + value(start - u + v) for v in e] for u in e])
    hessian = (above - across) / (4 * h * h)
    return value(start) - value(start - np.linalg.solve(hessian, gradient))


def test_what_is_not_new_gains_nothing(rng):
    growth = grown_to(small_task(rng, share=0.0, free=True), 4, GreedyCliques(4, step=2))
    atoms = growth.state.grown["kernel"].atoms
    assert NewtonGains(view_of(growth)).of("kernel", atoms) == 0.0


def test_a_sample_of_candidates(data):
    every, some = fitted(data, ImportVectors(48)), fitted(data, ImportVectors(6, sample=4))
    assert len(some.basis_) == 3
    assert every.path_[-1].value < some.path_[-1].value < some.path_[0].value
    first, again = fitted(data, ImportVectors(6)), fitted(data, ImportVectors(6, sample=16))
    assert [step.value for step in again.path_] == [step.value for step in first.path_]


def test_rows_that_are_selected_are_rows_of_the_training_set(data):
    """Some of them without a label, which no model sees."""
    X, y = data
    labels = [None if n < 5 else NAMES[k] for n, k in enumerate(y)]
    model = KernelLogisticRegression(RBF(0.5), basis=ImportVectors(6)).fit(X, labels)
    rows = list(dict.fromkeys(model.selected_["kernel"].observations.tolist()))
    np.testing.assert_array_equal(model.basis_, X[rows])
    np.testing.assert_array_equal(model.basis_origin_[:, 0], rows)
    assert min(rows) >= 5


def test_chains_without_edges_have_no_pairs_to_select(rng):
    X, y = [rng.normal(size=(3, 2)) for _ in range(4)], [["a", "b", "a"]] * 4
    with pytest.raises(InputError, match="label pairs without input"):
        KernelCRF(basis=SGPS(4), parts=Parts(edges=None)).fit(X, y)
