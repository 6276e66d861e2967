"""Max-margin learners on graphs whose best labellings are searched, or relaxed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelfields import CRF, PassiveAggressive, StochasticCRF, StructuredPerceptron, StructuredSVM, load
from kernelfields.errors import InputError
from kernelfields.structures import (
    AlphaExpansion,
    AtMost,
    BeliefPropagation,
    DualDecomposition,
    Graph,
    LinearProgramMax,
    MaxSearch,
    TreeReweightedMax,
)


def rings(count: int, seed: int) -> tuple[list[Any], list[list[str]]]:
    """Rings with a chord, on which neighbours mostly have the same label, seen through noise."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(count):
        n = int(rng.integers(4, 7))
        edges = [[v, (v + 1) % n] for v in range(n)] + [[0, 2]]
        start = rng.integers(3)
        labels = (start + (np.arange(n) >= n - 1)) % 3
        X.append((np.eye(3)[labels] + rng.normal(scale=0.8, size=(n, 3)), edges))
        y.append([f"l{k}" for k in labels])
    return X, y


X, Y = rings(8, 0)
FRESH, TRUTH = rings(40, 1)
SEARCHES = [
    TreeReweightedMax(),
    LinearProgramMax(),
    AlphaExpansion(truncate=True, bounded_by=TreeReweightedMax()),
]


def fitted(structure: Graph, **settings: Any) -> StructuredSVM:
    return StructuredSVM(structure=structure, **{"penalty": 1.0, "tol": 1e-2, **settings}).fit(X, Y)


@pytest.fixture(scope="module")
def exact() -> StructuredSVM:
    return fitted(Graph())


CASES = [("one-slack", search) for search in SEARCHES] + [("bcfw", TreeReweightedMax())]


@pytest.mark.parametrize(("solver", "search"), CASES, ids=lambda x: str(x).split("(")[0])
def test_a_searched_svm_certifies_the_exact_objective(
    exact: StructuredSVM, search: MaxSearch, solver: str
) -> None:
    model = fitted(Graph(inference=search), solver=solver, random_state=0)
    assert model.certificate_ is not None
    assert exact.certificate_ is not None
    assert model.certificate_.exact
    # Both objectives are the same one: each certificate holds for the other's optimum.
    assert model.certificate_.lower_bound <= exact.certificate_.value + 1e-9
    assert exact.certificate_.lower_bound <= model.certificate_.value + 1e-9
    right = model.score(FRESH, TRUTH)
    assert right == pytest.approx(exact.score(FRESH, TRUTH), abs=0.03)


def test_a_poor_search_leaves_a_gap_that_it_admits(exact: StructuredSVM) -> None:
    loose = AlphaExpansion(truncate=True)  # its bound is the sum of all maxima
    model = fitted(Graph(inference=loose))
    assert model.certificate_ is not None
    assert exact.certificate_ is not None
    assert model.certificate_.lower_bound <= exact.certificate_.value + 1e-9
    assert exact.certificate_.lower_bound <= model.certificate_.value + 1e-9
    assert model.certificate_.relative_gap > 1e-2


def test_the_relaxed_svm_has_a_certificate_of_a_surrogate_above(exact: StructuredSVM) -> None:
    model = fitted(Graph(), rescaling="relaxed")
    assert model.certificate_ is not None
    assert exact.certificate_ is not None
    assert not model.certificate_.exact
    assert model.certificate_.relative_gap <= 1e-2
    assert model.certificate_.value >= exact.certificate_.lower_bound - 1e-9
    assert model.score(FRESH, TRUTH) == pytest.approx(exact.score(FRESH, TRUTH), abs=0.05)


@pytest.mark.parametrize("kind", [StructuredPerceptron, PassiveAggressive])
def test_online_learners_take_what_a_search_finds(kind: type) -> None:
    model = kind(structure=Graph(inference=TreeReweightedMax()), random_state=0, max_iter=10).fit(X, Y)
    other = kind(structure=Graph(), random_state=0, max_iter=10).fit(X, Y)
    assert model.score(FRESH, TRUTH) == pytest.approx(other.score(FRESH, TRUTH), abs=0.05)
    assert model.score(FRESH, TRUTH) > 0.65


def test_a_searched_model_is_saved_with_its_search(tmp_path: Path) -> None:
    search = DualDecomposition((AtMost(0, 1),), max_iter=50)
    model = fitted(Graph(inference=TreeReweightedMax(max_iter=20)))
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.predict(FRESH) == model.predict(FRESH)
    assert again.structure_.inference == TreeReweightedMax(max_iter=20)
    crf = CRF(structure=Graph(inference=BeliefPropagation(search=search))).fit(X, Y)
    crf.save(tmp_path / "crf")
    assert load(tmp_path / "crf").structure_.inference.search == search
    assert max(labels.count("l0") for labels in crf.predict(FRESH, decoder="viterbi")) == 1


def test_questions_about_probabilities_are_refused() -> None:
    model = fitted(Graph(inference=TreeReweightedMax()))
    for question in (model.predict_marginals, lambda x: model.sequence_log_proba(x, TRUTH), model.sample):
        with pytest.raises(InputError, match="Oracle, which SearchedGraphBatch is not"):
            question(FRESH)
    with pytest.raises(TypeError, match="which SearchedGraphBatch cannot do"):
        StochasticCRF(structure=Graph(inference=TreeReweightedMax()), max_iter=1).fit(X, Y)


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(InputError, match="goes with solver='one-slack'"):
        fitted(Graph(), rescaling="relaxed", solver="bcfw")
    with pytest.raises(InputError, match="is for graphs"):
        StructuredSVM(rescaling="relaxed").fit([x for x, _ in X], Y)
    with pytest.raises(InputError, match="adds up"):
        fitted(Graph(), rescaling="relaxed", cost=lambda true, guess: 0.0)
    with pytest.raises(InputError, match="search is 'trws'"):
        BeliefPropagation(search="trws")  # type: ignore[arg-type]
