"""Kernel models whose functions are selected one after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..data.training import require_labelling
from ..errors import InputError, warn_user
from ..fitting.digest import digest
from ..fitting.run import Found, search
from ..kernels import Kernel, check_gram
from ..selection import Atoms, Growth, GrowthState, GrowthTask, Pool, Selection, SelectionReason
from ..selection.task import element_of, parts_of
from ..solvers import Reason, Solver, Stop
from ..structures import Chain
from ..tables import structure_of
from .expansion import Gathered
from .kernel_recipe import KernelRecipe, KernelTraining, fixed_scores
from .parts import BoundParts
from .vertex_kernels import VertexKernels


class Chosen(NamedTuple):
    """What a selection chooses from."""

    task: GrowthTask
    kernels: list[Kernel]
    """Those of vertices, one for every pool of them."""
    others: BoundParts
    """The parts that look at labels alone."""


def task_of(data: KernelTraining, selection: Selection) -> Chosen:
    """Return the problem of a kernel model, with nothing selected yet."""
    recipe, training, observations, rows = data.recipe, data.training, data.observations, data.rows
    kernels, edge_kernel = data.kernels, data.edge_kernel
    require_labelling(training.structure, "A selection as basis")
    _require_selectable(recipe, selection, kernels, linked=len(training.chain.edge_tails) > 0)
    several = (
        _several(recipe) if isinstance(recipe.kernel, list | tuple) and not selection.labels_pairs else []
    )
    named = several or [(kernels.kernel, kernels.penalty)]
    for kernel in [*(kernel for kernel, _ in named), *([edge_kernel] if edge_kernel else [])]:
        check_gram(kernel, training.inputs.features)
    L, free = training.chain.n_labels, data.others.parts
    pools = {}
    for n, (kernel, penalty) in enumerate(named):
        edges = free.get("edges")
        share = penalty / edges.penalty if selection.labels_pairs and edges and edges.penalty else 0.0
        name = "kernel" if len(named) == 1 else f"kernel {n}"
        pools[name] = Pool(kernel, observations, L, penalty, share=share)
    if edge_kernel is not None:
        pools["edge_kernel"] = Pool(edge_kernel, observations, L * L, recipe.penalty_of_edge_kernel, "edge")
    terms = [t for t in data.others.terms() if not (selection.labels_pairs and t.name == "edges")]
    single = np.dtype(recipe.dtype) == np.float32 and recipe.stop.gap >= 1e-4  # what it can certify
    dtype = np.float32 if single and training.loss.single else np.float64
    offset = fixed_scores(recipe, training)
    if offset is not None:
        offset = {clique: values.astype(dtype) for clique, values in offset.items()}
    task = GrowthTask(training.loss, pools, rows, training.encoded.labels, tuple(terms), offset, dtype)
    return Chosen(task, [kernel for kernel, _ in named], data.others)


def _require_selectable(
    recipe: KernelRecipe, selection: Selection, kernels: VertexKernels, *, linked: bool
) -> None:
    for name in [*recipe.further_looks, *recipe.norms]:
        raise InputError(
            f"A selection as basis goes with squared penalties, and with no part such as {name!r}."
        )
    if recipe.label_kernel is not None or kernels.groups[0].labels is not None:
        raise InputError("A selection needs one kernel for all labels, and no kernel on labels.")
    second = structure_of(recipe.structure) == Chain(order=2)
    no_pairs = (
        linked and recipe.parts.get("edges", True) is None
    )  # rows without neighbours have none that they could miss
    if selection.labels_pairs and (second or recipe.edge_kernel is not None or no_pairs):
        name = type(selection).__name__
        raise InputError(f"{name} is for label pairs without input, and for no triples; use GreedyCliques.")


def _several(recipe: KernelRecipe) -> list[tuple[Kernel, float]]:
    """Several kernels, each with a penalty."""
    kernels, penalty = recipe.kernel, recipe.penalty
    given = penalty if isinstance(penalty, list | tuple) else [penalty] * len(kernels)
    return [(kernel, float(value)) for kernel, value in zip(kernels, given, strict=True)]


def gathered(chosen: Chosen, state: GrowthState) -> tuple[Gathered, list[int]]:
    """Put the selected functions on one basis; where the part of each kernel on vertices ends.

    Kernels on vertices have parts of the basis of their own, because coefficients of several cannot be
    added up; the kernel on edges shares that of the only one on vertices.
    """
    task, L = chosen.task, chosen.task.structure.n_labels
    tables = {}
    for name, grown in state.grown.items():
        functions = grown.functions()
        tables[name] = grown.basis, functions.table(functions.coefficients(state.parts[name]))
    vertices = [name for name, pool in task.pools.items() if pool.clique == "node"]
    bases = [tables[name][0] for name in vertices]
    if "edge_kernel" in tables:
        bases[-1] = np.concatenate([bases[-1], np.setdiff1d(tables["edge_kernel"][0], bases[-1])])
    ends = np.cumsum([0, *(len(basis) for basis in bases)]).tolist()
    coef = np.zeros((ends[-1], L))
    for name, start in zip(vertices, ends, strict=False):
        coef[start : start + len(tables[name][0])] = tables[name][1]
    edge_coef = None
    if "edge_kernel" in tables:
        edge_coef = np.zeros((ends[-1], L * L))
        order = np.argsort(bases[-1])
        at = order[np.searchsorted(bases[-1], tables["edge_kernel"][0], sorter=order)]
        edge_coef[ends[-2] + at] = tables["edge_kernel"][1]
        edge_coef = edge_coef.reshape(-1, L, L)
    observations = task.pools[vertices[0]].observations
    return Gathered(observations[np.concatenate(bases)], coef, edge_coef), ends[1:]


def pair_scores(state: GrowthState, n_labels: int) -> Array | None:
    """V of functions that look at label pairs; None if none do."""
    grown = state.grown.get("kernel")
    if grown is None or not grown.pool.share:
        return None
    functions = grown.functions()
    return functions.pair_scores(functions.coefficients(state.parts["kernel"]), n_labels)


def finish(growth: Growth, state: GrowthState, solver: Solver, stop: Stop) -> tuple[Found, GrowthState]:
    """Fit all coefficients of what was selected; with held-out data, take the step that did best there.

    After Ctrl-C the coefficients stay as they are.
    """
    if growth.held_out is not None and growth.path:
        state = growth.at(growth.best())
    problem = growth.task.problem(state.grown)
    element = element_of(problem, state.parts)
    interrupted = growth.ending is SelectionReason.INTERRUPTED
    if interrupted:
        warn_of_interrupt(growth)
    if interrupted or growth.held_out is not None:
        point = problem.exact().at(element)
        reason = Reason.INTERRUPTED if interrupted else Reason.OBSERVER
        return Found(point, element, len(growth.path), reason, point.certificate), state
    found = search(problem, element, solver, stop, None, problem.exact)
    return found, state._replace(parts=parts_of(problem, found.point.element))


def warn_of_interrupt(growth: Growth) -> None:
    """Say that a selection is not complete."""
    from sklearn.exceptions import ConvergenceWarning

    count, advice = growth.state.size, "Fit again with warm_start=True to go on."
    warn_user(f"{growth.ending.value} There are {count}. {advice}", ConvergenceWarning)


def selected_of(state: GrowthState, rows: Array) -> dict[str, Atoms]:
    """The selected functions by the names of their spaces; observations as the first position of each."""
    first = np.zeros(rows.max(initial=-1) + 1, dtype=np.int64)
    first[rows[::-1]] = np.arange(len(rows))[::-1]
    return {
        name: grown.atoms._replace(observations=first[grown.atoms.observations])
        for name, grown in state.grown.items()
    }


def continued(growth: Growth | None, fresh: Growth) -> Growth:
    """Go on where a growth ended, if it is one of the same problem; else start."""
    if growth is None or not _same(growth.task, fresh.task):
        return fresh
    for name in ("state", "path", "kept", "visits"):
        setattr(fresh, name, getattr(growth, name))
    fresh.seed, fresh.seconds = growth.seed, growth.seconds
    return fresh


def _same(old: GrowthTask, new: GrowthTask) -> bool:
    """Whether two tasks have the same training set, pools and free terms."""
    if list(old.pools) != list(new.pools) or not np.array_equal(old.labels, new.labels):
        return False
    if not np.array_equal(old.rows, new.rows) or not np.array_equal(
        old.structure.offsets, new.structure.offsets
    ):
        return False
    if [(t.name, t.penalty) for t in old.free] != [(t.name, t.penalty) for t in new.free]:
        return False
    return all(_same_pool(one, new.pools[name]) for name, one in old.pools.items())


def _same_pool(old: Pool, new: Pool) -> bool:
    if (old.penalty, old.share, old.width) != (new.penalty, new.share, new.width):
        return False
    # digests, because the text of a large array leaves out most of it
    if digest([old.kernel]) != digest([new.kernel]) or old.observations.shape != new.observations.shape:
        return False
    difference = old.observations != new.observations
    return not (difference.nnz if hasattr(difference, "nnz") else np.any(difference))
