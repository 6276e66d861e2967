"""Rows of numbers along a protein or a gene, one for every residue."""

from __future__ import annotations

from typing import NamedTuple

from ..arrays import Array

AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"
"""In the order of PSI-BLAST."""
NUCLEOTIDES = "ACGT"
GAPS = "-.~"


class ResidueProfile(NamedTuple):
    """A sequence of residues with numbers."""

    name: str
    letters: str
    """T residues."""
    numbers: Array
    """(T, D)."""
    columns: tuple[str, ...]
    """Names of the D numbers."""
    labels: list[str | None] | None = None
    """T labels if the file has some, None where it says nothing."""
