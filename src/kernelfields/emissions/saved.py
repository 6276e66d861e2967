"""Emissions and vocabularies as parts of a model file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import emissions
from ..arrays import Array
from ..errors import ModelFormatError
from ..persistence.objects import Check, Parts, StoredClass
from .unknown import ANY
from .vocabulary import Vocabulary


def _vocabulary_parts(found: Vocabulary) -> Parts:
    """Separate texts from other symbols: texts are many, and are kept in one array."""
    texts = [symbol for symbol in found.symbols if type(symbol) is str]
    others = [[n, symbol] for n, symbol in enumerate(found.symbols) if type(symbol) is not str]
    return {"texts": np.array(texts, dtype=object), "others": others, "unknown": found.unknown}


def _vocabulary(parts: Parts, _: Check) -> Vocabulary:
    texts, others, unknown = parts["texts"], dict(parts["others"]), parts["unknown"]
    left, count = iter(texts.tolist()), len(texts) + len(others)
    if not others.keys() <= set(range(count)) or len(others) < len(parts["others"]):
        raise ModelFormatError("A vocabulary has symbols at positions beyond its size.")
    symbols = [others[n] if n in others else next(left) for n in range(count)]
    if len(set(symbols)) < count:
        raise ModelFormatError("A vocabulary has a symbol twice.")
    if unknown is not None and (not isinstance(unknown, emissions.UnknownWords) or ANY not in symbols):
        raise ModelFormatError("A vocabulary has no symbol for unknown words.")
    return Vocabulary(symbols, unknown)


def _numbers(parts: Parts, name: str, axes: int, low: float = -np.inf, high: float = np.inf) -> Array:
    """Require an array with this number of axes, and entries within bounds."""
    array = parts[name]
    if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.ndim != axes:
        raise ModelFormatError(f"{name} of emissions is not an array with {axes} axes.")
    if not ((array >= low) & (array <= high)).all():
        raise ModelFormatError(f"{name} of emissions is not between {low} and {high}.")
    return array


def _of_family(parts: Parts, kind: type) -> Any:
    family = parts["family"]
    if not isinstance(family, kind):
        raise ModelFormatError(f"The family of emissions is of type {type(family).__name__}.")
    return family


def _categorical(parts: Parts, _: Check) -> emissions.CategoricalEmissions:
    family, vocabulary = _of_family(parts, emissions.Categorical), parts["vocabulary"]
    if type(family.order) is not int or not 0 <= family.order <= 20:
        raise ModelFormatError("The order of emissions is not a whole number of at least 0.")
    probabilities = _numbers(parts, "probabilities", 2 + family.order, 0.0, 1.0)
    sizes = {*probabilities.shape[1:-1], probabilities.shape[-1] + 1}
    if not isinstance(vocabulary, Vocabulary) or sizes != {len(vocabulary) + 1}:
        raise ModelFormatError("The vocabulary of emissions and their probabilities differ in size.")
    return emissions.CategoricalEmissions(probabilities, vocabulary, family)


def _gaussian(parts: Parts, _: Check) -> emissions.GaussianEmissions:
    family = _of_family(parts, emissions.GaussianFamily)
    covariances = _numbers(parts, "covariances", 3 if family.full else 2)
    return emissions.GaussianEmissions(_numbers(parts, "means", 2), covariances, family)


def _mixture(parts: Parts, _: Check) -> emissions.MixtureEmissions:
    weights, gaussians = _numbers(parts, "weights", 2, 0.0, 1.0), parts["gaussians"]
    if not isinstance(gaussians, emissions.GaussianEmissions) or gaussians.n_states != weights.size:
        raise ModelFormatError("The Gaussians and the weights of a mixture differ in number.")
    return emissions.MixtureEmissions(weights, gaussians, _of_family(parts, emissions.GaussianMixture))


def _bernoulli(parts: Parts, _: Check) -> emissions.BernoulliEmissions:
    return emissions.BernoulliEmissions(
        _numbers(parts, "probabilities", 2, 0.0, 1.0), _of_family(parts, emissions.Bernoulli)
    )


def _multinomial(parts: Parts, _: Check) -> emissions.MultinomialEmissions:
    return emissions.MultinomialEmissions(
        _numbers(parts, "probabilities", 2, 0.0, 1.0), _of_family(parts, emissions.Multinomial)
    )


def _poisson(parts: Parts, _: Check) -> emissions.PoissonEmissions:
    return emissions.PoissonEmissions(_numbers(parts, "rates", 2, 0.0), _of_family(parts, emissions.Poisson))


def _emissions(kind: str, names: str, make: Callable[[Parts, Check], emissions.Emissions]) -> StoredClass:
    """Return the row of a class that is taken apart into some of its attributes, and its family."""
    attributes = (*names.split(), "family")
    name = kind.partition(":")[2]
    return StoredClass(name, kind, lambda found: {name: getattr(found, name) for name in attributes}, make)


SAVED = (
    StoredClass("Vocabulary", ".emissions.vocabulary:Vocabulary", _vocabulary_parts, _vocabulary),
    _emissions(".emissions.bernoulli:BernoulliEmissions", "probabilities", _bernoulli),
    _emissions(".emissions.categorical:CategoricalEmissions", "probabilities vocabulary", _categorical),
    _emissions(".emissions._gaussian_base:GaussianEmissions", "means covariances", _gaussian),
    _emissions(".emissions.mixture:MixtureEmissions", "weights gaussians", _mixture),
    _emissions(".emissions.multinomial:MultinomialEmissions", "probabilities", _multinomial),
    _emissions(".emissions.poisson:PoissonEmissions", "rates", _poisson),
)
