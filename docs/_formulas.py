"""Formulas, written in docstrings and pages as plain text, become MathML, which browsers draw by themselves.

Subscripts are ``y_t``, ``V_{ij}`` and ``Σ_(u,v)``, superscripts ``x^i`` and ``f²``; words stand upright,
single letters do not. Nothing is interpreted beyond that: what cannot be read stays as it was.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape
from typing import Any

RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀ′", "0123456789−T′", strict=True))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
LARGE = {"Σ": "∑", "Π": "∏"}
LIMITS = {"max", "min", "sup", "inf", "argmax", "argmin"}
"""Words that have their subscript below them."""
WORD = 4
"""Letters from which a subscript is a word; a shorter one is a list of indices."""
CLOSING = {"{": "}", "(": ")"}
_MARK = re.compile(r"[ΣΠ∝⟨‖←Δθμ≤]|^[\w ]+\([^)]*\) = | = .*\w_[\w{]|\w_[\w{].* = ", flags=re.MULTILINE)
_CODE = re.compile(r'>>>|"|^\s*(kf|\$|def|import|from|for|if|cat|make|pip|python|git)\b', flags=re.MULTILINE)
_LETTER = re.compile(r"[A-Za-zÀ-ɏ][\u0300-\u036f]*")
_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<code>``[^`]+``)|(?P<cite>\[[a-z]+\d{4}[^\]]*\])|(?P<number>\d+(?:\.\d+)?|[½¼])"
    rf"|(?P<word>(?:{_LETTER.pattern})+)|(?P<letter>[Α-ωℓ][\u0300-\u036f]*)|(?P<other>.)"
)
ACCENTS = {"\u0302": "^", "\u0304": "‾", "\u0303": "~", "\u0307": "˙"}


def is_formula(text: str) -> bool:
    """Return whether a block of plain text is a formula."""
    return bool(_MARK.search(text)) and not _CODE.search(text)


def to_mathml(line: str) -> str:
    """Return one line as a formula by itself; `ValueError` if its brackets do not match."""
    return f'<math display="block">{_Reader(line).everything()}</math>'


class _Reader:
    """Goes through a line, token by token."""

    def __init__(self, line: str) -> None:
        self.tokens = [(found.lastgroup or "", found[0]) for found in _TOKEN.finditer(line.strip())]
        self.at = 0
        self.depth = 0
        """How many scripts we are in."""

    def everything(self) -> str:
        found = self._until(None)
        return f"<mrow>{found}</mrow>"

    def _until(self, closing: str | None) -> str:
        parts = []
        while self.at < len(self.tokens):
            if closing is not None and self.tokens[self.at][1] == closing:
                return "".join(parts)
            parts.append(self._scripted())
        if closing is not None:
            raise ValueError(f"{closing} is missing")
        return "".join(parts)

    def _scripted(self) -> str:
        """Read one thing with what is below and above it."""
        base, large = self._atom()
        below, above = "", ""
        while self.at < len(self.tokens):
            text = self.tokens[self.at][1]
            if text in RAISED:
                above += self._run(RAISED)
            elif text in LOWERED:
                below += self._run(LOWERED)
            elif text == "_" and not below and self._followed():
                below = self._script()
            elif text == "^" and not above and self._followed():
                above = self._script(raised=True)
            else:
                break
        return _joined(base, below, above, large)

    def _atom(self) -> tuple[str, bool]:
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "space":
            wide = len(text) > 1
            return (
                f'<mspace width="{2 if wide else 0.3}em"></mspace>' if wide or self._beside() else ""
            ), False
        if kind in ("code", "cite"):
            return f"<mtext>{escape(text.strip('`'))}</mtext>", False
        if kind == "number":
            return f"<mn>{text}</mn>", False
        if text in LARGE:
            return f"<mo>{LARGE[text]}</mo>", True
        if kind in ("word", "letter"):
            return _identifier(text, apart=self.depth > 0), text in LIMITS
        close = ' lspace="0.15em" rspace="0.15em"' if text == "|" else ""
        return f'<mo stretchy="false"{close}>{escape(text)}</mo>', False

    def _script(self, *, raised: bool = False) -> str:
        """Read what follows _ or ^: a group, or one thing; a raised one with its own subscript."""
        self.at += 1
        kind, text = self.tokens[self.at]
        if text in CLOSING:
            self.at += 1
            self.depth += 1
            inner = self._until(CLOSING[text])
            self.depth -= 1
            self.at += 1
            kept = text == "(" and not raised
            return f"<mrow><mo>(</mo>{inner}<mo>)</mo></mrow>" if kept else f"<mrow>{inner}</mrow>"
        if raised:
            sign = self._atom()[0] if text in "−+" else ""
            return f"<mrow>{sign}{self._scripted()}</mrow>"
        self.at += 1
        if kind == "word" and len(_LETTER.findall(text)) < WORD:
            return f"<mrow>{''.join(map(_identifier, _LETTER.findall(text)))}</mrow>"
        if kind == "word" and self.at < len(self.tokens) and self.tokens[self.at][1] == "(":  # y_parent(v)
            self.at += 1
            inner = self._until(")")
            self.at += 1
            return f"<mrow><mi>{escape(text)}</mi><mo>(</mo>{inner}<mo>)</mo></mrow>"
        return _identifier(text) if kind in ("word", "letter") else f"<mn>{escape(text)}</mn>"

    def _run(self, table: dict[str, str]) -> str:
        text = ""
        while self.at < len(self.tokens) and self.tokens[self.at][1] in table:
            text += table[self.tokens[self.at][1]]
            self.at += 1
        return f"<mn>{text}</mn>"

    def _followed(self) -> bool:
        return self.at + 1 < len(self.tokens) and self.tokens[self.at + 1][0] != "space"

    def _beside(self) -> bool:
        """Whether the space just read is beside a word, which would run into its neighbour."""
        around = [self.tokens[n] for n in (self.at - 2, self.at) if 0 <= n < len(self.tokens)]
        return any(kind in ("word", "code") and len(_LETTER.findall(text)) > 1 for kind, text in around)


def _identifier(text: str, *, apart: bool = False) -> str:
    """Return a letter, with its accent above it, or a word; in scripts two letters are two indices."""
    if apart and len(_LETTER.findall(text)) == 2:
        return "".join(map(_identifier, _LETTER.findall(text)))
    letter, *marks = unicodedata.normalize("NFD", text)
    if len(marks) == 1 and marks[0] in ACCENTS:
        return f'<mover accent="true"><mi>{letter}</mi><mo stretchy="false">{ACCENTS[marks[0]]}</mo></mover>'
    return f"<mi>{escape(text)}</mi>"


def _joined(base: str, below: str, above: str, large: bool) -> str:
    if not below and not above:
        return base
    name = {(True, True): "subsup", (True, False): "sub", (False, True): "sup"}[bool(below), bool(above)]
    if large:
        name = {"subsup": "underover", "sub": "under", "sup": "over"}[name]
    return f"<m{name}>{base}{below}{above}</m{name}>"


def process(app: Any, doctree: Any, docname: str) -> None:
    """Put formulas in the place of blocks of plain text."""
    from docutils import nodes

    if app.builder.format != "html":
        return
    for block in list(doctree.findall(nodes.literal_block)):
        text = block.astext()
        if block.get("language") not in (None, "none", "default", "text") or not is_formula(text):
            continue
        try:
            lines = [to_mathml(line) for line in text.splitlines() if line.strip()]
        except (ValueError, IndexError):
            continue
        block.replace_self(nodes.raw("", f'<div class="formula">{"".join(lines)}</div>', format="html"))


def setup(app: Any) -> dict[str, bool]:
    """Connect."""
    app.connect("doctree-resolved", process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
