"""Template features against a slow and obvious implementation."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelfields.errors import InputError
from kernelfields.features import (
    BEGIN,
    END,
    Template,
    TemplateFeatures,
    TemplatePart,
    Templates,
    Transform,
    sets,
)

from . import _reference as slow

# Characters that every supported Python knows: ASCII, Latin, Greek, Cyrillic, Arabic, Han, symbols.
ALPHABET = st.sampled_from(
    [
        chr(c)
        for c in (*range(0x20, 0x530), *range(0x620, 0x670), *range(0x1E00, 0x1F00), *range(0x2010, 0x2028))
    ]
    + list("aAbB:\\&|=-_ 12٣三漢ＡİßǅΣ😀𝐀𐐀\x00\n")
)
WORDS = st.text(ALPHABET, max_size=7) | st.sampled_from(
    ["", "a", "A", "__BOS1__", "__EOS1__", "a&b", "\\", "a:b"]
)
SENTENCES = st.lists(st.lists(st.tuples(WORDS, st.sampled_from(["N", "V", ":", ""])), max_size=6), max_size=5)
PARTS = st.builds(
    TemplatePart,
    st.sampled_from(["w", "pos"]),
    st.integers(-3, 3),
    st.sampled_from([t for t in Transform if not (t.of_place or t.of_anchors or t.of_cluster)]),
) | st.sampled_from([BEGIN, END])
TEMPLATES = st.lists(
    st.builds(Template, st.lists(PARTS, max_size=4).map(tuple)), min_size=1, max_size=6, unique=True
).map(lambda templates: Templates.of("w pos", templates))


def columns_of(rows) -> list[list[int]]:
    return [rows.indices[a:b].tolist() for a, b in zip(rows.indptr, rows.indptr[1:], strict=False)]


@settings(max_examples=300, deadline=None)
@given(TEMPLATES, SENTENCES, SENTENCES, st.integers(1, 3), st.booleans(), st.booleans())
def test_the_same_as_slowly(templates, train, test, min_count, boundaries, by_frequency) -> None:
    features = TemplateFeatures(templates, min_count, boundaries=boundaries, by_frequency=by_frequency).fit(
        train
    )
    table = slow.vocabulary(slow.features(templates, train, boundaries), min_count, by_frequency)
    assert features.names() == [slow.name(f) for f in table]
    assert len(set(features.names())) == features.n_features
    for sentences in (train, test):
        wanted = [
            [table[f] for f in row if f in table] for row in slow.features(templates, sentences, boundaries)
        ]
        rows = features.rows(sentences)
        assert columns_of(rows) == wanted
        assert np.diff(rows.offsets).tolist() == [len(s) for s in sentences]
        again = pickle.loads(pickle.dumps(features)).rows(sentences)
        assert columns_of(again) == wanted


@given(WORDS, st.sampled_from([t for t in Transform if not (t.of_place or t.of_anchors or t.of_cluster)]))
def test_transforms(word: str, transform: Transform) -> None:
    features = TemplateFeatures(Templates.of("w", [Template((TemplatePart("w", 0, transform),))])).fit(
        [[word]]
    )
    wanted = slow.transformed(transform, word)
    assert features.names() == (
        [] if wanted is None else [f"{transform_text(transform)}={slow.escaped(wanted)}"]
    )


def transform_text(transform: Transform) -> str:
    return str(TemplatePart("w", 0, transform))


@pytest.mark.parametrize("code", [range(0x80, 0x250), range(0x370, 0x530), range(0x1E00, 0x1F00)])
def test_every_cased_letter(code) -> None:
    letters = [[chr(c)] for c in code]
    templates = "columns: w\nlower(w[0])\nshape(w[0])\nis_upper(w[0])\nis_lower(w[0])"
    features = TemplateFeatures(templates).fit(letters)
    names = set(features.names())
    for [letter] in letters:
        assert f"lower(w[0])={slow.small(letter)}" in names
        assert f"shape(w[0])={slow.shape(letter)}" in names


def test_forms_of_sentences() -> None:
    features = TemplateFeatures(sets.chunking())
    wanted = columns_of(
        features.fit([[("He", "PRP"), ("ran", "VBD")]]).rows([[("He", "PRP"), ("ran", "VBD")]])
    )
    for sentence in (
        [["He", "PRP"], ["ran", "VBD"]],
        (("He", "PRP", "B-NP"), ("ran", "VBD", "B-VP")),
        {"w": ["He", "ran"], "pos": ("PRP", "VBD"), "more": []},
        np.array([["He", "PRP"], ["ran", "VBD"]]).tolist(),
    ):
        assert columns_of(features.rows([sentence])) == wanted
    assert columns_of(features.rows(([("He", "PRP"), ("ran", "VBD")],))) == wanted


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ("He ran", "list of sentences"),
        (["He ran"], "Sentence 0 is one string"),
        ([[("a", "b")], ["a"]], "Sentence 1 is wrong at position 0: the token is one string, expected 2"),
        ([[("a", "b"), ("a",)]], "position 1: the token has 1 columns, expected 2"),
        ([[("a", 3)]], "position 0: the token has a pos that is not a string"),
        ([[("a", "b"), None]], "position 1: the token is neither"),
        ([[("\ud800", "b")]], "position 0: the token has a w that is not a string of valid Unicode"),
        ([{"w": ["a"]}], "Sentence 0 has no column pos"),
        ([{"w": ["a"], "pos": []}], "different lengths"),
        ([{"w": "a", "pos": "b"}], "one string as column w"),
    ],
)
def test_errors_name_the_place(sentences, message: str) -> None:
    with pytest.raises(InputError, match=message):
        TemplateFeatures(sets.chunking()).fit(sentences)


def test_settings() -> None:
    with pytest.raises(InputError, match="min_count"):
        TemplateFeatures("0[0]", 0)
    for n_hash in (0, 3, 2**32):
        with pytest.raises(InputError, match=r"n_hash must be a power of two|n_hash is"):
            TemplateFeatures("0[0]", n_hash=n_hash)
    with pytest.raises(InputError, match="combined with min_count"):
        TemplateFeatures("0[0]", 2, 4)
    with pytest.raises(InputError, match="Call fit"):
        TemplateFeatures("0[0]").transform([["a"]])


def test_matrix() -> None:
    features = TemplateFeatures("bias\n0[0]\nbegin", dtype=np.float32)
    X, lengths = features.fit_transform([["a", "b"], [], ["a"]])
    assert (X.dtype, X.shape, lengths.tolist()) == (np.float32, (3, 4), [2, 0, 1])
    assert features.names() == ["bias", "0[0]=a", "begin=1", "0[0]=b"]
    np.testing.assert_array_equal(X.toarray(), [[1, 1, 1, 0], [1, 0, 0, 1], [1, 1, 1, 0]])
    empty, none = features.transform([])
    assert (empty.shape, none.shape) == ((0, 4), (0,))
    unknown, _ = TemplateFeatures("0[0]").fit([["a"]]).transform([["b", "a"]])  # a token without features
    np.testing.assert_array_equal(unknown.toarray(), [[0], [1]])
