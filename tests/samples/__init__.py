"""A miniature folder of data sets: the files and formats of the real ones, with contents made up here.

Nothing in it was copied from any data set. There are enough sequences for short versions of experiments
and benchmarks; what they give says nothing about the real data.
"""

from pathlib import Path

import numpy as np

from .graphs import write_citations
from .images import write_images
from .molecules import write_genomes, write_proteins
from .motion import write_gestures
from .sentences import write_conll, write_prosody
from .translations import write_alignments
from .trees import write_treebanks

WRITERS = (
    write_conll,
    write_prosody,
    write_treebanks,
    write_alignments,
    write_proteins,
    write_genomes,
    write_gestures,
    write_images,
    write_citations,
)


def write_samples(folder: Path) -> Path:
    """Write all of them, the same on every machine."""
    for n, write in enumerate(WRITERS):
        write(folder, np.random.default_rng(n))
    return folder
