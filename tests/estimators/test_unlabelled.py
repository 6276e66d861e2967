"""Sequences without labels: they inform kernels that look at observations, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import kernelfields as kf
from kernelfields import KernelScores, Parts
from kernelfields.errors import InputError
from kernelfields.kernels import RBF, Linear
from kernelfields.selection import GreedyCliques

RNG = np.random.default_rng(5)
X = [RNG.normal(size=(int(n), 3)) for n in RNG.integers(2, 6, 12)]
Y: list[Any] = [["ab"[int(v)] for v in (x[:, 0] * x[:, 1] > 0)] for x in X]
MORE = [9.0 * RNG.normal(size=(4, 3)) for _ in range(3)]
BOTH = [X[0], MORE[0], *X[1:8], *MORE[1:], *X[8:]]
PLACES = [0, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14]
"""Where sequences of X are in it."""
GAMMA = RBF("scale").on(np.concatenate(BOTH)).gamma
EXACT = {"run": kf.Run(dtype="float64"), "tol": 1e-8}

WHOLE = {
    "none": lambda: None,
    "minus one": lambda: -1,
    "minus one of numpy": lambda: np.int64(-1),
    "nan": lambda: float("nan"),
}


def with_gaps(nothing: Any = None) -> list[Any]:
    return [Y[0], nothing, *Y[1:8], nothing, nothing, *Y[8:]]


def marginals(model: Any, items: Any = X) -> Any:
    return np.concatenate(model.predict_marginals(items))


MODELS = {
    "kernel crf": lambda k: kf.KernelCRF(k, **EXACT),
    "edges": lambda k: kf.KernelCRF("linear", parts=Parts(edge_kernel=KernelScores(k)), **EXACT),
    "selection": lambda k: kf.KernelCRF(k, basis=GreedyCliques(5), **EXACT),
    "gaussian process": lambda k: kf.GPSequenceClassifier(k, **EXACT),
    "svm": lambda k: kf.StructuredSVM(k, run=kf.Run(dtype="float64"), tol=1e-9),
    "perceptron": lambda k: kf.KernelPerceptron(k, shuffle=False),
}


@pytest.mark.parametrize("name", MODELS)
def test_they_inform_the_kernel_and_are_not_in_the_loss(name: str) -> None:
    """The same as a kernel with the width that all observations have, fitted to labelled ones only."""
    make = MODELS[name]
    expected = marginals(make(RBF(GAMMA)).fit(X, Y))
    among, beside = make(RBF("scale")).fit(BOTH, with_gaps()), make(RBF("scale"))
    beside.fit(X, Y, X_unlabelled=MORE)
    for model in (among, beside):
        np.testing.assert_allclose(marginals(model), expected, atol=1e-9)
    assert len({model.provenance_.data_hash for model in (beside, make(RBF("scale")).fit(X, Y))}) == 2


@pytest.mark.parametrize("name", MODELS)
def test_other_kernels_refuse_what_changes_nothing_and_leave_out_what_has_no_labels(name: str) -> None:
    make = MODELS[name]
    with pytest.raises(InputError, match=r"^X_unlabelled is for kernels that look at observations before"):
        make(RBF(0.5)).fit(X, Y, X_unlabelled=MORE)
    np.testing.assert_allclose(
        marginals(make(RBF(0.5)).fit(BOTH, with_gaps())), marginals(make(RBF(0.5)).fit(X, Y)), atol=1e-9
    )


@pytest.mark.parametrize("nothing", WHOLE.values(), ids=WHOLE)
@pytest.mark.parametrize("make", [lambda: kf.CRF(tol=1e-6), lambda: kf.KernelCRF(RBF(0.5), **EXACT)])
def test_every_sign_of_nothing_leaves_the_loss_convex(make: Any, nothing: Any) -> None:
    model, expected = make().fit(BOTH, with_gaps(nothing())), make().fit(X, Y)
    assert model.certificate_.value == pytest.approx(expected.certificate_.value, rel=1e-7)
    assert model.certificate_.relative_gap <= 1e-6  # a convex loss has one
    np.testing.assert_allclose(marginals(model), marginals(expected), atol=1e-6)
    assert model.classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize("kind", [kf.CRF, kf.KernelCRF])
def test_losses_that_learn_without_labels_do(kind: Any) -> None:
    """Nothing in the place of labels is one None after the other to them."""
    settings = {"loss": "entropy", "random_state": 0} | (
        {} if kind is kf.CRF else {"run": kf.Run(dtype="float64")}
    )
    spelt = [[None] * len(x) if y is None else y for x, y in zip(BOTH, with_gaps(), strict=True)]
    expected = marginals(kind(**settings).fit(BOTH, spelt))
    np.testing.assert_array_equal(marginals(kind(**settings).fit(BOTH, with_gaps())), expected)
    assert np.abs(expected - marginals(kind(**settings).fit(X, Y))).max() > 1e-3
    if kind is kf.KernelCRF:
        behind = kf.KernelCRF(**settings).fit([*X, *MORE], [*Y, None, None, None])
        beside = kf.KernelCRF(**settings).fit(X, Y, X_unlabelled=MORE)
        np.testing.assert_array_equal(marginals(beside), marginals(behind))


def test_weights_of_what_is_left_out_do_not_count() -> None:
    weights = RNG.uniform(0.5, 2.0, len(BOTH))
    weights[1] = 1e6
    for make in (lambda: kf.CRF(tol=1e-6), lambda: kf.KernelCRF(RBF(GAMMA), **EXACT)):
        model = make().fit(BOTH, with_gaps(), sample_weight=weights)
        expected = make().fit(X, Y, sample_weight=weights[PLACES])
        np.testing.assert_allclose(marginals(model), marginals(expected), atol=1e-6)


def test_places_are_those_of_what_was_given() -> None:
    model = kf.KernelCRF(RBF("scale"), **EXACT).fit(BOTH, with_gaps())
    for observation, (s, t) in zip(model.basis_, model.basis_origin_, strict=True):
        np.testing.assert_array_equal(observation, BOTH[s][t])
    with pytest.raises(InputError, match="Sequence 14 has 5 positions in X, but 1 labels in y"):
        kf.KernelCRF().fit([*BOTH[:14], np.zeros((5, 3))], [*with_gaps()[:14], ["a"]])
    broken = [*BOTH[:9], np.full((2, 3), np.nan), *BOTH[10:]]
    with pytest.raises(InputError, match="Sequence 9 of X holds NaN"):
        kf.KernelCRF(RBF("scale")).fit(broken, with_gaps())


def test_flat_matrices_frames_and_sparse_ones() -> None:
    import pandas as pd

    lengths = [len(x) for x in BOTH]
    flat = np.concatenate(BOTH)
    expected = kf.KernelCRF(RBF("scale"), **EXACT).fit(BOTH, with_gaps())
    frame = pd.DataFrame(flat, columns=["p", "q", "r"])
    for given in (flat, frame, sparse.csr_matrix(flat), flat.tolist()):
        model = kf.KernelCRF(RBF("scale"), **EXACT).fit(given, with_gaps(), lengths=lengths)
        assert model.kernel_.gamma == pytest.approx(GAMMA, rel=1e-12)
        np.testing.assert_allclose(marginals(model), marginals(expected), atol=1e-6)
    frames = [pd.DataFrame(x, columns=["p", "q", "r"]) for x in X]
    turned = [pd.DataFrame(x, columns=["p", "q", "r"])[["r", "p", "q"]] for x in MORE]
    model = kf.KernelCRF(RBF("scale"), **EXACT).fit(frames, Y, X_unlabelled=turned)
    assert model.kernel_.gamma == pytest.approx(GAMMA, rel=1e-12)


@pytest.mark.parametrize("structure", ["tree", "graph"])
@pytest.mark.parametrize("kind", [kf.CRF, kf.KernelCRF])
def test_trees_and_graphs(structure: str, kind: Any) -> None:
    def item(x: Any) -> Any:
        path = range(len(x) - 1)
        return (x, [-1, *path]) if structure == "tree" else (x, [(v, v + 1) for v in path])

    settings = {"structure": structure, "tol": 1e-8} | (
        {} if kind is kf.CRF else {"run": kf.Run(dtype="float64")}
    )
    model = kind(**settings).fit([item(x) for x in BOTH], with_gaps())
    expected = kind(**settings).fit([item(x) for x in X], Y)
    some = [item(x) for x in X]
    np.testing.assert_allclose(marginals(model, some), marginals(expected, some), atol=1e-6)
    if kind is kf.KernelCRF:
        looking = kf.KernelCRF(RBF("scale"), **settings).fit([item(x) for x in BOTH], with_gaps())
        assert looking.kernel_.gamma == pytest.approx(GAMMA, rel=1e-12)
        looking.fit(some, Y, X_unlabelled=[item(x) for x in MORE])
        assert looking.kernel_.gamma == pytest.approx(GAMMA, rel=1e-12)


def test_graphs_with_types_keep_them() -> None:
    edges = {"near": [(0, 1)], "far": [(0, 2), (1, 2)]}
    items = [{"features": RNG.normal(size=(3, 2)), "edges": edges} for _ in range(6)]
    structure = kf.structures.Graph(edge_types=["near", "far"])
    labels = [["a", "b", "a"]] * 3
    model = kf.CRF(structure=structure, tol=1e-8).fit(items, [*labels, None, None, None])
    expected = kf.CRF(structure=structure, tol=1e-8).fit(items[:3], labels)
    np.testing.assert_allclose(marginals(model, items), marginals(expected, items), atol=1e-6)


def test_grids_need_all_labels() -> None:
    images = [RNG.normal(size=(2, 2, 1)) for _ in range(2)]
    with pytest.raises(InputError, match="Grid needs the labels of every grid"):
        kf.CRF(structure=kf.structures.Grid()).fit(images, [[["a", "b"], ["b", "a"]], None])


def test_tokens_without_labels_have_features_that_kernels_see() -> None:
    sentences = [["the", "dog"], ["a", "cat"], ["the", "zebra", "runs"]]
    labels = [["D", "N"], ["D", "N"], None]
    model = kf.KernelCRF(RBF("scale"), features="pos", **EXACT).fit(sentences, labels)
    every, _ = model.features_.transform(sentences)
    assert model.n_features_in_ == every.shape[1]
    assert model.kernel_.gamma == pytest.approx(RBF("scale").on(every).gamma, rel=1e-6)
    plain = kf.KernelCRF(RBF(0.5), features=model.features, **EXACT)
    assert plain.fit(sentences, labels).n_features_in_ < model.n_features_in_
    with pytest.raises(InputError, match=r"^X_unlabelled is 3; it must be a list of sequences"):
        model.fit(sentences[:2], labels[:2], X_unlabelled=3)


def test_kernels_of_cliques_see_cliques_without_labels() -> None:
    parts = Parts(pairs=KernelScores(RBF("scale"), on="edge", view="difference", penalty=1.0))
    model = kf.KernelCRF("linear", parts=parts, **EXACT).fit(X, Y, X_unlabelled=MORE)
    differences = np.concatenate([x[1:] - x[:-1] for x in BOTH])
    width = RBF("scale").on(differences).gamma
    assert model.parts_["pairs"].kernel.gamma == pytest.approx(width, rel=1e-12)


def test_rows_without_labels() -> None:
    rows, labels = np.concatenate([*X, *MORE]), [*np.concatenate(Y), *[None] * 12]
    among = kf.KernelLogisticRegression(RBF("scale"), tol=1e-8, class_weight="balanced").fit(rows, labels)
    beside = kf.KernelLogisticRegression(RBF("scale"), tol=1e-8, class_weight="balanced")
    beside.fit(rows[:-12], labels[:-12], X_unlabelled=np.concatenate(MORE))
    expected = kf.KernelLogisticRegression(RBF(GAMMA), tol=1e-8, class_weight="balanced").fit(
        rows[:-12], labels[:-12]
    )
    for model in (among, beside):
        np.testing.assert_allclose(model.predict_proba(rows), expected.predict_proba(rows), atol=1e-6)
        np.testing.assert_array_equal(model.basis_, rows[model.basis_origin_[:, 0]])
    with pytest.raises(InputError, match=r"^X_unlabelled cannot be read: .*2 features"):
        beside.fit(rows[:-12], labels[:-12], X_unlabelled=np.zeros((3, 2)))
    with pytest.raises(InputError, match=r"^X_unlabelled is for kernels"):
        expected.fit(rows[:-12], labels[:-12], X_unlabelled=rows)


def test_held_out_warm_and_stopped_searches(tmp_path: Any) -> None:
    model = kf.KernelCRF(RBF("scale"), warm_start=True, **EXACT).fit(X, Y, X_unlabelled=MORE)
    cold = model.n_iter_
    assert model.fit(X, Y, X_unlabelled=MORE).n_iter_ < cold
    held = kf.KernelCRF(RBF("scale"), **EXACT).fit(X, Y, X_dev=BOTH, y_dev=with_gaps(), X_unlabelled=MORE)
    known = kf.KernelCRF(RBF(GAMMA), **EXACT).fit(X, Y, X_dev=X, y_dev=Y)
    np.testing.assert_allclose(marginals(held), marginals(known), atol=1e-9)
    stopped = kf.KernelCRF(RBF("scale"), max_iter=3, **EXACT)
    stopped.set_params(run__checkpoint=tmp_path / "search")
    with pytest.warns(Warning, match="limit"):
        stopped.fit(X, Y, X_unlabelled=MORE)
    with pytest.raises(InputError, match="belongs to other data"):
        stopped.fit(X, Y, X_unlabelled=MORE[:2])
    stopped.set_params(max_iter=1000).fit(X, Y, X_unlabelled=MORE)
    assert stopped.certificate_.value == pytest.approx(model.certificate_.value, rel=1e-7)


def test_refusals_change_nothing() -> None:
    model = kf.KernelCRF(RBF("scale")).fit(X, Y)
    before = marginals(model)
    with pytest.raises(InputError, match="y has no labels: there are none for any of 2 sequences"):
        model.fit(X[:2], [None, -1])
    with pytest.raises(InputError, match="X_unlabelled cannot be read: Sequence 0 of X has 2 features"):
        model.fit(X, Y, X_unlabelled=[np.zeros((2, 2))])
    with pytest.raises(InputError, match="lengths add up to 3, but X has 4 rows"):
        model.fit(np.zeros((4, 2)), [["a", "b"], None], lengths=[2, 1])
    for learner in (kf.Cascade(kf.CRF(), kf.CRF()), kf.StructureLearner(kf.CRF(), candidates=[])):
        with pytest.raises(InputError, match="has no X_unlabelled: sequences without labels are items of y"):
            learner.fit(X, Y, X_unlabelled=MORE)
    with pytest.raises(InputError, match="Sequence 1 of y has no label at position 0"):
        kf.StructuredPerceptron().fit(BOTH, with_gaps())
    np.testing.assert_array_equal(marginals(model), before)


def test_a_cascade_hands_them_on() -> None:
    first = kf.KernelCRF(RBF("scale"), **EXACT)
    model = kf.Cascade(first, kf.CRF(tol=1e-6), window=1, folds=3, random_state=0).fit(BOTH, with_gaps())
    assert model.first_[0].kernel_.gamma == pytest.approx(GAMMA, rel=1e-12)
    assert model.predict(X[:1])[0][0] in "ab"


def test_numbers_in_the_place_of_labels_are_labels() -> None:
    """−1 is nothing only where a whole sequence of labels should be."""
    labels = [[int(v) - 1 for v in x[:, 0] > 0] for x in X]
    assert kf.KernelCRF(RBF("scale")).fit(X, labels).classes_.tolist() == [-1, 0]
    flat = np.concatenate(labels)
    model = kf.KernelCRF(Linear()).fit(np.concatenate(X), flat, lengths=[len(x) for x in X])
    assert model.classes_.tolist() == [-1, 0]


def test_one_sparse_matrix_without_lengths_is_refused_in_a_sentence() -> None:
    """Sparse matrices have no length that could be compared with the labels."""
    flat, labels = sparse.csr_array(np.concatenate(X)), [v for y in Y for v in y]
    for model in (kf.KernelCRF(RBF()), kf.CRF()):
        with pytest.raises(InputError, match="with lengths="):
            model.fit(flat, labels)
