"""API pages: every public name, method and attribute is on one of them, in a form that Sphinx reads."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import runpy
import sys

import kernelfields
from tests.conftest import ROOT

DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))
PUBLIC = runpy.run_path(str(DOCS / "_public.py"))
ATTRIBUTES = runpy.run_path(str(DOCS / "_attributes.py"))
sys.path.remove(str(DOCS))
MODULES = PUBLIC["documented_modules"]()
APART = {"cli", "serving", "labelling", "web"}
"""Packages of programs, which guides describe."""
BELOW = {"incremental", "transduction"}
"""Packages whose estimators are exported by `estimators`."""


def pages():
    return "\n".join(page.read_text() for page in sorted((DOCS / "api").glob("*.md")))


def test_every_package_with_public_names_has_a_page():
    folder = ROOT / "src" / "kernelfields"
    with_names = {
        path.parent.name for path in folder.glob("*/__init__.py") if "__all__" in path.read_text()
    } - {"compat"}
    assert with_names - APART - BELOW == {name.split(".")[1] for name in MODULES} & with_names


def test_every_name_is_on_a_page():
    text = pages()
    estimators = text[text.index("py:module:: kernelfields.estimators") :]
    for module in MODULES:
        found = importlib.import_module(module)
        for name in PUBLIC["public_names"](module):
            one = getattr(found, name)
            if module == PUBLIC["ESTIMATORS"]:
                assert re.search(rf"^   {name}$", estimators, flags=re.MULTILINE), name
            elif not (inspect.isclass(one) or inspect.isroutine(one)):  # else found by its docstring
                assert f".. py:data:: {name}\n" in text, f"{module}.{name}"
            else:
                assert inspect.getdoc(one), f"{module}.{name}"
    for name in kernelfields.__all__:
        one = getattr(kernelfields, name)
        if inspect.isclass(one) or inspect.isroutine(one):
            homes = [module for module in MODULES if hasattr(importlib.import_module(module), name)]
            assert homes or f":: kernelfields.{name}\n" in text, name


def test_every_method_has_a_text_and_thereby_an_entry():
    missing = []
    for kind in PUBLIC["public_classes"]():
        for name in dir(kind):
            owner = next((base for base in kind.__mro__ if name in vars(base)), object)
            if name.startswith("_") or not owner.__module__.startswith("kernelfields"):
                continue
            raw = inspect.getattr_static(kind, name)
            described = inspect.isfunction(raw) or isinstance(raw, property | classmethod | staticmethod)
            if described and not inspect.getdoc(getattr(kind, name)):
                missing.append(f"{kind.__name__}.{name}")
    assert missing == []


def test_attributes_are_entries_of_their_own():
    kinds = [getattr(kernelfields, name) for name in kernelfields.__all__]
    told = [kind for kind in kinds if inspect.isclass(kind) and "Attributes\n-----" in inspect.getdoc(kind)]
    assert len(told) > 20
    for kind in told:
        text = inspect.getdoc(kind)
        rest, listed = ATTRIBUTES["taken_out"](text.splitlines(), kind)
        assert "Attributes" not in rest
        assert [line for line in listed if re.match(r"\w+(, \w+)* : ", line)] == [], kind
        section = text.split("Attributes\n----------\n")[1]
        names = {
            name
            for line in re.findall(r"^\w+(?:, \w+)*(?= :|$)", section.split("\n\n")[0], re.M)
            for name in line.split(", ")
        }
        assert names <= {line.split()[-1] for line in listed if line.strip()}, kind


def test_names_before_one_colon_share_an_entry():
    text = ["A.", "", "Attributes", "----------", "a_, b_ : (L,) array", "    Both a_.", "c_", "    C."]
    rest, listed = ATTRIBUTES["taken_out"]([*text, "", "Notes", "-----", "N."], object)
    assert rest == ["A.", "", "Notes", "-----", "N."]
    assert listed == [
        *(".. rubric:: Attributes", "", ".. py:attribute:: a_", "                  b_", ""),
        *("    *(L,) array*", "", "    Both a\\_.", "", ".. py:attribute:: c_", "", "    C.", "", ""),
    ]
    found = ATTRIBUTES["put_in"](["A.", ":Parameters: **b**", "", ".. rubric:: Notes"], [".. x"])
    assert found == ["A.", ":Parameters: **b**", "", "", ".. x", ".. rubric:: Notes"]


def test_signatures_are_those_of_callers():
    shown, _ = ATTRIBUTES["signature"](None, "class", "", kernelfields.AROW, None, "(*_, **settings)", None)
    assert shown.startswith("(variance=1.0, *, max_iter=10, structure='chain'")
    assert ATTRIBUTES["signature"](None, "class", "", kernelfields.CRF, None, "(a)", None) is None


def test_the_version_is_among_those_to_switch_to():
    entries = json.loads((DOCS / "_static" / "versions.json").read_text())
    assert kernelfields.__version__ in {entry["version"] for entry in entries}
    assert all(entry["url"].startswith("/") for entry in entries)
