"""Kernels on cliques of any type, which see all of their members [lafferty2004]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..checks import Check, Checked, require_positive, shown, unknown_name
from ..errors import InputError
from .parts import KernelScores
from .views import VIEWS


def _view(name: str, value: Any) -> None:
    if value not in VIEWS:
        raise unknown_name(name, value, VIEWS)


@dataclass(frozen=True)
class CliqueKernel(Checked):
    """A function of the input and of the labels of cliques: f in the space of [y_c = y′_c] k(x_c, x′_c).

    Parameters
    ----------
    clique : str
        The clique type: "edge" for pairs of neighbouring labels, "node" for single ones, "segment" for the
        candidates of `CandidateSegments` and `Segments` with means.
    kernel : name, Kernel or function
        k, as `kernels.as_kernel` reads it.
    view : "all", "first", "difference", "mean" or "run"
        What x_c is made of: the observations of all members side by side, as [lafferty2004] has it, that
        of the first one, the last minus the first, or their mean. Members of a segment are its first and its
        last position; "run" is the mean over all positions from the one to the other.
    penalty : float
        λ of this function.
    """

    clique: str = "edge"
    kernel: Any = "rbf"
    view: str = "all"
    penalty: float = 1.0
    _checks: ClassVar[Mapping[str, Check]] = {"view": _view, "penalty": require_positive}

    def part(self, approximation: Any = None) -> KernelScores:
        """Return it as a part of a model, in a subspace if there is an approximation."""
        return KernelScores(
            self.kernel, on=self.clique, view=self.view, penalty=self.penalty, basis=approximation
        )


def read_clique_kernels(given: Any) -> tuple[CliqueKernel, ...]:
    """Read the setting: none, one, or several."""
    several = given if isinstance(given, list | tuple) else [] if given is None else [given]
    for n, one in enumerate(several):
        if not isinstance(one, CliqueKernel):
            raise InputError(f"clique_kernels[{n}] is {shown(one)}; it must be a CliqueKernel.")
    return tuple(several)
