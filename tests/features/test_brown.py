"""Brown clusters against greedy merges that compute all mutual information from the start."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest

from kernelfields import CRF, load
from kernelfields.errors import InputError
from kernelfields.features import BrownClusters, TemplateFeatures, parse_templates, sets
from kernelfields.native import BrownClustering, pack_tokens


def information(counts: np.ndarray) -> float:
    """N times the mutual information of a table, in nats."""
    total, left, right = counts.sum(), counts.sum(axis=1), counts.sum(axis=0)
    a, b = np.nonzero(counts)
    n = counts[a, b]
    return float((n * np.log(n * total / (left[a] * right[b]))).sum())


def pairs_of(sentences: list[list[str]], words: list[str]) -> np.ndarray:
    number = {word: k for k, word in enumerate(words)}
    counts = np.zeros((len(words), len(words)))
    for sentence in sentences:
        for first, second in pairwise(sentence):
            if first in number and second in number:
                counts[number[first], number[second]] += 1
    return counts


def table(counts: np.ndarray, clusters: list[list[int]]) -> np.ndarray:
    member = np.zeros((len(counts), len(clusters)))
    for c, words in enumerate(clusters):
        member[words, c] = 1
    return member.T @ counts @ member


def merged(clusters: list[list[int]], i: int, j: int) -> list[list[int]]:
    return [*(one for k, one in enumerate(clusters) if k not in (i, j)), clusters[i] + clusters[j]]


def losses(counts: np.ndarray, clusters: list[list[int]]) -> dict[tuple[int, int], tuple[float, int, int]]:
    """What every merge loses, by the most frequent words of both clusters."""
    now = information(table(counts, clusters))
    found = {}
    for i, one in enumerate(clusters):
        for j, other in enumerate(clusters[:i]):
            key = (min(*one, *other), max(min(one), min(other)))
            found[key] = (now - information(table(counts, merged(clusters, i, j))), i, j)
    return found


def drawn(rng: np.random.Generator, n_words: int, n_sentences: int) -> list[list[str]]:
    follows = rng.dirichlet(np.full(n_words, 0.5), size=n_words)
    sentences = []
    for _ in range(n_sentences):
        words = [int(rng.integers(n_words))]
        for _ in range(rng.integers(0, 12)):
            words.append(int(rng.choice(n_words, p=follows[words[-1]])))
        sentences.append([chr(97 + w) for w in words])
    return sentences


@pytest.mark.parametrize("seed", range(20))
def test_every_merge_is_the_cheapest(seed: int) -> None:
    """Which clusters, and what is lost: to 1e-9, with equal losses in any order."""
    rng = np.random.default_rng(seed)
    n_clusters, least = int(rng.integers(1, 8)), int(rng.integers(1, 3))
    sentences = drawn(rng, int(rng.integers(1, 14)), int(rng.integers(0, 40)))
    found = BrownClustering(pack_tokens(sentences, ["w"]), n_clusters, least)
    while found.insert(3):
        pass
    while found.join(2):
        pass
    words, occurrences = found.words()
    frequent = {w: n for w, n in Counter(w for s in sentences for w in s).items() if n >= least}
    assert words == sorted(frequent, key=lambda w: (-frequent[w], w))
    assert occurrences.tolist() == [frequent[w] for w in words]
    counts = pairs_of(sentences, words)
    clusters = [[k] for k in range(min(n_clusters, len(words)))]
    inserted = len(clusters)
    pairs, lost = found.merges()
    assert len(pairs) == max(len(words) - 1, 0)
    for (first, second), loss in zip(pairs.tolist(), lost.tolist(), strict=True):
        if inserted < len(words):
            clusters.append([inserted])
            inserted += 1
        possible = losses(counts, clusters)
        value, i, j = possible[first, second]
        assert abs(value - loss) < 1e-9
        assert value <= min(v for v, _, _ in possible.values()) + 1e-9
        clusters = merged(clusters, i, j)


def test_no_ties_no_choice() -> None:
    """The merges themselves are those of brute force where no two are equally good."""
    sentences = drawn(np.random.default_rng(3), 10, 60)
    found = BrownClustering(pack_tokens(sentences, ["w"]), 10, 1)
    found.insert(10)
    found.join(9)
    counts, clusters = pairs_of(sentences, found.words()[0]), [[k] for k in range(10)]
    for pair in found.merges()[0].tolist():
        possible = losses(counts, clusters)
        best, second = sorted(v for v, _, _ in possible.values())[:2] if len(possible) > 1 else (0, 1)
        assert second - best > 1e-6
        [(_, i, j)] = [found for key, found in possible.items() if list(key) == pair]
        assert possible[tuple(pair)][0] == best or len(possible) == 1
        clusters = merged(clusters, i, j)


def test_information_and_paths() -> None:
    rng = np.random.default_rng(5)
    sentences = drawn(rng, 12, 80)
    clusters = BrownClusters(5).fit(sentences)
    words = list(clusters.paths)
    groups = {
        path: [words.index(w) for w in words if clusters.paths[w] == path] for path in clusters.paths.values()
    }
    counts = pairs_of(sentences, words)
    wanted = information(table(counts, list(groups.values()))) / counts.sum()
    assert abs(clusters.mutual_information_ - wanted) < 1e-9
    assert len(groups) == 5
    # leaves of a full binary tree: no path begins another, and every inner path goes on with 0 and 1
    assert abs(sum(2.0 ** -len(path) for path in groups) - 1) < 1e-12
    again = BrownClusters(5).fit([sentences[k] for k in rng.permutation(len(sentences))])
    assert again.paths == clusters.paths


def test_few_words() -> None:
    assert BrownClusters(3).fit([]).paths == {}
    assert BrownClusters(3).fit([["a"], []]).paths == {"a": "0"}
    assert BrownClusters(3).fit([["a"], ["b"], ["b"]]).paths == {"b": "0", "a": "1"}
    assert BrownClusters(1).fit([["a", "b"]]).paths == {"a": "0", "b": "0"}
    assert BrownClusters(3, min_count=2).fit([["a", "b", "a"]]).paths == {"a": "0"}


def test_forms_of_sentences() -> None:
    plain = BrownClusters(2).fit([["a", "b", "c"], ["a", "c"]]).paths
    assert (
        BrownClusters(2).fit([[("a", "X"), ("b", "Y"), ("c", "X")], (("a", "Y"), ("c", "Z"))]).paths == plain
    )
    columns = [{"word": ["a", "b", "c"]}, {"word": ["a", "c"], "pos": ["X", "Y"]}]
    assert BrownClusters(2, column="word").fit(columns).paths == plain


def test_files(tmp_path) -> None:
    clusters = BrownClusters(3).fit([["das", "Öl", "läuft"], ["das", "Öl"], ["läuft", "das"]])
    clusters.write(tmp_path / "paths")
    lines = (tmp_path / "paths").read_text(encoding="utf-8").splitlines()
    assert lines == [
        f"{path}\t{w}\t{n}" for (w, path), n in zip(clusters.paths.items(), (3, 2, 2), strict=True)
    ]
    again = BrownClusters.read(tmp_path / "paths")
    assert (again.paths, again.counts_.tolist()) == (clusters.paths, [3, 2, 2])
    assert (again.n_clusters, again.min_count) == (3, 2)
    assert np.isnan(again.mutual_information_)
    clusters.write(tmp_path / "paths.gz")
    assert BrownClusters.read(tmp_path / "paths.gz").paths == clusters.paths
    BrownClusters(2).fit([["a b", "c"]]).write(tmp_path / "spaces")
    assert set(BrownClusters.read(tmp_path / "spaces").paths) == {"a b", "c"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("01 word 3\n", "line 1: expected a path"),
        ("01\ta\t3\n02\tb\t3\n", "line 2: expected a path"),
        ("01\ta\t3\n00\ta\t3\n", "line 2: the word 'a' occurs a second time"),
        ("01\ta\t-3\n", "line 1: expected a path"),
        ("\ta\t3\n", "line 1: expected a path"),
        ("", "has no clusters"),
    ],
)
def test_files_that_are_none(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        BrownClusters.read(BytesIO(text.encode()))


def test_a_word_that_no_file_can_hold(tmp_path) -> None:
    with pytest.raises(InputError, match="has a tab"):
        BrownClusters(2).fit([["a\tb", "c"]]).write(tmp_path / "paths")
    assert not (tmp_path / "paths").exists()


TEXT = [["the", "cat", "sleeps"], ["a", "dog", "sleeps"], ["the", "dog", "eats"], ["a", "cat", "eats"]]
TEMPLATES = "columns: w\ncluster(w[0])\ncluster4(w[-1..1])\ncluster6(w[0]) & suffix1(w[0])"


def written(path: str) -> BrownClusters:
    return BrownClusters.read(BytesIO(path.encode()))


def test_starts_of_paths() -> None:
    clusters = written("0110011\tlong\t3\n010\tshort\t2\n")
    features = TemplateFeatures(TEMPLATES, clusters=clusters, boundaries=False)
    found = features.fit([["long", "none", "short"]])
    assert sorted(found.names()) == [
        "cluster(w[0])=010",
        "cluster(w[0])=0110011",
        "cluster4(w[-1])=0110",
        "cluster4(w[0])=010",
        "cluster4(w[0])=0110",
        "cluster4(w[1])=010",
        "cluster6(w[0])&suffix1(w[0])=010&t",
        "cluster6(w[0])&suffix1(w[0])=011001&g",
    ]
    assert found.transform([["none"]])[0].nnz == 0
    assert sorted(np.diff(found.transform([["short", "long"]])[0].indptr).tolist()) == [3, 3]


def test_clusters_are_features_of_words_as_columns_would_be() -> None:
    """The path as a column of its own makes the same matrix."""
    clusters = BrownClusters(4).fit(TEXT)
    found = TemplateFeatures("columns: w\ncluster(w[-1..1])\nw[0] & cluster(w[1])", clusters=clusters)
    given = TemplateFeatures("columns: w p\np[-1..1]\nw[0] & p[1]")
    columns = [[(w, clusters.paths[w]) for w in sentence] for sentence in TEXT]
    ours, theirs = found.fit_transform(TEXT)[0], given.fit_transform(columns)[0]
    assert (ours != theirs).nnz == 0
    again = pickle.loads(pickle.dumps(copy.copy(found)))
    assert (again.transform(TEXT)[0] != ours).nnz == 0
    hashed = TemplateFeatures(found.templates, n_hash=64, clusters=clusters).fit_transform(TEXT)[0]
    assert hashed.nnz == ours.nnz


def test_few_labels_reach_other_words(tmp_path) -> None:
    """A word without any label is labelled as others of its cluster are; a saved model does the same."""
    clusters = BrownClusters(3).fit(TEXT)
    features = TemplateFeatures("columns: w\ncluster6(w[0])", clusters=clusters)
    X, y = [["the", "cat", "sleeps"]], [["D", "N", "V"]]
    model = CRF(penalty=0.1, features=features).fit(X, y)
    assert model.predict([["a", "dog", "eats"]]) == [["D", "N", "V"]]
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    assert again.predict([["a", "dog", "eats"]]) == [["D", "N", "V"]]
    assert again.features_.clusters.paths == clusters.paths
    assert again.features_.clusters.mutual_information_ == clusters.mutual_information_
    assert not hasattr(BrownClusters(3), "paths")


def test_sets_with_clusters() -> None:
    for plain, more in ((sets.ner(), sets.ner(clusters=True)), (sets.pos(), sets.pos(True))):
        added = set(more.texts()) - set(plain.texts())
        assert len(added) == 20
        assert {text.split("(")[0] for text in added} == {"cluster4", "cluster6", "cluster10", "cluster20"}
    assert sets.chunking(clusters=True).of_clusters
    assert not sets.ner(pos=False).of_clusters


@pytest.mark.parametrize(
    ("templates", "clusters", "reason"),
    [
        ("columns: w\ncluster4(w[0])", None, "give fitted ones as clusters="),
        ("columns: w\nw[0]", BrownClusters(2).fit(TEXT), "No template asks for clusters="),
        ("columns: w\ncluster4(w[0])", BrownClusters(2), "have not been fitted"),
        ("columns: w\ncluster4(w[0])", {"a": "01"}, "must be BrownClusters"),
    ],
)
def test_clusters_that_do_not_fit(templates: str, clusters: object, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        TemplateFeatures(parse_templates(templates), clusters=clusters)


def test_bad_settings() -> None:
    for settings in ({"n_clusters": 0}, {"n_clusters": 2.5}, {"min_count": 0}, {"column": "a b"}):
        with pytest.raises(InputError):
            BrownClusters(**settings)
    for sentences in ("text", [["a", 3]], ["word"]):
        with pytest.raises((InputError, TypeError)):
            BrownClusters().fit(sentences)
