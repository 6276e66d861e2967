"""scikit-learn's own checks: what does not hold has a reason, and the published table is the one there is."""

import re
from pathlib import Path

import pytest

from kernelfields.estimators.registry import RECIPES
from kernelfields.testing.scikit_learn import MODELS, OF_ROWS, REASONS, scikit_learn_checks, table

PAGE = Path(__file__).parents[2] / "docs/api/scikit_learn_checks.md"
QUICK = ("AROW", "CRF", "KernelLogisticRegression", "SequencePipeline")
OTHERS = {
    *("FieldClustering", "SequenceClustering", "MarkovField"),  # fitted without labels, or without inputs
    *("LabelPropagation", "LabelSpreading", "PoissonLearning"),  # label a graph of what they were fitted to
}


def test_every_estimator_is_there():
    assert {place.partition(":")[2] for place in RECIPES.values()} == {*MODELS, *OTHERS}
    assert {*OF_ROWS, *REASONS} - {"*"} <= {*MODELS}


@pytest.mark.parametrize("name", QUICK)
def test_published_rows_are_up_to_date(name):
    """The row, and each reason, are on the page; nothing fails without a reason."""
    page = PAGE.read_text()
    found = scikit_learn_checks(name)
    row = next(line for line in table({name: found}).splitlines() if line.startswith(f"| {name} "))
    assert row in page
    assert row.endswith("| 0 |")
    for one in found:
        if one.status == "xfail":
            line = next(
                line for line in page.splitlines() if line.startswith(f"- `{one.check}`: {one.reason}")
            )
            assert re.search(rf"\b{name}\b", line)


def test_page_has_every_estimator():
    page = PAGE.read_text()
    assert [line.split("|")[1].strip() for line in page.splitlines() if re.match(r"\| [A-Z]", line)] == [
        *MODELS
    ]


def test_a_failure_shows(monkeypatch):
    monkeypatch.setitem(REASONS, "*", {})
    found = {one.check: one for one in scikit_learn_checks("CRF") if one.status == "failed"}
    assert {*found} == {"check_classifiers_one_label", "check_fit2d_1sample"}
