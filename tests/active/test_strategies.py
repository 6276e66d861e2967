"""Scores of strategies, recomputed from all labellings of small items."""

import numpy as np
import pytest

from kernelfields import CRF, Cascade, InputError, KernelCRF, StructuredPerceptron
from kernelfields.active import (
    Disagreement,
    InformationDensity,
    LogProbability,
    SampleDisagreement,
    TokenEntropy,
    position_scores,
    rank_positions,
    rank_sequences,
    sequence_scores,
)
from kernelfields.kernels import RBF
from kernelfields.structures import BeliefPropagation, Graph, Grid

from ._pools import Everything, case, entropy, hmm_case, items, labels_of

CASES = [
    pytest.param(lambda: case("chain"), id="chain"),
    pytest.param(lambda: case("tree"), id="tree"),
    pytest.param(lambda: case("graph"), id="graph"),
    pytest.param(lambda: case("chain", kernel=True), id="kernel"),
    pytest.param(lambda: case("chain2"), id="chain2"),
    pytest.param(hmm_case, id="hmm"),
]


def open_places(one, s):
    known = None if one.known is None else one.known[s]
    n = len(one.model.predict(one.X)[s])
    return [t for t in range(n) if known is None or known[t] is None]


def by_enumeration(name, everything, one, s):
    """Score of item s and of its open positions, straight from the definition."""
    places, p = open_places(one, s), everything.proba[s]
    marginals = everything.marginals(s)[places]
    tops = np.sort(marginals, axis=1)
    best = np.sort(p)[::-1]
    if name == "token-entropy":
        each = [entropy(row) for row in marginals]
        return sum(each), each
    if name == "sequence-entropy":
        return entropy(p), [entropy(row) for row in marginals]
    if name == "log-probability":
        return -np.log(best[0]) / len(places), -np.log(tops[:, -1])
    if name == "margin":
        return np.log(best[1]) - np.log(best[0]), tops[:, -2] - tops[:, -1]
    return (1 - tops[:, -1]).sum(), 1 - tops[:, -1]


NAMES = ["token-entropy", "sequence-entropy", "log-probability", "margin", "expected-error"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", CASES)
def test_scores_are_those_of_all_labellings(make, name):
    one = make()
    everything = Everything(one)
    whole = sequence_scores(one.model, one.X, name, known=one.known)
    single = position_scores(one.model, one.X, name, known=one.known)
    for s in range(len(one.X)):
        places = open_places(one, s)
        closed = np.setdiff1d(np.arange(len(single[s])), places)
        assert (single[s][closed] == -np.inf).all()
        if not places:
            assert whole[s] == -np.inf
            continue
        of_item, of_places = by_enumeration(name, everything, one, s)
        assert whole[s] == pytest.approx(of_item, rel=1e-5, abs=1e-6)
        np.testing.assert_allclose(single[s][places], of_places, rtol=1e-5, atol=1e-6)


def test_an_answer_lowers_the_entropy_of_a_sequence_by_that_of_its_position():
    one = case("chain")
    whole = sequence_scores(one.model, one.X[:1], "sequence-entropy")[0]
    single = position_scores(one.model, one.X[:1], "sequence-entropy")[0]
    marginals = one.model.predict_marginals(one.X[:1])[0]
    for t, row in enumerate(marginals):
        left = 0.0
        for k, label in enumerate(one.model.classes_.tolist()):
            known = [[label if u == t else None for u in range(len(marginals))]]
            left += row[k] * sequence_scores(one.model, one.X[:1], "sequence-entropy", known=known)[0]
        assert whole - left == pytest.approx(single[t], abs=1e-9)


def test_means_are_sums_over_open_positions():
    one = case("chain")
    total = sequence_scores(one.model, one.X, known=one.known)
    mean = sequence_scores(one.model, one.X, TokenEntropy(mean=True), known=one.known)
    counts = np.array([len(open_places(one, s)) for s in range(len(one.X))])
    some = counts > 0
    np.testing.assert_allclose(mean[some] * counts[some], total[some])
    least = sequence_scores(one.model, one.X, LogProbability(mean=False), known=one.known)
    normalised = sequence_scores(one.model, one.X, "log-probability", known=one.known)
    np.testing.assert_allclose(least[some], counts[some] * normalised[some])


def test_ranks_leave_out_what_is_known():
    one = case("chain")
    ranked = rank_sequences(one.model, one.X, known=one.known)
    assert sorted(ranked.tolist()) == [0, 1, 3, 4, 5]
    scores = sequence_scores(one.model, one.X, known=one.known)
    assert (np.diff(scores[ranked]) <= 0).all()
    pairs = rank_positions(one.model, one.X, "margin", known=one.known)
    assert {tuple(pair) for pair in pairs.tolist()} == {
        (s, t) for s in range(len(one.X)) for t in open_places(one, s)
    }
    each = position_scores(one.model, one.X, "margin", known=one.known)
    assert (np.diff([each[s][t] for s, t in pairs]) <= 0).all()


def test_committees_are_as_far_apart_as_their_marginals():
    one = case("chain")
    y = labels_of(one.X, "chain")
    others = [CRF(p).fit(one.X, y) for p in (0.1, 3.0)]
    strategy = Disagreement([one.model, *others])
    found = position_scores(one.model, one.X, strategy)
    opinions = [m.predict_marginals(one.X) for m in (one.model, *others)]
    for s in range(len(one.X)):
        each = np.array([opinion[s] for opinion in opinions])
        middle = each.mean(axis=0)
        spread = np.mean([(p * np.log(p / middle)).sum(axis=1) for p in each], axis=0)
        np.testing.assert_allclose(found[s], spread, atol=1e-12)
    total = sequence_scores(one.model, one.X, strategy)
    np.testing.assert_allclose(total, [part.sum() for part in found])


def test_members_with_other_labels_are_compared_by_label():
    X, y = [[[0.0], [1.0]]], [["a", "b"]]
    left, right = CRF().fit(X, y), CRF(classes=["b", "z", "a"]).fit(X, y)
    found = position_scores(left, X, Disagreement([left, right]))[0]
    p, q = left.predict_marginals(X)[0], right.predict_marginals(X)[0]
    p, q = np.c_[p, np.zeros(2)], q[:, [2, 0, 1]]
    middle = (p + q) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.nansum(one * np.log(one / middle), axis=1) for one in (p, q)]
    np.testing.assert_allclose(found, np.mean(parts, axis=0))


def test_bagging_is_seeded_and_needs_labels():
    one = case("chain")
    y = labels_of(one.X, "chain")
    known = [*y[:4], None, None]
    first, again = (position_scores(one.model, one.X, Disagreement(3), known=known) for _ in range(2))
    other = position_scores(one.model, one.X, Disagreement(3, random_state=5), known=known)
    np.testing.assert_array_equal(np.concatenate(first), np.concatenate(again))
    assert not np.array_equal(np.concatenate(first), np.concatenate(other))
    with pytest.raises(InputError, match="no sequence has a label"):
        position_scores(one.model, one.X, "disagreement")


def test_votes_of_many_draws_are_probabilities():
    one = case("chain")
    everything = Everything(one)
    strategy = SampleDisagreement(4000)
    single = position_scores(one.model, one.X, strategy, known=one.known)
    whole = sequence_scores(one.model, one.X, strategy, known=one.known)
    for s in (0, 1, 3):
        places = open_places(one, s)
        expected = [entropy(row) for row in everything.marginals(s)[places]]
        np.testing.assert_allclose(single[s][places], expected, atol=0.06)
        assert whole[s] == pytest.approx(entropy(everything.proba[s]), abs=0.1)


def test_density_is_the_mean_similarity_to_the_pool():
    one = case("chain")
    kernel = RBF(0.5)
    flat = np.concatenate(one.X)
    plain = np.concatenate(position_scores(one.model, one.X, "token-entropy"))
    unit = (plain - plain.min()) / (plain.max() - plain.min())
    found = np.concatenate(position_scores(one.model, one.X, InformationDensity("token-entropy", kernel)))
    np.testing.assert_allclose(found, unit * kernel(flat).mean(axis=1), rtol=1e-6)
    means = np.array([[kernel(a, b).mean() for b in one.X] for a in one.X])
    cosines = means / np.sqrt(np.outer(np.diag(means), np.diag(means)))
    total = sequence_scores(one.model, one.X, "margin")
    found = sequence_scores(one.model, one.X, InformationDensity("margin", kernel, power=2.0))
    unit = (total - total.min()) / (total.max() - total.min())
    np.testing.assert_allclose(found, unit * cosines.mean(axis=1) ** 2, rtol=1e-6, atol=1e-12)


def test_approximate_sums_stand_for_exact_ones_on_trees():
    X = items("graph", 1)
    X = [(x, [(0, 1), (1, 2), (2, 3)]) for x, _ in X]
    y = labels_of(X, "graph")
    exact = CRF(structure="graph").fit(X, y)
    loopy = CRF(structure=Graph(inference=BeliefPropagation())).fit(X, y)
    for name in ("token-entropy", "sequence-entropy", "expected-error"):
        a, b = sequence_scores(exact, X, name), sequence_scores(loopy, X, name)
        np.testing.assert_allclose(a, b, atol=0.02)


def test_pixels_are_counted_row_by_row():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(2, 3, 1)) for _ in range(3)]
    y = [np.where(x[:, :, 0] > 0, "on", "off") for x in X]
    model = CRF(structure=Grid()).fit(X, y)
    known = [np.array([["on", None, None], [None, None, None]], dtype=object), None, None]
    scores = position_scores(model, X, known=known)
    assert scores[0].shape == (6,)
    assert np.flatnonzero(np.isneginf(scores[0])).tolist() == [0]
    marginals = model.predict_marginals(X)[1].reshape(6, 2)
    np.testing.assert_allclose(scores[1], [entropy(row) for row in marginals])


def test_models_of_several_stages_and_with_softmax_probabilities():
    X, y = items("chain", 1), labels_of(items("chain", 1), "chain")
    cascade = Cascade(CRF(), CRF(), folds=2, window=3, random_state=0).fit(X, y)
    marginals = cascade.predict_marginals(X)
    for s, scores in enumerate(position_scores(cascade, X)):
        np.testing.assert_allclose(scores, [entropy(row) for row in marginals[s]])
    with pytest.raises(InputError, match="Cascade has no distribution over whole labellings"):
        sequence_scores(cascade, X, "sequence-entropy")
    perceptron = StructuredPerceptron(random_state=0).fit(X, y)
    assert len(rank_sequences(perceptron, X)) == len(X)


def test_labels_that_the_model_does_not_know_say_nothing():
    one = case("chain")
    known = [["new", *[None] * (len(one.X[0]) - 1)], *[None] * 5]
    scores = position_scores(one.model, one.X, known=known)
    assert scores[0][0] == -np.inf
    np.testing.assert_allclose(scores[0][1:], position_scores(one.model, one.X)[0][1:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strategy": "luck"}, "strategy='luck' is not known"),
        ({"strategy": 3}, "strategy is 3; it must be one of"),
        ({"known": [None]}, "X has 6 sequences, but y has 1"),
        ({"known": "abc"}, "y must be a list of label sequences"),
        ({"X": []}, "X must be a list of at least one"),
        ({"X": 5}, "X must be a list of at least one"),
    ],
)
def test_odd_arguments_are_one_sentence(change, message):
    one = case("chain")
    given = {"X": one.X, "known": None, "strategy": "margin", **change}
    with pytest.raises(InputError, match=message):
        sequence_scores(one.model, given["X"], given["strategy"], known=given["known"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Disagreement(1),
        lambda: Disagreement([KernelCRF()]),
        lambda: SampleDisagreement(1),
        lambda: TokenEntropy(mean=1),
        lambda: InformationDensity("luck"),
        lambda: InformationDensity(power=-1.0),
        lambda: InformationDensity(n_reference=0),
    ],
)
def test_odd_settings_are_refused(make):
    with pytest.raises(InputError):
        make()


def test_log_probabilities_of_sure_labellings_are_never_above_zero():
    """The sum of a long chain has rounding that the score of its best path has not."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(200, 2)) for _ in range(40)]
    model = CRF(1e-8).fit(X, [["ab"[int(row[0] > 0)] for row in x] for x in X])
    assert (sequence_scores(model, [10 * x for x in X], LogProbability()) >= 0).all()
