"""Dependency trees with features of siblings: from tokens and from arrays, against all trees listed."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone

from kernelfields import CRF, KernelCRF, StructuredPerceptron, load
from kernelfields.errors import InputError
from kernelfields.features import TemplateFeatures, sets
from kernelfields.structures import Dependency, SiblingDependency
from kernelfields.structures.sibling_rows import every_sibling
from tests._listed_trees import ListedSiblingTrees
from tests.estimators.test_arc_features import MODELS, NEW, SENTENCES, TREE_OF_NEW, TREES

HEADS = [heads for heads, _ in TREES]
LINEAR = [name for name in MODELS if name != "kernel"]
WORDS = np.array([3, 4, 2, 0, 1])


@pytest.mark.parametrize("labels", [True, None])
@pytest.mark.parametrize("name", LINEAR)
def test_learns_from_tokens_and_is_kept(name: str, labels: Any, tmp_path: Any) -> None:
    y = TREES if labels else HEADS
    model = clone(MODELS[name]).set_params(structure=SiblingDependency(labels=labels), features="arcs")
    model.fit(SENTENCES, y)
    assert model.predict(SENTENCES) == y
    assert model.predict(NEW) == [TREE_OF_NEW if labels else TREE_OF_NEW[0]]
    assert np.count_nonzero(model.sibling_coef_) > 5
    model.save(tmp_path / "model")
    for other in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), model.fit(SENTENCES, y)):
        assert other.predict(NEW) == model.predict(NEW)
        np.testing.assert_array_equal(other.predict_marginals(NEW)[0], model.predict_marginals(NEW)[0])


def given(rng: Any, pruned: bool = False) -> list[Any]:
    """Items with random features of arcs and of siblings, these in any order; some arcs left out."""
    X = []
    for n in WORDS.tolist():
        allowed = np.ones((n, n + 1), bool)
        if pruned:
            allowed &= rng.random((n, n + 1)) < 0.7
            allowed[:, 0] = True  # all words have the root
        rows = rng.permutation(every_sibling(np.array([n]))[0])
        table = rng.normal(size=(len(rows), 2))
        item = [rng.normal(size=(n * (n + 1), 3)), *([allowed] if pruned else []), rows, table]
        X.append(tuple(item))
    return X


def listed(X: list[Any], labels: int | None) -> tuple[ListedSiblingTrees, Any, Any]:
    """The batch whose trees can be listed, with the features of its arcs and siblings."""
    rows, tables = [], []
    for item in X:
        order = np.lexsort((item[-2][:, 1], item[-2][:, 2], item[-2][:, 0]))
        rows.append(item[-2][order])
        tables.append(item[-1][order])
    offsets = np.cumsum([0, *map(len, rows)])
    allowed = np.concatenate([item[1].ravel() for item in X]) if len(X[0]) == 4 else None
    batch = ListedSiblingTrees(WORDS, labels, False, allowed, np.concatenate(rows), offsets)
    return batch, np.concatenate([item[0] for item in X]), np.concatenate(tables)


@pytest.mark.parametrize("labels", [None, 2])
@pytest.mark.parametrize("pruned", [False, True])
def test_the_crf_is_the_best_over_all_trees(rng: Any, labels: int | None, pruned: bool) -> None:
    """The objective summed over lists of trees, minimised by another solver."""
    X, L = given(rng, pruned), labels or 1
    batch, arcs, siblings = listed(X, labels)
    outputs = batch.argmax({name: rng.normal(size=shape) for name, shape in batch.shapes.items()}).labels
    y: list[Any] = []
    for a, b in pairwise(batch.output_offsets.tolist()):
        heads = (outputs[a:b] // L).tolist()
        y.append((heads, (outputs[a:b] % L).tolist()) if labels else heads)
    every = [batch.take([s]) for s in range(len(WORDS))]
    trees = [one.every_output() for one in every]

    def scored(w: Any, s: int) -> Any:
        theta = {
            "arc": (arcs @ w[: 3 * L].reshape(3, L) + w[3 * L : 4 * L]).reshape(batch.shapes["arc"]),
            "sibling": siblings @ w[4 * L :],
        }
        here = batch.cut(theta, [s])
        right = batch.cut_outputs(outputs, [s])
        total = np.array([every[s].score(here, tree)[0] for tree in trees[s]])
        return np.logaddexp.reduce(total) - every[s].score(here, right)[0]

    def objective(w: Any) -> float:
        return float(sum(scored(w, s) for s in range(len(WORDS))) + 0.05 * w @ w)

    found = minimize(objective, np.zeros(4 * L + 2), tol=1e-9)
    structure = SiblingDependency(
        single_root=False, labels=list(range(2)) if labels else None, pruned=pruned, siblings=None
    )
    model = CRF(0.1, structure=structure, tol=1e-10).fit(X, y)
    assert model.certificate_.value == pytest.approx(found.fun, rel=1e-7)
    np.testing.assert_allclose(model.sibling_coef_, found.x[4 * L :], atol=2e-3)
    np.testing.assert_allclose(model.coef_.T, found.x[: 3 * L].reshape(3, L), atol=2e-3)
    chances = [
        -scored(np.concatenate([model.coef_.T.ravel(), model.intercept_, model.sibling_coef_]), s)
        for s in range(5)
    ]
    np.testing.assert_allclose(model.sequence_log_proba(X, y), chances, atol=1e-8)


def test_siblings_of_the_arcs_that_are_left(rng: Any) -> None:
    words = np.array([5, 0, 3, 1])
    allowed = rng.random(int((words * (words + 1)).sum())) < 0.5
    rows, offsets = every_sibling(words, allowed)
    start = 0
    for s, n in enumerate(words.tolist()):
        arc = allowed[start : start + n * (n + 1)].reshape(n, n + 1)
        start += n * (n + 1)
        expected = [
            [h, i, m]
            for h in range(n + 1)
            for m in range(1, n + 1)
            for i in range(n + 1)
            if h != m and arc[m - 1, h]
            if i == h or (min(h, m) < i < max(h, m) and arc[i - 1, h])
        ]
        assert rows[offsets[s] : offsets[s + 1]].tolist() == expected


def test_templates_see_all_three_words() -> None:
    """The root is __BOS1__; where there is no inner word it is __EOS1__."""
    text = "columns: w\ncliques: siblings\nw[h] & w[s] & w[m]\nw[s-1] & direction\nbetween(w) & w[h]"
    features = TemplateFeatures(text, by_frequency=False)
    rows = [[0, 0, 1], [0, 1, 3], [3, 3, 1], [3, 2, 1]]
    X, lengths = features.fit_transform([(["a", "b", "c"], rows), ([], []), (["d"], [[0, 0, 1]])])
    assert lengths.tolist() == [4, 0, 1]
    names = np.array(features.names())
    found = [sorted(names[X[t].indices]) for t in range(5)]
    first, near = "w[h]&w[s]&w[m]=", "w[s-1]&direction="
    assert found == [
        [f"{first}__BOS1__&__EOS1__&a", f"{near}c&right"],
        [
            "between(w)&w[h]=a&__BOS1__",
            "between(w)&w[h]=b&__BOS1__",
            f"{first}__BOS1__&a&c",
            f"{near}__BOS1__&right",
        ],
        ["between(w)&w[h]=b&c", f"{first}c&__EOS1__&a", f"{near}c&left"],
        ["between(w)&w[h]=b&c", f"{first}c&b&a", f"{near}a&left"],
        [f"{first}__BOS1__&__EOS1__&d", f"{near}d&right"],
    ]
    kept = pickle.loads(pickle.dumps(features)).transform([(["a", "b", "c"], rows)])[0]
    assert (kept != X[:4]).nnz == 0


def test_pruned_tokens_are_like_all_of_them_with_the_same_arcs(rng: Any) -> None:
    every = [np.ones((len(heads), len(heads) + 1), bool) for heads in HEADS]
    plain = CRF(0.1, structure=SiblingDependency(), features="arcs").fit(SENTENCES, HEADS)
    pruned = CRF(0.1, structure=SiblingDependency(pruned=True), features="arcs")
    pruned.fit(list(zip(SENTENCES, every, strict=True)), HEADS)
    np.testing.assert_array_equal(pruned.sibling_coef_, plain.sibling_coef_)


def test_learning_goes_on(tmp_path: Any) -> None:
    model = StructuredPerceptron(structure=SiblingDependency(labels=True), features="arcs", random_state=0)
    model.partial_fit(SENTENCES, TREES).save(tmp_path / "model")
    other = load(tmp_path / "model").partial_fit(SENTENCES, TREES)
    np.testing.assert_array_equal(model.partial_fit(SENTENCES, TREES).sibling_coef_, other.sibling_coef_)
    assert other.predict(SENTENCES) == TREES


def test_decoders(rng: Any) -> None:
    model = CRF(0.1, structure=SiblingDependency(labels=True), features="arcs").fit(SENTENCES, TREES)
    assert model.predict(SENTENCES, decoder="posterior") == TREES
    best = model.predict_kbest(NEW, 3)[0]
    assert best[0][0] == model.predict(NEW)[0]
    assert best[0][1] >= best[1][1] >= best[2][1]
    assert len(model.sample(NEW, 4)) == 4


def test_what_cannot_be_is_refused(rng: Any) -> None:
    for siblings, message in (
        ("arcs", "templates of arcs"),
        (TemplateFeatures(sets.siblings()), "vocabulary"),
        (3, "must be templates"),
    ):
        with pytest.raises(InputError, match=message):
            SiblingDependency(siblings=siblings)
    with pytest.raises(InputError, match="projective must be True"):
        SiblingDependency(projective=False)
    with pytest.raises(InputError, match="features of 'sibling' cliques"):
        KernelCRF(structure=SiblingDependency(), features="arcs").fit(SENTENCES, HEADS)
    with pytest.raises(InputError, match="token"):
        CRF(structure=SiblingDependency()).fit([np.ones((2, 1))], [[0]])
    numbers = CRF(structure=SiblingDependency(siblings=None))
    arcs, row, one = np.ones((6, 1)), [[0, 0, 1]], np.ones((1, 2))
    for item, message in (
        (arcs, r"Sentence 0 of X is not \(features, siblings, sibling_features\)"),
        ((arcs, row, None), "no sibling_features"),
        ((arcs, row, np.ones((2, 2))), "1 siblings and sibling_features of shape"),
        ((arcs, [[0, 0, 3]], one), "no head, inner and outer word"),
        ((arcs, [[0, 0, 1]] * 2, np.ones((2, 2))), "twice"),
        ((arcs, [[0, 0]], one), r"shape \(C, 3\)"),
        ((arcs, row, [["a", "b"]]), "not numbers"),
        ((arcs, row, one * np.nan), "NaN"),
    ):
        with pytest.raises(InputError, match=message):
            numbers.fit([item], [[0, 1]])
    with pytest.raises(InputError, match="Sentence 1 of X has 3 features"):
        numbers.fit([(arcs, row, one), (arcs, row, np.ones((1, 3)))], [[0, 1], [0, 1]])
    model = numbers.fit([(arcs, row, sparse.csr_matrix(one))], [[0, 1]])
    with pytest.raises(InputError, match="3 features of 'sibling', the model 2"):
        model.predict([(arcs, row, np.ones((1, 3)))])
    assert model.predict([(arcs, [], np.empty((0, 2)))]) in ([[0, 1]], [[2, 0]])


def test_without_features_of_siblings_they_are_trees_of_first_order() -> None:
    """Templates that no sentence has a value for."""
    nothing = TemplateFeatures("columns: w\ncliques: siblings\nw[s+9]", n_hash=2, boundaries=False)
    tokens = [[word for word, _ in sentence] for sentence in SENTENCES]
    arcs = "columns: w\ncliques: arcs\nw[h] & w[m]\ndistance"
    second = CRF(0.1, structure=SiblingDependency(siblings=nothing), features=arcs, tol=1e-8).fit(
        tokens, HEADS
    )
    first = CRF(0.1, structure=Dependency(), features=arcs, tol=1e-8).fit(tokens, HEADS)
    np.testing.assert_allclose(second.coef_, first.coef_, atol=1e-3)
    for one, other in zip(second.predict_marginals(tokens), first.predict_marginals(tokens), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
