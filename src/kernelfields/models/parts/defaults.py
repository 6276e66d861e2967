"""The parts that a model has unless it is told otherwise, and what it is made of if it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from ...errors import InputError
from ...structures import EdgeBatch, StructureBatch
from ._base import Part
from .free import FreeScores
from .linear import LinearScores
from .unlearnt import FixedScores, TreeScores

AnyPart = Part | FixedScores | TreeScores
"""What a model can be made of; `FixedScores` are not learnt, `TreeScores` are grown by `BoostedCRF`."""
Settings = TypeVar("Settings", bound=Part)

FACTOR = "factor "
"""Before the name of a further clique type of graphs, the name of the part that scores it."""
FREE_NAMES: Mapping[str, str] = {
    "edge": "edges",
    "triple": "second_order",
    "duration": "durations",
    "rule": "rules",
}
"""Names of the free parts of clique types; those of others are the clique types themselves."""
FEATURES = "_features"
"""Behind the name of a clique type, the name of the part that looks at features of these cliques."""


ENDS = "boundaries"
"""Name of the part with scores of first and last labels."""
KNOWN: Mapping[str, Part] = {
    "features": LinearScores(),
    "bias": FreeScores(),
    ENDS: FreeScores(where="ends"),
    **{name: FreeScores(on=clique) for clique, name in FREE_NAMES.items()},
    "edge" + FEATURES: LinearScores(on="edge"),
}
"""Parts that models have, or may have, under a name that says what they are."""
KERNELS: Mapping[str, str | None] = {"kernel": None, "edge_kernel": "edge"}
"""Those of kernel models: the names and the clique types."""


def known_part(name: str) -> Part | None:
    """Return the settings that a part has by its name; None if the name says nothing."""
    if name in KERNELS:
        from .kernel import KernelScores

        return KernelScores(on=KERNELS[name])
    if name.startswith(FACTOR):
        return FreeScores(on=name.removeprefix(FACTOR))
    return KNOWN.get(name)


def compose(
    defaults: Mapping[str, Part],
    given: Mapping[str, AnyPart | None],
    penalty: float,
    others: Iterable[str] = (),
) -> dict[str, Part]:
    """Return parts by name, defaults first, with the penalty of the model where they have none.

    What is added to an objective but not learnt, and what is grown, is left out. ``others`` are names of
    parts that the model has beside these.
    """
    parts = dict(defaults)
    for name, part in sorted(given.items()):  # checkpoints know names, and no order
        if isinstance(part, FixedScores | TreeScores):
            continue
        if part is None:
            if name not in defaults and known_part(name) is None:
                known = ", ".join(map(repr, (*others, *defaults)))
                raise InputError(f"parts takes {name!r} away, which the model does not have; it has {known}.")
            parts.pop(name, None)
        else:
            parts[name] = complete(part, parts.get(name) or known_part(name))
    return {
        name: part if part.penalty is not None else replace(part, penalty=float(penalty))
        for name, part in parts.items()
    }


def complete(part: Settings, default: Part | None) -> Settings:
    """Return a part with the settings of a default one where it has none of its own."""
    if default is None:
        return part
    if type(part) is not type(default):
        return replace(part, on=default.on) if part.on is None else part
    missing = {
        field.name: getattr(default, field.name)
        for field in fields(part)
        if _same(getattr(part, field.name), field.default)
    }
    return replace(part, **missing)


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str) and value == default)


def free_parts(batch: StructureBatch) -> dict[str, Part]:
    """Return the scores of labels alone: a part for every clique type, in a fixed order.

    Those of single labels everywhere, and at sources and sinks; of label pairs, triples, lengths of runs,
    rules, factors of graphs, and whatever else a structure has.
    """
    parts: dict[str, Part] = {"bias": KNOWN["bias"]}
    if isinstance(batch, EdgeBatch) and batch.has_ends:
        parts[ENDS] = KNOWN[ENDS]
    given = {batch.answer, *batch.featured, *batch.known_scores()}  # what is scored otherwise, or known
    others = [name for name in batch.cliques if name not in given]
    for name in sorted(others, key=_place):
        if name == "edge" and batch.named_cliques and batch.cliques["edge"].count == 0:
            continue  # a graph of factors alone
        parts[free_name(batch, name)] = FreeScores(on=name)
    return parts


def free_name(batch: StructureBatch, clique: str) -> str:
    """Return the name of the part with free scores of a clique type."""
    if clique in batch.named_cliques:
        return FACTOR + clique
    return FREE_NAMES.get(clique, clique)


def feature_parts(batch: StructureBatch) -> dict[str, Part]:
    """Return linear functions of what cliques other than answers and edges see.

    Of every clique type that has features, or says nothing without.
    """
    seen = [name for name in batch.cliques if name in batch.observations or name in batch.featured]
    return {name + FEATURES: LinearScores(on=name) for name in seen if name != "edge"}


def _place(clique: str) -> int:
    """Return the place of a clique type among free parts; factors and others come last, as they are."""
    return list(FREE_NAMES).index(clique) if clique in FREE_NAMES else len(FREE_NAMES)
