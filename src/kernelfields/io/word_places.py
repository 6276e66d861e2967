"""Where the words of a raw text are: offsets that lead back to exactly the same characters.

A word is a run of letters and digits, or one other character that is no space. Chinese characters and kana
are words by themselves. Marks (accents, vowel signs) belong to the character before them, and a zero width
joiner to those on both sides, so that nothing that is seen as one character is cut.
"""

from __future__ import annotations

import re
import unicodedata

Place = tuple[int, int]
"""The first character, and the one after the last."""

_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}]+|[^\s\ufeff]")
JOINER = "\u200d"


def word_places(text: str) -> list[Place]:
    """Return start and end of every word, counted in characters (Unicode code points).

    Examples
    --------
    >>> text = "Dr. Li, 3.5"
    >>> [text[start:end] for start, end in word_places(text)]
    ['Dr', '.', 'Li', ',', '3', '.', '5']
    """
    found = [match.span() for match in _WORD.finditer(text)]
    return found if text.isascii() else _joined(text, found)


def _joined(text: str, places: list[Place]) -> list[Place]:
    """Return places of which those that marks or joiners hold together are one."""
    result: list[Place] = []
    for start, end in places:
        if result and result[-1][1] == start and _belongs(text, start):
            result[-1] = (result[-1][0], end)
        else:
            result.append((start, end))
    return result


def _belongs(text: str, place: int) -> bool:
    """Return whether a character belongs to the one before it."""
    here, before = text[place], text[place - 1]
    if here == JOINER or before == JOINER or unicodedata.category(here).startswith("M"):
        return True
    # letters that follow a vowel sign within a word: the mark has cut the run
    return here.isalnum() and unicodedata.category(before).startswith("M") and not _is_ideograph(here)


def _is_ideograph(character: str) -> bool:
    return re.match(f"[{_IDEOGRAPHS}]", character) is not None
