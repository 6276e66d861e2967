"""A rule that lists what it forbids."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

from ._base import Forbidden, Rule


@dataclass(frozen=True)
class Constraints(Rule):
    """Label pairs, first labels and last labels that may not occur, by name.

    Names of labels that do not occur forbid nothing, so that one set of rules serves training sets in which
    some labels are missing.

    Parameters
    ----------
    forbidden_pairs : collection of (label, next label)
        Labels that may not follow each other, in this order.
    forbidden_starts, forbidden_ends : collections of labels
        What the first label and the last label may not be.

    Examples
    --------
    >>> rule = Constraints(forbidden_pairs=[("green", "red")], forbidden_starts=["red"])
    >>> rule.forbidden(["green", "red"]).pairs.tolist()
    [[False, True], [False, False]]
    """

    forbidden_pairs: Collection[tuple[Hashable, Hashable]] = ()
    forbidden_starts: Collection[Hashable] = ()
    forbidden_ends: Collection[Hashable] = ()

    def forbidden(self, names: Sequence[Hashable]) -> Forbidden:
        """Return what is forbidden, as masks over labels with these names."""
        index = {name: k for k, name in enumerate(names)}
        result = Forbidden.nothing(len(names))
        for first, second in self.forbidden_pairs:
            if first in index and second in index:
                result.pairs[index[first], index[second]] = True
        for mask, labels in ((result.starts, self.forbidden_starts), (result.ends, self.forbidden_ends)):
            mask[[index[label] for label in labels if label in index]] = True
        return result
