"""Reports and descriptions of models of trees."""

import numpy as np
import pytest

from kernelfields import CRF, HMM, Parts
from kernelfields.report import describe, evaluate
from kernelfields.report.browser import TreePlace, outline
from kernelfields.report.page import page

from ._page import Page

TREES = [
    (["it", "saw", "the", "old", "dog"], [1, -1, 4, 4, 1], ["P", "V", "D", "A", "N"]),
    (["yes"], [-1], ["P"]),
    ([], [], []),
    (["dogs", "ran", "and", "barked"], [1, -1, 3, 1], ["N", "V", None, "V"]),
]
X, Y = [(words, parents) for words, parents, _ in TREES], [labels for *_, labels in TREES]


@pytest.fixture(scope="module")
def model():
    return CRF(penalty=0.5, features="pos", structure="tree").fit(X, Y)


def said(shown):
    """Return what a reader sees, which the style of the page is not."""
    return " ".join(text for text in shown.texts if "{" not in text)


def test_outline_by_hand():
    places = outline([1, -1, 4, 4, 1])
    assert places == [TreePlace(*place) for place in ((1, 0), (0, 1), (4, 1), (2, 2), (3, 2))]
    assert outline([-1, 0, -1]) == [TreePlace(0, 0), TreePlace(1, 1), TreePlace(2, 0)]
    assert outline([]) == []


def test_outline_of_random_forests(rng):
    """Every vertex is there once, right below its parent or a brother's offspring, one level deeper."""
    for _ in range(50):
        size = int(rng.integers(1, 12))
        order = rng.permutation(size)
        parents = [-1] * size
        for t in range(1, size):
            above = int(rng.integers(-1, t))
            parents[order[t]] = -1 if above < 0 else int(order[above])
        lines = outline(parents)
        assert sorted(line.vertex for line in lines) == list(range(size))
        for n, line in enumerate(lines):
            before = [other for other in lines[:n] if other.depth < line.depth]
            assert parents[line.vertex] == (before[-1].vertex if before else -1)
            assert line.depth == (before[-1].depth + 1 if before else 0)


def test_a_deep_path_is_no_burden():
    assert outline([*range(1, 50_000), -1])[-1] == TreePlace(0, 49_999)


def test_figures_are_those_of_positions(model):
    found = evaluate(model, X, Y)
    answers, marginals = model.predict(X), model.predict_marginals(X)
    pairs = [(a, b) for one, truth in zip(answers, Y, strict=True) for a, b in zip(one, truth, strict=True)]
    known = [(a, b) for a, b in pairs if b is not None]
    assert found.token_error == pytest.approx(np.mean([a != b for a, b in known]))
    assert found.nll == pytest.approx(-sum(model.sequence_log_proba(X, Y)) / len(known))
    assert found.noun == "tree"
    assert found.as_dict()["trees"] is True
    assert "of 4 trees" in repr(found)
    assert found.sequences.tokens == [words for words, _ in X]
    np.testing.assert_array_equal(found.sequences.marginals[0], marginals[0])


def test_entities_are_for_sequences():
    labels = [["B-x", "O", "O", "O", "I-x"], ["O"], [], ["O", "B-x", "I-x", "O"]]
    tree = CRF(features="pos", structure="tree").fit(X, labels)
    assert evaluate(tree, X, labels).entities is None
    words = [words for words, _ in X]
    assert evaluate(CRF(features="pos").fit(words, labels), words, labels).entities is not None


def test_pages_show_trees_line_by_line(model):
    found = evaluate(model, X, Y)
    shown = Page(page(found))
    assert shown.data["noun"] == "tree"
    by_number = {one["number"]: one for one in shown.data["sequences"]}
    assert sorted(by_number) == [0, 1, 3]
    assert [token[0] for token in by_number[0]["tokens"]] == ["saw", "it", "dog", "the", "old"]
    assert by_number[0]["depths"] == [0, 1, 1, 2, 2]
    names = shown.data["labels"]
    assert [names[token[1]] for token in by_number[0]["tokens"]] == ["V", "P", "N", "D", "A"]
    assert {"Trees", "tree", "10 labels in 4 trees"} <= set(shown.texts)
    assert "equence" not in said(shown)


def test_pages_of_sequences_say_sequences():
    words = [words for words, _ in X]
    shown = Page(page(evaluate(CRF(features="pos").fit(words, Y), words, Y)))
    assert shown.data["noun"] == "sequence"
    assert not any("depths" in one for one in shown.data["sequences"])
    assert "tree" not in said(shown).lower()


def test_long_trees_begin_before_their_first_error():
    """In the order of lines, not of positions: the deepest vertex comes first in X and last on the page."""
    size = 400
    tree = [(["w"] * size, [*range(1, size), -1])]
    labels = [["B", *["A"] * (size - 1)]]
    model = CRF(features="pos", structure="tree", classes=["A", "B"]).fit(tree, [["A"] * size])
    [one] = Page(page(evaluate(model, tree, labels))).data["sequences"]
    assert (one["start"], len(one["tokens"]), one["depths"][-1]) == (100, 300, 399)


def test_descriptions_name_structure_and_ends(model):
    found = describe(model)
    assert found.structure == "tree"
    assert found.ends == {"root": model.start_.tolist(), "leaf": model.end_.tolist()}
    words = [words for words, _ in X]
    chain = CRF(features="pos", structure="chain2").fit(words, Y)
    assert describe(chain).structure == "chain2"
    assert list(describe(chain).ends) == ["first", "last"]
    plain = CRF(features="pos", parts=Parts(boundaries=None)).fit(words, Y)
    assert describe(plain).ends == {}
    hidden = HMM("categorical").fit(words[:2], Y[:2])
    assert describe(hidden).structure == "chain"
    assert describe(hidden).ends == {"first": hidden.start_.tolist()}
