"""Formulas of docstrings and pages as MathML: nothing is lost, and code is left alone."""

from __future__ import annotations

import html
import importlib
import inspect
import re
import runpy
import unicodedata
import xml.etree.ElementTree as ElementTree

import pytest

from tests.conftest import ROOT

FORMULAS = runpy.run_path(str(ROOT / "docs" / "_formulas.py"))
PUBLIC = runpy.run_path(str(ROOT / "docs" / "_public.py"))
PLAIN = {**FORMULAS["RAISED"], **FORMULAS["LOWERED"], "∑": "Σ", "∏": "Π"}


def formulas():
    """All indented lines before the first section of a docstring, of everything public."""
    for module in PUBLIC["documented_modules"]():
        for name in PUBLIC["public_names"](module):
            thing = getattr(importlib.import_module(module), name)
            if inspect.isclass(thing) or inspect.isroutine(thing):
                text = re.split(r"\n\w[\w ]*\n-{3,}", inspect.getdoc(thing) or "")[0]
                yield from (line for line in text.splitlines() if line.startswith("    "))


def letters(text):
    """What there is besides spaces and the marks of scripts, accents apart and in any order."""
    text = "".join(PLAIN.get(one, one) for one in unicodedata.normalize("NFD", text))
    for mark, drawn in FORMULAS["ACCENTS"].items():
        text = text.replace(mark, drawn)
    return sorted(re.sub(r"[\s_^`{}()]", "", text))


def drawn(line):
    return ElementTree.fromstring(html.unescape(FORMULAS["to_mathml"](line).replace("&lt;", "&amp;lt;")))


def test_nothing_is_lost():
    every = [line for line in formulas() if FORMULAS["is_formula"](line)]
    assert len(every) > 60
    for line in every:
        assert letters("".join(drawn(line).itertext())) == letters(line), line


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("y_t", "<msub><mi>y</mi><mrow><mi>t</mi></mrow></msub>"),
        ("w_ij", "<msub><mi>w</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub>"),
        ("d_k²", "<msubsup><mi>d</mi><mrow><mi>k</mi></mrow><mn>2</mn></msubsup>"),
        ("Σ_t", "<munder><mo>∑</mo><mrow><mi>t</mi></mrow></munder>"),
        ("D^−½", '<msup><mi>D</mi><mrow><mo stretchy="false">−</mo><mn>½</mn></mrow></msup>'),
        ("p̄", '<mover accent="true"><mi>p</mi><mo stretchy="false">‾</mo></mover>'),
        ("a < b", '<mi>a</mi><mo stretchy="false">&lt;</mo><mi>b</mi>'),
    ],
)
def test_what_becomes_of_marks(line, found):
    assert FORMULAS["to_mathml"](line) == f'<math display="block"><mrow>{found}</mrow></math>'


def test_code_and_broken_formulas_are_left_alone():
    for text in ("kf train data.jsonl -o model.kf", ">>> x_t = Σ", "$ kf tag", 'x = "Σ"', "make test"):
        assert not FORMULAS["is_formula"](text), text
    with pytest.raises(ValueError, match="missing"):
        FORMULAS["to_mathml"]("Σ_{t x")
