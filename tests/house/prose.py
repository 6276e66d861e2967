"""Turns of phrase that a native editor would change, in docstrings and in the documentation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from .sources import Module

PATTERNS = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "anew": r"\banew\b",
        "are welcome": r"\bare welcome\b",
        "at once": r"\bat once\b",
        "be had": r"\b(?:can|cannot|could|may|to) be had\b",
        "beside": r"\bbeside\b",
        "but for": r"\bbut for\b",
        "come true": r"\bcomes? true\b",
        "from nothing": r"\bfrom nothing\b",
        "gives back": r"\bg[ia]ves? (?:\w+ ){0,2}back\b",
        "goes on": r"\b(?:go|goes|going|gone|went) on\b",
        "hang together": r"\bhangs? together\b",
        "if need be": r"\bif need be\b",
        "in one sentence": r"\bin (?:a|one) sentence\b",
        "in the mean": r"\bin the mean\b(?! square)",
        "is no": r"(?<!there )\b(?:is|are|was|were) no [a-z]+ (?:of|that|to|which)\b",
        "is none": r"\b(?:is|are|was|were) (?-i:none)\b",
        "is worth": r"\bwhat (?:\w+ ){1,4}(?:is|are) worth\b",
        "makes do": r"\bmakes? do\b",
        "mend": r"\bmend(?:s|ed|ing)?\b",
        "nobody": r"\bnobody\b",
        "of its own": r"\bof (?:its|one's|our|their|your) own\b",
        "one behind the other": r"\bone (?:after|behind|beside) (?:the|an)\s?other\b",
        "promise": r"\bpromis(?:e|es|ed|ing)\b",
        "says what": r"\b(?:says?|said|tells?|told) (?:how|so|what|when|where|whether|which|why)\b",
        "see there": r"\bsee there\b",
        "so many": r"\bso many\b(?! \w+ that)",
        "some hundred": r"\bsome (?:dozens?|hundreds?|ten|thousands?)\b(?! of)",
        "sure": r"\b(?:how|less|more) sure\b|\bsure(?:r|st)\b",
        "there is no … that": r"\bthere (?:is|are|was|were) no [a-z]+ that\b",
        "what there is": r"\bwhat there (?:is|are|was|were)\b",
    }.items()
}


class Paragraphs(NamedTuple):
    """One text whose words are looked at: where it begins, and the text without code."""

    place: str
    text: str


def prose_hits(everything: Sequence[Module], pages: Sequence[Path]) -> list[str]:
    """Return every match of `PATTERNS` in the docstrings of modules and in Markdown pages."""
    texts = [*(text for module in everything for text in _docstrings(module)), *map(_page, pages)]
    return [
        f"{name}: {place}: {text[max(0, found.start() - 30) : found.end() + 30]}"
        for place, text in texts
        for name, pattern in PATTERNS.items()
        for found in pattern.finditer(text)
    ]


def documentation(root: Path) -> list[Path]:
    """Return the pages for users, in the order of their names."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def _docstrings(module: Module) -> Iterator[Paragraphs]:
    """Yield docstrings: of the module, of classes and functions, and below attributes."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield Paragraphs(f"{module.path.as_posix()}:{node.lineno}", _without_code(text))


def _page(path: Path) -> Paragraphs:
    """Read a page without its blocks of code."""
    text = re.sub(
        r"^(```|~~~).*?^\1|^(?: {4}|\t).*?$", "", path.read_text(encoding="utf-8"), flags=re.S | re.M
    )
    return Paragraphs(path.name, _without_code(text))


def _without_code(text: str) -> str:
    """Return words with single spaces; code and formulas are a letter each."""
    text = re.sub(r"^\s*>>> .*$|^\s*\.\.\. .*$", "", text, flags=re.M)
    return " ".join(re.sub(r"(``|`)[^`]+\1|:math:`[^`]+`", "x", text).split())
