"""Fits of kernel models whose functions are selected one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...arrays import Array
from ...data.labels import UNOBSERVED
from ...data.rules import require_edge_batch
from ...data.seeds import random_state
from ...data.training import Training, require_labelling
from ...errors import InputError, warn_user
from ...fitting.digest import digest
from ...fitting.held_out import HeldOutSet
from ...fitting.run import Found, open_observer, precision_of, previous, search
from ...gram import KernelBlocks, origins
from ...kernels import Kernel
from ...objective import Problem
from ...observations import in_precision
from ...selection import Atoms, Growth, GrowthState, GrowthTask, Pool, Selection, SelectionReason
from ...selection.task import element_of, parts_of
from ...solvers import Reason, Solver, Stop
from ...structures import Chain, marginal_parts
from ...tables import LOW_RANK_SOLVERS, choose, structure_of
from ..attributes import attributes_of
from ..kernel_problem import Gathered, fixed_scores, held_out_scores, precision_of_search
from ..kernel_settings import EDGE_KERNEL, KERNEL, KernelSettings
from ..model import KnownScores, Model
from ..parts import BoundParts, KernelScores, PartData, fixed_measure
from ..scorers import fuse_scorers
from ..separate_kernels import SeparateKernels
from ..vertex_kernels import LabelGroup, VertexKernels
from .kernel import keep_weights
from .steps import Fit, Mode, keep_end, keep_objective, keep_training

if TYPE_CHECKING:
    from ..kernel_weights import WeighedKernels


class SelectedFit(Fit):
    """The objective of a kernel model in spaces that grow.

    Parameters
    ----------
    model : KernelModel
        The settings.
    settings : KernelSettings
        What is learnt.
    training : Training
        The training set.
    data : PartData
        What parts see of it.
    selection : Selection
        How spaces grow.
    weighed : WeighedKernels, optional
        What is known of weights of kernels that were learnt.
    """

    def __init__(
        self,
        model: Any,
        settings: KernelSettings,
        training: Training,
        data: PartData,
        selection: Selection,
        weighed: WeighedKernels | None = None,
    ) -> None:
        self.model, self.training, self.selection, self.weighed = model, training, selection, weighed
        self.measure = fixed_measure(settings.parts)
        self.chosen = task_of(model, settings, training, data, selection)
        self.task = self.chosen.task
        self.observations = self.task.pools[next(iter(self.task.pools))].observations

    def search(self, held_out: HeldOutSet | None) -> Found:
        """Let the spaces grow, and fit all coefficients at the end."""
        model, judge = self.model, None
        if held_out is not None:
            judge = self._judge(held_out)
        seed = int(random_state(model.random_state).randint(2**31 - 1))
        last = previous(self.model) if model.warm_start else None
        before = None if last is None else getattr(last, "_growth", None)
        with open_observer(model) as observer:
            fresh = Growth(self.task, self.selection, seed, judge, observer)
            self.growth = continued(before, fresh)
            state = self.growth.run()
        solver = choose(LOW_RANK_SOLVERS, model.solver, "solver")
        stop = Stop(gap=model.tol, gradient=1e-2 * model.tol, iterations=model.max_iter)
        found, self.state = finish(self.growth, state, solver, stop)
        return found

    def keep(self, model: Any, found: Found) -> None:
        """Make attributes of a model of what was found."""
        growth, classes = self.growth, self.training.encoded.classes
        functions, ends = gathered(self.chosen, self.state)
        several = len(self.chosen.kernels) > 1
        model._kernels = (
            SeparateKernels(tuple(self.chosen.kernels), tuple(ends)) if several else self.chosen.only
        )
        model.kernel_ = model._kernels.by_label(classes)
        model.basis_, model.dual_coef_, model.edge_dual_coef_ = functions
        model.edge_kernel_, model.fourier_, model.certificate_space_ = (
            self.chosen.edge_kernel,
            None,
            "selection",
        )
        for name, value in self._of_labels(found.point.problem, found.point.element, self.state).items():
            setattr(model, name, value)
        keep_training(model, self.training, self.measure)
        keep_end(model, self.training, found)
        keep_objective(model, found)
        keep_weights(model, self.weighed)
        rows, offsets = self.task.rows, self.training.inputs.offsets
        model.basis_origin_ = origins(model.basis_, self.observations, rows, offsets)
        model.path_, model.selected_ = list(growth.path), selected_of(self.state, rows)
        model.n_iter_, model.stop_reason_ = growth.visits, growth.ending.value
        goes_on = self.model.warm_start or growth.ending is SelectionReason.INTERRUPTED
        model._growth = growth.at_rest() if goes_on else None

    def mode(self, found: Found) -> Mode:
        """Return what was found as the mode of a posterior."""

        def attributes(problem: Problem, element: Array) -> dict[str, Any]:
            parts = {name: element[place] for name, place in problem.slices.items()}
            here = self.state._replace(parts=parts)
            functions = gathered(self.chosen, here)[0]
            learnt = self._of_labels(problem, element, here)
            return {"dual_coef_": functions.coef, "edge_dual_coef_": functions.edge_coef, **learnt}

        return Mode(found.point.problem, found.point.element, attributes)

    def _of_labels(self, problem: Problem, element: Array, state: GrowthState) -> dict[str, Any]:
        """Return the attributes for parts that look at labels alone; selected functions may score pairs."""
        count = len(self.training.encoded.classes)
        learnt = attributes_of(self.chosen.others.scorers(problem, element), count)
        pairs = pair_scores(state, count)
        return learnt if pairs is None else learnt | {"transitions_": pairs}

    def _judge(self, held_out: HeldOutSet) -> SelectionHeldOut:
        """Return what judges functions on held-out sequences."""
        observations = in_precision(held_out.inputs.features, precision_of(self.model.run))
        fixed = held_out_scores(self.measure, self.training, held_out)
        return SelectionHeldOut(self.task, observations, self.training, held_out, fixed, self.chosen.others)


class Chosen(NamedTuple):
    """What a selection chooses from."""

    task: GrowthTask
    kernels: list[Kernel]
    """Those of vertices, one for every pool of them."""
    edge_kernel: Kernel | None
    only: VertexKernels
    """Those of vertices, where there is one."""
    others: BoundParts
    """The parts that look at labels alone."""


def task_of(
    model: Any, settings: KernelSettings, training: Training, data: PartData, selection: Selection
) -> Chosen:
    """Return the problem of a kernel model, with nothing selected yet."""
    require_labelling(training.structure, "A selection as basis")
    _require_selectable(model, settings, training, selection)
    apart = settings.several is not None and not selection.labels_pairs
    vertices = _separately(settings) if apart else settings.vertex_parts(training.encoded.classes)
    bound: dict[str, Any] = dict(BoundParts.of(vertices, data).bound)
    others = BoundParts.of(settings.other_parts(training.batch), data)
    L, edges = training.edge_batch.n_labels, others.parts.get("edges")
    pools, first = {}, next(iter(bound.values()))
    for name, one in bound.items():
        penalty = vertices[name].penalty
        assert penalty is not None
        if one.on == "edge":
            pools[name] = Pool(one.kernel, one.observations, L * L, penalty, "edge")
            continue
        share = penalty / edges.penalty if selection.labels_pairs and edges and edges.penalty else 0.0
        pools[name] = Pool(one.kernel, one.observations, L, penalty, share=share)
    terms = [t for t in others.terms() if not (selection.labels_pairs and t.name == "edges")]
    dtype = precision_of_search(model, training, first.observations)
    offset = fixed_scores(fixed_measure(settings.parts), training, dtype)
    task = GrowthTask(training.loss, pools, first.rows, training.encoded.labels, tuple(terms), offset, dtype)
    kernels = [one.kernel for one in bound.values() if one.on != "edge"]
    only = VertexKernels((LabelGroup(kernels[0], None),), float(vertices[next(iter(bound))].penalty or 0.0))
    edge_kernel = next((one.kernel for one in bound.values() if one.on == "edge"), None)
    return Chosen(task, kernels, edge_kernel, only, others)


def _require_selectable(
    model: Any, settings: KernelSettings, training: Training, selection: Selection
) -> None:
    settings.require_labels_alone("A selection as basis")
    if settings.vertex_part.labels is not None or isinstance(settings.kernel, Mapping):
        raise InputError("A selection needs one kernel for all labels, and no kernel on labels.")
    second = structure_of(model.structure) == Chain(order=2)
    # rows without neighbours have none that they could miss
    linked = len(training.edge_batch.edge_tails) > 0
    no_pairs = linked and settings.parts.get("edges", True) is None
    if selection.labels_pairs and (second or settings.edge_part is not None or no_pairs):
        name = type(selection).__name__
        raise InputError(f"{name} is for label pairs without input, and for no triples; use GreedyCliques.")


def _separately(settings: KernelSettings) -> dict[str, KernelScores]:
    """Return a function of vertices for each of several kernels, each with its penalty."""
    kernels, penalty = settings.several or [], settings.penalty
    given = penalty if isinstance(penalty, list | tuple) else [penalty] * len(kernels)
    names = [KERNEL] if len(kernels) == 1 else [f"{KERNEL} {n}" for n in range(len(kernels))]
    found = {
        name: KernelScores(kernel, view="first", penalty=float(value))
        for name, kernel, value in zip(names, kernels, given, strict=True)
    }
    edge = settings.vertex_parts(np.zeros(0)).get(EDGE_KERNEL)
    return found if edge is None else {**found, EDGE_KERNEL: edge}


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


class SelectionHeldOut:
    """Log-likelihood and error of held-out labellings; kernel values with the basis are kept.

    Parameters
    ----------
    task : GrowthTask
        What is being minimised.
    observations : observations
        Those held out.
    training : Training
        What is learnt from.
    held_out : HeldOutSet
        What is not.
    fixed : tuple of KnownScores
        Their scores that are not learnt.
    others : BoundParts
        The parts that look at labels alone.
    """

    def __init__(
        self,
        task: GrowthTask,
        observations: Any,
        training: Training,
        held_out: HeldOutSet,
        fixed: tuple[KnownScores, ...],
        others: BoundParts,
    ) -> None:
        self.task = task
        self.observations = observations
        self.training, self.held_out = training, held_out
        self.fixed, self.others = fixed, others
        self._rows: dict[str, list[Array]] = {name: [] for name in task.pools}

    def judge(self, state: GrowthState) -> tuple[float, float]:
        """Return the log-likelihood, and the share of labels that are wrong, decoded one by one."""
        batch, labels = self.held_out.batch, self.held_out.labels
        theta = self.model(state).scores(self.held_out.inputs, batch).scores
        guess = marginal_parts(batch, theta)["node"].argmax(axis=1)
        observed = labels != UNOBSERVED
        return -self.held_out.loss.at(theta).value, float(np.mean(guess[observed] != labels[observed]))

    def model(self, state: GrowthState) -> Model:
        """Return the model of what is selected so far, on the held-out data."""
        batch, scorers = require_edge_batch(self.held_out.batch), list(self.fixed)
        for name, grown in state.grown.items():
            pool, functions = grown.pool, grown.functions()
            coefficients = functions.coefficients(state.parts[name])
            scores = self._times(name, state, functions.table(coefficients))
            seen = scores if pool.clique == "node" else scores[batch.edge_tails]
            scorers.append(KnownScores({pool.clique: seen.reshape(batch.shapes[pool.clique])}))
            if pool.share:
                scorers.append(KnownScores({"edge": functions.pair_scores(coefficients, batch.n_labels)}))
        labels = fuse_scorers(self.others.scorers_of(self.task.free, state.parts), batch.n_labels)
        return Model(self.training.structure, self.training.encoded.classes, (*scorers, *labels))

    def _times(self, name: str, state: GrowthState, table: Array) -> Array:
        """Kernel values with the basis, those of its new members computed now, times coefficients."""
        grown, rows = state.grown[name], self._rows[name]
        known = sum(len(some) for some in rows)
        if known < len(grown.basis):
            new = grown.pool.observations[grown.basis[known:]]
            blocks = KernelBlocks(grown.pool.kernel, new, self.observations, grown.values.dtype)
            values = np.empty(blocks.shape, grown.values.dtype)
            blocks.fill(values, 0, 0)
            rows.append(values)
            while len(rows) > 1 and len(rows[-2]) <= 2 * len(rows[-1]):  # few blocks, each copied seldom
                rows[-2:] = [np.concatenate(rows[-2:])]
        result, start = np.zeros((self.held_out.batch.n_vertices, table.shape[1])), 0
        for some in rows:
            part = table[start : start + len(some)].astype(some.dtype)
            result += some[: len(part)].T @ part
            start += len(some)
        return result
