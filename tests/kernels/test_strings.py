"""Kernels on strings, sets and other objects against enumeration."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelfields.errors import InputError
from kernelfields.kernels import Hamming, Jaccard, Linear, Normalized, Spectrum, Subsequence

STRINGS = st.lists(st.text("abc", max_size=7), min_size=1, max_size=4)


def subsequence_features(text: Any, length: int, decay: float) -> dict[Any, float]:
    """λ^span for every choice of positions."""
    features: dict[Any, float] = defaultdict(float)
    for chosen in combinations(range(len(text)), length):
        features[tuple(text[k] for k in chosen)] += decay ** (chosen[-1] - chosen[0] + 1)
    return features


def substring_features(text: Any, shortest: int, longest: int) -> dict[Any, float]:
    features: dict[Any, float] = defaultdict(float)
    for start in range(len(text)):
        for end in range(start + shortest, min(start + longest, len(text)) + 1):
            features[tuple(text[start:end])] += 1
    return features


def products(left: list[dict[Any, float]], right: list[dict[Any, float]]) -> list[list[float]]:
    return [[sum(value * b.get(u, 0.0) for u, value in a.items()) for b in right] for a in left]


@given(STRINGS, STRINGS, st.integers(1, 4), st.sampled_from([0.3, 0.8, 1.0]))
@settings(deadline=None, max_examples=40)
def test_subsequences_are_those_of_enumeration(X: list[str], Y: list[str], p: int, decay: float) -> None:
    left, right = ([subsequence_features(text, p, decay) for text in some] for some in (X, Y))
    kernel = Subsequence(p, decay)
    np.testing.assert_allclose(kernel(X, Y), products(left, right), rtol=1e-10, atol=1e-14)
    expected = np.diagonal(products(left, left))
    np.testing.assert_allclose(kernel.diagonal(X), expected, rtol=1e-10, atol=1e-14)


@given(STRINGS, STRINGS, st.integers(1, 4), st.booleans())
@settings(deadline=None, max_examples=40)
def test_spectra_are_those_of_enumeration(X: list[str], Y: list[str], p: int, blended: bool) -> None:
    shortest = 1 if blended else p
    left, right = ([substring_features(text, shortest, p) for text in some] for some in (X, Y))
    kernel = Spectrum(p, blended)
    np.testing.assert_array_equal(kernel(X, Y), products(left, right))
    np.testing.assert_array_equal(kernel.diagonal(X), np.diagonal(products(left, left)))


def test_known_values() -> None:
    """cat, car, bat, bar with p = 2: K(cat, car) = λ⁴, K(cat, cat) = 2λ⁴ + λ⁶ [lodhi2002, section 3]."""
    decay = 0.7
    K = Subsequence(2, decay)(["cat", "car", "bat", "bar"])
    assert K[0, 1] == pytest.approx(decay**4)
    assert K[0, 0] == pytest.approx(2 * decay**4 + decay**6)
    assert K[0, 3] == 0
    normalized = Normalized(Subsequence(2, decay))(["cat", "car"])
    assert normalized[0, 1] == pytest.approx(1 / (2 + decay**2))


def test_long_strings_go_in_pieces(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    X = ["".join(rng.choice(list("abcd"), size=rng.integers(0, 60))) for _ in range(12)]
    whole = Subsequence(3)(X)
    monkeypatch.setattr("kernelfields.kernels.subsequence.CELLS", 1000)
    np.testing.assert_allclose(Subsequence(3)(X), whole, rtol=1e-12)
    first, second = X[3], X[5]
    expected = products(*([subsequence_features(text, 3, 0.5)] for text in (first, second)))
    np.testing.assert_allclose(whole[3, 5], expected[0][0], rtol=1e-10)


@pytest.mark.parametrize("kernel", [Spectrum(2), Subsequence(2), Hamming()])
def test_tokens_are_letters(kernel: Any) -> None:
    names = {"a": ("noun",), "b": 7, "c": None}
    text = ["abca", "bbca", "cabb"]
    tokens = [[names[letter] for letter in some] for some in text]
    np.testing.assert_array_equal(kernel(tokens), kernel(text))
    np.testing.assert_array_equal(kernel.diagonal(tokens), kernel.diagonal(text))


@pytest.mark.parametrize("kernel", [Spectrum(2), Subsequence(2), Hamming()])
@pytest.mark.parametrize("form", [np.array, lambda X: np.array(X)[:, None], tuple])
def test_strings_come_in_lists_and_arrays(kernel: Any, form: Any) -> None:
    X = ["abca", "bbca", "cabb"]
    np.testing.assert_array_equal(kernel(form(X)), kernel(X))
    np.testing.assert_array_equal(kernel.diagonal(form(X)), kernel.diagonal(X))


@given(st.lists(st.sets(st.sampled_from(["red", "round", 3, None])), min_size=1, max_size=5))
@settings(deadline=None, max_examples=30)
def test_jaccard_is_the_share_of_common_members(X: list[set[Any]]) -> None:
    expected = [[len(a & b) / len(a | b) if a | b else 1.0 for b in X] for a in X]
    np.testing.assert_allclose(Jaccard()(X), expected)
    np.testing.assert_allclose(Jaccard()([[*some, *list(some)[:1]] for some in X]), expected)
    objects = np.empty((len(X), 1), dtype=object)
    objects[:, 0] = X
    np.testing.assert_allclose(Jaccard()(objects), expected)


def test_jaccard_refuses_strings() -> None:
    with pytest.raises(InputError, match=r"observation 1 is the string 'ab'\.$"):
        Jaccard()([{"a"}, "ab"])


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(st.text("abé☃", min_size=n, max_size=n), min_size=1, max_size=5)
    )
)
@settings(deadline=None, max_examples=30)
def test_hamming_is_the_share_of_equal_letters(X: list[str]) -> None:
    expected = [[np.mean([a == b for a, b in zip(x, y, strict=True)]) for y in X] for x in X]
    np.testing.assert_allclose(Hamming()(X), expected, rtol=1e-12, atol=1e-15)


def test_hamming_is_linear_on_one_hot_rows(rng: np.random.Generator) -> None:
    X = rng.integers(0, 4, (10, 5))
    one_hot = np.eye(4)[X].reshape(10, 20) / sqrt(5)
    np.testing.assert_allclose(Hamming()(X), Linear()(one_hot), atol=1e-12)


def test_hamming_needs_one_length() -> None:
    with pytest.raises(InputError, match=r"observation 1 has 2 positions and the first has 3\.$"):
        Hamming()(["abc", "ab"])
    with pytest.raises(InputError, match="at least one position"):
        Hamming()(["", ""])
