"""Tags of one scheme written as those of another, against the segments that are counted."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from kernelfields.constraints import BILOU, BMES, IOB2, IOBES, rewritten
from kernelfields.errors import InputError
from kernelfields.metrics import entity_f1

LABELS = ["O", "B-X", "I-X", "B-Y", "I-Y"]


def segments(labels: list[str]) -> set[tuple[int, int, str]]:
    """Read IOB2 by hand."""
    found, start = set(), None
    for t, label in enumerate([*labels, "O"]):
        goes_on = start is not None and label.startswith("I-") and label[2:] == labels[start][2:]
        if start is not None and not goes_on:
            found.add((start, t, labels[start][2:]))
            start = None
        if label != "O" and not goes_on:
            start = t
    return found


@pytest.mark.parametrize("scheme", [IOBES, BILOU, BMES])
def test_segments_stay_what_they_are(scheme: Any) -> None:
    everything = [list(labels) for T in range(1, 5) for labels in itertools.product(LABELS, repeat=T)]
    other = rewritten(everything, IOB2, scheme)
    back = rewritten(other, scheme, IOB2)
    for labels, again in zip(everything, back, strict=True):
        assert segments(labels) == segments(again)
        assert not any(tag.startswith("I") and again[t - 1][:1] not in "BI" for t, tag in enumerate(again))
    assert rewritten(back, IOB2, scheme) == other
    forbidden = scheme.forbidden(names := sorted({tag for tags in other for tag in tags}))
    place = {name: k for k, name in enumerate(names)}
    for tags in other:
        assert not any(forbidden.pairs[place[a], place[b]] for a, b in itertools.pairwise(tags))
        assert not forbidden.starts[place[tags[0]]]
        assert not forbidden.ends[place[tags[-1]]]


def test_scores_are_those_of_the_original() -> None:
    truth, guess = [["B-X", "I-X", "O", "B-Y"]], [["B-X", "O", "O", "B-Y"]]
    expected = entity_f1(truth, guess)
    assert entity_f1(rewritten(truth, IOB2, IOBES), rewritten(guess, IOB2, IOBES)) == expected == 0.5


def test_letters_alone_and_bad_tags() -> None:
    assert rewritten([["B", "I", "O", "B"], []], IOB2, IOBES) == [["B", "E", "O", "S"], []]
    with pytest.raises(InputError, match=r"Sequence 1: Label 'E-X' is not a tag of IOB2"):
        rewritten([["O"], ["E-X"]], IOB2, IOBES)
