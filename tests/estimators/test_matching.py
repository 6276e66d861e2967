"""Matchings and links through the estimators: every one that can, learns, answers, and is kept."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone

from kernelfields import (
    AROW,
    CRF,
    InputError,
    KernelCRF,
    PassiveAggressive,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    load,
)
from kernelfields.losses import Log, PairCost
from kernelfields.structures import Alignment, Bethe, Matching

SHAPES = ((3, 4), (5, 2), (4, 4), (1, 3), (6, 5), (3, 3), (0, 2), (5, 5))
PLAIN = {
    "matching": Matching(),
    "complete": Matching(complete=True),
    "links": Matching(fertility=2, prices=[0.5]),
}
SUMMED = {"bethe": Matching(inference=Bethe(tol=1e-11))}
MARGIN = {
    "svm": StructuredSVM(penalty=0.1),
    "bcfw": StructuredSVM(penalty=0.1, solver="bcfw"),
    "slack svm": StructuredSVM(penalty=0.1, rescaling="slack", tol=0.02),
    "kernel svm": StructuredSVM("rbf", penalty=0.1),
    "perceptron": StructuredPerceptron(random_state=0),
    "passive-aggressive": PassiveAggressive(random_state=0),
    "arow": AROW(random_state=0),
}
LIKELY = {
    "crf": CRF(0.3, tol=1e-9),
    "kernel": KernelCRF("rbf", penalty=0.1),
    "descent": StochasticCRF(random_state=0),
}
CHAIN = Alignment(max_jump=2)
CASES = [(MARGIN[m], s) for m in MARGIN for s in PLAIN.values()] + [(MARGIN["svm"], SUMMED["bethe"])]
CASES += [(m, SUMMED["bethe"]) for m in LIKELY.values()]
CASES += [(m, CHAIN) for m in (*LIKELY.values(), MARGIN["svm"], MARGIN["slack svm"], MARGIN["arow"])]
NAMES = [f"{type(m).__name__} {n}" for n, (m, _) in enumerate(CASES)]


def task(structure: Any) -> tuple[list[Any], list[Any]]:
    """Items whose best outputs by noisy weights are right."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(*shape, 3)) for shape in SHAPES]
    batch = structure.on(None, np.array(SHAPES), 1)
    scores = np.concatenate([(x @ [2.0, -1.0, 0.5]).ravel() for x in X])
    scores += 0.2 * rng.normal(size=scores.shape)
    jump = {"jump": np.array([0.0, 0.5, -0.5, 1.0, 0.0, 0.0, 0.5])} if structure == CHAIN else {}
    outputs = batch.argmax({"pair": scores, **batch.known_scores(), **jump}).labels
    return X, structure.decode(outputs, batch)


@pytest.mark.parametrize(("estimator", "structure"), CASES, ids=NAMES)
def test_learns_answers_and_is_kept(estimator: Any, structure: Any, tmp_path: Any) -> None:
    X, y = task(structure)
    model = clone(estimator).set_params(structure=structure).fit(X, y)
    assert model.score(X, y) > 0.85
    if structure == CHAIN:
        assert model.factors_["jump"].shape == (7,)
    if structure == CHAIN or structure.fertility == 1:
        best = model.predict(X)
        assert best == [first[0][0] for first in model.predict_kbest(X, 2)]
    if structure == CHAIN:
        log_proba = [first[0][1] for first in model.predict_kbest(X, 1)]
        np.testing.assert_allclose(model.sequence_log_proba(X, best), log_proba, atol=1e-6)
        assert len(model.sample(X, 2)) == 2
    elif structure.inference is not None:
        for p, shape in zip(model.predict_marginals(X), SHAPES, strict=True):
            assert p.shape == shape
            assert (p.sum(axis=1) <= 1 + 1e-6).all()
            assert (p.sum(axis=0) <= 1 + 1e-6).all()
        assert (model.sequence_log_proba(X, y) <= 1e-9 + 0.35 * 5).all()  # Bethe's sum may be too small
    model.save(tmp_path / "model")
    for other in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert other.predict(X) == model.predict(X)
        assert other.structure_ == model.structure_


@pytest.mark.parametrize("kind", SUMMED)
def test_reaches_the_optimum_with_a_certificate(kind: str) -> None:
    structure = SUMMED[kind]
    X, y = task(structure)
    model = CRF(0.3, tol=1e-9, structure=structure).fit(X, y)
    links = np.array(SHAPES)
    batch = structure.on(None, links, 1)
    outputs = structure.encode(y, batch.offsets, links)
    rows = np.concatenate([x.reshape(-1, 3) for x in X])

    def objective(w: Any) -> float:
        scores = {"pair": rows @ w[:3] + w[3]}
        return float((batch.log_partition(scores) - batch.score(scores, outputs)).sum() + 0.15 * w @ w)

    best = minimize(objective, np.zeros(4), tol=1e-12)
    assert model.certificate_.value == pytest.approx(best.fun, rel=1e-6)
    assert model.certificate_.relative_gap < 1e-5
    assert not model.certificate_.exact


def test_the_log_loss_is_refused_in_one_sentence() -> None:
    X, y = task(PLAIN["matching"])
    for model in (
        CRF(structure=Matching()),
        StochasticCRF(structure=Matching()),
        KernelCRF(structure=Matching()),
    ):
        with pytest.raises(
            TypeError, match="which MatchingBatch cannot do: that sum is a permanent; Matching"
        ):
            model.fit(X, y)
    svm = StructuredSVM(structure=Matching()).fit(X, y)
    with pytest.raises(InputError, match="predict_marginals needs a SumOracle, which MatchingBatch is not"):
        svm.predict_marginals(X)
    with pytest.raises(TypeError, match="LinkBatch cannot do"):
        CRF(structure=PLAIN["links"]).fit(*task(PLAIN["links"]))


def test_all_forms_of_features_give_the_same() -> None:
    X, y = task(PLAIN["matching"])
    flat = [(x.reshape(-1, 3), x.shape[:2]) for x in X]
    forms = {
        "array": X,
        "float32": [x.astype(np.float32) for x in X],
        "rows": flat,
        "sparse": [(sparse.csr_matrix(rows), shape) for rows, shape in flat],
        "dictionaries": [
            ([{"a": a, "b": b, "c": c} for a, b, c in rows.tolist()], shape) for rows, shape in flat
        ],
    }
    for name, form in forms.items():
        svm = StructuredSVM(penalty=0.3, structure=Matching(), tol=1e-6)
        wanted = clone(svm).fit(X, y).predict(X)
        assert svm.fit(form, y).predict(form) == wanted, name


def primal(w: Any, X: Any, y: Any, structure: Matching, cost: PairCost) -> float:
    """The objective of margin rescaling, item by item."""
    links = np.array(SHAPES)
    batch = structure.on(None, links, 1)
    truth = structure.encode(y, batch.offsets, links)
    theta = np.concatenate([(x @ w[:3]).ravel() for x in X]) + w[3]
    known = batch.known_scores()
    free = np.ones(len(theta), bool)
    for s, pairs in enumerate(cost.possible or ()):
        for i, j in pairs:
            free[batch.offsets[s] + i * SHAPES[s][1] + j] = False
    price = np.where(truth, -cost.missing, cost.superfluous) * free
    worst = batch.argmax({"pair": theta + price, **known}).labels
    delta = free * (cost.missing * (truth > worst) + cost.superfluous * (truth < worst))
    above = batch.score({"pair": theta, **known}, worst) - batch.score({"pair": theta, **known}, truth)
    return float(delta.sum() + above.sum() + 0.15 * w @ w)


@pytest.mark.parametrize("kind", ["matching", "links"])
@pytest.mark.parametrize(
    "cost",
    [
        PairCost(),
        PairCost(missing=3.0),
        PairCost(0.0, 2.0),
        PairCost(possible=[[(0, 0), (1, 1)], *([[]] * 7)]),
    ],
    ids=["hamming", "missing", "superfluous", "possible"],
)
def test_prices_of_pairs_are_those_of_the_objective(kind: str, cost: PairCost) -> None:
    structure = PLAIN[kind]
    X, y = task(structure)
    model = StructuredSVM(penalty=0.3, structure=structure, cost=cost, tol=1e-6).fit(X, y)
    w = np.concatenate([model.coef_[0], model.intercept_])
    assert primal(w, X, y, structure, cost) == pytest.approx(model.certificate_.value, rel=1e-6)
    rng = np.random.default_rng(1)
    for _ in range(20):
        other = primal(w + 0.1 * rng.normal(size=4), X, y, structure, cost)
        assert other >= model.certificate_.lower_bound - 1e-9
    if cost == PairCost():
        plain = StructuredSVM(penalty=0.3, structure=structure, tol=1e-6).fit(X, y)
        assert plain.certificate_.value == pytest.approx(model.certificate_.value, rel=1e-6)


def test_prices_are_kept(tmp_path: Any) -> None:
    X, y = task(PLAIN["matching"])
    cost = PairCost(2.0, 3.0, [[(0, 0)], *([[]] * 7)])
    StructuredSVM(structure=Matching(), cost=cost).fit(X, y).save(tmp_path / "model")
    kept = load(tmp_path / "model").cost
    assert (kept.missing, kept.superfluous) == (2.0, 3.0)
    assert [list(map(tuple, pairs)) for pairs in kept.possible] == [[(0, 0)], *([[]] * 7)]


def test_odd_costs_are_refused() -> None:
    X, y = task(PLAIN["matching"])
    svm = StructuredSVM(structure=Matching())
    with pytest.raises(InputError, match="possible has pairs of 1 items, expected 8"):
        svm.set_params(cost=PairCost(possible=[[]])).fit(X, y)
    with pytest.raises(InputError, match=r"Item 0 of possible has the pair \(0, 9\)"):
        svm.set_params(cost=PairCost(possible=[[(0, 9)], *([[]] * 7)])).fit(X, y)
    with pytest.raises(InputError, match="PairCost is for sets of pairs, which ChainBatch has not"):
        StructuredSVM(cost=PairCost()).fit([[[0.0], [1.0]]], [["a", "b"]])
    with pytest.raises(InputError, match="missing"):
        PairCost(missing=-1.0)


def test_softmax_margin_counts_from_the_observed_pairs() -> None:
    """With a cost inside, the loss of a model that is sure of y is not negative."""
    X, y = task(SUMMED["bethe"])
    plain = CRF(0.3, structure=SUMMED["bethe"]).fit(X, y)
    costly = CRF(0.3, structure=SUMMED["bethe"], loss=Log("hamming")).fit(X, y)
    assert costly.certificate_.value > plain.certificate_.value


def test_predictions_of_nothing_and_of_little() -> None:
    X, y = task(PLAIN["matching"])
    model = StructuredSVM(structure=Matching()).fit(X, y)
    assert model.predict([]) == []
    assert model.predict([np.zeros((0, 3, 3)), np.zeros((2, 0, 3))]) == [[], []]
    with pytest.raises(InputError, match="features"):
        model.predict([np.zeros((2, 2, 4))])
