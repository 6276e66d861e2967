"""Translation models against enumeration, and features that do not know the answer."""

import itertools

import numpy as np
import pytest

from experiments.lib.aligning import (
    Bitext,
    PairFeatures,
    nearest_matching,
    one_per_target,
    without_rivals,
)
from experiments.lib.pair_features import Lexicon, shifted, similarity, simple
from experiments.lib.translation_models import Corpus, hidden_markov, intersected, model_one
from kernelfields.datasets import AlignedSentences

SOURCE = [["the", "house"], ["the", "book"], ["a", "book"], []]
TARGET = [["das", "haus"], ["das", "buch"], ["ein", "buch"], ["x"]]


def test_one_iteration_of_model_one_by_hand():
    """Every target word is divided among the words of its source sentence and the empty word."""
    corpus = Corpus.of(SOURCE[:1], TARGET[:1])
    model = model_one(corpus, 1)
    np.testing.assert_allclose(model.table, 0.5)  # each of three source words has a third of two target words
    model = model_one(Corpus.of(SOURCE, TARGET), 20)
    assert model.best()[:3] == [{(0, 0), (1, 1)}] * 3
    assert model.best()[3] == set()


def test_model_one_never_loses_likelihood():
    corpus = Corpus.of(SOURCE[:3], TARGET[:3])

    def likelihood(model):
        return sum(np.log(model.table[kinds].mean(axis=1)).sum() for kinds in corpus.kinds)

    values = [likelihood(model_one(corpus, k)) for k in range(1, 8)]
    assert (np.diff(values) >= -1e-12).all()


def test_hidden_markov_posteriors_are_those_of_all_alignments():
    """Two source words, three target words: every path of words and of the empty words behind them."""
    first = model_one(Corpus.of([["a", "b"]], [["x", "y", "x"]]), 2)
    model = hidden_markov(first, 1, max_jump=3, empty=0.3)
    table = model.table[model.corpus.kinds[0]]  # (3, 3), the empty word first
    jumps = {d: model.jumps[3 + d] for d in (-1, 0, 1)}
    step = [[jumps[j - i] / sum(jumps[k - i] for k in (0, 1)) for j in (0, 1)] for i in (0, 1)]
    posterior, total = np.zeros((2, 3)), 0.0
    for path in itertools.product(range(4), repeat=3):  # 0, 1 words; 2, 3 the empty word after each
        p = 1.0
        for j, state in enumerate(path):
            word, empty = state % 2, state >= 2
            p *= table[j, 0] if empty else table[j, 1 + word]
            if j == 0:
                p *= (0.3 if empty else 0.7) / 2
            else:
                before = path[j - 1] % 2
                p *= (0.3 if word == before else 0.0) if empty else 0.7 * step[before][word]
        total += p
        for j, state in enumerate(path):
            if state < 2:
                posterior[state, j] += p
    np.testing.assert_allclose(model.posteriors()[0], posterior / total, rtol=1e-10)


def test_intersections_have_links_of_both_directions():
    forwards, backwards = (model_one(Corpus.of(*sides), 5) for sides in ((SOURCE, TARGET), (TARGET, SOURCE)))
    both = intersected(forwards, backwards)
    turned = [{(i, j) for j, i in links} for links in backwards.best()]
    assert [set(links) for links in both] == [a & b for a, b in zip(forwards.best(), turned, strict=True)]


def test_lexicons_forget_the_sentence_that_asks():
    links = [[(0, 0), (1, 1)]] * 3
    lexicon = Lexicon.of(simple, SOURCE[:3], TARGET[:3], links)
    alone = Lexicon.of(simple, SOURCE[1:3], TARGET[1:3], links[1:])
    for found, wanted in zip(
        lexicon.log_odds(SOURCE[0], TARGET[0], links[0], 2.0),
        alone.log_odds(SOURCE[0], TARGET[0], None, 2.0),
        strict=True,
    ):
        np.testing.assert_allclose(found, wanted)
    known, _ = lexicon.log_odds(SOURCE[0], TARGET[0], None, 2.0)
    assert known[1, 1] > lexicon.log_odds(SOURCE[0], TARGET[0], links[0], 2.0)[0][1, 1]


def test_features_of_every_pair_are_finite():
    links = [[(0, 0), (1, 1)]] * 3 + [[]]
    every = AlignedSentences(SOURCE, TARGET, links, links)
    train, test = (AlignedSentences(*(column[k] for column in every)) for k in (slice(0, 3), slice(3, 4)))
    features = PairFeatures.of(Bitext.of(train, test, 2), range(3))
    shapes = [features(s).shape for s in range(4)]
    assert [shape[:2] for shape in shapes] == [(2, 2), (2, 2), (2, 2), (0, 1)]
    assert len({shape[2] for shape in shapes}) == 1
    assert all(np.isfinite(features(s)).all() for s in range(4))


def test_links_are_thinned_to_what_can_be_learnt():
    links = [(0, 0), (0, 1), (1, 1), (2, 1)]
    assert sorted(nearest_matching(links)) == [(0, 0), (1, 1)]
    assert nearest_matching([]) == []
    assert without_rivals(links, 2) == [(0, 0), (0, 1), (1, 1)]
    assert sorted(one_per_target(links)) == [(0, 0), (0, 1)]


@pytest.mark.parametrize(
    ("a", "b", "shares"),
    [("Haus", "haus", (1, 1, 1)), ("abc", "abd", (2 / 3, 0, 2 / 3)), ("", "", (0, 0, 0))],
)
def test_similarity_counts_letters(a, b, shares):
    assert similarity(a, b) == pytest.approx(shares)


def test_neighbours_come_from_where_they_are():
    table = np.arange(12.0).reshape(3, 4)
    assert shifted(table, 1, 1)[0, 0] == table[1, 1]
    assert shifted(table, -1, -1)[1, 1] == table[0, 0]
    assert shifted(table, -1, -1)[0].tolist() == [0.0] * 4
    assert (shifted(table, 5, 0) == 0).all()
