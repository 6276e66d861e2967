"""Grids: graphs between pixels; labels, predictions and marginals in rows and columns."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from kernelfields import CRF, InputError, KernelCRF, Run, StructuredPerceptron, StructuredSVM, load
from kernelfields.structures import Graph, Grid

SHAPES = ((3, 4), (1, 5), (4, 1), (2, 2), (0, 3), (3, 3))
STEPS = {"right": (0, 1), "down": (1, 0), "down_right": (1, 1), "down_left": (1, -1)}


def neighbours(height, width, step):
    """Pairs of pixels, pixel by pixel."""
    down, right = step
    return [
        (r * width + c, (r + down) * width + c + right)
        for r in range(height)
        for c in range(width)
        if r + down < height and 0 <= c + right < width
    ]


def images(rng, labels=("sky", "sea", "sand")):
    y = [rng.choice(labels, size=shape) for shape in SHAPES]
    x = [
        np.stack([one == "sky", one == "sea"], axis=-1) + 0.8 * rng.normal(size=(*one.shape, 2)) for one in y
    ]
    return x, y


def as_graphs(x, connectivity, directions):
    """The same as graphs, their edges listed here."""
    names = list(STEPS)[: 2 if connectivity == 4 else 4]
    graphs = []
    for one in x:
        found = {name: neighbours(*one.shape[:2], STEPS[name]) for name in names}
        edges = found if directions else [pair for pairs in found.values() for pair in pairs]
        graphs.append((one.reshape(-1, 2), edges))
    settings = {"directed": True, "edge_types": names} if directions else {}
    return graphs, Graph(**settings)


MODELS = {
    "CRF": CRF(tol=1e-9),
    "kernel": KernelCRF("rbf", tol=1e-9, run=Run(dtype="float64")),
    "SVM": StructuredSVM(tol=1e-6),
    "perceptron": StructuredPerceptron(max_iter=3, random_state=0),
}


@pytest.mark.parametrize("connectivity", [4, 8])
@pytest.mark.parametrize("directions", [False, True], ids=["alike", "directions"])
@pytest.mark.parametrize("name", list(MODELS))
def test_a_grid_is_a_graph(name, connectivity, directions, rng, tmp_path):
    x, y = images(rng)
    graphs, graph = as_graphs(x, connectivity, directions)
    model = clone(MODELS[name]).set_params(structure=Grid(connectivity, directions))
    expected = (
        clone(MODELS[name]).set_params(structure=graph).fit(graphs, [one.ravel().tolist() for one in y])
    )
    model.fit(x, y)
    new, _ = images(rng)
    found, marginals = model.predict(new), model.predict_marginals(new)
    assert [one.shape for one in found] == list(SHAPES)
    assert [one.shape for one in marginals] == [(*shape, 3) for shape in SHAPES]
    theirs = as_graphs(new, connectivity, directions)[0]
    for a, b in zip(marginals, expected.predict_marginals(theirs), strict=True):
        np.testing.assert_allclose(a.reshape(-1, 3), b, atol=1e-3 if name == "SVM" else 1e-6)
    model.save(tmp_path / "grid.kf")
    for other in (load(tmp_path / "grid.kf"), pickle.loads(pickle.dumps(model))):
        assert other.structure_ == Grid(connectivity, directions)
        for a, b in zip(other.predict_marginals(new), marginals, strict=True):
            np.testing.assert_array_equal(a, b)


def test_questions_in_rows_and_columns(rng):
    x, y = images(rng)
    model = CRF(structure=Grid()).fit(x, [one.tolist() for one in y])
    assert 0.3 < model.score(x, y) <= 1.0
    log_p = model.sequence_log_proba(x, y)
    best = model.predict_kbest(x[:1], 2)[0]
    assert best[0][0].shape == SHAPES[0]
    np.testing.assert_array_equal(best[0][0], model.predict(x[:1])[0])
    assert best[0][1] >= max(best[1][1], log_p[0])
    [draw] = model.sample(x[:2])
    assert [one.shape for one in draw] == list(SHAPES[:2])
    known = [None] * len(x)
    known[0] = np.full(SHAPES[0], None)
    known[0][1, 2] = "sand"
    assert model.predict(x, allowed=known)[0][1, 2] == "sand"
    open_ = model.predict(x, abstain=1.0)[0]
    assert set(open_.ravel()) == {None}
    hidden = [one.astype(object) for one in y]
    hidden[0][0, 0] = None
    partly = CRF(structure=Grid()).fit(x, hidden, X_dev=x, y_dev=y)
    assert partly.predict(x)[0].shape == SHAPES[0]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (
            [np.zeros((2, 2))],
            [[["a", "b"], ["a", "b"]]],
            "Grid 0 of X has shape (2, 2), expected (height, width, features).",
        ),
        ([np.zeros((2, 2, 1))], [["a", "b", "a", "b"]], "Grid 0 of y must have rows."),
        ([np.zeros((2, 2, 1))], [[["a", "b"]]], "Grid 0 of y has 1 rows, expected 2 rows of 2."),
        (
            [np.zeros((2, 2, 1))],
            [[["a"], ["b", "a", "b"]]],
            "Grid 0 of y has a row of 1, expected 2 rows of 2.",
        ),
        ([np.full((1, 2, 1), np.nan)], [[["a", "b"]]], "Grid 0 of X holds NaN or infinity at pixel 0."),
    ],
)
def test_bad_grids(X, y, message):
    with pytest.raises(InputError) as error:
        CRF(structure=Grid()).fit(X, y)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("given", "message"),
    [(6, "connectivity is 6; it must be 4 or 8."), (True, "connectivity is True; it must be 4 or 8.")],
)
def test_bad_settings(given, message):
    with pytest.raises(InputError) as error:
        Grid(given)
    assert str(error.value) == message


@pytest.mark.parametrize("names", [["sky", "sea"], [1, 0]], ids=["text", "numbers"])
def test_empty_grids_have_labels_of_the_same_type(names, rng):
    y = [[names, names[::-1]]] * 3
    model = CRF(structure=Grid()).fit([rng.normal(size=(2, 2, 2)) for _ in y], y)
    for shape in ((0, 3), (3, 0)):
        (found,) = model.predict([np.zeros((*shape, 2))])
        assert (found.shape, found.dtype) == (shape, model.classes_.dtype)
