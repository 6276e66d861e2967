"""The genome of Streptococcus pyogenes, with the bases that are part of a gene."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import require_whole
from .folder import data_file

DATA_SET = "strep_genome"
BASES = "ACGT"


class Genome(NamedTuple):
    """A genome as one long labelled sequence."""

    bases: Array
    """Indices into "ACGT", int8."""
    labels: Array
    """"N" (no gene), "C" (a gene on this strand) or "R" (on the other), one letter per base."""

    def cut(self, length: int) -> list[Genome]:
        """Cut the sequence into pieces of about this length, in the middle of regions without genes."""
        length = require_whole("length", length)
        change = np.flatnonzero(self.labels[1:] != self.labels[:-1]) + 1
        starts, ends = np.append(0, change), np.append(change, len(self.labels))
        between = (self.labels[starts] == "N") & (ends - starts > 1)
        middles = ((starts + ends) // 2)[between]
        places = [0]
        for middle in middles:
            if middle - places[-1] >= length and len(self.labels) - middle >= length:
                places.append(int(middle))
        places.append(len(self.labels))
        return [Genome(self.bases[a:b], self.labels[a:b]) for a, b in pairwise(places)]


def load_genome(folder: str | Path | None = None) -> Genome:
    """Read the genome from the folder of data sets.

    Parameters
    ----------
    folder : path, optional
        Folder of data sets instead of that in KERNELFIELDS_DATA.
    """
    with np.load(data_file(DATA_SET, "strep_pyogenes.npz", folder)) as file:
        code = np.full(256, -1, dtype=np.int8)
        code[[ord(base) for base in BASES]] = range(4)
        bases = code[file["seq"]]
        letters = np.array([chr(letter) for letter in file["run_label"]])
        labels = np.repeat(letters, file["run_end"] - file["run_start"])
    return Genome(bases, labels)
