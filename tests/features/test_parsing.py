"""The text form of templates."""

from __future__ import annotations

import pytest

from kernelfields.errors import InputError
from kernelfields.features import BEGIN, Template, TemplatePart, Templates, Transform, parse_templates, sets


def test_forms() -> None:
    found = parse_templates("""
        # a comment
        columns: w pos
        w[-1..1]                         # a range
        suffix3( w[+0] ) & begin
        is_title(w[ -1 .. 0 ]) & pos[0]
        1[2]
        bias
        end
    """)
    assert found.columns == ("w", "pos")
    assert found.texts() == [
        "w[-1]",
        "w[0]",
        "w[1]",
        "suffix3(w[0])&begin",
        "is_title(w[-1])&pos[0]",
        "is_title(w[0])&pos[0]",
        "pos[2]",
        "bias",
        "end",
    ]
    assert found.templates[3] == Template((TemplatePart("w", 0, Transform.SUFFIX3), BEGIN))
    assert found.templates[7] == Template()


def test_numbered_columns() -> None:
    assert parse_templates("0[0]\nlower(2[-1])").columns == ("0", "1", "2")
    assert parse_templates("bias").columns == ("0",)


@pytest.mark.parametrize("templates", [sets.chunking(), sets.ner(), sets.ner(pos=False), sets.pos()])
def test_text_and_back(templates: Templates) -> None:
    assert parse_templates(str(templates)) == templates


def test_chunking_has_nineteen() -> None:
    assert len(sets.chunking().templates) == 19


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("columns: w\n\nw[0", r"Line 3 of the templates, 'w\[0': 'w\[0' is not of the form"),
        ("columns: w\nlower(w[0]", "not of the form"),
        ("columns: w\nw[0])", "not of the form"),
        ("columns: w\nw[x]", "is not for templates of tokens"),
        ("columns: w\nw[0] &", "'' is not of the form"),
        ("columns: w\nw[0] & bias", "'bias' is not of the form"),
        ("columns: w\nupper(w[0])", "no transform 'upper'; there are word, lower"),
        ("columns: w\nbegin(w[0])", "no transform 'begin'"),
        ("columns: w\nprefix6(w[0])", "no transform 'prefix6'"),
        ("columns: w\nv[0]", "no column 'v' among w"),
        ("columns: w\n1[0]", "no column '1' among w"),
        ("w[0]", "no line 'columns: ...'"),
        ("9999999[0]", "too large a number"),
        ("0[0]\ncolumns: w", "Line 2 .*once, before all templates"),
        ("columns: w w\nw[0]", "Line 1 .*name of a column, or names two"),
        ("columns: w(\nw[0]", "cannot be the name of a column"),
        ("0[2..1]", "the range 2..1 is empty"),
        ("0[0..1] & 0[1..2]", "only one part of a line"),
        ("0[0]\n\n0[-1..1]", r"Line 3 .*0\[0\] occurs already in line 1"),
        ("0[101]", "from -100 to 100"),
        ("# nothing", "no template"),
    ],
)
def test_errors_name_line_and_reason(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_templates(text)


def test_objects_are_checked() -> None:
    with pytest.raises(InputError, match="neither column nor offset"):
        TemplatePart("w", 0, Transform.BEGIN)
    with pytest.raises(InputError, match="not among w"):
        Templates.of("w", [Template((TemplatePart("v"),))])
    with pytest.raises(InputError, match="twice"):
        Templates.of("w", [Template(), Template()])
