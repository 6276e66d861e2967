"""Features of arcs, spans and pairs against a slow and obvious implementation."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelfields.errors import InputError
from kernelfields.features import (
    BETWEEN,
    CliqueKind,
    Template,
    TemplateFeatures,
    TemplatePart,
    Templates,
    Transform,
    parse_templates,
    sets,
)

from . import _clique_reference as slow
from ._reference import name, vocabulary
from .test_extractor import columns_of

TAGS = st.sampled_from(["N", "V", "D", "&", ""])
SENTENCE = st.lists(st.tuples(st.sampled_from(["a", "Ab", "__BOS1__", "x-1"]), TAGS), max_size=7)
COLUMNS = st.sampled_from(["w", "pos"])
SOME = [Transform.WORD, Transform.LOWER, Transform.SUFFIX2, Transform.IS_TITLE, Transform.SHORT_SHAPE]


def parts(kind: CliqueKind):
    near = st.builds(
        TemplatePart, COLUMNS, st.integers(-2, 2), st.sampled_from(SOME), st.sampled_from(kind.anchors)
    )
    measures = [Transform.DISTANCE, Transform.DIRECTION, Transform.STEPS]
    if kind is CliqueKind.PAIRS:
        return near | st.sampled_from([*measures, Transform.RELATIVE]).map(lambda t: TemplatePart("", 0, t))
    return near | st.sampled_from(measures).map(lambda t: TemplatePart("", 0, t))


@st.composite
def templates_of(draw, kind: CliqueKind):
    rows = draw(st.lists(st.lists(parts(kind), max_size=4).map(tuple), min_size=1, max_size=5))
    if kind is not CliqueKind.PAIRS:
        rows = [
            (*row, TemplatePart(draw(COLUMNS), anchor=BETWEEN)) if draw(st.booleans()) else row
            for row in rows
        ]
    unique = tuple(dict.fromkeys(Template(row) for row in rows))
    return Templates(("w", "pos"), unique, kind)


@pytest.mark.parametrize("kind", [CliqueKind.ARCS, CliqueKind.SPANS, CliqueKind.PAIRS])
@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 3), st.booleans(), st.booleans())
def test_the_same_as_slowly(kind, data, min_count, boundaries, by_frequency) -> None:
    templates = data.draw(templates_of(kind))
    items = SENTENCE if kind is not CliqueKind.PAIRS else st.tuples(SENTENCE, SENTENCE)
    train, test = (data.draw(st.lists(items, max_size=4)) for _ in range(2))
    features = TemplateFeatures(templates, min_count, boundaries=boundaries, by_frequency=by_frequency)
    features.fit(train)
    table = vocabulary(slow.features(templates, train, boundaries), min_count, by_frequency)
    assert features.names() == [name(f) for f in table]
    for given_items in (train, test):
        rows = features.rows(given_items)
        found = slow.features(templates, given_items, boundaries)
        wanted = [[table[f] for f in row if f in table] for row in found]
        assert columns_of(rows) == wanted
        assert columns_of(pickle.loads(pickle.dumps(features)).rows(given_items)) == wanted
    assert parse_templates(str(templates)) == templates


@pytest.mark.parametrize("kind", ["arcs", "spans"])
def test_far_apart(kind, rng) -> None:
    """Long sentences have every distance, and more cliques than a block."""
    words = [
        [(w, t) for w, t in zip(rng.choice(list("abcde"), n), rng.choice(list("NVD"), n), strict=True)]
        for n in (90, 3, 1, 0, 60)
    ]
    templates = getattr(sets, kind)()
    features = TemplateFeatures(templates).fit(words)
    found = slow.features(templates, words)
    table = vocabulary(found)
    assert columns_of(features.rows(words)) == [[table[f] for f in row] for row in found]
    bins = {f[1][0] for row in found for f in row if str(f[0]) == "distance"}
    assert {"41..", "21..40", "11..20", "6..10", "5"} <= bins


def test_hashed_features_are_apart_as_those_of_a_vocabulary() -> None:
    """With many more columns than features, the hashing trick renames columns and does nothing else."""
    words = [[("a", "N"), ("b", "V"), ("a", "D"), ("c", "N")], [("b", "N")]]
    exact = TemplateFeatures(sets.arcs()).fit(words)
    hashed = TemplateFeatures(sets.arcs(), n_hash=2**28)
    new = {}
    for a, b in zip(columns_of(exact.rows(words)), columns_of(hashed.rows(words)), strict=True):
        assert len(a) == len(b)
        for old, column in zip(a, b, strict=True):
            assert new.setdefault(old, column) == column
    assert len(set(new.values())) == exact.n_features


def test_the_root_is_the_place_before_the_first_word() -> None:
    features = TemplateFeatures("columns: w\ncliques: arcs\nw[h] & w[m] & distance")
    X, lengths = features.fit_transform([["a", "b"]])
    assert (X.shape, lengths.tolist()) == ((6, 4), [6])
    text = "w[h]&w[m]&distance="
    wanted = ["__BOS1__&a&1", "b&a&-1", "__BOS1__&b&2", "a&b&1"]
    assert features.names() == [text + value for value in wanted]
    np.testing.assert_array_equal(X.sum(axis=1).ravel(), [[1, 0, 1, 1, 1, 0]])


def test_one_feature_for_every_tag_between() -> None:
    features = TemplateFeatures("columns: w\ncliques: spans\nbetween(w)")
    features.fit([list("abcbd")])
    assert sorted(features.names()) == ["between(w)=b", "between(w)=c"]
    rows = columns_of(features.rows([list("abcbd")]))
    named = [[features.names()[k][-1] for k in row] for row in rows]
    assert named == [
        [],
        [],
        ["b"],
        ["b", "c"],
        ["b", "c"],
        [],
        [],
        ["c"],
        ["c", "b"],
        [],
        [],
        ["b"],
        [],
        [],
        [],
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cliques: trees\n0[h]", "there are no cliques 'trees'; there are tokens, arcs, spans, pairs"),
        ("0[0]\ncliques: arcs", "once, before all templates"),
        ("cliques: arcs\n0[0]", r"0\[0\] is not for templates of arcs"),
        ("cliques: arcs\n0[i]", r"0\[i\] is not for templates of arcs"),
        ("0[h]", r"0\[h\] is not for templates of tokens"),
        ("distance", "distance is not for templates of tokens"),
        ("cliques: arcs\nrelative", "relative is not for templates of arcs"),
        ("cliques: arcs\nbegin", "begin is not for templates of arcs"),
        ("cliques: pairs\nbetween(0)", r"between\(0\) is not for templates of pairs"),
        ("cliques: spans\nbetween(0) & between(0)", "looks between anchors twice"),
        ("cliques: arcs\n0[h-1..m]", "a range begins and ends at one anchor"),
        ("cliques: arcs\n0[h1]", "is not of the form"),
        ("cliques: arcs\nbetween(w)", "column 'w' is a name"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_templates(text)


def test_pairs_are_pairs() -> None:
    features = TemplateFeatures(sets.pairs())
    with pytest.raises(InputError, match="Pair 1 is not a pair of sentences"):
        features.fit([(["a"], ["b"]), (["a"],)])
    with pytest.raises(InputError, match="list of pairs"):
        features.fit("ab")
    with pytest.raises(InputError, match="Sentence 0 is one string"):
        features.fit([("a", "b")])
