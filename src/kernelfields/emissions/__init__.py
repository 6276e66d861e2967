"""Emissions of hidden Markov models: what is observed in each state."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ._base import Emissions, Expectations, Family, Markov, ObservedSequences, chain_scores
    from ._gaussian_base import GaussianEmissions, GaussianFamily
    from .bernoulli import Bernoulli, BernoulliEmissions
    from .categorical import Categorical, CategoricalEmissions
    from .gaussian import DiagonalGaussian, FullGaussian, SphericalGaussian, TiedGaussian
    from .mixture import GaussianMixture, MixtureEmissions
    from .multinomial import Multinomial, MultinomialEmissions
    from .poisson import Poisson, PoissonEmissions
    from .unknown import UnknownWords
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_base": "Emissions Expectations Family Markov ObservedSequences chain_scores",
            "_gaussian_base": "GaussianEmissions GaussianFamily",
            "bernoulli": "Bernoulli BernoulliEmissions",
            "categorical": "Categorical CategoricalEmissions",
            "gaussian": "DiagonalGaussian FullGaussian SphericalGaussian TiedGaussian",
            "mixture": "GaussianMixture MixtureEmissions",
            "multinomial": "Multinomial MultinomialEmissions",
            "poisson": "Poisson PoissonEmissions",
            "unknown": "UnknownWords",
        },
    )

__all__ = [
    "Bernoulli",
    "BernoulliEmissions",
    "Categorical",
    "CategoricalEmissions",
    "DiagonalGaussian",
    "Emissions",
    "Expectations",
    "Family",
    "FullGaussian",
    "GaussianEmissions",
    "GaussianFamily",
    "GaussianMixture",
    "Markov",
    "MixtureEmissions",
    "Multinomial",
    "MultinomialEmissions",
    "ObservedSequences",
    "Poisson",
    "PoissonEmissions",
    "SphericalGaussian",
    "TiedGaussian",
    "UnknownWords",
    "chain_scores",
]
