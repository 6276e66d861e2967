"""Symbols and unknown words."""

import numpy as np
import pytest

from kernelfields import HMM, InputError
from kernelfields.emissions import Categorical, UnknownWords
from kernelfields.emissions.unknown import ANY, WordClass
from kernelfields.emissions.vocabulary import Vocabulary, build, distinct_integers


def test_classes_go_from_special_to_general():
    classes = UnknownWords(ending=3).classes("Walking")
    assert classes == [*(WordClass("Xx", e) for e in ("ing", "ng", "g")), WordClass("Xx"), ANY]
    assert UnknownWords().classes(7) == [ANY]
    shapes = [UnknownWords(ending=0).classes(w)[0].shape for w in ("USA", "1990s", "e-mail", "the", "A")]
    assert shapes == ["XXX", "dx", "x-", "x", "X"]


def test_rare_words_stand_for_their_classes():
    words = ["the"] * 5 + ["walking", "talking", "singing", "ringing", "Rome"]
    vocabulary = build(words, UnknownWords(rare=1, least=4))
    assert vocabulary.symbols == ["the", ANY, WordClass("x", "ing")]
    numbers = vocabulary.encode(["the", "walking", "swimming", "Paris", None, float("nan")])
    np.testing.assert_array_equal(numbers, [0, 2, 2, 1, -1, -1])


def test_whole_numbers_take_a_short_cut(rng):
    for values in (rng.integers(-5, 40, size=300), rng.integers(0, 10**15, size=50), np.array([], dtype=int)):
        distinct, which = distinct_integers(values)
        wanted, inverse = np.unique(values, return_inverse=True)
        np.testing.assert_array_equal(distinct, wanted)
        np.testing.assert_array_equal(which, inverse.ravel())
    plain = Vocabulary(range(4))
    np.testing.assert_array_equal(plain.encode(np.array([3, 0])), [3, 0])
    np.testing.assert_array_equal(Vocabulary([5, 7]).encode(np.array([7, 5, 7])), [1, 0, 1])
    with pytest.raises(InputError, match="unknown symbol 4"):
        plain.encode(np.array([1, 4]))


def test_endings_tell_what_unknown_words_are():
    verbs, nouns = ["walking", "talking", "singing"], ["station", "nation", "ration"]
    X = [["the", noun, "is", verb] for noun in nouns for verb in verbs]
    y = [["D", "N", "A", "V"]] * len(X)
    family = Categorical(unknown=UnknownWords(rare=3, least=2))
    model = HMM(family).fit(X, y)
    assert model.predict([["the", "education", "is", "jumping"]]) == [["D", "N", "A", "V"]]
    density = model.emissions_.log_density(model._read([["education", "jumping"]], None).features)
    assert density[0].argmax() == model.classes_.tolist().index("N")
    assert density[1].argmax() == model.classes_.tolist().index("V")
    with pytest.raises(InputError, match="unknown symbol 'education'"):
        HMM("categorical").fit(X, y).predict([["education"]])
