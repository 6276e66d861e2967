"""One frame in, one frame out: pandas, polars and pyarrow tables, through narwhals.

A frame has a row per position with a column that names its sequence, or a row per sequence with columns of
lists. What comes out is a frame of the same kind, with columns of labels and probabilities.
"""

from .fitting import fit
from .labelling import label
from .reading import FrameSequences, sequences

__all__ = ["FrameSequences", "fit", "label", "sequences"]
