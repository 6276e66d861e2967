"""Attributes that several estimators learn, as they are declared for files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import falls
from ..models.averaging import Averagings
from ..models.calibration import Calibrations
from ..models.scaling import Scalings
from ..persistence.fields import Field, Kind, Numbers, Observations, Rules, Sizes, shape_objection
from ..persistence.savable import Savable
from .views import VIEWS

if TYPE_CHECKING:
    from ..models.separate_kernels import SeparateKernels


@dataclass(frozen=True)
class Extractors(Field):
    """What makes features of tokens, as many as the model knows."""

    needed: bool = False

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Describe what does not fit."""
        found = getattr(value, "n_features", sizes["D"])
        return EXTRACTOR.objection(value, sizes) or (
            "" if found == sizes["D"] else f"has {found} features, expected {sizes['D']}"
        )


EXTRACTOR = Kind(
    (
        ".features.extractor:TemplateFeatures",
        ".features.dicts:DictFeatures",
        ".features.missing_values:MissingValues",
        ".features.tokens_and_arrays:TokensAndArrays",
        ".data.reading:Verbatim",
    )
)
LABELLER: Mapping[str, Field] = {
    "n_features_in_": Kind(int),
    "feature_names_in_": Numbers("D", kinds="OU", needed=False),
    "features_": Extractors(),
    "forbidden_": Rules(),
    "structure_": Kind(".structures.settings:Structure", needed=False),
    "certificate_": Kind(".objective.certificate:Certificate", needed=False),
    "objective_": Kind(float, needed=False),
    "objective_path_": Kind(list, needed=False),
    "mismatch_": Kind(dict, needed=False),
    "n_iter_": Kind(int, needed=False),
    "stop_reason_": Kind(str, needed=False),
    "provenance_": Kind(".fitting.provenance:Provenance", needed=False),
    "scaling_": Scalings(),
    "calibration_": Calibrations(),
    "posterior_": Averagings(),
}
"""Of all that label sequences."""


@dataclass(frozen=True)
class LabelTables(Field):
    """Tables over labels by the names of clique types."""

    needed: bool = False
    large: bool = False

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if names or tables are none."""
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            return "is no dictionary of tables"
        for table in value.values():
            if not isinstance(table, np.ndarray) or table.dtype.kind != "f" or table.ndim == 0:
                return "has tables that are none"
            if sizes["L"] > 1 and any(n != sizes["L"] for n in table.shape):
                return "has tables over other labels"
        sizes["factors"] = sum(table.size for table in value.values())
        return ""


@dataclass(frozen=True)
class PartScorers(Field):
    """Scorers of parts by name."""

    needed: bool = False

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say what does not fit."""
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            return "is no dictionary of parts"
        for name, one in value.items():
            reason = scorer_objection(one, sizes)
            if reason:
                return f"has the part {name!r}, which {reason}"
        sizes["parts"] = sum(one.numbers.size for one in value.values())
        return ""


def scorer_objection(scorer: Any, sizes: Sizes) -> str:
    """Say what is wrong with a scorer of a file: another class, no numbers, or as many as do not fit."""
    from ..approximation import ObservationMap
    from .expansion_scorer import ExpansionScorer
    from .scorers import LearntScorer, WeightScorer

    if not isinstance(scorer, LearntScorer):
        return f"is of type {type(scorer).__name__}"
    if not (scorer.on is None or isinstance(scorer.on, str)):
        return "is on no clique type"
    numbers = scorer.numbers
    if not isinstance(numbers, np.ndarray) or numbers.dtype.kind != "f":
        return "has numbers that are none"
    if isinstance(scorer, WeightScorer | ExpansionScorer) and scorer.view not in (None, *VIEWS):
        return "has no known view"
    if isinstance(scorer, ExpansionScorer) and (
        not isinstance(scorer.map, ObservationMap) or len(numbers) != scorer.map.size
    ):
        return "has coefficients that do not fit its basis"
    return ""


FREE: Mapping[str, Field] = {
    "intercept_": Numbers("L"),
    "start_": Numbers("L"),
    "end_": Numbers("L"),
    "transitions_": Numbers("L L"),
    "second_order_": Numbers("L L L", needed=False),
    "durations_": Numbers("B L", needed=False),
    "rules_": Numbers("R", needed=False),
    "factors_": LabelTables(),
    "parts_": PartScorers(),
}
"""Weights that look at labels only, and all parts that have no attribute of their own."""

FEATURED: Mapping[str, str] = {"edge": "L L F", "segment": "L G", "sibling": "S"}
"""Clique types whose features have weights by a name, ``TYPE_coef_``, and the axes of these."""
OF_CLIQUES: Mapping[str, Field] = {
    f"{clique}_coef_": Numbers(axes, needed=False) for clique, axes in FEATURED.items()
}
LINEAR: Mapping[str, Field] = {
    **LABELLER,
    **FREE,
    "coef_": Numbers("L D", sparsely=True),
    "base_measure_": Kind((dict, ".data.base_measure:CliqueMeasures"), needed=False),
    **OF_CLIQUES,
}
"""Of linear chains."""


@dataclass(frozen=True)
class Trails(Field):
    """How far learning has come, with numbers for every weight."""

    needed: bool = False

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if counts or numbers are none."""
        from ..models.trail import Trail

        if not isinstance(value, Trail):
            return "is no record of learning"
        counts = (value.sequences, value.steps, value.averaged)
        if not all(type(count) is int and 0 <= count < 2**53 for count in counts) or value.averaged == 0:
            return "has counts that are none"
        if value.step is not None and not (type(value.step) is float and 0 < value.step < np.inf):
            return "has a step that is none"
        first = sizes["L"] * (sizes["D"] + 3 + sizes["L"]) + sizes.get("factors", 0)
        first += sizes.get("B", 0) * sizes["L"] + sizes.get("R", 0) + sizes.get("S", 0)
        first += sizes.get("F", 0) * sizes["L"] ** 2 + sizes.get("G", 0) * sizes["L"] + sizes.get("parts", 0)
        expected = (first, first + sizes["L"] ** 3)  # with and without label triples
        for numbers in (value.last, value.variance):
            if numbers is not None and (
                not isinstance(numbers, np.ndarray) or numbers.dtype.kind != "f" or numbers.ndim != 1
            ):
                return f"has numbers that are not those of {first} weights"
            if numbers is not None and len(numbers) not in expected:
                return f"has {len(numbers)} numbers, expected {expected[0]}"
        return "has a negative variance" if value.variance is not None and (value.variance < 0).any() else ""


ONLINE: Mapping[str, Field] = {**LINEAR, "losses_": Kind(list), "_trail": Trails()}
"""Of linear chains that learn sequence by sequence."""


@dataclass(frozen=True)
class LabelKernels(Field):
    """Kernels of vertices, for labels that there are."""

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if it is none, or names labels that are none."""
        from ..kernels import Kernel
        from ..models.separate_kernels import SeparateKernels
        from ..models.vertex_kernels import VertexKernels

        if isinstance(value, SeparateKernels):
            return _parts_objection(value, sizes)
        if not isinstance(value, VertexKernels) or not value.groups:
            return "is no set of kernels"
        for kernel, labels in value.groups:
            known = labels is None or (
                isinstance(labels, np.ndarray)
                and labels.ndim == 1
                and labels.dtype.kind == "i"
                and ((labels >= 0) & (labels < sizes["L"])).all()
            )
            if not isinstance(kernel, Kernel) or not known:
                return "has kernels that are none, or labels that are none"
        return ""


def _parts_objection(value: SeparateKernels, sizes: Sizes) -> str:
    """Say if parts of the basis are none."""
    from ..kernels import Kernel

    kernels, ends = value
    if not isinstance(kernels, tuple) or not all(isinstance(kernel, Kernel) for kernel in kernels):
        return "has kernels that are none"
    if not isinstance(ends, tuple) or len(ends) != len(kernels) or not all(type(e) is int for e in ends):
        return "has parts of the basis that are none"
    rising = all(a <= b for a, b in zip((0, *ends), ends, strict=False))
    return "" if rising and ends[-1:] == (sizes["n"],) else "has parts that are not those of the basis"


@dataclass(frozen=True)
class RandomFeatures(Field):
    """Random features, as many as coefficients."""

    needed: bool = False

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if they are of another size."""
        from ..approximation import FourierMap

        if not isinstance(value, FourierMap):
            return "is no map of observations"
        expected = (value.size, value.frequencies.shape[1])
        found = (sizes.setdefault("n", value.size), sizes.setdefault("D", expected[1]))
        return "" if found == expected else f"has size {expected}, expected {found}"


@dataclass(frozen=True)
class OldExpansions(Field):
    """Functions of cliques in a list, as files had them before parts had names."""

    needed: bool = False

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say what does not fit."""
        from .expansion_scorer import ExpansionScorer

        if not isinstance(value, list) or not all(isinstance(one, ExpansionScorer) for one in value):
            return "is no list of functions of cliques"
        return next((reason for one in value if (reason := scorer_objection(one, sizes))), "")


KERNEL: Mapping[str, Field] = {
    **LABELLER,
    **FREE,
    "basis_": Observations(),
    "basis_origin_": Numbers("n 2", kinds="i", needed=False),
    "dual_coef_": Numbers("n L"),
    "edge_dual_coef_": Numbers("n L L", needed=False),
    "kernel_": Kind((".kernels._base:Kernel", dict), large=True),
    "edge_kernel_": Kind(".kernels._base:Kernel", needed=False, large=True),
    "clique_kernels_": OldExpansions(),
    "_kernels": LabelKernels(),
    "fourier_": RandomFeatures(),
    "base_measure_": Kind((dict, ".data.base_measure:CliqueMeasures"), needed=False),
    "certificate_space_": Kind(str, needed=False),
    "kernel_weights_": Numbers("K", needed=False),
    "weights_certificate_": Kind(".objective.certificate:Certificate", needed=False),
    "path_": Kind(list, needed=False),
    "selected_": Kind(dict, needed=False),
}
"""Of kernel models."""

MARGIN: Mapping[str, Field] = {
    **LABELLER,
    **FREE,
    "coef_": Numbers("L D", needed=False),
    **OF_CLIQUES,
    "basis_": Observations(),
    "dual_coef_": Numbers("n L", needed=False),
    "edge_dual_coef_": Numbers("n L L", needed=False),
    "kernel_": Kind((".kernels._base:Kernel", dict), needed=False, large=True),
    "edge_kernel_": Kind(".kernels._base:Kernel", needed=False, large=True),
    "_kernels": LabelKernels(needed=False),
    "fourier_": RandomFeatures(),
    "base_measure_": Kind((dict, ".data.base_measure:CliqueMeasures"), needed=False),
    "history_": Kind(list),
}
"""Of structured support vector machines: ``coef_``, or what a kernel expansion has."""


@dataclass(frozen=True)
class EmissionsOfStates(Field):
    """Emissions of all states, in as many columns as the model has."""

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if they are none, or those of other states or columns."""
        from ..emissions import Emissions

        if not isinstance(value, Emissions):
            return "are no emissions"
        found = (value.n_states, getattr(value, "n_columns", 1))
        expected = (sizes["L"], sizes["D"])
        return "" if found == expected else f"has size {found}, expected {expected}"


@dataclass(frozen=True)
class Chances(Field):
    """Probabilities, their axes given by letters."""

    axes: str

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if type or shape are others, or numbers are no probabilities."""
        reason = Numbers(self.axes).objection(value, sizes)
        return reason or (
            "" if ((value >= 0) & (value <= 1)).all() else "has numbers that are no probability"
        )


HIDDEN: Mapping[str, Field] = {
    **LABELLER,
    "start_": Chances("L"),
    "transitions_": Chances("L L"),
    "emissions_": EmissionsOfStates(),
    "log_likelihoods_": Kind(list, needed=False),
    "objectives_": Kind(list, needed=False),
}
"""Of hidden Markov models."""


@dataclass(frozen=True)
class Forests(Field):
    """Trees of vertices, and perhaps of edges, that lead nowhere else."""

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if there are others, or of another width."""
        from ..boosting.trees import Forest

        widths = {"node": sizes["L"], "edge": sizes["L"] ** 2}
        if not isinstance(value, dict) or "node" not in value or not widths.keys() >= value.keys():
            return "are not those of vertices and edges"
        if not all(isinstance(forest, Forest) for forest in value.values()):
            return "are no trees"
        if any(forest.width != widths[clique] for clique, forest in value.items()):
            return "have another number of labels"
        return "" if all(len(f.places) == sizes["D"] for f in value.values()) else "look at other columns"


BOOSTED: Mapping[str, Field] = {
    **LABELLER,
    **FREE,
    "forests_": Forests(),
    "losses_": Kind(list),
    "held_out_losses_": Kind(list),
}
"""Of sums of trees."""


@dataclass(frozen=True)
class Votes(Field):
    """Changes of coefficients that there are."""

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if arrays do not fit one another, or the basis."""
        from ..models.changes import Changes

        if not isinstance(value, Changes):
            return "are no changes"
        own: Sizes = {"L": sizes["L"]}
        axes = {"steps": "m", "ends": "m", "rows": "R", "node": "R L", "edge": "m L L"}
        for name, letters in axes.items():
            array = getattr(value, name)
            kind = "f" if name in ("node", "edge") else "i"
            if not isinstance(array, np.ndarray) or array.dtype.kind != kind:
                return f"have {name} that are none"
            reason = shape_objection(array.shape, letters.split(), own)
            if reason:
                return reason
        known = len(value.rows) == 0 or (value.rows.min() >= 0 and value.rows.max() < sizes["n"])
        rising = not falls(np.append(0, value.ends)) and value.ends[-1:].tolist() in (
            [],
            [len(value.rows)],
        )
        return "" if known and rising else "have rows that are none"


PERCEPTRON: Mapping[str, Field] = {
    **LABELLER,
    "basis_": Observations(needed=True),
    "dual_coef_": Numbers("n L"),
    "transitions_": Numbers("L L"),
    "kernel_": Kind(".kernels._base:Kernel", large=True),
    "mistakes_": Kind(list),
    "_changes": Votes(),
    "_steps": Kind(int),
}
"""Of perceptrons with a kernel."""


@dataclass(frozen=True)
class Classifiers(Field):
    """Classifiers of positions, or None in place of some; their labels are indices of those there are."""

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if they are too many or too few, or know other labels or columns."""
        if not isinstance(value, list) or len(value) not in (1, sizes["L"] + 1):
            return "is no list of classifiers"
        sizes["C"] = len(value)
        for one in (one for one in value if one is not None):
            if not isinstance(one, Savable) or not hasattr(one, "predict_proba"):
                return "has classifiers that are none"
            labels = one.classes_
            if labels.dtype.kind != "i" or not ((labels >= 0) & (labels < sizes["L"])).all():
                return "has classifiers of other labels"
            if getattr(one, "n_features_in_", None) != sizes["D"]:
                return "has classifiers of other features"
        return ""


CLASSIFIERS: Mapping[str, Field] = {
    **LABELLER,
    "kind_": Kind(str),
    "classifiers_": Classifiers(),
    "trust_": Chances("C"),
    "start_": Chances("L"),
    "transitions_": Chances("L L"),
    "shares_": Chances("L"),
}
"""Of classifiers with inference."""
