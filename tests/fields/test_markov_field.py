"""Markov random fields without observations."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_score

from kernelfields import CRF, MarkovField, Parts, load
from kernelfields.errors import InputError
from kernelfields.fields import Annealing, PersistentChains
from kernelfields.structures import Chain, Gibbs, Graph, Grid, Segments, Tree, TreeReweighted

from ._enumerated import couplings_of, ising, labellings, pair_scores

RING = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]
FIELDS = [0.3, -0.2, 0.1, -0.4]
COUPLINGS = [0.8, -0.5, 0.6, 0.4, -0.3]
WORDS = [list("aab"), list("bbb"), list("aaa"), list("abb"), list("bba")]


def drawn(count: int, seed: int = 0) -> np.ndarray:
    p = ising(RING, FIELDS, COUPLINGS)
    return labellings(4)[np.random.default_rng(seed).choice(len(p), count, p=p)]


KINDS: list[tuple[dict[str, Any], Any]] = [
    ({}, None),
    ({"structure": "chain2"}, None),
    ({"parts": Parts(boundaries=None)}, None),
    ({"tables": "own"}, None),
    ({"structure": "tree", "links": [-1, 0, 0]}, None),
    ({"structure": "tree", "links": [2, 2, -1], "tables": "own"}, None),
    ({"structure": "graph", "links": [[0, 1], [1, 2], [0, 2]]}, None),
    ({"structure": Graph(directed=True), "links": [[0, 1], [1, 2], [2, 0]]}, None),
    ({"structure": "graph", "links": [[0, 1], [1, 2], [0, 2]], "tables": "own"}, None),
    ({"structure": "graph", "links": [[0, 1], [1, 2], [0, 2]], "method": "pseudo"}, None),
    ({"method": "pcd"}, None),
    ({"structure": "graph"}, [(np.eye(3), [[0, 1], [1, 2]])]),
    ({}, [np.array([[0.0], [1.0], [2.0]])]),
]


@pytest.mark.parametrize(("settings", "X"), KINDS, ids=range(len(KINDS)))
class TestEveryKind:
    def test_density_sums_to_one(self, settings: dict[str, Any], X: Any) -> None:
        field = MarkovField(0.3, random_state=0, **settings).fit(WORDS, X and X * len(WORDS))
        every = [list(z) for z in product("ab", repeat=3)]
        density = np.exp(field.score_samples(every, X and X * len(every)))
        assert density.sum() == pytest.approx(1.0)
        assert np.ptp(density) > 0.01

    def test_missing_labels_are_summed_out(self, settings: dict[str, Any], X: Any) -> None:
        field = MarkovField(0.3, random_state=0, **settings).fit(WORDS, X and X * len(WORDS))
        some = [["a", None, "b"], [None, None, None], [None, "b", "a"]]
        got = field.score_samples(some, X and X * 3)
        for z, value in zip(some, got, strict=True):
            full = [
                w for w in product("ab", repeat=3) if all(g in (None, k) for g, k in zip(z, w, strict=True))
            ]
            parts = field.score_samples([list(w) for w in full], X and X * len(full))
            assert value == pytest.approx(logsumexp(parts), abs=1e-9)

    def test_marginals_and_completions_are_those_of_the_density(
        self, settings: dict[str, Any], X: Any
    ) -> None:
        field = MarkovField(0.3, random_state=0, **settings).fit(WORDS, X and X * len(WORDS))
        every = [list(z) for z in product("ab", repeat=3)]
        density = np.exp(field.score_samples(every, X and X * len(every)))
        first_a = np.array([z[0] == "a" for z in every])
        given = density * first_a / density[first_a].sum()
        wanted = [sum(p for p, z in zip(given, every, strict=True) if z[2] == label) for label in "ab"]
        got = field.predict_marginals([["a", None, None]], X)[0]
        np.testing.assert_allclose(got[2], wanted, atol=1e-9)
        np.testing.assert_allclose(got[0], [1, 0], atol=1e-12)
        assert field.predict([["a", None, None]], X) == [every[int(given.argmax())]]

    def test_clone_pickle_and_file(self, settings: dict[str, Any], X: Any, tmp_path: Any) -> None:
        field = clone(MarkovField(0.3, random_state=0, **settings)).fit(WORDS, X and X * len(WORDS))
        expected = field.score_samples(WORDS, X and X * len(WORDS))
        field.save(tmp_path / "field.kf")
        for again in (pickle.loads(pickle.dumps(field)), load(tmp_path / "field.kf")):
            np.testing.assert_array_equal(again.score_samples(WORDS, X and X * len(WORDS)), expected)
            item = None if X is None else X[0]
            assert again.sample(5, item=item) == field.sample(5, item=item)
            assert again.log_partition(item=item) == field.log_partition(item=item)


def test_exact_weights_minimise_the_enumerated_objective() -> None:
    """The penalised likelihood of a directed graph, by SciPy over sums of all labellings."""
    Z, every = drawn(60), labellings(4)
    field = MarkovField(0.5, structure=Graph(directed=True), links=RING, tol=1e-7).fit(Z)

    def objective(w: np.ndarray) -> float:
        b, V = np.tile(w[:2], (4, 1)), np.tile(w[2:].reshape(2, 2), (5, 1, 1))
        losses = logsumexp(pair_scores(every, RING, b, V)) - pair_scores(Z, RING, b, V)
        return float(losses.sum() + 0.25 * w @ w)

    found = minimize(objective, np.zeros(6), tol=1e-12)
    got = np.concatenate([field.vertex_tables_, field.edge_tables_.ravel()])
    np.testing.assert_allclose(got, found.x, atol=2e-4)
    assert field.certificate_ is not None
    assert field.certificate_.lower_bound <= found.fun + 1e-9
    assert found.fun <= field.certificate_.value + 1e-9


def test_own_tables_are_those_of_the_sum() -> None:
    field = MarkovField(0.5, structure="graph", links=RING, tables="own").fit(drawn(80))
    scores = pair_scores(labellings(4), RING, field.vertex_tables_, field.edge_tables_)
    got = field.log_partition()
    assert got.value == got.lower == got.upper == pytest.approx(logsumexp(scores))
    np.testing.assert_allclose(field.score_samples(labellings(4)), scores - logsumexp(scores), atol=1e-9)


def test_a_chain_is_the_crf_of_constant_features() -> None:
    field = MarkovField(0.7).fit(WORDS)
    crf = CRF(0.7, parts=Parts(bias=None)).fit([np.ones((3, 1))] * 5, WORDS)
    np.testing.assert_allclose(
        field.score_samples(WORDS), crf.sequence_log_proba([np.ones((3, 1))] * 5, WORDS)
    )


def weighted_truth() -> tuple[np.ndarray, np.ndarray]:
    """All labellings, weighed as if there were 10⁶ draws: what is left of errors is the method's own."""
    return labellings(4), 1e6 * ising(RING, FIELDS, COUPLINGS)


@pytest.mark.parametrize("method", ["exact", "pseudo"])
def test_both_likelihoods_find_the_field_in_the_limit(method: str) -> None:
    Z, weights = weighted_truth()
    field = MarkovField(1e-3, structure="graph", links=RING, tables="own", method=method, tol=1e-10)
    field.fit(Z, sample_weight=weights)
    np.testing.assert_allclose(couplings_of(field.edge_tables_), COUPLINGS, atol=1e-3)
    np.testing.assert_allclose(np.exp(field.score_samples(Z)), weights / 1e6, atol=1e-4)


@pytest.mark.parametrize("method", ["exact", "pseudo"])
def test_draws_of_a_known_field_give_it_back(method: str) -> None:
    """4,000 draws: the standard error of a coupling is about 0.02 here, five of them are allowed."""
    Z, counts = np.unique(drawn(4000), axis=0, return_counts=True)
    field = MarkovField(0.1, structure="graph", links=RING, tables="own", method=method)
    field.fit(Z, sample_weight=counts)
    np.testing.assert_allclose(couplings_of(field.edge_tables_), COUPLINGS, atol=0.1)


def test_chains_find_the_field_of_draws() -> None:
    """1,000 draws: the standard error is about 0.04."""
    chains = PersistentChains(steps=150, chains=300)
    field = MarkovField(0.1, structure="graph", links=RING, tables="own", method=chains, random_state=0)
    np.testing.assert_allclose(couplings_of(field.fit(drawn(1000)).edge_tables_), COUPLINGS, atol=0.2)


def test_chains_find_the_likelihoods_maximum() -> None:
    """Where the pseudo-likelihood's is another: 40 draws of strong couplings."""
    p = ising(RING, np.zeros(4), [1.0, 0.9, 0.8, 0.9, -0.7])
    Z = labellings(4)[np.random.default_rng(2).choice(len(p), 40, p=p)]
    settings = {"structure": "graph", "links": RING, "tables": "own", "random_state": 0}
    exact, pseudo = (MarkovField(1.0, method=m, tol=1e-6, **settings).fit(Z) for m in ("exact", "pseudo"))
    chains = MarkovField(1.0, method=PersistentChains(steps=1000), **settings).fit(Z)
    wanted = couplings_of(exact.edge_tables_)
    assert np.abs(couplings_of(chains.edge_tables_) - wanted).max() < 0.04
    assert np.abs(couplings_of(pseudo.edge_tables_) - wanted).max() > 0.1
    assert chains.certificate_ is None


@pytest.mark.parametrize("method", ["exact", "pcd"])
def test_learning_with_missing_labels(method: str) -> None:
    Z: list[list[Any]] = drawn(500).tolist()
    rng = np.random.default_rng(1)
    holes = [[None if rng.random() < 0.2 else label for label in z] for z in Z]
    settings = {"structure": "graph", "links": RING, "tables": "own", "random_state": 0}
    chosen = PersistentChains(steps=100) if method == "pcd" else method
    field = MarkovField(0.1, method=chosen, **settings).fit(holes)
    np.testing.assert_allclose(couplings_of(field.edge_tables_), COUPLINGS, atol=0.4)
    assert field.certificate_ is None


class TestGrids:
    def test_shapes(self) -> None:
        rng = np.random.default_rng(0)
        Z = [rng.choice(["sea", "land"], shape).tolist() for shape in [(3, 4), (2, 5), (1, 1)]]
        field = MarkovField(structure=Grid(), random_state=0).fit(Z)
        assert np.shape(field.sample(2, shape=(4, 3))) == (2, 4, 3)
        with pytest.raises(InputError, match="different shapes: say which with shape="):
            field.sample()
        with pytest.raises(InputError, match=r"shape is 4; it must be \(height, width\)"):
            field.log_partition(shape=4)
        holes = [[["sea", None], [None, "land"]]]
        assert field.predict_marginals(holes)[0].shape == (2, 2, 2)
        assert field.predict(holes)[0][0][0] == "sea"

    def test_annealing_agrees_with_exact_sums(self) -> None:
        Z = (np.random.default_rng(0).random((20, 4, 4)) < 0.6).astype(int)
        Z[:, 1:] |= Z[:, :-1]
        exact = MarkovField(structure=Grid(), random_state=0).fit(Z)
        annealed = clone(exact).set_params(density=Annealing(steps=60, particles=60)).fit(Z)
        value, found = exact.log_partition().value, annealed.log_partition()
        assert abs(found.value - value) < 5 * found.error
        assert (found.lower, found.upper) == (-np.inf, np.inf)
        np.testing.assert_allclose(
            annealed.score_samples(Z[:3]), exact.score_samples(Z[:3]), atol=5 * found.error
        )
        holes = [[[None if (i + j) % 5 == 0 else int(Z[0, i, j]) for j in range(4)] for i in range(4)]]
        np.testing.assert_allclose(
            annealed.score_samples(holes), exact.score_samples(holes), atol=10 * found.error
        )

    def test_bounds_of_approximate_sums_hold(self) -> None:
        Z = (np.random.default_rng(0).random((30, 4, 4)) < 0.5).astype(int)
        exact = MarkovField(structure=Grid(), method="pseudo").fit(Z)
        rough = MarkovField(structure=Grid(inference=TreeReweighted()), method="pseudo").fit(Z)
        found, value = rough.log_partition(), exact.log_partition().value
        assert value <= found.upper + 1e-6
        assert found.upper < np.inf
        assert found.error == 0

    def test_draws_without_sums(self) -> None:
        Z = (np.random.default_rng(0).random((40, 6, 6)) < 0.7).astype(int)
        field = MarkovField(structure=Grid(inference=Gibbs()), method="pseudo", random_state=0).fit(Z)
        assert abs(np.mean(field.sample(200)) - 0.7) < 0.05
        with pytest.raises(InputError, match=r"does not sum over labellings; density=Annealing\(\)"):
            field.log_partition()
        with pytest.raises(InputError, match="predict_marginals needs sums"):
            field.predict_marginals(Z[:1])


def test_draws_are_of_the_density() -> None:
    field = MarkovField(0.5, structure="graph", links=RING, random_state=3).fit(drawn(100))
    draws = np.array(field.sample(20_000))
    p = np.exp(field.score_samples(labellings(4)))
    found = np.bincount(draws @ [8, 4, 2, 1], minlength=16) / len(draws)
    assert (np.abs(found - p) < 5 * np.sqrt(p / len(draws)) + 1e-4).all()


def test_sequences_of_any_length_and_weights() -> None:
    Z = [["a"], ["a", "b", "b", "a"], [], ["b", "b"]]
    field = MarkovField(0.5).fit(Z, sample_weight=[1, 2, 1, 1])
    twice = MarkovField(0.5).fit([*Z, Z[1]])
    np.testing.assert_allclose(field.score_samples(Z), twice.score_samples(Z), atol=1e-4)
    assert len(field.sample(shape=6)[0]) == 6
    assert field.score(Z) == pytest.approx(field.score_samples(Z).mean())
    assert field.score_samples([]).shape == (0,)


def test_cross_validation_prefers_a_penalty() -> None:
    Z = drawn(150).tolist()
    scores = [
        cross_val_score(
            MarkovField(penalty, structure="graph", links=RING, tables="own"), Z, cv=KFold(3)
        ).mean()
        for penalty in (1e4, 1.0)
    ]
    assert scores[0] < scores[1]


def test_data_frames_have_a_labelling_per_row() -> None:
    frame = pd.DataFrame(drawn(50), columns=list("abcd"))
    holes = frame.astype(float).mask(np.random.default_rng(0).random(frame.shape) < 0.1)
    for given in (frame, holes):
        field = MarkovField(structure="graph", links=RING, tables="own").fit(given)
        listed = MarkovField(structure="graph", links=RING, tables="own").fit(given.to_numpy().tolist())
        np.testing.assert_array_equal(field.score_samples(given), listed.score_samples(given.to_numpy()))
    assert not np.isnan(np.array(field.predict(holes), dtype=float)).any()


def test_unknown_labels() -> None:
    field = MarkovField().fit(WORDS)
    with pytest.warns(UserWarning, match="1 of 2 sequences have labels that training did not have"):
        got = field.score_samples([["a", "b", "c"], ["a", None, "b"]])
    assert got[0] == -np.inf
    assert np.isfinite(got[1])
    with pytest.raises(InputError, match="Z has a label that training did not have"):
        field.predict([["a", "c", None]])


def test_a_failed_fit_changes_nothing() -> None:
    field = MarkovField().fit(WORDS)
    before = field.score_samples(WORDS)
    with pytest.raises(InputError):
        field.fit([["a", "a"]])
    np.testing.assert_array_equal(field.score_samples(WORDS), before)


@pytest.mark.parametrize(
    ("settings", "Z", "X", "message"),
    [
        ({}, [], None, "The training set is empty"),
        ({}, 3, None, "Z is 3; it must be a list of labellings"),
        ({}, [3], None, "Sequence 0 of Z is 3; it must be a list of labels"),
        ({"structure": "graph"}, WORDS, None, "Graph needs links="),
        ({"structure": "tree"}, WORDS, None, "Tree needs links="),
        ({"structure": "tree", "tables": "own"}, WORDS, None, "Tree needs links="),
        ({"structure": "graph", "tables": "own"}, WORDS, None, "Graph needs links="),
        ({"structure": "graph", "links": [[0, 7]]}, WORDS, None, "7"),
        ({"structure": "graph", "links": [[0, 7]], "tables": "own"}, WORDS, None, "7"),
        ({"structure": Segments()}, WORDS, None, "is for Chain, Tree, Graph and Grid, not Segments"),
        ({"structure": Grid(), "tables": "own"}, [[["a", "b"]]], None, "is for chains of order 1"),
        ({"structure": Chain(order=2), "tables": "own"}, WORDS, None, "is for chains of order 1"),
        ({"tables": "own"}, [["a"], ["a", "b"]], None, "needs items of one size; Z has 2 sizes, 1 to 2"),
        ({"tables": "one"}, WORDS, None, "tables='one' is not known"),
        ({"method": "mcmc"}, WORDS, None, "method='mcmc' is not known"),
        ({"density": "ais"}, WORDS, None, "density is 'ais'; it must be None or Annealing"),
        ({"penalty": -1.0}, WORDS, None, "penalty is -1.0"),
        ({"tables": "own"}, WORDS, [np.ones((3, 1))] * 5, "tables='own' does not go with X"),
        ({"links": [[0, 1]]}, WORDS, None, "links is for trees and graphs; Chain says itself"),
        ({"structure": Grid(), "links": [[0, 1]]}, WORDS, None, "links is for trees and graphs; Grid says"),
        (
            {"structure": "graph", "links": [[0, 1]]},
            WORDS,
            [(np.ones((3, 1)), [[0, 1]])] * 5,
            "links does not go with X",
        ),
        ({"structure": Tree()}, WORDS, [np.ones((3, 1))] * 5, "not a pair"),
        ({"structure": Grid()}, WORDS, None, "rows of labels"),
    ],
)
def test_bad_input_is_one_sentence(settings: dict[str, Any], Z: Any, X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        MarkovField(**settings).fit(Z, X)


def test_covariates_are_needed_where_they_were_given() -> None:
    X = [np.array([[0.0], [1.0], [2.0]])] * 5
    field = MarkovField().fit(WORDS, X)
    for ask in (lambda: field.score_samples(WORDS), lambda: MarkovField().fit(WORDS).score_samples(WORDS, X)):
        with pytest.raises(InputError, match="The field was fitted with"):
            ask()
    with pytest.raises(InputError, match="give an item of it with item="):
        field.sample()
    with pytest.raises(InputError, match="vertex_tables_ is for fields without X"):
        _ = field.vertex_tables_
