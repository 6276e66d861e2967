"""Large, hashed, restored, on several threads, and on CoNLL-2000."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from kernelfields.errors import InputError
from kernelfields.features import TemplateFeatures, parse_templates, sets

from . import _reference as slow
from .test_extractor import columns_of


def chunks_of(folder: Path) -> list[list[tuple[str, ...]]]:
    with gzip.open(folder / "conll2000" / "train.txt.gz", "rt", encoding="utf-8") as file:
        blocks = file.read().strip().split("\n\n")
    return [[tuple(line.split()[:2]) for line in block.splitlines()] for block in blocks]


@pytest.mark.data
def test_conll2000(data_dir: Path) -> None:
    """CRF++ has values beyond sentences; CRFsuite's tutorial has none, but two attributes for the ends."""
    chunks = chunks_of(data_dir)
    assert (len(chunks), sum(map(len, chunks))) == (8936, 211_727)
    marked = TemplateFeatures(sets.chunking()).fit(chunks)
    assert marked.n_features == 338_551
    tutorial = parse_templates(f"{sets.chunking()}\nbegin\nend")
    assert TemplateFeatures(tutorial, boundaries=False).fit(chunks).n_features == 335_674


def test_conll2000_slowly(sample_dir: Path) -> None:
    chunks = chunks_of(sample_dir)
    train, test = chunks[:300], chunks[300:400]
    for templates in (sets.chunking(), sets.ner(), sets.pos()):
        table = slow.vocabulary(slow.features(templates, train), min_count=2)
        features = TemplateFeatures(templates, min_count=2).fit(train)
        wanted = [[table[f] for f in row if f in table] for row in slow.features(templates, test)]
        assert columns_of(features.rows(test)) == wanted


def random_sentences(rng, count: int, words: int) -> list[list[str]]:
    return [[f"w{k}" for k in rng.integers(0, words, rng.integers(0, 40))] for _ in range(count)]


@pytest.mark.parametrize("n_hash", [None, 2**12])
def test_the_same_on_any_number_of_threads(rng, n_hash) -> None:
    sentences = random_sentences(rng, 2000, 3000)
    features = TemplateFeatures(sets.ner(pos=False), n_hash=n_hash).fit(sentences[:1000])
    results = []
    for threads in (1, 2, 3):
        with threadpool_limits(limits=threads, user_api="openmp"):
            results.append(features.rows(sentences))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_batches_do_not_matter(rng) -> None:
    sentences = random_sentences(rng, 300, 200)
    for n_hash in (None, 2**14):
        features = TemplateFeatures(sets.pos(), n_hash=n_hash).fit(sentences[:100])
        together = columns_of(features.rows(sentences))
        assert together == [row for s in sentences for row in columns_of(features.rows([s]))]


def test_hashing(rng) -> None:
    """Equal features share a column; different ones do by chance only."""
    sentences = random_sentences(rng, 400, 300)
    templates = sets.chunking().texts()[:7]
    templates = parse_templates("\n".join(["columns: w", *templates]))
    exact = TemplateFeatures(templates).fit(sentences).rows(sentences)
    hashed = TemplateFeatures(templates, n_hash=2**30).rows(sentences)
    np.testing.assert_array_equal(exact.indptr, hashed.indptr)
    pairs = len(set(zip(exact.indices.tolist(), hashed.indices.tolist(), strict=True)))
    assert pairs == exact.indices.max() + 1 == len(set(hashed.indices.tolist()))
    few = TemplateFeatures(templates, n_hash=2**4)
    X, _ = few.fit_transform(sentences)
    assert X.shape[1] == few.n_features == 16
    share = np.bincount(few.rows(sentences).indices, minlength=16) / X.nnz
    assert share.min() > 0.02
    with pytest.raises(InputError, match="no names"):
        few.names()


def test_hashes_stay_what_they_are() -> None:
    """Models depend on them."""
    features = TemplateFeatures("columns: w\nw[0]\nsuffix2(w[0])\nw[-1] & w[0]", n_hash=2**20)
    assert columns_of(features.rows([["walking", "straße"]])) == [
        [619328, 895167, 632398],
        [337622, 856529, 816168],
    ]


def test_a_million_attributes() -> None:
    sentences = [[f"{k}" for k in range(a, a + 1000)] for a in range(0, 500_000, 1000)]
    features = TemplateFeatures("0[0]\n0[-1] & 0[0]").fit(sentences)
    assert features.n_features == 1_000_000
    rows = features.rows(sentences)
    assert len(set(rows.indices.tolist())) == 1_000_000
    names = features.names()
    assert names[rows.indices[-1]] == "0[-1]&0[0]=499998&499999"


def test_long_sentence(rng) -> None:
    long = [f"w{k}" for k in rng.integers(0, 500, 20_000)]
    templates = parse_templates("0[-2..2]\n0[-1] & 0[0]\nsuffix2(0[1])\nbegin\nend")
    rows = slow.features(templates, [[[w] for w in long]])
    table = slow.vocabulary(rows)
    assert columns_of(TemplateFeatures(templates).fit([long]).rows([long])) == [
        [table[f] for f in row] for row in rows
    ]


def test_long_conjunctions_of_many_words(rng) -> None:
    """More combinations than a 64-bit number can tell apart: 600^9."""
    sentences = random_sentences(rng, 400, 600)
    templates = parse_templates(" & ".join(f"0[{k}]" for k in range(-4, 5)) + "\n0[-1] & 0[1]")
    given = [[[w] for w in s] for s in sentences]
    rows = slow.features(templates, given)
    table = slow.vocabulary(rows)
    features = TemplateFeatures(templates).fit(sentences)
    assert features.names() == [slow.name(f) for f in table]
    assert columns_of(features.rows(sentences)) == [[table[f] for f in row] for row in rows]
    swapped = [s[::-1] for s in sentences]
    assert columns_of(features.rows(swapped)) == [
        [table[f] for f in row if f in table] for row in slow.features(templates, [g[::-1] for g in given])
    ]


def test_restore(rng) -> None:
    sentences = random_sentences(rng, 100, 50)
    features = TemplateFeatures(sets.ner(pos=False), min_count=2).fit(sentences)
    arrays = features.export()
    again = TemplateFeatures(sets.ner(pos=False)).restore(arrays)
    assert again.names() == features.names()
    assert columns_of(again.rows(sentences)) == columns_of(features.rows(sentences))
    broken = {
        "bytes": arrays["bytes"][:-1],
        "ends": arrays["ends"][::-1],
        "sizes": arrays["sizes"][1:],
        "features": np.concatenate([arrays["features"], arrays["features"][:5]]),
    }
    for name, array in broken.items():
        with pytest.raises(InputError, match="The vocabulary is not that"):
            TemplateFeatures(sets.ner(pos=False)).restore({**arrays, name: array})
    for value in (-1, 10**6):
        wrong = arrays["features"].copy()
        wrong[0] = value
        with pytest.raises(InputError, match="no template"):
            TemplateFeatures(sets.ner(pos=False)).restore({**arrays, "features": wrong})
    with pytest.raises(InputError, match="The vocabulary is not that"):
        TemplateFeatures(sets.pos()).restore(arrays)
