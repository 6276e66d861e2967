"""Reports on matchings: figures against loops, and what is drawn."""

import pickle
import re

import numpy as np
import pytest

from kernelfields import CRF, StructuredSVM
from kernelfields.errors import InputError
from kernelfields.metrics import alignment_scores
from kernelfields.report import evaluate
from kernelfields.report.matchings import plot_alignment
from kernelfields.report.page import page
from kernelfields.structures import Bethe, Matching

PAIRS = [
    (["the", "house"], ["das", "<b>"]),
    (["a", "green", "house"], ["ein", "gruenes", "Haus"]),
    (["house"], ["das", "Haus"]),
]
LINKS = [[(0, 0), (1, 1)], [(0, 0), (1, 1), (2, 2)], [(0, 1)]]
OTHER = [[(0, 0)], [(0, 0), (1, 2), (2, 1)], [(0, 1)]]
POSSIBLE = [[(1, 1)], [], [(0, 0)]]


@pytest.fixture(scope="module")
def model():
    return CRF(0.1, structure=Matching(inference=Bethe()), features="pairs").fit(PAIRS, LINKS)


def test_figures_by_loops(model):
    found = evaluate(model, PAIRS, OTHER, possible=POSSIBLE)
    outputs, marginals = model.predict(PAIRS), model.predict_marginals(PAIRS)
    assert outputs == LINKS
    assert found.scores == alignment_scores(OTHER, POSSIBLE, outputs)._asdict()
    right, shares = [], []
    for s, (links, p) in enumerate(zip(outputs, marginals, strict=True)):
        fine = [link in OTHER[s] or link in POSSIBLE[s] for link in links]
        right += fine
        shares += [p[i, j] for i, j in links]
        assert found.wrong[s] == fine.count(False) + sum(link not in links for link in OTHER[s])
    assert found.n_answers == len(right) == 6
    assert found.calibration.accuracy @ found.calibration.support == pytest.approx(sum(right))
    assert found.calibration.confidence @ found.calibration.support == pytest.approx(sum(shares), abs=1e-5)
    assert found.as_dict()["error_rate"] == found.scores["error_rate"]
    assert found.n_words == 4 + 6 + 3


def test_models_without_probabilities_have_no_calibration():
    model = StructuredSVM(penalty=0.1, structure=Matching(fertility=2), features="pairs").fit(PAIRS, LINKS)
    found = evaluate(model, PAIRS, OTHER)
    assert found.ece is None
    assert found.n_answers == 0
    assert found.scores == alignment_scores(OTHER, None, model.predict(PAIRS))._asdict()
    assert "alignment error rate" in page(found)
    assert found.as_dict()["ece"] is None


def test_items_without_words_and_evaluations_that_travel(model):
    found = evaluate(model, [*PAIRS, ([], ["x"]), ([], [])], [*OTHER, [], []])
    assert [found.draw(s) for s in (3, 4)] == [None, None]
    assert page(pickle.loads(pickle.dumps(found))) == page(found)
    nothing = evaluate(model, [([], ["x"])], [[]])
    assert (nothing.ece, nothing.n_answers, nothing.scores["error_rate"]) == (None, 0, 0.0)
    assert "All 0" not in page(nothing)


def test_the_page_draws_every_cell_once(model):
    text = page(evaluate(model, PAIRS, OTHER, possible=POSSIBLE))
    assert text.count('class="cell"') == 4 + 9 + 2
    assert text.count('class="link right"') == 4
    assert text.count('class="link wrong"') == 2
    assert text.count('class="truth sure"') == 5
    assert text.count('class="truth"') == 2
    assert "&lt;b&gt;" in text
    assert "{{" not in text


def test_cells_are_as_dark_as_links_are_probable():
    p = np.array([[0.25, 0.5], [0.75, 1.0]])
    text = plot_alignment(["a", "b"], ["c", "d"], p, [(0, 1)], [(0, 1)], [(1, 0)])
    assert re.findall(r'fill-opacity="([\d.]+)"', text) == ["0.25", "0.5", "0.75", "1"]
    assert re.findall(r"<title>([^<]+)</title>", text) == [
        "a – c: 25.0%",
        "a – d: 50.0%, answered, sure",
        "b – c: 75.0%, possible",
        "b – d: 100.0%",
    ]


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (OTHER[:1], {}, "X has 3 items, but y has 1"),
        ([[(0, 5)], *OTHER[1:]], {}, r"Item 0 of y has the link \(0, 5\), but X has 2 × 2"),
        ([[(0, -1)], *OTHER[1:]], {}, "but words are counted from 0 or 1"),
        (OTHER, {"possible": POSSIBLE[:1]}, "y has 3 items, but possible has 1"),
        (OTHER, {"tokens": [(["a"], ["b"])] * 3}, "Item 0 of tokens does not have 2 and 2 texts"),
        (OTHER, {"tokens": [("a", "b")]}, "tokens must be a list of 3 pairs"),
        (OTHER, {"tags": [["X"]]}, "tags= is for dependency trees"),
    ],
)
def test_what_is_refused(model, y, options, message):
    with pytest.raises(InputError, match=message):
        evaluate(model, PAIRS, y, **options)
