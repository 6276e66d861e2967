"""Probabilities of tags of IOBES as those of IOB2, so that models of both are judged alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernelfields.arrays import Array
from kernelfields.constraints import IOB2, IOBES, TagScheme, merged_marginals

LETTERS = {IOBES.single: IOB2.begin, IOBES.end: IOB2.inside}
"""What a segment of one word begins with, and what it ends with, in IOB2."""


def as_iob2(marginals: Sequence[Array], classes: Any, scheme: TagScheme) -> tuple[list[Array], list[str]]:
    """Return p of tags of IOB2: sums over the tags of a scheme that become the same one."""
    names = [str(name) for name in classes]
    if scheme is IOB2:
        return list(marginals), names
    written = [LETTERS.get(name[0], name[0]) + name[1:] for name in names]
    return merged_marginals(marginals, written)
