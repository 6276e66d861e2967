"""Markov random fields p(z) without observations: learnt, evaluated, drawn from."""

from .annealing import AnnealedSum, Annealing, annealed_sum
from .log_partition import LogPartition
from .markov_field import MarkovField
from .particles import Particles, colours_of
from .persistent_chains import PersistentChains

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
