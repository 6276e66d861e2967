"""Outputs as users write them, y, and as structures know them: flat arrays of whole numbers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..arrays import Array
from ..structures import Structure
from .inputs import Inputs
from .labels import Encoded, encode, lookup, read_labels


def encode_outputs(
    structure: Structure,
    y: Any,
    inputs: Inputs,
    known: list[Any] | None = None,
    classes: Any = None,
) -> Encoded:
    """Read the outputs of a training set, and what answers can be.

    Labels ``known`` before come first, and others may follow; ``classes`` are all there are.
    """
    if not structure.labelling:
        return Encoded(_encoded(structure, y, inputs), np.array(structure.alphabet))
    named = read_labels(y, np.diff(inputs.offsets))
    return encode(named, known) if classes is None else encode(named, classes, closed=True)


def look_up_outputs(structure: Structure, y: Any, inputs: Any, classes: Array) -> Array:
    """Read outputs with the answers of a fitted model; labels that are missing or unknown are negative."""
    if not structure.labelling:
        return _encoded(structure, y, inputs)
    return lookup(read_labels(y, np.diff(inputs.offsets)), classes)


def name_outputs(structure: Structure, outputs: Array, batch: Any, classes: Array) -> list[Any]:
    """Return outputs as users write them; labels by name, None where a decoder abstained."""
    if not structure.labelling:
        return structure.decode(outputs, batch)
    names = [*classes.tolist(), None]  # −1 is the last
    flat = [names[k] for k in outputs.tolist()]
    return [flat[a:b] for a, b in pairwise(batch.offsets.tolist())]


def _encoded(structure: Structure, y: Any, inputs: Any) -> Array:
    return np.ascontiguousarray(structure.encode(y, inputs.offsets, inputs.links), dtype=np.int32)
