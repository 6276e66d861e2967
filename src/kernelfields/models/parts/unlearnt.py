"""Parts that no solver minimises over: scores that are known, and trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ...checks import Check, Checked, one_of

if TYPE_CHECKING:
    from ...data.base_measure import BaseMeasure


@dataclass(frozen=True)
class FixedScores:
    """log q, added to what is learnt: p(y|x) ∝ q(y|x) exp(…).

    Parameters
    ----------
    measure : mapping, callable or CliqueMeasures
        Log-odds by label, a function from an (N, D) matrix of observations to an (N, L) array with columns as
        in ``classes_``, or `CliqueMeasures` for label pairs and triples, too.
    """

    measure: BaseMeasure


@dataclass(frozen=True)
class TreeScores(Checked):
    """Trees of cliques of another type, which `BoostedCRF` grows as it does those of vertices.

    Parameters
    ----------
    on : str
        The clique type: "edge".
    """

    on: str = "edge"
    _checks: ClassVar[Mapping[str, Check]] = {"on": one_of(["edge"])}
