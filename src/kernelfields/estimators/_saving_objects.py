"""The objects that a model file may hold: a table from names to what makes them, and nothing else is made.

A new kernel, solver, decoder, approximation or rule is one line here.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from .. import approximation, constraints, decoders, emissions, kernels, selection, solvers
from ..boosting.tree_arrays import TreeArrays
from ..boosting.trees import Forest
from ..data.extraction import Verbatim
from ..emissions.unknown import WordClass
from ..errors import InputError, ModelFormatError
from ..features import DictFeatures, TemplateFeatures, Templates, parse_templates
from ..fitting.provenance import Provenance
from ..models.changes import Changes
from ..models.clique_types import Boundaries, Edges, FurtherKernel, InputEdges, SecondOrder
from ..models.separate_kernels import SeparateKernels
from ..models.trail import Trail
from ..models.vertex_kernels import LabelGroup, VertexKernels
from ..objective import Certificate
from ._saving_emissions import EMISSIONS
from .structure_learner import Trial
from .structured_svm import Round

KERNELS = (
    kernels.AdditiveChiSquare,
    kernels.Columns,
    kernels.Constant,
    kernels.Cosine,
    kernels.ExponentialChiSquare,
    kernels.GaussianProcessKernel,
    kernels.Hamming,
    kernels.Jaccard,
    kernels.Laplacian,
    kernels.Linear,
    kernels.Matern,
    kernels.Normalized,
    kernels.Polynomial,
    kernels.Power,
    kernels.Precomputed,
    kernels.Product,
    kernels.RBF,
    kernels.Scaled,
    kernels.Spectrum,
    kernels.Subsequence,
    kernels.Sum,
    kernels.Tanimoto,
    kernels.WindowProduct,
    kernels.WindowSum,
)
RECORDS = (
    Boundaries,
    Certificate,
    Changes,
    Edges,
    FurtherKernel,
    InputEdges,
    LabelGroup,
    Provenance,
    Round,
    SecondOrder,
    SeparateKernels,
    Trail,
    Trial,
    VertexKernels,
    WordClass,
    constraints.Constraints,
    constraints.Cyclic,
    constraints.Forbidden,
    constraints.LeftRight,
    constraints.TagScheme,
    decoders.Abstain,
    decoders.BayesRule,
    decoders.LinearProgram,
    decoders.Viterbi,
    selection.AtRandom,
    selection.Atoms,
    selection.ExactGain,
    selection.FunctionalGradient,
    selection.GainBound,
    selection.GapShare,
    selection.GreedyCliques,
    selection.InTurn,
    approximation.IncompleteCholesky,
    approximation.KMeans,
    selection.LargestGradient,
    approximation.LeverageScores,
    approximation.Nystroem,
    approximation.RandomFourier,
    selection.RefitAll,
    selection.RefitNew,
    selection.SGPS,
    selection.SGSA,
    selection.Step,
    approximation.Uniform,
    selection.WholeSequences,
    solvers.BlockFrankWolfe,
    solvers.BlockJacobi,
    solvers.ConjugateGradients,
    solvers.CuttingPlane,
    solvers.IterativeScaling,
    solvers.LBFGS,
    solvers.MetaDescent,
    solvers.NewtonCG,
    solvers.OWLQN,
    solvers.Subgradient,
    solvers.Subspace,
    solvers.WorkingSet,
)
"""Dataclasses and named tuples: their fields are their parts."""
FAMILIES = (
    emissions.Bernoulli,
    emissions.Categorical,
    emissions.DiagonalGaussian,
    emissions.FullGaussian,
    emissions.GaussianMixture,
    emissions.Multinomial,
    emissions.Poisson,
    emissions.SphericalGaussian,
    emissions.TiedGaussian,
    emissions.UnknownWords,
)
"""Like kernels, they are their settings."""
FOREIGN = (
    "CompoundKernel",
    "ConstantKernel",
    "DotProduct",
    "ExpSineSquared",
    "Exponentiation",
    "Matern",
    "PairwiseKernel",
    "Product",
    "RBF",
    "RationalQuadratic",
    "Sum",
    "WhiteKernel",
)
"""Kernels of scikit-learn's Gaussian processes."""

Parts = dict[str, Any]


class Entry(NamedTuple):
    """How to take an object apart, and to make it again."""

    name: str
    parts: Callable[[Any], Parts]
    make: Callable[[Parts], Any]


def entry_of(value: Any) -> Entry | None:
    """Return the entry of an object; None if it has none."""
    if isinstance(value, kernels.MatrixFunction | kernels.PairFunction):
        return _table()["FunctionOfSklearn"]
    own = _classes().get(type(value))
    if own is None and type(value).__module__ == "sklearn.gaussian_process.kernels":
        own = f"sklearn.{type(value).__name__}"
    return found_entry(own)


def found_entry(name: Any) -> Entry | None:
    """Return an entry by its name."""
    if isinstance(name, str) and name.startswith("sklearn.") and name[8:] in FOREIGN:
        return _foreign(name)
    return _table().get(name) if isinstance(name, str) else None


@cache
def _classes() -> dict[type, str]:
    special: dict[type, str] = {
        TemplateFeatures: "TemplateFeatures",
        DictFeatures: "DictFeatures",
        Verbatim: "Verbatim",
        Templates: "Templates",
        Forest: "Forest",
        approximation.FourierMap: "FourierMap",
        decoders.Posterior: "Posterior",
        np.random.RandomState: "RandomState",
    }
    plain = (*KERNELS, *RECORDS, *FAMILIES, *EMISSIONS)
    return {cls: cls.__name__ for cls in plain} | special


@cache
def _table() -> Mapping[str, Entry]:
    entries = [
        *(Entry(cls.__name__, _settings, _maker(cls)) for cls in (*KERNELS, *FAMILIES)),
        *(Entry(cls.__name__, _fields, _maker(cls)) for cls in RECORDS),
        Entry("TemplateFeatures", _template_parts, _template_features),
        Entry("DictFeatures", _dict_parts, _dict_features),
        Entry("Verbatim", lambda _: {}, lambda _: Verbatim()),
        Entry("Templates", lambda found: {"text": str(found)}, lambda parts: parse_templates(parts["text"])),
        *(Entry(cls.__name__, part.parts, part.make) for cls, part in EMISSIONS.items()),
        Entry("Forest", lambda found: found.arrays()._asdict(), _forest),
        Entry("FourierMap", lambda found: {"frequencies": found.frequencies}, _fourier_map),
        Entry("Posterior", _fields, _posterior),
        Entry("RandomState", _random_parts, _random_state),
        Entry("FunctionOfSklearn", _function_parts, _function),
    ]
    return {entry.name: entry for entry in entries}


def _settings(value: Any) -> Parts:
    return value.get_params(deep=False)


def _fields(value: Any) -> Parts:
    names = [field.name for field in fields(value)] if is_dataclass(value) else value._fields
    return {name: getattr(value, name) for name in names}


def _maker(cls: type) -> Callable[[Parts], Any]:
    return lambda parts: cls(**checked(cls, parts))


def _posterior(parts: Parts) -> decoders.Posterior:
    """Return the decoder; in older files it may or may not respect rules, which it now always does."""
    parts.pop("respect", None)
    return decoders.Posterior(**checked(decoders.Posterior, parts))


KINDS: Mapping[str, type | tuple[type, ...]] = {
    "Approximation": approximation.Approximation,
    "Criterion": selection.Criterion,
    "CuttingPlane": solvers.CuttingPlane,
    "Emissions": emissions.Emissions,
    "Family": emissions.Family,
    "GaussianFamily": emissions.GaussianFamily,
    "MarginSolver": solvers.MarginSolver,
    "Order": selection.Order,
    "Refit": selection.Refit,
    "Selection": selection.Selection,
    "UnknownWords": emissions.UnknownWords,
    "Array": np.ndarray,
    "Decoder": decoders.Decoder,
    "Kernel": kernels.Kernel,
    "LabelRule": constraints.Rule,
    "Landmarks": approximation.Landmarks,
    "None": type(None),
    "Rule": constraints.Rule,
    "Solver": solvers.Solver,
    "bool": (bool, np.bool_, int),
    "dict": dict,
    "float": Real,
    "int": Integral,
    "list": (list, tuple),
    "str": str,
    "tuple": tuple,
}
"""What annotations of settings stand for; others promise nothing."""


def checked(cls: type, parts: Mapping[str, Any]) -> Parts:
    """Refuse settings that a constructor does not have, and those of another type than it says."""
    known = inspect.signature(cls).parameters
    for name, value in parts.items():
        if name not in known:
            raise ModelFormatError(f"{cls.__name__} has no setting {name!r}.")
        kinds = [KINDS.get(word) for word in _words(known[name].annotation)]
        if None not in kinds and not isinstance(value, tuple(_flat(kinds))):
            raise ModelFormatError(
                f"{cls.__name__} takes {name} of type {known[name].annotation}, not {type(value).__name__}."
            )
    return dict(parts)


def _words(annotation: Any) -> list[str]:
    """The parts of ``A | B[C]``, without brackets."""
    return [part.strip() for part in re.sub(r"\[.*\]", "", str(annotation)).split("|")]


def _flat(kinds: list[Any]) -> list[type]:
    return [one for kind in kinds for one in (kind if isinstance(kind, tuple) else (kind,))]


def _template_parts(found: TemplateFeatures) -> Parts:
    names = ("min_count", "n_hash", "boundaries", "by_frequency", "dtype")
    settings = {name: getattr(found, name) for name in names}
    vocabulary = None if found._index is None else found.export()
    return {"templates": found.templates, **settings, "vocabulary": vocabulary}


def _template_features(parts: Parts) -> TemplateFeatures:
    vocabulary = parts.pop("vocabulary")
    result = TemplateFeatures(**checked(TemplateFeatures, parts))
    return result if vocabulary is None else result.restore(vocabulary)


def _dict_parts(found: DictFeatures) -> Parts:
    settings = {name: getattr(found, name) for name in ("min_count", "by_frequency", "dtype")}
    names = None if found._pool is None else np.array(found.names(), dtype=object)
    return {**settings, "names": names}


def _dict_features(parts: Parts) -> DictFeatures:
    names = parts.pop("names")
    result = DictFeatures(**checked(DictFeatures, parts))
    return result if names is None else result.restore(names.tolist())


def _fourier_map(parts: Parts) -> Any:
    frequencies = parts["frequencies"]
    if not isinstance(frequencies, np.ndarray) or frequencies.ndim != 2:
        raise ModelFormatError("The frequencies of random Fourier features are no matrix.")
    return approximation.FourierMap(frequencies)


def _forest(parts: Parts) -> Forest:
    arrays = TreeArrays(**checked(TreeArrays, parts))
    arrays.require_sound()
    return Forest.of(arrays)


def _random_parts(found: np.random.RandomState) -> Parts:
    name, key, *rest = found.get_state(legacy=True)
    if name != "MT19937":
        raise InputError("random_state is a generator other than MT19937, which a model file cannot hold.")
    return {"key": key, "rest": [int(rest[0]), int(rest[1]), float(rest[2])]}


def _random_state(parts: Parts) -> np.random.RandomState:
    result = np.random.RandomState(0)
    result.set_state(("MT19937", parts["key"], *parts["rest"]))
    return result


def _function_parts(found: Any) -> Parts:
    """Functions of scikit-learn have names; others are code, which a file must not hold."""
    names = [name for name, function in _functions().items() if function is found.function]
    if isinstance(found, kernels.PairFunction) or not names:
        raise InputError("The kernel is a Python function, which a model file cannot hold.")
    return {"name": names[0], "parameters": found.parameters}


def _functions() -> Mapping[str, Any]:
    from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

    return PAIRWISE_KERNEL_FUNCTIONS


def _function(parts: Parts) -> Any:
    functions = _functions()
    if parts["name"] not in functions:
        raise ModelFormatError(f"scikit-learn has no kernel function {parts['name']!r}.")
    return kernels.MatrixFunction(functions[parts["name"]], parts["parameters"])


def _foreign(name: str) -> Entry:
    from sklearn.gaussian_process import kernels as gaussian

    return Entry(name, _settings, _maker(getattr(gaussian, name[8:])))
