"""Dictionaries of attributes, and data frames."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelfields.errors import InputError
from kernelfields.features import DictFeatures, TemplateFeatures, sentences_of

TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), max_size=4)
VALUES = st.recursive(
    TEXT | st.booleans() | st.integers(-5, 5) | st.floats(-1e3, 1e3),
    lambda inner: (
        st.dictionaries(TEXT, inner, max_size=3) | st.lists(TEXT, max_size=3) | st.sets(TEXT, max_size=3)
    ),
    max_leaves=6,
)
TOKENS = st.dictionaries(TEXT, VALUES, max_size=4) | st.lists(TEXT, max_size=4)
SENTENCES = st.lists(st.lists(TOKENS, max_size=4), max_size=4)


def attributes(token) -> list[tuple[str, float]]:
    """What a token means, in order."""
    if not isinstance(token, dict):
        return [(name, 1.0) for name in token]
    found: list[tuple[str, float]] = []
    for key, value in token.items():
        if isinstance(value, str):
            found.append((f"{key}:{value}", 1.0))
        elif isinstance(value, (dict, list, set)):
            found.extend((f"{key}:{name}", weight) for name, weight in attributes(value))
        elif value != 0:
            found.append((key, float(value)))
    return found


def rows_of(features: DictFeatures, sentences) -> list[dict[str, float]]:
    X, lengths = features.transform(sentences)
    assert lengths.tolist() == [len(s) for s in sentences]
    names = features.names()
    return [{names[j]: X[t, j] for j in X[t].indices} for t in range(X.shape[0])]


@given(SENTENCES)
def test_the_same_as_slowly(sentences) -> None:
    features = DictFeatures(by_frequency=False).fit(sentences)
    tokens = [attributes(token) for sentence in sentences for token in sentence]
    assert features.names() == list(dict.fromkeys(name for token in tokens for name, _ in token))
    wanted = [{name: sum(v for n, v in token if n == name) for name, _ in token} for token in tokens]
    for found, sums in zip(rows_of(features, sentences), wanted, strict=True):
        assert found == pytest.approx(sums)
    again = pickle.loads(pickle.dumps(features))
    assert (again.transform(sentences)[0] != features.transform(sentences)[0]).nnz == 0


@given(SENTENCES)
def test_the_same_as_crfsuite(sentences) -> None:
    """But for values of 0, which CRFsuite keeps, and for what comes twice, which it does not add up."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    features = DictFeatures().fit(sentences)
    theirs = [token for sentence in sentences for token in pycrfsuite.ItemSequence(sentence).items()]
    tokens = [attributes(token) for sentence in sentences for token in sentence]
    for ours, other, token in zip(rows_of(features, sentences), theirs, tokens, strict=True):
        if len(ours) == len(token):
            assert ours == {name: value for name, value in other.items() if value != 0}


def test_values() -> None:
    token = {
        "w": "a:b\\c",
        "len": np.float32(0.5),
        "n": np.int64(2),
        "title": True,
        "no": False,
        "é": ["1", "2"],
    }
    features = DictFeatures(by_frequency=False, dtype=np.float32)
    X, _ = features.fit_transform([[token, {}]])
    assert features.names() == ["w:a:b\\c", "len", "n", "title", "é:1", "é:2"]
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X.toarray(), [[1, 0.5, 2, 1, 1, 1], [0] * 6])
    unknown, lengths = features.transform([[{"w": "new"}], []])
    assert (unknown.nnz, lengths.tolist()) == (0, [1, 0])


def test_min_count_and_order() -> None:
    sentences = [[["a", "b"], ["b", "c"], ["b", "c"], ["d"]]]
    assert DictFeatures().fit(sentences).names() == ["b", "c", "a", "d"]
    assert DictFeatures(by_frequency=False).fit(sentences).names() == ["a", "b", "c", "d"]
    features = DictFeatures(2, by_frequency=False)
    X, _ = features.fit_transform(sentences)
    assert features.names() == ["b", "c"]
    np.testing.assert_array_equal(X.toarray(), [[1, 0], [1, 1], [1, 1], [0, 0]])


def test_a_million_attributes() -> None:
    sentences = [[[f"a{k}" for k in range(a, a + 100)] for a in range(0, 1_000_000, 100)]]
    features = DictFeatures()
    X, _ = features.fit_transform(sentences)
    assert X.shape == (10_000, 1_000_000)
    assert X.nnz == 1_000_000
    assert features.names()[-1] == "a999999"


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([["a"]], "Sentence 0, position 0: the token is one string"),
        ([{"a": 1}], "Sentence 0 must be a list"),
        ([[{}], [{}, {"a": None}]], "Sentence 1, position 1: .*'a' with a value that is no"),
        ([[{"a": float("nan")}]], "'a' with a value of NaN"),
        ([[{3: "a"}]], "not a string"),
        ([[3]], "neither a dictionary"),
        ([[{"a": "\ud800"}]], "valid Unicode"),
    ],
)
def test_errors_name_the_place(sentences, message: str) -> None:
    with pytest.raises(InputError, match=message):
        DictFeatures().fit(sentences)


def test_states() -> None:
    with pytest.raises(InputError, match="Call fit"):
        DictFeatures().transform([])
    with pytest.raises(InputError, match="twice"):
        DictFeatures().restore(["a", "a"])
    with pytest.raises(InputError, match="min_count"):
        DictFeatures(0)
    assert DictFeatures().restore(["b", "a"]).transform([[["a"]]])[0].toarray().tolist() == [[0, 1]]


def test_frames() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "doc": ["x", "y", "x", "z"],
            "w": ["a", "b", "c", "d"],
            "n": [1, 2, 3, 4],
            "y": ["N", None, "V", "N"],
        },
        index=[7, 7, 8, 9],
    )
    found = sentences_of(frame, "doc", ["w", "n"], "y")
    assert found.sentences == [
        {"w": ["a", "c"], "n": ["1", "3"]},
        {"w": ["b"], "n": ["2"]},
        {"w": ["d"], "n": ["4"]},
    ]
    assert (found.labels, found.ids) == ([["N", "V"], [None], ["N"]], ["x", "y", "z"])
    assert TemplateFeatures("columns: w n\nw[0] & n[0]").fit(found.sentences).n_features == 4
    empty = sentences_of(frame[:0], "doc", ["w"])
    assert (empty.sentences, empty.labels) == ([], None)
    with pytest.raises(InputError, match="no column 'v'"):
        sentences_of(frame, "doc", ["v"])
    with pytest.raises(InputError, match="'y' has no value in row 1"):
        sentences_of(frame, "doc", ["y"])
