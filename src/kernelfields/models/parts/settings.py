"""What a model is made of, as users say it: the parts that are not as they are by default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...checks import shown
from ...errors import InputError
from ...objective import Norm
from ...parameters import alike, change_settings, split_settings, unfold_settings
from ._base import Part
from .defaults import KERNELS, KNOWN, AnyPart, complete, known_part
from .linear import LinearScores
from .unlearnt import FixedScores, TreeScores


class Parts(Mapping[str, AnyPart | None]):
    """Parts of a model by name: those that differ from the default ones, and those that it has more.

    A model scores labellings by the sum of its parts. Without being told it has a part that looks at the
    observations ("features" of linear models, "kernel" of kernel models), "bias" for single labels,
    "boundaries" for first and last labels, "edges" for pairs of neighbouring labels, "second_order" for
    triples, "durations" and "rules" of segments and grammars, "factor NAME" for the edge types and factors of
    graphs, and one for every other clique type of the structure, by its name.

    - ``name=None`` takes such a part away;
    - ``edges=FreeScores(penalty=0.1)`` changes the settings that are given, and leaves the others;
    - a new name adds a part: ``both_ends=KernelScores("rbf", on="edge", view="all")``.

    Two further parts are known by name: "edge_features", weights of the features of edges, and "edge_kernel",
    a function of label pairs and the first observation of both, which without a kernel of its own shares
    that of the model and its Gram matrix.

    Parameters
    ----------
    given : mapping, optional
        Parts whose names are no identifiers, such as "factor agreement".
    **parts : FreeScores, LinearScores, KernelScores, FixedScores, TreeScores or None
        All others.

    Examples
    --------
    >>> from kernelfields import CRF, FreeScores, Parts
    >>> model = CRF(parts=Parts(boundaries=None, edges=FreeScores(penalty=0.1)))
    >>> model.set_params(parts__edges__penalty=0.01).parts["edges"].penalty
    0.01
    """

    def __init__(self, given: Mapping[str, AnyPart | None] | None = None, /, **parts: AnyPart | None) -> None:
        if given is not None and not isinstance(given, Mapping):
            raise InputError(f"given is {shown(given)}; it must be a mapping from names to parts.")
        self._parts = {**({} if given is None else given), **parts}
        for name, part in self._parts.items():
            if not isinstance(name, str):
                raise InputError(f"The name of a part is {shown(name)}; it must be a string.")
            if part is not None and not isinstance(part, Part | FixedScores | TreeScores):
                raise InputError(
                    f"The part {name!r} is {shown(part)}; it must be FreeScores(...), LinearScores(...), "
                    "KernelScores(...), FixedScores(...), TreeScores(...) or None."
                )

    def __getitem__(self, name: str) -> AnyPart | None:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and alike(self._parts, dict(other))

    def __hash__(self) -> int:
        return hash(tuple(self._parts))

    def __repr__(self) -> str:
        named = [f"{name}={part!r}" for name, part in self._parts.items() if name.isidentifier()]
        others = {name: part for name, part in self._parts.items() if not name.isidentifier()}
        return f"Parts({', '.join([repr(others)] * bool(others) + named)})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parts by name; with ``deep`` also their settings, as ``edges__penalty``."""
        return unfold_settings(self._parts) if deep else dict(self._parts)

    def set_params(self, **settings: Any) -> Parts:
        """Return other parts, ``edges__penalty`` a setting of one; several models may share these."""
        names = {*self._parts, *(key.partition("__")[0] for key in settings)}
        own, nested = split_settings(self, names, settings)
        changed = {**self._parts, **own}
        for name, inner in nested.items():
            part = known_part(name) if changed.get(name) is None else changed[name]
            if part is None:
                there = ", ".join(map(repr, sorted({*self._parts, *KNOWN, *KERNELS})))
                raise InputError(f"Parts has no {name!r} to change; known by name are {there}.")
            changed[name] = change_settings(f"Parts.{name}", part, inner)
        return Parts(changed)

    def without(self, *names: str) -> Parts:
        """Return the same, these parts taken away."""
        return Parts({**self._parts, **dict.fromkeys(names)})

    def beside(self, defaults: Mapping[str, AnyPart | None]) -> Parts:
        """Return these parts on top of others."""
        return Parts({**defaults, **self._parts})


def looked_at(parts: Parts) -> frozenset[str]:
    """Return the clique types, other than answers, that given parts look at the input of."""
    settled = [complete(part, known_part(name)) for name, part in parts.items() if isinstance(part, Part)]
    types = {part.on for part in settled if part.looks and part.on is not None}
    return frozenset(types | {part.on for part in parts.values() if isinstance(part, TreeScores)})


def fixed_measure(parts: Parts) -> Any:
    """Return what is known about labels beforehand; None if nothing is."""
    found = [name for name, part in parts.items() if isinstance(part, FixedScores)]
    if len(found) > 1:
        raise InputError(f"parts has {found[0]!r} and {found[1]!r}, both FixedScores; add up their scores.")
    part = parts[found[0]] if found else None
    return part.measure if isinstance(part, FixedScores) else None


def parts_of(model: Any, *kinds: type) -> Parts:
    """Return the setting ``parts`` of a model, and refuse parts of a kind that it cannot have."""
    owner, parts = type(model).__name__, model.parts
    if not isinstance(parts, Parts):
        raise InputError(f"parts is {shown(parts)}; it must be Parts(...).")
    for name, part in parts.items():
        if part is not None and not isinstance(part, kinds):
            raise InputError(f"The part {name!r} is {type(part).__name__}, which {owner} cannot have.")
    return parts


def require_features(parts: Parts) -> None:
    """Refuse to make a linear model without functions of the observations."""
    part = parts.get("features", LinearScores())
    if not isinstance(part, LinearScores) or not part.on is part.view is None:
        raise InputError(
            f"The part 'features' is {shown(part)}; it must be LinearScores(...) without on and view: others "
            "take names of their own."
        )


def require_no_norms(model: Any, parts: Parts) -> None:
    """Refuse further penalties of parts where nothing minimises with them."""
    for name in norms_of(parts):
        raise InputError(f"The part {name!r} has a norm, which {type(model).__name__} does not know.")


def norms_of(parts: Parts) -> dict[str, Norm]:
    """Return the further penalties of parts by name."""
    return {name: part.norm for name, part in parts.items() if isinstance(part, Part) and part.norm}
