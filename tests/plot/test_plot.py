"""Pictures show the numbers that they are of."""

from __future__ import annotations

import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import kernelfields as kf
from kernelfields import metrics, plot
from kernelfields.errors import InputError
from kernelfields.plot.axes import RIGHT, WRONG
from kernelfields.report import evaluate
from kernelfields.report.plots.colours import colour_of
from kernelfields.structures import Grid

mpl.use("agg")
_rng = np.random.default_rng(0)
Y = [["rest", "move", "rest", "hold"], ["move", "hold"], ["hold"], ["rest", "rest", "move"]] * 5
_MEANS = {"rest": [0.0, 0.0], "move": [1.5, 0.0], "hold": [0.0, 1.5]}
X = [np.array([_MEANS[label] for label in y]) + 0.6 * _rng.normal(size=(len(y), 2)) for y in Y]
MODELS = {
    "CRF": lambda: kf.CRF().fit(X, Y),
    "HMM": lambda: kf.HMM("gaussian").fit(X, Y),
    "KernelCRF": lambda: kf.KernelCRF("rbf").fit(X, Y),
    "recalibrated SVM": lambda: kf.StructuredSVM().fit(X, Y).recalibrate(X, Y),
    "pipeline": lambda: make_pipeline(FunctionTransformer(), kf.CRF()).fit(X, Y),
    "boosted": lambda: kf.BoostedCRF(3, min_samples_leaf=1, random_state=0).fit(X, Y),
}


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module", params=MODELS, ids=str)
def model(request):
    return MODELS[request.param]()


@pytest.fixture(scope="module")
def crf():
    return MODELS["CRF"]()


def last(model):
    return model.steps[-1][1] if hasattr(model, "steps") else model


def test_bands_are_the_marginals(model):
    ax = plot.marginals(model, X[0], y=Y[0], tokens=list("abcd"))
    p = last(model).predict_marginals(X[:1])[0]
    heights = [patch.get_data()[0] - patch.get_data()[2] for patch in ax.patches]
    np.testing.assert_allclose(np.transpose(heights), p, atol=1e-12)
    assert [patch.get_label() for patch in ax.patches] == ["hold", "move", "rest"]
    assert [text.get_text() for text in ax.get_xticklabels()] == list("abcd")
    strips = [tuple(one.get_facecolor()[0][:3]) for one in ax.collections]
    assert strips == [to_rgb(colour_of(label, ["hold", "move", "rest"])) for label in Y[0]]


def test_the_table_has_the_same_numbers(model):
    ax = plot.marginal_table(model, X[0], y=Y[0])
    p = last(model).predict_marginals(X[:1])[0]
    np.testing.assert_allclose(ax.images[0].get_array()[..., 3], p.T, atol=1e-12)
    written = {text.get_position(): text.get_text() for text in ax.texts}
    assert written == {(t, k): f"{100 * p[t, k]:.0f}" for t in range(4) for k in range(3) if p[t, k] >= 0.01}
    frames = [(patch.get_x() + 0.5, patch.get_y() + 0.5) for patch in ax.patches]
    assert frames == [(t, ["hold", "move", "rest"].index(label)) for t, label in enumerate(Y[0])]


def test_few_of_many_labels_have_colours():
    p = np.full((3, 30), 1 / 30)
    ax = plot.marginals(p)
    named = [patch for patch in ax.patches if not patch.get_label().startswith("_")]
    assert (len(ax.patches), len(named)) == (30, 10)
    assert len(plot.marginal_table(p).get_yticklabels()) == 14


def test_a_test_is_drawn_as_metrics_has_it(model):
    found = evaluate(model, X, Y)
    for given in ((model, X, Y), (found,)):
        ax = plot.confusion(*given)
        counts = {(int(t.get_position()[1]), int(t.get_position()[0])): t.get_text() for t in ax.texts}
        truth = found.confusion.counts
        assert counts == {(i, j): str(truth[i, j]) for i, j in np.argwhere(truth).tolist()}
        image = ax.images[0].get_array()
        np.testing.assert_allclose(image[0, 0, :3], to_rgb(RIGHT))
        np.testing.assert_allclose(image[0, 1, :3], to_rgb(WRONG))
        np.testing.assert_array_equal(image[..., 3] > 0, truth > 0)
        ax = plot.reliability(*given)
        filled = found.calibration.support > 0
        np.testing.assert_allclose(ax.lines[-1].get_xdata(), found.calibration.confidence[filled])
        np.testing.assert_allclose(ax.lines[-1].get_ydata(), found.calibration.accuracy[filled])
        assert len(ax.patches) == filled.sum()
        assert f"{found.ece:.1%}" in ax.get_title()


def test_the_answered_curve_is_that_of_metrics(crf):
    line = plot.answered(crf, X, Y).lines[0]
    curve = metrics.answered_curve(Y, crf.predict_marginals(X), crf.classes_)
    np.testing.assert_array_equal(line.get_xydata(), np.transpose([curve.answered, curve.error]))
    again = plot.answered(curve).lines[0]
    np.testing.assert_array_equal(again.get_xydata(), line.get_xydata())


def test_a_promise_is_drawn_with_what_came_of_it():
    model = kf.CRF().fit(X[:8], Y[:8]).calibrate(X * 8, Y * 8)
    ax = plot.answered(model, X, Y, error_at_most=0.3, confidence=0.8)
    kept = model.predict(X, error_at_most=0.3, confidence=0.8)
    pairs = [(a, b) for one, two in zip(kept, Y, strict=True) for a, b in zip(one, two, strict=True)]
    given = [a == b for a, b in pairs if a is not None]
    assert ax.lines[1].get_ydata() == [0.3, 0.3]
    np.testing.assert_allclose(
        ax.lines[2].get_xydata(), [[len(given) / len(pairs), 1 - np.mean(given)]], atol=1e-12
    )
    with pytest.raises(InputError, match="calibrated"):
        plot.answered(kf.CRF().fit(X, Y), X, Y, error_at_most=0.1)


@pytest.mark.parametrize("name", ["CRF", "HMM", "KernelCRF", "pipeline"])
def test_steps_are_those_of_the_model(name):
    model = MODELS[name]()
    ax = plot.transitions(model)
    table = np.asarray(last(model).transitions_)
    image = ax.images[0].get_array()
    np.testing.assert_allclose(image[..., 3], abs(table) / abs(table).max())
    np.testing.assert_allclose(image[..., :3][table < 0], np.tile(to_rgb(WRONG), ((table < 0).sum(), 1)))
    assert [text.get_text() for text in ax.texts] == [f"{one:.2g}" for one in table.ravel()]
    assert ("probability" if name == "HMM" else "score") in ax.get_title()


def test_steps_that_are_not_there_are_said_so():
    with pytest.raises(InputError, match="KernelLogisticRegression has no scores of steps"):
        plot.transitions(kf.KernelLogisticRegression().fit(np.concatenate(X), np.concatenate(Y)))
    with pytest.raises(InputError, match="not fitted"):
        plot.transitions(kf.CRF())


def test_the_path_has_all_steps():
    records = []
    model = kf.KernelCRF("rbf", run=kf.Run(callback=records.append)).fit(X, Y)
    ax = plot.path(model, records)
    np.testing.assert_array_equal(
        ax.lines[0].get_xydata(), [(record.iteration, record.value) for record in records]
    )
    assert all(a <= b + 1e-12 for a, b in zip(ax.lines[1].get_ydata()[-1:], [records[-1].value], strict=True))
    with pytest.raises(InputError, match="callback"):
        plot.path(kf.CRF().fit(X, Y))


def test_the_selection_path_counts_functions():
    model = kf.KernelCRF("rbf", basis=kf.selection.GreedyCliques(6, 1)).fit(X, Y)
    ax = plot.path(model)
    assert ax.get_xlabel() == "basis functions"
    assert ax.lines[0].get_xdata().tolist() == [record.functions for record in model.path_]


def test_regions_have_the_colours_of_their_vertices():
    regions = np.array([[0, 0, 1], [2, -1, 1]])
    ax = plot.segmentation(["sky", "land", "sky"], np.zeros((2, 3), int), regions=regions, opacity=0.5)
    image = ax.images[-1].get_array()
    sky, land = (to_rgb(colour_of(label, ["land", "sky"])) for label in ("sky", "land"))
    np.testing.assert_allclose(image[0, 0], [*sky, 0.5])
    np.testing.assert_allclose(image[1, 2], [*land, 0.5])
    assert image[1, 1, 3] == 0
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["land", "sky"]
    with pytest.raises(InputError, match="from -1 to 2; 2 have labels"):
        plot.segmentation(["sky", "land"], regions=regions)
    with pytest.raises(InputError, match=r"image has \(2, 2\) pixels"):
        plot.segmentation(["a", "b", "c"], np.zeros((2, 2)), regions=regions)
    with pytest.raises(InputError, match="give regions"):
        plot.segmentation(["a", "b"])


def test_grids_are_drawn_and_tested():
    pictures = [_rng.normal(size=(3, 4, 1)) for _ in range(6)]
    labels = [np.where(one[..., 0] > 0, "up", "down") for one in pictures]
    model = kf.CRF(structure=Grid()).fit(pictures, labels)
    answer = model.predict(pictures)[0]
    image = plot.segmentation(answer, pictures[0][..., 0] * 0).images[-1].get_array()
    up = to_rgb(colour_of("up", ["down", "up"]))
    np.testing.assert_array_equal((image[..., :3] == up).all(axis=-1), answer == "up")
    total = sum(int(text.get_text()) for text in plot.confusion(model, pictures, labels).texts)
    assert total == 6 * 12
    assert plot.reliability(model, pictures, labels).patches


def test_graphs_are_drawn_with_rings_around_errors():
    ax = plot.network([[0, 1], [1, 2]], ["a", "b", "b"], true=["a", "a", None], probabilities=[1, 0.5, 0])
    rings, dots = ax.collections[-2:]
    assert len(rings.get_offsets()) == 1
    np.testing.assert_allclose(rings.get_edgecolors()[0, :3], to_rgb(colour_of("a", "ab")))
    np.testing.assert_allclose(dots.get_facecolors()[:, 3], [1, 0.5, 0.15])
    assert len(ax.collections[0].get_segments()) == 2
    with pytest.raises(InputError, match="vertices up to 5"):
        plot.network([[0, 5]], ["a", "b"])


def test_links_and_arcs():
    ax = plot.links(
        [[0.9, 0.1], [0.2, 0.8]], ["der", "Hund"], ["the", "dog"], answers=[(0, 0), (1, 0)], true=[(0, 0)]
    )
    assert [line.get_xydata().tolist() for line in ax.lines] == [[[0, 0]], [[0, 1]]]
    assert len(ax.patches) == 1
    with pytest.raises(InputError, match=r"not \(1, 2\)"):
        plot.links([[0.9]], ["a"], ["b", "c"])
    ax = plot.arcs(["a", "big", "dog"], [2, 2, -1], ["det", "amod", "root"], true=[2, 0, -1])
    colours = [patch.get_edgecolor()[:3] for patch in ax.patches]
    assert colours == [to_rgb(RIGHT), to_rgb(WRONG), to_rgb(RIGHT)]
    ends = [patch.get_path().vertices for patch in ax.patches]
    assert len(ends) == 3
    assert {text.get_text() for text in ax.texts} >= {"a", "big", "dog", "det", "amod", "root"}
    with pytest.raises(InputError, match="heads has 1 entries for 2 words"):
        plot.arcs(["a", "b"], [0])


def test_models_without_probabilities_are_refused_where_these_are_shown():
    model = kf.StructuredSVM().fit(X, Y)
    assert plot.confusion(model, X, Y).images
    assert plot.transitions(model).images
    for draw in (plot.reliability, plot.answered):
        with pytest.raises(InputError, match="StructuredSVM learns no probabilities"):
            draw(model, X, Y)
    for draw in (plot.marginals, plot.marginal_table):
        with pytest.raises(InputError, match="recalibrate"):
            draw(model, X[0])


def test_wrong_arguments_are_said_so(crf):
    for draw, given, said in (
        (plot.confusion, (crf,), "X and y are needed"),
        (plot.confusion, (crf, X, Y[:3]), "20 items, but y has 3"),
        (plot.confusion, (evaluate(crf, X, Y), X, Y), "already"),
        (plot.marginals, (crf,), "x is needed"),
        (plot.marginals, (np.zeros(3),), r"not \(T, L\)"),
        (plot.marginals, (np.zeros((2, 3)), X[0]), "x is for a model"),
        (plot.confusion, (object(), X, Y), "no predict_marginals"),
    ):
        with pytest.raises(InputError, match=said):
            draw(*given)
    with pytest.raises(InputError, match="y has 1 entries for 4 positions"):
        plot.marginals(crf, X[0], y=["rest"])
    with pytest.raises(InputError, match="axes of matplotlib"):
        plot.confusion(crf, X, Y, ax=plt.figure())


def test_axes_given_are_drawn_into(crf):
    _, (one, other) = plt.subplots(1, 2)
    assert plot.confusion(crf, X, Y, ax=one) is one
    assert plot.marginals(crf, X[0], ax=other) is other
    assert len(plt.get_fignums()) == 1


def test_a_missing_matplotlib_is_said_in_one_sentence():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from kernelfields import plot\n"
        "try:\n    plot.arcs(['a'], [-1])\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "Pictures need matplotlib: pip install 'kernelfields[plot]'.\n"
