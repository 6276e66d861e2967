"""Vocabularies that are counted chunk by chunk are those of all sentences at once."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelfields.errors import InputError
from kernelfields.features import BrownClusters, CliqueKind, TemplateFeatures, sets

from . import _reference as slow
from .test_cliques import SENTENCE, templates_of
from .test_extractor import SENTENCES, TEMPLATES

CUTS = st.lists(st.integers(0, 8), max_size=4).map(sorted)


def cut(sentences: list[Any], places: list[int]) -> Iterator[list[Any]]:
    """Yield pieces, some of them empty."""
    for start, end in zip([0, *places], [*places, None], strict=True):
        yield sentences[start:end]


def assert_same(found: TemplateFeatures, expected: TemplateFeatures) -> None:
    """All arrays of a file are the same, hence columns and their order are."""
    assert found.names() == expected.names()
    arrays = expected.export()
    for name, array in found.export().items():
        np.testing.assert_array_equal(array, arrays[name], err_msg=name)


@settings(max_examples=200, deadline=None)
@given(TEMPLATES, SENTENCES, CUTS, st.integers(1, 3), st.booleans(), st.booleans())
def test_the_same_as_at_once(templates, sentences, places, min_count, boundaries, by_frequency) -> None:
    given = {"min_count": min_count, "boundaries": boundaries, "by_frequency": by_frequency}
    features = TemplateFeatures(templates, **given).fit_chunks(cut(sentences, places))
    table = slow.vocabulary(slow.features(templates, sentences, boundaries), min_count, by_frequency)
    assert features.names() == [slow.name(f) for f in table]
    assert_same(features, TemplateFeatures(templates, **given).fit(sentences))


@pytest.mark.parametrize("kind", [CliqueKind.ARCS, CliqueKind.SPANS, CliqueKind.PAIRS])
@settings(max_examples=40, deadline=None)
@given(st.data(), CUTS, st.integers(1, 3), st.booleans())
def test_cliques(kind, data, places, min_count, by_frequency) -> None:
    templates = data.draw(templates_of(kind))
    items = st.tuples(SENTENCE, SENTENCE) if kind is CliqueKind.PAIRS else SENTENCE
    sentences = data.draw(st.lists(items, max_size=6))
    features = TemplateFeatures(templates, min_count, by_frequency=by_frequency)
    expected = pickle.loads(pickle.dumps(features)).fit(sentences)
    assert_same(features.fit_chunks(cut(sentences, places)), expected)


def test_siblings() -> None:
    """Every item has words and rows of its own."""
    rng = np.random.default_rng(0)
    items = []
    for n in (3, 1, 5, 4, 2):
        words = [(f"w{k}", "NVD"[k % 3]) for k in rng.integers(0, 6, n)]
        items.append((words, rng.integers(1, n + 1, (2 * n, 3)).astype(np.int32)))
    templates = "columns: w pos\ncliques: siblings\npos[h] & pos[m] & w[s]\nbetween(pos) & pos[s-1]"
    features = TemplateFeatures(templates, 2).fit_chunks(cut(items, [1, 3]))
    assert_same(features, TemplateFeatures(templates, 2).fit(items))
    assert features.n_features > 0


def test_clusters() -> None:
    rng = np.random.default_rng(0)
    sentences = [[f"w{n}" for n in rng.integers(0, 9, 6)] for _ in range(30)]
    clusters = BrownClusters(4).fit(sentences)
    templates = "columns: w\ncluster(w[-1..0])\ncluster4(w[0]) & w[1]\nbias"
    features = TemplateFeatures(templates, 2, clusters=clusters).fit_chunks(cut(sentences, [3, 17]))
    assert_same(features, TemplateFeatures(templates, 2, clusters=clusters).fit(sentences))
    assert any(name.startswith("cluster(") for name in features.names())


def test_rare_features_are_counted_over_chunks() -> None:
    """A feature that is rare in every chunk may be frequent, one that is not stays rare."""
    chunks = [[["straße", "ß"]], [], [["ß", "日本"]], [["ß"]]]
    features = TemplateFeatures("0[0]", 3).fit_chunks(chunks)
    assert features.names() == ["0[0]=ß"]
    assert TemplateFeatures("0[0]").fit_chunks(chunks).names() == ["0[0]=ß", "0[0]=straße", "0[0]=日本"]


def test_what_was_learnt_before() -> None:
    """A new vocabulary takes the place of an old one, unless a chunk is refused."""
    features = TemplateFeatures(sets.chunking(), 2).fit([[("old", "N"), ("old", "N")]])
    before = features.names()
    with pytest.raises(InputError, match="Sentence 0 is wrong at position 0: the token is one string"):
        features.fit_chunks([[[("new", "N"), ("new", "N")]], [["new"]]])
    assert features.names() == before
    features.fit_chunks([[[("new", "N")]], [[("new", "N")]]])
    assert "w[0]=new" in features.names()
    assert "w[0]=old" not in features.names()


def test_hashed_features_learn_nothing() -> None:
    features = TemplateFeatures("0[0]", n_hash=16)
    assert features.fitted
    assert features.fit_chunks(iter(())) is features
    assert TemplateFeatures("0[0]").fit_chunks(iter(())).n_features == 0
