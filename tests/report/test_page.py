"""The page as text: nothing from outside, hostile tokens harmless, counts right, size bounded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelfields.report import evaluate, write_report
from kernelfields.report.browser import LONGEST, ReportLimits, choose
from kernelfields.report.markup import element, embedded, escape
from kernelfields.report.page import page
from kernelfields.report.plots.frame import Axis
from tests.report._page import Page
from tests.report._stand_in import StandIn, random_case

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!--<script>",
    "]]>",
    "{{script}}",
    "\\u003c/script>",
    '" onmouseover="alert(1)',
    "' onmouseover='alert(1)",
    "&lt;b&gt;&amp;",
    "javascript:alert(1)",
    "\x00\x08\ud800\u2028\ufffe",
    "",
    "\u202eright to left",
    "x" * 10_000,
]


def hostile_model():
    """Labels and tokens that try to become markup."""
    n = len(HOSTILE)
    model = StandIn(HOSTILE, [np.full((n, n), 0.5 / (n - 1)) + np.eye(n) * (0.5 - 0.5 / (n - 1))])
    y = [HOSTILE[:-3] + HOSTILE[:3]]
    return evaluate(model, model.inputs, y, [HOSTILE])


def skeleton(parsed: Page):
    """Elements without what may differ: attributes' values that are numbers or texts."""
    return [tag for tag, _ in parsed.elements], [sorted(attrs) for _, attrs in parsed.elements]


def test_hostile_tokens_and_labels_stay_texts() -> None:
    tame_model = hostile_model()
    n = len(HOSTILE)
    names = [f"label {k:02d}" for k in range(n)]
    tame = StandIn(names, tame_model.sequences.marginals)
    tame_found = evaluate(tame, tame.inputs, [names[:-3] + names[:3]], [names])
    hostile, harmless = Page(page(tame_model)), Page(page(tame_found))
    assert sorted(tag for tag, _ in hostile.elements) == sorted(tag for tag, _ in harmless.elements)
    assert not any(key.startswith("on") for _, attrs in hostile.elements for key in attrs)
    assert len(hostile.scripts) == 2
    assert hostile.scripts[1] == harmless.scripts[1]
    # U+D800 alone is no text, JSON keeps it; what is too long is cut.
    shown = [token[0] for token in hostile.data["sequences"][0]["tokens"]]
    assert shown[:-1] == HOSTILE[:-1]
    assert len(shown[-1]) == 60
    page(tame_model).encode("utf-8")


@settings(deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(st.characters(), max_size=30))
def test_any_text_survives(text: str) -> None:
    body = f'<body><p title="{escape(text)}">{escape(text)}</p><script>{embedded(text)}</script></body>'
    parsed = Page(body)
    assert [tag for tag, _ in parsed.elements] == ["body", "p", "script"]
    assert parsed.data == text
    assert list(parsed.elements[1][1]) == ["title"]


def test_json_cannot_end_its_element() -> None:
    text = embedded(HOSTILE)
    assert not set("<>&") & set(text)
    assert text.isascii()


def test_numbers_that_json_lacks_are_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        embedded([float("nan")])


def test_nothing_is_loaded(rng, tmp_path) -> None:
    model, y = random_case(rng)
    write_report(evaluate(model, model.inputs, y), tmp_path / "a.html", title="<b>")
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    parsed = Page(text)
    for tag, attributes in parsed.elements:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base"}
        assert not {"src", "href", "action", "style"} & set(attributes)
    for word in ("http:", "https:", "url(", "@import", "//cdn", "fetch(", "innerHTML", "eval("):
        assert word not in text.replace("http-equiv", "")
    policy = dict(parsed.elements)["meta"]
    assert policy is not None
    assert "default-src &#x27;none&#x27;" in text
    assert "<title>&lt;b&gt;</title>" in text


def test_counts_of_every_threshold(rng) -> None:
    model, y = random_case(rng, sizes=(30, 40))
    found = evaluate(model, model.inputs, y)
    data = Page(page(found)).data
    p = np.concatenate(model.marginals)
    true = np.array([list(model.classes_).index(label) for labels in y for label in labels])
    best, confidence = p.argmax(axis=1), p.max(axis=1)
    for k in range(101):
        kept = confidence >= k / 100
        assert data["all"][0][k] == kept.sum()
        assert data["all"][1][k] == (kept & (best != true)).sum()
        for place, label in enumerate(data["filters"]):
            here = kept & ((best == label) | (true == label))
            assert data["byLabel"][place][0][k] == here.sum()
            assert data["byLabel"][place][1][k] == (here & (best != true)).sum()
    tokens = [token for sequence in data["sequences"] for token in sequence["tokens"]]
    for k in (0, 50, 90, 100):
        assert sum(token[3] > k for token in tokens) == data["all"][0][k]
    for token in tokens:
        assert {token[1], token[2]} <= set(token[4][::2])
        assert sum(token[4][1::2]) <= 1003


def test_probabilities_exactly_at_a_threshold_are_answered() -> None:
    model = StandIn(["a", "b"], [[[k / 100, 1 - k / 100] for k in range(51, 101)]])
    data = Page(page(evaluate(model, model.inputs, [["a"] * 50]))).data
    assert data["all"][0][51:] == list(range(50, 0, -1))


def test_wrong_ones_first_and_some_right_ones(rng) -> None:
    model, y = random_case(rng, sizes=(3,) * 60)
    found = evaluate(model, model.inputs, y)
    wrong = [sum(a != b for a, b in zip(*pair, strict=True)) for pair in zip(y, model.predicted, strict=True)]
    chosen = choose(found.sequences, ReportLimits(20, 10_000))
    errors = [wrong[s] for s in chosen]
    assert len(chosen) == 20
    assert errors == sorted(errors, reverse=True)
    assert errors.count(0) == 5
    least = [model.marginals[s].max(axis=1).min() for s in chosen if wrong[s] == 0]
    assert least == sorted(least)
    everything = choose(found.sequences, ReportLimits(1000, 10_000))
    assert sorted(everything) == list(range(60))
    assert len(choose(found.sequences, ReportLimits(1000, 31))) == 10
    assert "20 of 60 sequences are here" in page(found, limits=ReportLimits(20, 10_000))


def test_a_long_sequence_is_cut_before_its_first_error() -> None:
    model = StandIn(["a", "b"], [[[0.9, 0.1]] * 5000])
    y = [["a"] * 5000]
    y[0][3000] = "b"
    data = Page(page(evaluate(model, model.inputs, y))).data
    [sequence] = data["sequences"]
    assert (sequence["start"], sequence["length"], len(sequence["tokens"])) == (2990, 5000, LONGEST)
    y[0][3000], y[0][4999] = "a", "b"
    [sequence] = Page(page(evaluate(model, model.inputs, y))).data["sequences"]
    assert sequence["start"] == 5000 - LONGEST


def test_size_is_bounded(rng) -> None:
    names = [f"a label with a long name {k}" for k in range(150)]
    model, y = random_case(rng, names, sizes=(100,) * 300)
    tokens = [["a very long token " * 100] * 100] * 300
    assert len(page(evaluate(model, model.inputs, y, tokens))) < 3_000_000


def test_probabilities_that_were_not_learnt_are_named_so() -> None:
    model = StandIn(["a", "b"], [[[0.7, 0.3]]])
    said = "StandIn learns no probabilities"
    assert said not in page(evaluate(model, model.inputs, [["a"]]))
    model.probabilistic = False
    found = evaluate(model, model.inputs, [["a"]])
    assert said in page(found)
    assert found.as_dict()["probabilistic"] is False


def test_extremes() -> None:
    """One position, one right, none wrong; no answer anywhere; empty sequences among others."""
    alone = StandIn(["a", "b"], [[[1.0, 0.0]]])
    Page(page(evaluate(alone, alone.inputs, [["a"]])))
    wrong = StandIn(["a", "b"], [[[0.5, 0.5]], np.zeros((0, 2))])
    Page(page(evaluate(wrong, wrong.inputs, [["b"], []], threshold=1.0)))


@pytest.mark.parametrize(
    ("low", "high", "logarithmic", "expected"),
    [
        (0.0, 1.0, False, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (3.0, 57.0, False, [20.0, 40.0]),
        (-1.0, 1.0, False, [-1.0, -0.5, 0.0, 0.5, 1.0]),
        (1e-4, 1.0, True, [1e-4, 1e-3, 1e-2, 1e-1, 1.0]),
    ],
)
def test_ticks(low: float, high: float, logarithmic: bool, expected: list[float]) -> None:
    axis = Axis(low, high, "", str, logarithmic)
    assert axis.ticks() == pytest.approx(expected)
    assert axis.share(low) == 0.0
    assert axis.share(high) == 1.0


def test_elements() -> None:
    assert element("a", "<b>", x=1.0, text_anchor='"') == '<a x="1" text-anchor="&quot;"><b></a>'
