"""What a graph over observations is: settings with `on`, which returns a `SparseGraph`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ..arrays import Array
from ..observations import Observations
from ..parameters import Parameterised
from .sparse_graph import SparseGraph


class ObservationGraph(Parameterised, ABC):
    """A rule by which observations are linked; its settings are checked when they are used."""

    @abstractmethod
    def on(self, observations: Observations) -> SparseGraph:
        """Return the graph over these observations; equal observations are one vertex."""

    @abstractmethod
    def found(self, observations: Observations, vertices: Any) -> Array:
        """Return the vertex that each observation is, (n,); −1 for those that are none."""

    @abstractmethod
    def links(self, observations: Observations, vertices: Any, scales: Array | None) -> Any:
        """Return the weights of the edges from new observations to the vertices, an (n, V) CSR matrix.

        ``scales`` are those of the vertices, where weights have local widths (`SparseGraph.scales`).
        """
