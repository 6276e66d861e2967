"""Alignments: links that a model answers, beside the sure and the possible ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import is_list
from ..errors import InputError
from ..metrics import alignment_scores
from ..metrics.alignments import Link, read_links
from ..structures import Matching
from .judged_parses import JudgedParses
from .markup import element, escape
from .parse_evaluation import Answers, ParseWords
from .plots.words import LETTER, shortened, sized

WORDS = ParseWords(
    "pair",
    "link",
    {
        "error_rate": ("alignment error rate", "1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|); less is better"),
        "precision": ("precision", "of the links answered, those possible"),
        "recall": ("recall", "of the sure links, those found"),
    },
)


def judge_matchings(
    X: list[Any], y: Any, outputs: list[Any], marginals: Any, tokens: Any, possible: Any = None
) -> JudgedParses:
    """Compare answers with true links.

    Parameters
    ----------
    X : list
        Items, as the model takes them.
    y, outputs : list of lists of pairs (i, j)
        True (sure) and predicted links.
    marginals : list of (m, n) arrays, or None
        The probability of every link; without them there is no calibration.
    tokens : list of pairs of lists of str, optional
        The words of both sides; numbers without.
    possible : list of lists of pairs, optional
        Links that may be answered besides those of y.
    """
    sure, found = read_links(y, "y"), read_links(outputs, "the prediction")
    if len(sure) != len(found):
        raise InputError(f"X has {len(found)} items, but y has {len(sure)}.")
    allowed = [set(links) for links in sure] if possible is None else read_links(possible, "possible")
    if len(allowed) != len(sure):
        raise InputError(f"y has {len(sure)} items, but possible has {len(allowed)}.")
    shares = _certain(X, found) if marginals is None else [np.asarray(p) for p in marginals]
    _require_places(sure, allowed, shares)
    words = _texts(tokens, X, shares)
    true = [a | b for a, b in zip(sure, allowed, strict=True)]
    judged = [] if marginals is None else list(enumerate(found))
    rows = [(float(shares[s][link]), link in true[s], s) for s, links in judged for link in sorted(links)]
    confidence, right, items = zip(*rows, strict=True) if rows else ((), (), ())

    return JudgedParses(
        structure="matching",
        words=WORDS,
        sizes=[sum(p.shape) for p in shares],
        scores=dict(alignment_scores(sure, allowed, found)._asdict()),
        log_loss=None,
        answers=Answers(np.array(confidence, float), np.array(right, bool), np.array(items, np.int64)),
        wrong=[len(a - t) + len(s - a) for a, t, s in zip(found, true, sure, strict=True)],
        by_label=[],
        draw=LinkDrawer(words, shares, found, sure, allowed),
    )


@dataclass(frozen=True)
class LinkDrawer:
    """Draws links as matrices, as far as these are small enough."""

    words: list[Any]
    shares: list[Any]
    found: list[set[Link]]
    sure: list[set[Link]]
    possible: list[set[Link]]

    def __call__(self, s: int) -> str | None:
        """Draw one pair."""
        (a, b), p = self.words[s], self.shares[s]
        if max(p.shape) > MOST or 0 in p.shape:
            return None
        return plot_alignment(a, b, p, self.found[s], self.sure[s], self.possible[s])


def _certain(X: list[Any], found: list[set[Link]]) -> list[Any]:
    """Return tables with 1 for every answer and 0 for all else."""
    tables = [np.zeros(shape) for shape in Matching().split(X)[1]]
    for table, links in zip(tables, found, strict=True):
        for link in links:
            table[link] = 1.0
    return tables


def _require_places(sure: list[set[Link]], allowed: list[set[Link]], shares: list[Any]) -> None:
    """Refuse links to what is not there."""
    for s, (a, b, p) in enumerate(zip(sure, allowed, shares, strict=True)):
        for i, j in sorted(a | b):
            if i >= p.shape[0] or j >= p.shape[1]:
                raise InputError(
                    f"Item {s} of y has the link {(i, j)}, but X has {p.shape[0]} × {p.shape[1]}."
                )


def _texts(tokens: Any, X: list[Any], shares: list[Any]) -> list[Any]:
    """Return the words of both sides: those given, or those of X, or numbers."""
    if tokens is None:
        return [_words(x, p.shape) for x, p in zip(X, shares, strict=True)]
    if not is_list(tokens) or len(tokens) != len(shares):
        raise InputError(
            f"tokens must be a list of {len(shares)} pairs of lists of texts, one for every item."
        )
    for s, (pair, p) in enumerate(zip(tokens, shares, strict=True)):
        if not is_list(pair) or len(pair) != 2 or (len(pair[0]), len(pair[1])) != p.shape:
            raise InputError(
                f"Item {s} of tokens does not have {p.shape[0]} and {p.shape[1]} texts, as X has."
            )
    return [([str(word) for word in a], [str(word) for word in b]) for a, b in tokens]


def _words(x: Any, shape: tuple[int, int]) -> tuple[list[str], list[str]]:
    sides = x if isinstance(x, tuple | list) and len(x) == 2 else (None, None)
    if all(isinstance(side, list) and len(side) == size for side, size in zip(sides, shape, strict=True)):
        return tuple([t if isinstance(t, str) else t[0] for t in side] for side in sides)  # type: ignore
    return tuple([str(k) for k in range(size)] for size in shape)  # type: ignore


CELL, MARGIN = 20.0, 8.0
MOST = 60
"""Words of a sentence that is drawn."""


def plot_alignment(
    source: Sequence[str],
    target: Sequence[str],
    probabilities: Array,
    predicted: Collection[Link],
    sure: Collection[Link] = (),
    possible: Collection[Link] = (),
) -> str:
    """Draw a row for every word of one sentence and a column for every word of the other.

    Cells are the darker the more probable their link is. A dot is an answer, blue if it is a true link; a
    frame is a true link, dashed if it is only possible.
    """
    left = MARGIN + LETTER * max([len(shortened(word)) for word in source], default=0) + 6
    top = MARGIN + LETTER * max([len(shortened(word)) for word in target], default=0) + 6
    parts = [
        element("text", escape(shortened(word)), x=left - 6, y=top + CELL * (i + 0.7), text_anchor="end")
        for i, word in enumerate(source)
    ]
    for j, word in enumerate(target):
        x, y = left + CELL * (j + 0.65), top - 6
        turned = f"rotate(-90 {x:.1f} {y:.1f})"
        parts.append(element("text", escape(shortened(word)), x=x, y=y, transform=turned))
    answers, certain, true = set(predicted), set(sure), {*sure, *possible}
    for i, one in enumerate(source):
        for j, other in enumerate(target):
            share = float(probabilities[i, j])
            said = f"{one} – {other}: {share:.1%}"
            said += ", answered" if (i, j) in answers else ""
            said += ", sure" if (i, j) in certain else ", possible" if (i, j) in true else ""
            x, y = left + CELL * j, top + CELL * i
            parts.append(_cell(x, y, share, (i, j) in answers, (i, j) in true, (i, j) in certain, said))
    width, height = left + CELL * len(target) + MARGIN, top + CELL * len(source) + MARGIN
    about = "Which words of two sentences belong together, with probabilities."
    return sized(width, height, *parts, about=about)


def _cell(x: float, y: float, share: float, answered: bool, true: bool, sure: bool, said: str) -> str:
    parts = [element("title", escape(said))]
    size = {"width": CELL - 1, "height": CELL - 1}
    parts.append(element("rect", x=x, y=y, **size, class_="cell"))
    parts.append(element("rect", x=x, y=y, **size, class_="share", fill_opacity=share))
    if true:
        inner = {"x": x + 1.5, "y": y + 1.5, "width": CELL - 4, "height": CELL - 4}
        parts.append(element("rect", **inner, class_="truth sure" if sure else "truth"))
    if answered:
        centre = {"cx": x + (CELL - 1) / 2, "cy": y + (CELL - 1) / 2}
        parts.append(element("circle", **centre, r=4, class_="link right" if true else "link wrong"))
    return element("g", *parts)
