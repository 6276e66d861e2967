"""Fifty genes of the mouse, with the coding parts of their exons."""

from __future__ import annotations

import csv
import gzip
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .folder import data_file
from .genome import BASES

DATA_SET = "mouse_genes"


class MouseGene(NamedTuple):
    """A gene as one labelled sequence, on its own strand."""

    name: str
    bases: Array
    """Indices into "ACGT", int8."""
    exons: Array
    """(E, 2): where coding exons begin and end, from 0 on, ends not included."""

    @property
    def labels(self) -> Array:
        """A letter per base: "E" in coding exons, else "N"."""
        found = np.full(len(self.bases), "N")
        for begin, end in self.exons:
            found[begin:end] = "E"
        return found


def load_mouse_genes(folder: str | Path | None = None) -> list[MouseGene]:
    """Read the genes from the folder of data sets.

    Parameters
    ----------
    folder : path, optional
        Folder of data sets instead of that in KERNELFIELDS_DATA.
    """
    code = np.full(256, -1, dtype=np.int8)
    code[[ord(base) for base in BASES]] = range(4)
    csv.field_size_limit(sys.maxsize)  # a gene is one field
    with gzip.open(data_file(DATA_SET, "mouse_genes.tsv.gz", folder), "rt", encoding="ascii") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [
        MouseGene(row["id"], code[np.frombuffer(row["sequence"].encode(), np.uint8)], _exons(row["cds"]))
        for row in rows
    ]


def _exons(text: str) -> Array:
    """Read intervals that count from 1 and include their ends."""
    spans = np.array([[int(place) for place in span.split("-")] for span in text.split(",")])
    return spans - np.array([1, 0])
