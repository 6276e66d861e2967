"""Reports on dependency trees: figures against loops, and what is drawn."""

import pickle
import re

import numpy as np
import pytest

from kernelfields import CRF
from kernelfields.errors import InputError
from kernelfields.metrics import attachment_scores
from kernelfields.report import ParseEvaluation, evaluate, write_report
from kernelfields.report.page import page
from kernelfields.report.plots.arcs import DrawnArc, levels_of, plot_arcs
from kernelfields.structures import Dependency

TAGS = [
    ["DET", "NOUN", "VERB"],
    ["NOUN", "VERB", "DET", "NOUN", "PUNCT"],
    ["VERB"],
    ["DET", "ADJ", "NOUN", "VERB"],
]
HEADS = [[2, 3, 0], [2, 0, 4, 2, 2], [0], [3, 3, 4, 0]]
NAMES = [
    ["det", "subj", "root"],
    ["subj", "root", "det", "obj", "punct"],
    ["root"],
    ["det", "mod", "subj", "root"],
]


def arcs(tags):
    above = ["ROOT", *tags]
    return [
        {f"{above[h]}>{above[m]}": 1.0, "left" if h > m else "right": 1.0}
        for m in range(1, len(above))
        for h in range(len(above))
    ]


X = [arcs(tags) for tags in TAGS]
WRONG = [[2, 3, 0], [2, 0, 2, 2, 4], [0], [3, 4, 4, 0]]
LABELLED = list(zip(HEADS, NAMES, strict=True))


@pytest.fixture(scope="module", params=[False, True], ids=["heads", "relations"])
def fitted(request):
    """Return a model, and test trees that differ from what it learnt."""
    labels = request.param or None
    learnt = LABELLED if labels else HEADS
    truth = list(zip(WRONG, NAMES, strict=True)) if labels else WRONG
    return CRF(0.5, structure=Dependency(labels=labels)).fit(X, learnt), truth


def test_figures_by_loops(fitted):
    model, truth = fitted
    found = evaluate(model, X, truth, TAGS, tags=TAGS, threshold=0.6)
    assert isinstance(found, ParseEvaluation)
    outputs, marginals = model.predict(X), model.predict_marginals(X)
    expected = attachment_scores(truth, outputs, TAGS)
    assert found.scores == {**expected._asdict(), "exact": found.scores["exact"]}
    shares, right, losses, whole = [], [], [], []
    for s, (true, output, p) in enumerate(zip(truth, outputs, marginals, strict=True)):
        fine = []
        for m in range(len(TAGS[s])):
            if p.ndim == 3:
                k = model.classes_.tolist().index(output[1][m])
                shares.append(p[m, output[0][m], k])
                fine.append(output[0][m] == true[0][m] and output[1][m] == true[1][m])
                losses.append(-np.log(sum(p[m, true[0][m]])))
            else:
                shares.append(p[m, output[m]])
                fine.append(output[m] == true[m])
                losses.append(-np.log(p[m, true[m]]))
        right += fine
        whole.append(all(fine))
        assert found.wrong[s] == fine.count(False)
    assert found.n_answers == len(right) == found.n_words == 13
    assert found.scores["exact"] == np.mean(whole)
    assert found.log_loss == pytest.approx(np.mean(losses))
    kept = [good for good, share in zip(right, shares, strict=True) if share >= 0.6]
    assert found.answered.answered[60] == pytest.approx(len(kept) / len(right))
    assert found.answered.error[60] == pytest.approx(1 - np.mean(kept))
    gaps = 0.0
    for low in np.arange(10) / 10:
        inside = [n for n, share in enumerate(shares) if low < share <= low + 0.1 + 1e-12]
        if inside:
            gaps += abs(sum(right[n] - shares[n] for n in inside))
    assert found.ece == pytest.approx(gaps / len(right))
    assert found.order[0] == int(np.argmax(found.wrong))
    assert found.as_dict()["uas"] == expected.uas
    assert found.as_dict()["structure"] == "dependency"
    assert "UAS" in repr(found)


def test_relations_are_counted_with_their_heads():
    model = CRF(0.5, structure=Dependency(labels=True)).fit(X, LABELLED)
    truth = list(zip(WRONG, NAMES, strict=True))
    outputs = model.predict(X)
    for one in evaluate(model, X, truth).by_label:
        hits = sum(
            (h, r) == (g, q) and r == one.label
            for true, out in zip(truth, outputs, strict=True)
            for h, r, g, q in zip(*true, *out, strict=True)
        )
        true = sum(names.count(one.label) for _, names in truth)
        predicted = sum(names.count(one.label) for _, names in outputs)
        assert one.n_true == true
        assert one.recall == pytest.approx(hits / true if true else 0.0)
        assert one.precision == pytest.approx(hits / predicted if predicted else 0.0)


def test_the_page_draws_every_arc_once(fitted, tmp_path):
    model, truth = fitted
    words = [["<b>", "dog", "barks"], ["dogs", "see", "a", "c&t", "."], ["go"], ["a", "b", "c", "d"]]
    found = evaluate(model, X, truth, words, tags=TAGS)
    write_report(found, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text == page(found)
    assert "<b>" not in text.replace("<b>", "", text.count('class="tile"'))  # those of tiles
    assert "c&amp;t" in text
    assert "<script" not in text
    assert text.count('class="arc right"') + text.count('class="arc wrong"') == found.n_answers
    assert text.count('class="arc wrong"') == text.count('class="arc missed"') == sum(found.wrong)
    assert "{{" not in text
    strengths = [float(one) for one in re.findall(r'class="arc (?:right|wrong)" opacity="([\d.]+)"', text)]
    assert len(strengths) == found.n_answers
    assert all(0.3 <= one <= 1 for one in strengths)
    assert "UAS without punctuation" in text
    assert "share of arcs answered" in text


def test_levels_by_hand():
    """1 → 2 below 3 → 1, and that below 4 → 1; 5 → 4 apart from them."""
    arcs = [DrawnArc(4, 1), DrawnArc(1, 2), DrawnArc(3, 1), DrawnArc(5, 4), DrawnArc(0, 5)]
    assert levels_of(arcs) == [3, 1, 2, 1, 1]


def test_arcs_that_hold_each_other_are_at_different_heights(rng):
    for _ in range(30):
        n = int(rng.integers(2, 10))
        arcs = [DrawnArc(int(h), m) for m in range(1, n + 1) if (h := rng.integers(0, n + 1)) != m]
        levels = levels_of(arcs)
        for a, high in zip(arcs, levels, strict=True):
            for b, low in zip(arcs, levels, strict=True):
                if a is not b and a.head and b.head and a.ends != b.ends:
                    inside = a.ends[0] <= b.ends[0] and b.ends[1] <= a.ends[1]
                    assert not inside or high > low


def test_arcs_stay_within_the_picture():
    words = ["w" * 30, "a", "b", "c", "d"]
    arcs = [DrawnArc(5, 1, "far", "right", 0.5), DrawnArc(0, 5), *(DrawnArc(1, m) for m in (2, 3, 4))]
    text = plot_arcs(words, None, arcs, arcs)
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', text).groups())
    for way in re.findall(r' d="([^"]+)"', text):
        numbers = [float(one) for one in re.findall(r"-?[\d.]+", way)]
        x, y = numbers[0::2], numbers[1::2]
        summit = y[0] if len(y) == 2 else y[0] + 0.75 * (y[1] - y[0])
        assert min(x) >= 0
        assert max(x) <= width
        assert 0 <= summit <= height


def test_sentences_without_words_and_evaluations_that_travel(fitted):
    model, truth = fitted
    empty = ([], []) if isinstance(truth[0], tuple) else []
    found = evaluate(model, [*X, arcs([])], [*truth, empty], [*TAGS, []], tags=[*TAGS, []])
    assert found.n_items == 5
    assert (found.wrong[4], found.draw(4)) == (0, None)
    again = pickle.loads(pickle.dumps(found))
    assert page(again) == page(found)
    with pytest.raises(InputError, match="There is nothing to score"):
        evaluate(model, [arcs([])], [empty])


def test_long_sentences_are_not_drawn():
    long = arcs(["NOUN"] * 61)
    model = CRF(0.5, structure=Dependency()).fit([*X, long], [*HEADS, list(range(61))])
    found = evaluate(model, [*X, long], [*HEADS, list(range(61))])
    assert found.draw(4) is None
    assert "4 of 5 sentences are here" in page(found)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (HEADS[:2], {}, "X has 4 sentences, but y has 2"),
        ([[0], *HEADS[1:]], {}, "Sentence 0 has 3 words in X, but 1 heads in y"),
        ([["a"] * 3, *HEADS[1:]], {}, "heads that are not whole numbers"),
        (HEADS, {"tags": TAGS[:1]}, "y_true has 4 sentences, but tags has 1"),
        (HEADS, {"tokens": [["a"]] * 4}, "Sequence 0 has 1 texts in tokens, but 3 labels in y"),
    ],
)
def test_what_is_refused(y, options, message):
    model = CRF(0.5, structure=Dependency()).fit(X, HEADS)
    with pytest.raises(InputError, match=message):
        evaluate(model, X, y, **options)


def test_tags_are_for_dependency_trees():
    model = CRF().fit([[[0.0], [1.0]]], [["a", "b"]])
    with pytest.raises(InputError, match="tags= is for dependency trees"):
        evaluate(model, [[[0.0], [1.0]]], [["a", "b"]], tags=[["X", "Y"]])
