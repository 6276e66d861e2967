"""A clique type from outside: estimators learn it by free scores or a kernel, and name what they cannot."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from kernelfields import (
    CRF,
    InputError,
    KernelCRF,
    KernelScores,
    Parts,
    Run,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    load,
    register,
)
from kernelfields.kernels import RBF
from kernelfields.testing import check_structure
from tests import _bookend
from tests._bookend import Bookend, BookendBatch
from tests._parts import free

from .test_kernels_on_every_clique import BARE, FINE, MINE, K, Written, outputs_of, vertices_of

PAIRS = free(1.3, "edges", "bookend")
PENALTIES = {"penalty": 0.7, "parts": Parts(PAIRS)}


@pytest.fixture
def data(rng):
    """Sequences whose last label is the first one, which no neighbour says."""
    X = [rng.normal(size=(n, 2)) for n in (3, 4, 2, 3, 4, 1)]
    y = [[("a", "b")[int(v)] for v in rng.integers(2, size=len(x))] for x in X]
    return X, [[*labels[:-1], labels[0]] for labels in y]


@pytest.mark.parametrize("own", [(), ("bookend",), ("edge", "bookend")])
def test_structure(own, rng):
    batch = BookendBatch([0, 3, 4, 6], 2, own)
    scores = {name: rng.normal(size=shape) for name, shape in batch.shapes.items()}
    check_structure(batch, scores)
    scores["node"][[0, 1, 4], [0, 1, 0]] = -np.inf
    scores["edge"][..., 0, 1] = scores["bookend"][..., 0, 1] = -np.inf
    check_structure(batch, scores)


def test_sixty_lines_are_enough():
    lines = Path(_bookend.__file__).read_text().splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 110


@pytest.mark.parametrize("kernel", [False, True], ids=["free", "kernel"])
def test_optimum_is_that_of_the_written_objective(kernel, data):
    X, y = data
    more = {"mine": KernelScores(MINE, on="bookend", view="all", penalty=0.4)} if kernel else {}
    parts = Parts(BARE | PAIRS | more)
    model = KernelCRF(K, penalty=0.7, structure=Bookend(), parts=parts, **FINE).fit(X, y)
    scored = model._batch(X, None, None)
    written = Written(scored.batch, outputs_of(model, y, scored))
    written.add_kernel("node", K, scored.inputs.features, 0.7)
    if kernel:
        seen = vertices_of(scored.batch, scored.inputs.features, "bookend")
        written.add_kernel("bookend", MINE, seen, 0.4)
    written.add_free("edge", 1.3)
    written.add_free("bookend", 1.3)
    value, w = written.minimum()
    assert model.certificate_.value == pytest.approx(value, rel=1e-7)
    found = np.concatenate(model.predict_marginals(X)).ravel()
    np.testing.assert_allclose(found, written.marginals(w), atol=2e-4)


LEARNERS = [
    CRF(structure=Bookend(), **PENALTIES),
    KernelCRF(RBF(0.5), structure=Bookend(), **PENALTIES),
    StructuredSVM(structure=Bookend(), **PENALTIES),
    StructuredPerceptron(structure=Bookend(), max_iter=30, random_state=0),
]


@pytest.mark.parametrize("model", LEARNERS, ids=lambda model: type(model).__name__)
def test_estimators_learn_it(model, data, tmp_path):
    X, y = data
    model.fit(X, y)
    table = model.parts_["bookend"].table
    assert table[0, 0] + table[1, 1] > table[0, 1] + table[1, 0]
    ends = [labels[0] == labels[-1] for labels in model.predict(X)]
    assert np.mean(ends) > 0.8
    with pytest.raises(InputError, match="Bookend, which a model file cannot hold unless"):
        model.save(tmp_path / "model.kf")


@register("test.Ends")
class Ends(Bookend):
    """The same, known to model files."""


@pytest.mark.parametrize("model", LEARNERS, ids=lambda model: type(model).__name__)
def test_files_keep_it(model, data, tmp_path):
    X, y = data
    fitted = clone(model).set_params(structure=Ends()).fit(X, y)
    fitted.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    assert again.structure == Ends()
    np.testing.assert_array_equal(again.parts_["bookend"].table, fitted.parts_["bookend"].table)
    for one, other in zip(again.predict_marginals(X), fitted.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(one, other)


def test_held_out_data_of_a_perceptron(data):
    X, y = data
    model = StructuredPerceptron(structure=Bookend(), run=Run(patience=1), random_state=0)
    model.fit(X, y, X_dev=X[:2], y_dev=y[:2])
    assert model.parts_["bookend"].table.any()


def test_draws(data):
    X, y = data
    model = CRF(structure=Bookend(), random_state=0).fit(X, y)
    drawn = np.array([draw[0] for draw in model.sample(X[:1], 3000)])
    found = (drawn == "a").mean(axis=0)
    np.testing.assert_allclose(found, model.predict_marginals(X)[0][:, 0], atol=0.04)


@pytest.mark.parametrize("model", [CRF(structure=Bookend()), KernelCRF(K, structure=Bookend())])
def test_posterior_and_held_out_data(model, data):
    X, y = data
    model.set_params(posterior="laplace", random_state=0)
    averaged = model.fit(X, y, X_dev=X[:2], y_dev=y[:2]) if isinstance(model, KernelCRF) else model.fit(X, y)
    assert averaged.posterior_.draws["parts_.bookend"].shape[1:] == (2, 2)
    for p in averaged.predict_marginals(X):
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
    stopped = CRF(structure=Bookend(), run=Run(patience=1)).fit(X, y, X_dev=X[:2], y_dev=y[:2])
    assert np.isfinite(stopped.objective_)


@pytest.mark.parametrize(
    "model", [CRF(structure=Bookend()), StochasticCRF(structure=Bookend(), random_state=0)]
)
def test_partial_fit_goes_on_from_it(model, data):
    X, y = data
    model.partial_fit(X[:3], y[:3], classes=["a", "b"])
    before = model.parts_["bookend"].table.copy()
    model.partial_fit(X[3:], y[3:])
    assert not np.array_equal(model.parts_["bookend"].table, before)
    assert np.abs(model.parts_["bookend"].table).sum() > 0


def test_unknown_clique_types_are_refused(data):
    with pytest.raises(InputError, match="'bookends'"):
        KernelCRF(
            K,
            structure=Bookend(),
            parts=Parts(of_bookends=KernelScores("rbf", on="bookends", view="all", penalty=1.0)),
        ).fit(*data)
