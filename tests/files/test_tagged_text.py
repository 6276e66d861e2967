"""Spans as IOB2 tags of words, and back."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from kernelfields.errors import InputError
from kernelfields.files.tagged_text import marked_text, tagged_text
from kernelfields.io import TextDocument, TextSpan, word_places

from ._documents import places, random_document

TEXT = "Mark Twain saw San José de 👩‍🚀."


def marked(*spans: tuple[int, int], label: str = "X") -> TextDocument:
    return TextDocument(TEXT, tuple(TextSpan(*span, label) for span in spans), where="a.jsonl, line 3")


def test_words_cover_all_but_space() -> None:
    for seed in range(200):
        text = random_document(seed).text
        found = word_places(text)
        assert all(0 <= a < b <= len(text) for a, b in found)
        assert all(b <= c for (_, b), (c, _) in pairwise(found))
        left = list(text)
        for a, b in found:
            assert text[a:b] == text[a:b].strip()
            left[a:b] = " " * (b - a)
        assert "".join(left).strip() == ""


def test_what_is_seen_as_one_character_is_not_cut() -> None:
    assert [TEXT[a:b] for a, b in word_places(TEXT)][-2:] == ["👩‍🚀", "."]
    text = "e\u0301tude हिन्दी 東京"
    assert [text[a:b] for a, b in word_places(text)] == ["e\u0301tude", "हिन्दी", "東", "京"]


def test_spans_of_words_come_back() -> None:
    for seed in range(200):
        draw = random.Random(seed)
        text = random_document(seed).text
        words = word_places(text)
        cuts = sorted(draw.sample(range(len(words) + 1), min(len(words) + 1, 6)))
        spans = [
            TextSpan(words[a][0], words[b - 1][1], draw.choice("XY"))
            for a, b in zip(cuts[::2], cuts[1::2], strict=False)
        ]
        document = TextDocument(text, tuple(spans))
        found = tagged_text(document)
        assert found.tags is not None
        assert places(marked_text(document, found.places, found.tags)) == places(document)


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(1, 10)], "the span 'ark Twain' of 'X', offsets 1 to 10, does not .* words, as 'Mark Twain' does"),
        ([(0, 5)], "the span 'Mark ' of 'X', offsets 0 to 5, does not begin and end"),
        ([(4, 5)], "the span ' ' of 'X', offsets 4 to 5, has no word in it"),
        ([(5, 14), (0, 10)], "the span 'Twain saw' of 'X', offsets 5 to 14, overlaps one of 'X'"),
    ],
)  # fmt: skip
def test_spans_that_tags_cannot_tell_are_refused(spans: list[tuple[int, int]], message: str) -> None:
    with pytest.raises(InputError, match=rf"^a\.jsonl, line 3: {message}"):
        tagged_text(marked(*spans))


def test_mended_and_dropped() -> None:
    document = marked((1, 10), (4, 5), (15, 23), (19, 23))
    mended, dropped = (tagged_text(document, rule) for rule in ("mend", "drop"))
    assert mended.tags == ["B-X", "I-X", "O", "B-X", "I-X", "O", "O", "O"]
    assert dropped.tags == ["O", "O", "O", "B-X", "I-X", "O", "O", "O"]
    assert len(mended.faults) == len(dropped.faults) == 3
    assert all(fault.startswith("a.jsonl, line 3: the span") for fault in mended.faults)


def test_gaps() -> None:
    gap = TextDocument("a b c", (TextSpan(0, 5, "X", None, ((0, 1), (4, 5))),))
    with pytest.raises(InputError, match="has gaps"):
        tagged_text(gap)
    assert tagged_text(gap, "mend").tags == ["B-X", "O", "B-X"]
    assert tagged_text(gap, "drop").tags == ["O", "O", "O"]


def test_labels_that_are_no_entities_are_spans_of_words() -> None:
    document = TextDocument("the dog")
    found = marked_text(document, word_places("the dog"), ["DET", None])
    assert places(found) == [(0, 3, "DET", ())]


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(InputError, match="spans is 'widen'; it must be one of 'refuse', 'mend', 'drop'"):
        tagged_text(marked(), "widen")
