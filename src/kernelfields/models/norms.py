"""Norms of the parts of a model, as settings, and the solver that can deal with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..checks import shown
from ..errors import InputError
from ..objective import L1Norm, Norm, Term
from ..solvers import LBFGS, OWLQN, ProximalQuasiNewton, Solver


def read_norms(given: Any, l1: float = 0.0) -> dict[str, Norm]:
    """Read the setting ``norms``, by the names of parts; ``l1`` is that of the features."""
    if given is not None and not isinstance(given, Mapping):
        raise InputError(
            f"norms is {shown(given)}; it must be a dictionary from parts of the model to norms."
        )
    norms = dict(given or {})
    for name, norm in norms.items():
        if not isinstance(norm, Norm):
            raise InputError(
                f"norms[{name!r}] is {shown(norm)}; it must be an L1Norm, GroupNorm or SpaceNorm."
            )
    if l1:
        if "features" in norms:
            raise InputError("l1 is the ℓ1 norm of 'features', for which norms has another; leave out one.")
        norms["features"] = L1Norm(float(l1))
    return norms


def with_norms(terms: Sequence[Term], norms: Mapping[str, Norm]) -> list[Term]:
    """Return the terms of a model with their norms; one for a part that there is not is refused."""
    names = [term.name for term in terms]
    for name in norms:
        if name not in names:
            known = ", ".join(map(repr, names))
            raise InputError(f"norms has {name!r}, which the model does not have; it has {known}.")
    try:
        return [replace(term, norm=norms.get(term.name)) for term in terms]
    except TypeError as error:  # a space without such a norm
        raise InputError(str(error)) from error


def solver_for(solver: Solver, norms: Mapping[str, Norm], given: Any) -> Solver:
    """Return the solver that minimises with these norms; one that cannot is refused."""
    single = all(isinstance(norm, L1Norm) for norm in norms.values())
    if not norms:
        if isinstance(solver, OWLQN | ProximalQuasiNewton):
            raise InputError(f"solver is {given!r}, which is for l1 or norms; the model has none.")
        return solver
    if isinstance(solver, ProximalQuasiNewton) or (single and isinstance(solver, OWLQN)):
        return solver
    if isinstance(solver, LBFGS):
        kind = OWLQN if single else ProximalQuasiNewton
        return kind() if solver.memory is None else kind(solver.memory)
    allowed = (
        "'lbfgs', OWLQN(...) or ProximalQuasiNewton(...)" if single else "'lbfgs' or ProximalQuasiNewton(...)"
    )
    raise InputError(f"solver is {given!r}; with l1 or norms it must be {allowed}.")
