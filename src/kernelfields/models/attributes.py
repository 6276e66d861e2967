"""The parts of a fitted model under the names that its users know: ``coef_``, ``transitions_`` and the like.

Parts that have no such name are in ``parts_``, a dictionary of scorers. This table is the only place that
knows both; models in files have these names, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from .learnt import FEATURED
from .model import LabelScorer, Model, Scorer, fitted_model
from .parts import FACTOR
from .scorers import EndScorer, LearntScorer, TableScorer, WeightScorer

TABLES: Mapping[str, tuple[str, str | None]] = {
    "bias": ("intercept_", None),
    "edges": ("transitions_", "edge"),
    "second_order": ("second_order_", "triple"),
    "durations": ("durations_", "duration"),
    "rules": ("rules_", "rule"),
}
"""Attribute and clique type of the parts that score labels alone."""
WEIGHTS: Mapping[str, tuple[str, str | None]] = {
    "features": ("coef_", None),
    **{f"{clique}_features": (f"{clique}_coef_", clique) for clique in FEATURED},
}
"""Attribute and clique type of the parts that multiply features with weights."""


class LinearAttributes:
    """What every fitted linear model has."""

    coef_: Any  # (L, D), dense or sparse
    intercept_: Array
    start_: Array
    end_: Array
    transitions_: Array


def attributes_of(scorers: Mapping[str, LearntScorer], n_labels: int) -> dict[str, Any]:
    """Return the attributes of a model with these parts; zeros for bias, ends and pairs that it lacks.

    Other tables that it lacks are None.
    """
    L = n_labels
    result: dict[str, Any] = {
        "intercept_": np.zeros(L),
        "start_": np.zeros(L),
        "end_": np.zeros(L),
        "transitions_": np.zeros((L, L)),
        **dict.fromkeys(["second_order_", "durations_", "rules_", "factors_"]),
    }
    factors: dict[str, Any] = {}
    others: dict[str, LearntScorer] = {}
    for name, scorer in scorers.items():
        known = _attribute(name, scorer)
        if known is not None:
            result[known] = scorer.numbers
        elif name == "boundaries" and isinstance(scorer, EndScorer):
            result["start_"], result["end_"] = scorer.table
        elif isinstance(scorer, TableScorer) and name == f"{FACTOR}{scorer.on}":
            factors[name.removeprefix(FACTOR)] = scorer.numbers
        else:
            others[name] = scorer
    return result | ({"factors_": factors} if factors else {}) | {"parts_": others}


def _attribute(name: str, scorer: LearntScorer) -> str | None:
    """Return the attribute that a part of this kind, name and clique type has; None if it has none."""
    weights = isinstance(scorer, WeightScorer) and scorer.view is None
    names = TABLES if isinstance(scorer, TableScorer) else WEIGHTS if weights else {}
    attribute, on = names.get(name, (None, None))
    return attribute if scorer.on == on else None


def keep_scorers(model: Any, scorers: Mapping[str, LearntScorer], n_labels: int) -> None:
    """Make parts attributes of a model."""
    for name, value in attributes_of(scorers, n_labels).items():
        setattr(model, name, value)


def scorers_of(model: Any) -> dict[str, LearntScorer]:
    """Return the parts of a fitted model; tables that are all zero may be those of parts that it lacks."""
    _ = getattr(model, "transitions_", None)  # models from large files read the rest now
    learnt = vars(model)
    found: dict[str, LearntScorer] = {}
    for names, kind in ((WEIGHTS, WeightScorer), (TABLES, TableScorer)):
        for part, (attribute, on) in names.items():
            if learnt.get(attribute) is not None:
                found[part] = kind(on, learnt[attribute])
    if learnt.get("start_") is not None:
        found["boundaries"] = EndScorer(np.stack([learnt["start_"], learnt["end_"]]))
    for clique, table in (learnt.get("factors_") or {}).items():
        found[FACTOR + clique] = TableScorer(clique, table)
    return {**found, **(learnt.get("parts_") or {})}


def learnt_model(model: Any, *scorers: Scorer, dtype: Any = None) -> Model:
    """Return what a fitted model has learnt, whatever its settings say by now.

    ``scorers`` are those that attributes of other kinds stand for; ``dtype`` is the precision that features
    are brought to, if not their own. Read from attributes at every prediction: for a short sequence, making
    `scorers_of` and fusing their tables takes three times as long.
    """
    _ = getattr(model, "transitions_", None)  # models from large files read the rest now
    learnt = vars(model)
    found = list(scorers)
    for attribute, on in WEIGHTS.values():
        if learnt.get(attribute) is not None:
            found.append(WeightScorer(on, learnt[attribute], None, dtype if on is None else None))
    tables: dict[str, Any] = {}
    for attribute, on in TABLES.values():
        if on is not None and learnt.get(attribute) is not None:
            tables[on] = learnt[attribute]
    tables |= learnt.get("factors_") or {}
    found.append(LabelScorer(learnt["intercept_"], learnt["start_"], learnt["end_"], tables))
    found += (learnt.get("parts_") or {}).values()
    return fitted_model(model, *found)
