"""Symbols that depend on those before them, against counting by hand and enumeration."""

import itertools
from collections import Counter

import numpy as np
import pytest

from kernelfields import HMM, InputError, load
from kernelfields.emissions import Categorical, CategoricalEmissions, UnknownWords

LETTERS = "abc"


def texts(rng, count=12, gaps=False):
    """Words of letters with their states, some letters missing."""
    X, y = [], []
    for length in [1, 0, *rng.integers(1, 9, size=count)]:
        letters = [LETTERS[k] for k in rng.integers(3, size=length)]
        X.append([None if gaps and rng.random() < 0.2 else letter for letter in letters])
        y.append(["uv"[k] for k in rng.integers(2, size=length)])
    return X, y


def before(x, t, order):
    """The symbols before a position as they are counted: nothing beyond the beginning, or if missing."""
    return tuple(x[s] if s >= 0 else None for s in range(t - order, t))


def counted(X, y, order, pseudocount):
    """p(symbol|state, context), symbol by symbol."""
    counts, total = Counter(), Counter()
    for x, labels in zip(X, y, strict=True):
        for t, (letter, label) in enumerate(zip(x, labels, strict=True)):
            if letter is not None:
                counts[label, before(x, t, order), letter] += 1
                total[label, before(x, t, order)] += 1
    return lambda label, context, letter: (
        (counts[label, context, letter] + pseudocount) / (total[label, context] + len(LETTERS) * pseudocount)
    )


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_probabilities_are_counts_by_hand(order, gaps, rng):
    X, y = texts(rng, gaps=gaps)
    model = HMM(Categorical(0.5, order=order)).fit(X, y)
    found, expected = model.emissions_.probabilities, counted(X, y, order, 0.5)
    assert found.shape == (2, *([4] * order), 3)
    for k, label in enumerate("uv"):
        for context in itertools.product([*range(3), None], repeat=order):
            place = tuple(3 if c is None else c for c in context)
            names = tuple(None if c is None else LETTERS[c] for c in context)
            for v, letter in enumerate(LETTERS):
                assert found[(k, *place, v)] == pytest.approx(expected(label, names, letter))


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_log_probability_is_the_sum_over_all_paths(order, gaps, rng):
    X, y = texts(rng, gaps=gaps)
    model = HMM(Categorical(0.5, order=order)).fit(X, y)
    emitted = counted(X, y, order, 0.5)
    for x, value in zip(X, model.log_probability(X), strict=True):
        total = 0.0
        for path in itertools.product(range(2), repeat=len(x)):
            chance = 1.0
            for t, k in enumerate(path):
                chance *= model.start_[k] if t == 0 else model.transitions_[path[t - 1], k]
                if x[t] is not None:
                    chance *= emitted("uv"[k], before(x, t, order), x[t])
            total += chance
        assert value == pytest.approx(np.log(total))


def test_training_without_labels_never_loses(rng):
    X, _ = texts(rng, 40, gaps=True)
    model = HMM(Categorical(order=1), n_states=2, max_iter=30, tol=0.0, random_state=0).fit(X)
    assert (np.diff(model.objectives_) > -1e-9).all()
    assert model.objectives_[-1] > model.objectives_[0]
    np.testing.assert_allclose(model.emissions_.probabilities.sum(axis=-1), 1)


def test_what_depends_on_the_letter_before_is_learnt(rng):
    y = [["u" if t < 10 else "v" for t in range(20)] for _ in range(20)]
    X = [["ab"[t % 2] for t in range(10)] + ["ab"[t // 2 % 2] for t in range(10)] for _ in range(20)]
    assert HMM(Categorical(order=0)).fit(X, y).score(X, y) <= 0.7
    assert HMM(Categorical(order=2)).fit(X, y).score(X, y) > 0.85


def test_generated_symbols_follow_their_contexts():
    probabilities = np.zeros((1, 3, 2))
    probabilities[0] = [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]
    model = HMM(CategoricalEmissions(probabilities), n_states=1, max_iter=0, tol=0.0, random_state=0)
    model.fit([[0, 1, 0]])
    X, _ = model.generate([30] * 300)
    pairs = Counter(pair for x in X for pair in itertools.pairwise(x))
    first = Counter(x[0] for x in X)
    assert pairs[0, 0] / (pairs[0, 0] + pairs[0, 1]) == pytest.approx(0.9, abs=0.02)
    assert pairs[1, 0] / (pairs[1, 0] + pairs[1, 1]) == pytest.approx(0.2, abs=0.03)
    assert first[0] / 300 == pytest.approx(0.5, abs=0.12)


def test_files_hold_contexts(rng, tmp_path):
    X, y = texts(rng)
    model = HMM(Categorical(order=2, unknown=UnknownWords(rare=0))).fit(X, y)
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    np.testing.assert_array_equal(again.emissions_.probabilities, model.emissions_.probabilities)
    np.testing.assert_array_equal(again.log_probability(X), model.log_probability(X))


def test_parameters_are_those_of_contexts_that_there_are(rng):
    X, y = texts(rng)
    emissions = HMM(Categorical(order=2)).fit(X, y).emissions_
    assert emissions.n_parameters == 2 * (1 + 3 + 9) * 2


@pytest.mark.parametrize(
    ("family", "words"),
    [
        (Categorical(order=-1), "order is -1; it must be a whole number from 0"),
        (Categorical(order=1.5), "order is 1.5"),
        (Categorical(order=20), "at most 134,217,728"),
        (Categorical(pseudocount=-0.1), "pseudocount is -0.1; it must be a finite number, not negative"),
        (Categorical(symbols=0), "symbols is 0"),
        (Categorical(symbols=["a", "b", "c", "a"]), "distinct symbols"),
        (Categorical(symbols=["a", "b", "c"], unknown=UnknownWords()), "only one of them may be"),
    ],
)
def test_settings_that_mean_nothing_are_refused(family, words, rng):
    with pytest.raises(InputError, match=words):
        HMM(family).fit(*texts(rng))


def test_tables_of_other_shapes_are_refused():
    with pytest.raises(InputError, match="every symbol, or nothing"):
        CategoricalEmissions(np.full((2, 3, 3), 1 / 3))
    with pytest.raises(InputError, match="are of order 1, but the family has order 0"):
        CategoricalEmissions(np.full((2, 4, 3), 1 / 3), None, Categorical())
