"""What a fitted model consists of, in words and numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import require_whole
from ..features import DictFeatures, TemplateFeatures, TokensAndArrays
from ..models.model import fitted_structure
from ..parameters import Parameterised
from ..persistence.savable import Savable
from ..structures import Structure, Tree
from ..tables import STRUCTURES
from .described_tables import known_of_emissions, known_of_trees
from .guaranteed import CONFIDENCE, ERROR_AT_MOST

MOST_FEATURES = 5
"""Features of one observation that are written out."""


class FeatureWeight(NamedTuple):
    """A feature and its weight for a label."""

    label: Any
    name: str
    weight: float


class BasisFunction(NamedTuple):
    """An observation of the training set and its coefficient for a label."""

    label: Any
    observation: str
    sequence: int
    """−1 if it is made of several observations."""
    position: int
    coefficient: float


@dataclass(frozen=True)
class Description:
    """What there is to say about a model; lists by label have an entry per label."""

    estimator: str
    settings: str
    labels: list[Any]
    kernel: str | None = None
    templates: list[str] | None = None
    n_features: int | None = None
    n_weights: int | None = None
    n_basis: int | None = None
    transitions: list[list[float]] | None = None
    features: list[list[FeatureWeight]] = field(default_factory=list)
    basis: list[list[BasisFunction]] = field(default_factory=list)
    certificate: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    strength: str = "weight"
    """What the numbers of ``features`` are: weights, or of hidden Markov models and trees something else."""
    structure: str = "chain"
    """What labels depend on, as ``structure=`` names it."""
    ends: dict[str, list[float]] = field(default_factory=dict)
    """Scores of first and last labels, of trees those of roots and leaves; none where all are 0."""
    steps: str = "scores"
    """What ``transitions`` are: scores, or of hidden Markov models probabilities."""
    trials: list[dict[str, Any]] = field(default_factory=list)
    """What became of the candidates of a structure learner, in every round."""
    trust: dict[str, Any] = field(default_factory=dict)
    """What held-out data said: temperature, biases, the guarantee on errors."""
    parts: list[Description] = field(default_factory=list)
    """The models that a cascade, or another model of models, consists of."""

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON, with names."""
        result = asdict(self)
        result["parts"] = [part.as_json() for part in self.parts]
        result["labels"] = [_plain(label) for label in self.labels]
        result["features"] = [[_named(one) for one in group] for group in self.features]
        result["basis"] = [[_named(one) for one in group] for group in self.basis]
        return result


def describe(model: Any, count: int = 5) -> Description:
    """Describe a fitted model, with the ``count`` strongest features or basis functions of every label."""
    known = model.__getstate__()
    labels = model.classes_.tolist()
    coef, dual, extractor = known.get("coef_"), known.get("dual_coef_"), known.get("features_")
    names, strength = _names(extractor, known), "weight"
    count = require_whole("count", count, 0)
    n_weights = None if coef is None else _count(coef)
    if "emissions_" in known or "forests_" in known:
        emitted = "emissions_" in known
        strength, coef, own = (
            known_of_emissions(known["emissions_"]) if emitted else known_of_trees(known["forests_"]["node"])
        )
        names = names if own is None else own
    transitions = known.get("transitions_")
    kernel = known.get("kernel_")
    provenance = known.get("provenance_")
    structure = fitted_structure(model)
    return Description(
        estimator=type(model).__name__,
        settings=repr(model) if isinstance(model, Parameterised) else "",
        labels=labels,
        kernel=None if kernel is None else repr(kernel),
        templates=extractor.templates.texts() if isinstance(extractor, TemplateFeatures) else None,
        n_features=known.get("n_features_in_"),
        n_weights=n_weights,
        n_basis=None if dual is None else len(dual),
        transitions=None if transitions is None else np.asarray(transitions).tolist(),
        features=[]
        if coef is None
        else [_strongest(coef, k, labels[k], names, count) for k in range(len(labels))],
        basis=[]
        if dual is None
        else [
            _functions(known, _by_label(dual, len(labels))[:, k], labels[k], names, count)
            for k in range(len(labels))
        ],
        certificate=_certificate(known),
        provenance={} if provenance is None else asdict(provenance),
        strength=strength,
        structure=_structure_name(structure),
        ends=_ends(known, structure),
        steps="probabilities" if {"emissions_", "classifiers_"} & known.keys() else "scores",
        trials=[{**asdict(trial), "verdict": trial.verdict} for trial in known.get("trials_", [])],
        trust=trust_of(model),
        parts=[describe(part, count) for part in _parts(known)],
    )


def _structure_name(structure: Structure) -> str:
    """Return the name that settings have for a structure, or what it is made of."""
    return next((name for name, one in STRUCTURES.items() if one == structure), repr(structure))


def _ends(known: dict[str, Any], structure: Structure) -> dict[str, list[float]]:
    """Scores of labels at either end, by what the ends are called."""
    names = ("root", "leaf") if isinstance(structure, Tree) else ("first", "last")
    found = {name: known.get(attribute) for name, attribute in zip(names, ("start_", "end_"), strict=True)}
    given = {name: np.asarray(scores) for name, scores in found.items() if scores is not None}
    return {name: scores.tolist() for name, scores in given.items() if np.any(scores)}


def _parts(known: dict[str, Any]) -> list[Any]:
    """The fitted models within a model."""
    inside = [*known.get("first_", []), known.get("second_"), known.get("model_"), known.get("estimator_")]
    classifiers = [one for one in known.get("classifiers_", []) if isinstance(one, Savable)]
    return [part for part in (*inside, *classifiers) if part is not None]


def _names(extractor: Any, known: dict[str, Any]) -> Any:
    """Names of features by their number."""
    tokens = extractor.tokens_ if isinstance(extractor, TokensAndArrays) else extractor
    fitted = isinstance(tokens, DictFeatures) or (
        isinstance(tokens, TemplateFeatures) and tokens.n_hash is None
    )
    if fitted:
        return extractor.names()
    return known.get("feature_names_in_")


def _name(names: Any, j: int) -> str:
    return f"feature {j}" if names is None else str(names[j])


def _count(coef: Any) -> int:
    return int(coef.count_nonzero() if sparse.issparse(coef) else np.count_nonzero(coef))


def _strongest(coef: Any, k: int, label: Any, names: Any, count: int) -> list[FeatureWeight]:
    """The features with the largest weights, of either sign."""
    row = coef[k].toarray().ravel() if sparse.issparse(coef) else coef[k]
    return [FeatureWeight(label, _name(names, j), float(row[j])) for j in _largest(row, count)]


def _by_label(dual: Array, count: int) -> Array:
    """Return a column per label; one function may stand for two labels, by its sign."""
    return np.column_stack([-dual, dual]) if (dual.shape[1], count) == (1, 2) else dual


def _functions(
    known: dict[str, Any], column: Array, label: Any, names: Any, count: int
) -> list[BasisFunction]:
    origin, basis = known.get("basis_origin_"), known.get("basis_")
    result = []
    for o in _largest(column, count):
        sequence, position = (-1, -1) if origin is None else origin[o].tolist()
        text = f"random feature {o}" if basis is None else _observation(basis[o], names)
        result.append(BasisFunction(label, text, sequence, position, float(column[o])))
    return result


def _observation(x: Any, names: Any) -> str:
    """An observation in a few words."""
    if sparse.issparse(x):
        order = _largest(x.data, MOST_FEATURES)
        parts = [f"{_name(names, x.indices[j])} {x.data[j]:.3g}" for j in order]
        return ", ".join(parts) + (", …" if x.nnz > MOST_FEATURES else "")
    if not isinstance(x, np.ndarray):
        return repr(x)
    numbers = ", ".join(f"{value:.3g}" for value in x[:MOST_FEATURES])
    return f"({numbers}{', …' if len(x) > MOST_FEATURES else ''})"


def _largest(values: Array, count: int) -> list[int]:
    """Where the largest numbers are, of either sign; without zeros."""
    size = np.abs(values)
    some = np.argpartition(-size, count)[:count] if count < len(size) else np.arange(len(size))
    ordered = some[np.lexsort((some, -size[some]))]
    return [int(j) for j in ordered if size[j] > 0]


def _certificate(known: dict[str, Any]) -> dict[str, Any]:
    found = known.get("certificate_")
    result = {"stopped": known["stop_reason_"]} if "stop_reason_" in known else {}
    if found is None:
        return result
    return {
        **result,
        "objective": float(found.value),
        "lower_bound": float(found.lower_bound),
        "certified_relative_gap": float(found.relative_gap),
    }


def _plain(value: Any) -> Any:
    return value if value is None or type(value) in (bool, int, float, str) else str(value)


def _named(one: Any) -> dict[str, Any]:
    return {**one._asdict(), "label": _plain(one.label)}


def trust_of(model: Any) -> dict[str, Any]:
    """Return temperature, biases and guarantee of a model, as far as it has them."""
    return {**_scaling(model), **_calibration(model)}


def _scaling(model: Any) -> dict[str, Any]:
    found = getattr(model, "scaling_", None)
    if found is None:
        return {}
    labels = model.classes_.tolist()
    result: dict[str, Any] = {
        "temperature": found.temperature,
        "recalibrated_by": f"{found.n_sequences} sequences",
    }
    if found.bias is not None:
        pairs = zip(labels, found.bias.tolist(), strict=True)
        result["biases"] = {str(label): round(value, 4) for label, value in pairs}
    return result


def _calibration(model: Any) -> dict[str, Any]:
    record = getattr(model, "calibration_", None)
    if record is None:
        return {}
    found = model.guarantees(ERROR_AT_MOST, CONFIDENCE)
    result: dict[str, Any] = {"calibrated_by": f"{record.answers.n_sequences} sequences, {record.units}"}
    answered = {str(name): _words(one) for name, one in found.items()}
    result["answers_with_5_percent_errors"] = answered if record.per_label else _words(found[None])
    return result


def _words(guarantee: Any) -> str:
    if not guarantee.holds:
        return "none"
    return f"{100 * guarantee.answered:.3g} % (probability {guarantee.threshold.least:.4g} or more)"
