"""What a model knows of each label, as a table of labels and features, where there are no weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..boosting.trees import Forest
from ..emissions import (
    BernoulliEmissions,
    CategoricalEmissions,
    Emissions,
    GaussianEmissions,
    MixtureEmissions,
    MultinomialEmissions,
    PoissonEmissions,
)
from ..emissions.unknown import WordClass


class FeatureTable(NamedTuple):
    """A number for every label and feature."""

    what: str
    """What the numbers are."""
    table: Array
    """(L, D)."""
    names: list[str] | None
    """Of the features, where they have their own."""


def known_of_emissions(found: Emissions) -> FeatureTable:
    """Return the distribution of each state in one number per column or symbol."""
    if isinstance(found, CategoricalEmissions):
        return FeatureTable(
            "probability", found.probabilities, [_symbol(s) for s in found.vocabulary.symbols]
        )
    if isinstance(found, BernoulliEmissions | MultinomialEmissions):
        return FeatureTable("probability", found.probabilities, None)
    if isinstance(found, PoissonEmissions):
        return FeatureTable("rate", found.rates, None)
    if isinstance(found, GaussianEmissions):
        return FeatureTable("mean", found.means, None)
    assert isinstance(found, MixtureEmissions)
    means = found.gaussians.means.reshape(*found.weights.shape, -1)
    return FeatureTable("mean", np.einsum("km,kmd->kd", found.weights, means), None)


def known_of_trees(forest: Forest) -> FeatureTable:
    """Return the share of each column among the splits of every label's trees."""
    arrays = forest.arrays()
    owner = np.repeat(np.arange(len(arrays.sizes)) % forest.width, arrays.sizes)
    counts = np.zeros((forest.width, len(forest.places)))
    inner = ~arrays.leaves
    np.add.at(counts, (owner[inner], arrays.features[inner]), 1.0)
    return FeatureTable("share of splits", counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0), None)


def _symbol(symbol: Any) -> str:
    """A symbol as it is; what words are taken for in brackets."""
    if not isinstance(symbol, WordClass):
        return str(symbol)
    return f"<{symbol.shape} …{symbol.ending}>" if symbol.ending else f"<{symbol.shape}>"
