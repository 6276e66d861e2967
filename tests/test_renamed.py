"""Old names of settings: refused in a sentence that has the new one, which is in the changelog, too."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernelfields
from kernelfields import InputError
from kernelfields.renamed import RENAMED

FLAGS = ("fit_intercept", "boundaries")
WATCHED = ("patience", "callback")
MEMORY = ("dtype", "memory_limit")
OF_KERNELS = ("label_kernel", "base_measure", "kernel_weights", "approximation", "selection")
REMOVED = {
    "AROW": (*FLAGS, *WATCHED),
    "BoostedCRF": ("edge_penalty", *FLAGS, "edges", "edge_trees", *WATCHED),
    "CRF": (
        *("edge_penalty", "second_order_penalty", "norms", *FLAGS, "edge_features", "class_weight", "cost"),
        *("base_measure", *WATCHED, "quick_start", "checkpoint", "checkpoint_seconds"),
    ),
    "FieldClustering": ("approximation", *MEMORY),
    "GPSequenceClassifier": ("base_measure", *WATCHED, *MEMORY),
    "HMM": ("callback",),
    "HiddenUnitCRF": ("edge_penalty", "second_order_penalty", *FLAGS, "class_weight", "cost", *WATCHED),
    "KernelCRF": (
        *("edge_penalty", "second_order_penalty", *FLAGS, "edges", "edge_kernel", "edge_kernel_penalty"),
        *("clique_kernels", "norms", "class_weight", "cost", *OF_KERNELS, *WATCHED, *MEMORY),
        *("checkpoint", "checkpoint_seconds"),
    ),
    "KernelLogisticRegression": ("fit_intercept", *OF_KERNELS, *MEMORY, "callback"),
    "KernelPerceptron": ("callback",),
    "LabelPropagation": ("callback",),
    "LabelSpreading": ("callback",),
    "MEMM": ("callback",),
    "MarkovField": ("edge_penalty", "boundaries", "callback"),
    "PassiveAggressive": (*FLAGS, *WATCHED),
    "PoissonLearning": ("callback",),
    "SequenceAdaBoost": ("callback",),
    "SequenceClustering": ("approximation", *MEMORY),
    "StochasticCRF": ("edge_penalty", *FLAGS, *WATCHED),
    "StructuredPerceptron": (*FLAGS, *WATCHED),
    "StructuredSVM": ("edge_penalty", *FLAGS, "base_measure", *MEMORY, "callback"),
}
"""Settings that estimators had before they were composed."""
EVERY = [(kind, name) for kind, names in REMOVED.items() for name in names]


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_the_new_name_is_said(kind: str, name: str) -> None:
    cls = getattr(kernelfields, kind)
    words = f"{kind} has no parameter {name!r}; write {RENAMED[name]}."
    with pytest.raises(TypeError) as constructed:
        cls(**{name: 1})
    with pytest.raises(InputError) as changed:
        cls().set_params(**{name: 1})
    assert str(constructed.value) == str(changed.value) == words
    setting = RENAMED[name].partition("=")[0]
    assert setting in cls().get_params(deep=False)


def test_the_changelog_has_all_of_them_in_one_table() -> None:
    text = (Path(__file__).parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")
    section = text.partition("### One face by composition")[2].partition("\n### ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    assert "\n".join(rows) in section  # an empty line would end the table
    old = "\n".join(row.split(" | ")[0] for row in rows)
    assert not [name for _, name in EVERY if f"{name}=" not in old]


def test_other_names_are_answered_with_those_that_exist() -> None:
    with pytest.raises(TypeError, match=r"^HMM has no parameter 'edge_penalty'; it has emissions, "):
        kernelfields.HMM(edge_penalty=1.0)
    with pytest.raises(TypeError, match=r"^CRF has no parameter 'pnalty'; it has penalty, .*, verbose\.$"):
        kernelfields.CRF(pnalty=1.0)
