"""Dependency trees of which some arcs are left out."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest

from kernelfields import CRF, StochasticCRF, StructuredPerceptron, load
from kernelfields.errors import InfeasibleError, InputError
from kernelfields.features import TemplateFeatures, sets
from kernelfields.structures import Dependency, DependencyBatch
from tests._listed_trees import ListedTrees
from tests.estimators.test_arc_features import SENTENCES, TREES

HEADS = [heads for heads, _ in TREES]
WORDS = [3, 1, 0, 4]


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("labels", [None, 2])
def test_sums_and_maxima_are_those_of_the_trees_that_are_left(
    rng: Any, projective: bool, labels: Any
) -> None:
    whole = ListedTrees(WORDS, labels, projective)
    scores = {"arc": rng.normal(size=whole.shapes["arc"])}
    outputs = whole.argmax({"arc": -scores["arc"]}).labels
    allowed = rng.random(len(scores["arc"])) < 0.4
    allowed[whole._places(outputs)[0]] = True
    pruned = DependencyBatch(WORDS, labels, projective, allowed=allowed)
    values, expected = [], []
    for s in range(len(WORDS)):
        one = whole.take([s])
        here = {"arc": scores["arc"][whole.offsets[s] : whole.offsets[s + 1]]}
        kept = allowed[whole.offsets[s] : whole.offsets[s + 1]]
        every = [y for y in one.every_output() if kept[one._places(y)[0]].all()] if WORDS[s] else [[]]
        total = np.array([float(one.score(here, np.asarray(y, np.int64))[0]) for y in every])
        values.append(np.logaddexp.reduce(total))
        parts = np.zeros_like(here["arc"])
        for y, p in zip(every, np.exp(total - values[-1]), strict=True):
            one.subtract_parts({"arc": parts}, np.asarray(y, np.int64), np.array([-p]))
        expected.append(parts)
        assert pruned.take([s]).argmax(here).value[0] == pytest.approx(total.max())
    found = pruned.marginals(scores)
    np.testing.assert_allclose(found.log_partition, values, rtol=1e-12)
    np.testing.assert_allclose(found.parts["arc"], np.concatenate(expected), atol=1e-12)
    for outputs in (whole.argmax(scores).labels, whole.sample(scores, 1, 0)[0]):
        left = allowed[whole._places(outputs)[0]]
        wanted = [left[a:b].all() for a, b in itertools.pairwise(whole.output_offsets)]
        np.testing.assert_array_equal(np.isfinite(pruned.score(scores, outputs)), wanted)


def test_no_tree_is_left() -> None:
    batch = DependencyBatch([2], allowed=[False, False, False, True, True, False])
    with pytest.raises(InfeasibleError):
        batch.argmax({"arc": np.zeros(6)})


def masks() -> list[Any]:
    """All right arcs, and those to the left."""
    found = []
    for heads in HEADS:
        n = len(heads)
        allowed = np.tile(np.arange(n + 1), (n, 1)) > np.arange(1, n + 1)[:, None]
        allowed[np.arange(n), np.array(heads, int)] = True
        found.append(allowed)
    return found


@pytest.mark.parametrize("model", [CRF(0.1), StochasticCRF(0.1, random_state=0), StructuredPerceptron()])
def test_estimators_look_at_no_other_arcs(model: Any, tmp_path: Any) -> None:
    X = list(zip(SENTENCES, masks(), strict=True))
    model.set_params(structure=Dependency(pruned=True), features="arcs").fit(X, HEADS)
    assert model.predict(X) == HEADS
    for p, allowed in zip(model.predict_marginals(X), masks(), strict=True):
        assert not p[~allowed].any()
    names = model.features_.names()
    assert "w[h]&w[m]=dog&the" in names
    assert "w[h]&w[m]=the&barks" not in names
    model.save(tmp_path / "model")
    for other in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert other.predict(X) == HEADS


def test_rows_may_be_given_instead_of_tokens() -> None:
    features = TemplateFeatures(sets.arcs()).fit(SENTENCES)
    rows = [features.transform([sentence]).features for sentence in SENTENCES]
    model = CRF(0.1, structure=Dependency(pruned=True)).fit(list(zip(rows, masks(), strict=True)), HEADS)
    assert model.predict(list(zip(rows, masks(), strict=True))) == HEADS


def test_heads_that_are_left_out() -> None:
    X = list(zip(SENTENCES, masks(), strict=True))
    model = CRF(0.1, structure=Dependency(pruned=True), features="arcs").fit(X, HEADS)
    other = [[0, 1, 1], *HEADS[1:]]
    with pytest.warns(UserWarning, match="1 of 5 sentences have"):
        assert np.isneginf(model.sequence_log_proba(X, other)[0])
    with pytest.raises(InputError, match="Sentence 0 of y"):
        model.fit(X, other)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([SENTENCES[0]], r"Sentence 0 of X is not a pair \(features, allowed\)"),
        ([(SENTENCES[0], np.ones((3, 3), bool))], r"allowed is bool of shape \(3, 3\), expected booleans"),
        ([(SENTENCES[0], np.ones((3, 4)))], "allowed is float64 of shape"),
        ([(SENTENCES[0], np.ones((4, 5), bool))], r"keep has shape \(20\), expected \(12\)"),
        ("ab", "X must be a list of pairs"),
    ],
)
def test_what_is_refused(X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CRF(structure=Dependency(pruned=True), features="arcs").fit(X, [[2, 3, 0]])
    with pytest.raises(InputError, match="lengths= is not for pruned trees"):
        CRF(structure=Dependency(pruned=True)).fit(np.ones((2, 1)), [[0]], lengths=[2])
