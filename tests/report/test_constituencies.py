"""Reports on constituency trees: figures against loops, and what is drawn."""

import pickle
import re

import numpy as np
import pytest

from kernelfields import CRF
from kernelfields.errors import InputError
from kernelfields.io.phrases import Phrase, phrases_of
from kernelfields.metrics import bracket_scores
from kernelfields.report import evaluate
from kernelfields.report.constituencies import depth_of, plot_phrase_tree, rows_of, share_of
from kernelfields.report.page import page
from kernelfields.structures import Constituency

TREES = [
    ("S", ("NP", ("D", "the"), ("N", "dog")), ("VP", ("V", "barks"))),
    ("S", ("NP", ("N", "cats")), ("VP", ("V", "like"), ("NP", ("D", "the"), ("A", "old"), ("N", "<b>")))),
    ("S", ("VP", ("V", "go"))),
]
OTHER = [
    ("S", ("D", "the"), ("VP", ("N", "dog"), ("V", "barks"))),
    ("S", ("NP", ("N", "cats")), ("X", ("V", "like"), ("NP", ("D", "the"), ("A", "old"), ("N", "<b>")))),
    ("S", ("VP", ("V", "go"))),
]
TAGS = [["D", "N", "V"], ["N", "V", "D", "A", "N"], ["V"]]


def spans(tags):
    return [
        {f"{tags[i]}…{tags[j - 1]}": 1.0, f"words={j - i}": 1.0}
        for i in range(len(tags))
        for j in range(i + 1, len(tags) + 1)
    ]


X = [spans(tags) for tags in TAGS]


@pytest.fixture(scope="module")
def model():
    return CRF(0.1, structure=Constituency()).fit(X, TREES)


def test_figures_by_loops(model):
    found = evaluate(model, X, OTHER)
    outputs, marginals = model.predict(X), model.predict_marginals(X)
    scores = bracket_scores(OTHER, outputs)
    assert found.scores == {name: getattr(scores, name) for name in ("f1", "precision", "recall", "exact")}
    right, shares = [], []
    for s, (true, output, p) in enumerate(zip(OTHER, outputs, marginals, strict=True)):
        known = list(phrases_of(true))
        answers = list(phrases_of(output))
        for one in answers:
            right.append(one in known)
            n = len(TAGS[s])
            places = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
            row = places.index((one.start, one.end))
            shares.append(
                sum(p[row, k] for k, label in enumerate(model.classes_) if one.label in label.split("+"))
            )
        missed = [one for one in known if one not in answers]
        assert found.wrong[s] == sum(one not in known for one in answers) + len(missed)
    assert found.n_answers == len(right)
    assert found.calibration.accuracy @ found.calibration.support == pytest.approx(sum(right))
    assert found.calibration.confidence @ found.calibration.support == pytest.approx(sum(shares))
    by_label = {one.label: one for one in found.by_label}
    assert (by_label["X"].n_true, by_label["X"].recall) == (1, 0.0)
    for label, one in by_label.items():
        pairs = [(list(phrases_of(a)), list(phrases_of(b))) for a, b in zip(OTHER, outputs, strict=True)]
        true = sum(phrase.label == label for known, _ in pairs for phrase in known)
        hits = sum(
            phrase.label == label and phrase in known for known, answers in pairs for phrase in answers
        )
        assert (one.n_true, one.recall) == (true, pytest.approx(hits / true if true else 0.0))
    assert found.as_dict()["structure"] == "constituency"


def test_a_phrase_in_a_chain_has_the_probability_of_all_chains_with_it():
    p = np.array([[0.1, 0.2, 0.3, 0.4]])
    assert share_of(Phrase("S", 0, 1), p, ["", "S", "S+VP", "VP"]) == pytest.approx(0.5)
    assert share_of(Phrase("VP", 0, 1), p, ["", "S", "S+VP", "VP"]) == pytest.approx(0.7)


def test_sentences_without_words_and_evaluations_that_travel(model):
    found = evaluate(model, [*X, spans([])], [*OTHER, ()])
    assert (found.n_items, found.draw(3)) == (4, None)
    assert page(pickle.loads(pickle.dumps(found))) == page(found)


def test_the_page_draws_every_phrase_once(model):
    found = evaluate(model, X, OTHER)
    text = page(found)
    assert text.count('class="arc right"') + text.count('class="arc wrong"') == found.n_answers
    assert text.count('class="arc wrong"') == round(
        (1 - found.calibration.accuracy) @ found.calibration.support
    )
    assert "&lt;b&gt;" in text
    outputs = model.predict(X)
    missed = sum(
        p not in list(phrases_of(b)) for a, b in zip(OTHER, outputs, strict=True) for p in phrases_of(a)
    )
    assert text.count('class="arc missed"') == missed > 0
    assert "bracket F1" in text
    assert "{{" not in text


def test_trees_are_drawn_within_the_picture():
    tree = ("S", ("NP", ("NP", ("D", "the"), ("N", "dog")), ("PP", ("P", "of"), ("N", "x"))), ("V", "barks"))
    assert depth_of(tree) == 3
    text = plot_phrase_tree(tree, {Phrase("PP", 2, 4): 0.5}, {Phrase("S", 0, 5)})
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', text).groups())
    for x, y in re.findall(r'<text x="([\d.]+)" y="([\d.-]+)"', text):
        assert 0 < float(x) < width
        assert 0 < float(y) <= height
    assert text.count('class="arc wrong"') == 3
    assert text.count('opacity="0.5"') == 1
    assert text.count("<polyline") == 8  # one for every child


def test_missed_phrases_stand_below_the_words_and_apart():
    missed = [Phrase("S", 0, 5), Phrase("NP", 0, 2), Phrase("PP", 3, 5), Phrase("X", 1, 4), Phrase("Y", 0, 2)]
    assert rows_of(missed) == [3, 0, 0, 2, 1]
    tree = ("S", ("A", "a"), ("B", "b"), ("C", "c"), ("D", "d"), ("E", "e"))
    text = plot_phrase_tree(tree, {}, None, missed)
    assert text.count('class="arc missed"') == 5
    assert text.count('class="arc right"') == 1
    height = float(re.search(r'viewBox="0 0 \S+ (\S+)"', text)[1])
    assert max(float(y) for y in re.findall(r'<text x="[\d.]+" y="([\d.-]+)"', text)) <= height


def test_what_is_refused(model):
    with pytest.raises(InputError, match="X has 3 sentences, but y has 1"):
        evaluate(model, X, OTHER[:1])
    with pytest.raises(InputError, match="Sentence 0 has 3 words in X, but 5 in y"):
        evaluate(model, X, OTHER[::-1][1:] + OTHER[:1])
    with pytest.raises(InputError, match="Tree 0 of y has the word 3, expected word 0"):
        evaluate(model, X, [3, *OTHER[1:]])
