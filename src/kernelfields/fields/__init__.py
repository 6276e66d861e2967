"""Markov random fields p(z) without observations: learnt, evaluated, drawn from."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from .annealing import AnnealedSum, Annealing, annealed_sum
    from .log_partition import LogPartition
    from .markov_field import MarkovField
    from .particles import Particles, colours_of
    from .persistent_chains import PersistentChains
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "annealing": "AnnealedSum Annealing annealed_sum",
            "log_partition": "LogPartition",
            "markov_field": "MarkovField",
            "particles": "Particles colours_of",
            "persistent_chains": "PersistentChains",
        },
    )

__all__ = [
    "AnnealedSum",
    "Annealing",
    "LogPartition",
    "MarkovField",
    "Particles",
    "PersistentChains",
    "annealed_sum",
    "colours_of",
]
