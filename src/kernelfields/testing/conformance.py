"""Whether an object is what it says: all identities of its kind, on given scores."""

from __future__ import annotations

from ..structures import Scores, StructureBatch
from .identities import STRUCTURE_IDENTITIES


def check_structure(structure: StructureBatch, scores: Scores) -> None:
    """Assert every identity of ``STRUCTURE_IDENTITIES``.

    Parameters
    ----------
    structure : StructureBatch
        A batch of small instances (at most about a thousand outputs each).
    scores : Scores
        In ``structure.shapes``, every instance with at least one allowed output.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelfields.structures import ChainBatch
    >>> chain, rng = ChainBatch([0, 3, 4], n_labels=2), np.random.default_rng(0)
    >>> check_structure(chain, {name: rng.normal(size=s) for name, s in chain.shapes.items()})
    """
    for identity in STRUCTURE_IDENTITIES:
        identity(structure, scores)
