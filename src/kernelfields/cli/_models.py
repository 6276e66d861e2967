"""The models that ``kf`` trains, with defaults that suit the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..approximation import Nystroem
from ..emissions import Categorical, DiagonalGaussian, UnknownWords
from ..errors import InputError
from ..estimators import (
    CRF,
    HMM,
    BoostedCRF,
    GPSequenceClassifier,
    KernelCRF,
    SequencePipeline,
    StructuredPerceptron,
    StructuredSVM,
)
from ..files.items import FileData
from ..kernels import RBF, Kernel, Polynomial, as_kernel
from ..metrics import has_entities
from ..tables import CONSTRAINTS
from ._sensors import Preparation, preparation
from ._structures import name_for
from ._token_features import features_of

DENSE_LIMIT = 15_000
"""Positions up to which a kernel model expands over all of them."""
BASIS = 1000
"""Basis functions beyond that."""


@dataclass(frozen=True)
class Choice:
    """The model options that a user gave; None for those left out."""

    penalty: float | None = None
    kernel: str | None = None
    gamma: float | None = None
    features: str | None = None
    constraints: str | None = None
    basis: int | None = None
    tol: float | None = None
    max_iter: int | None = None
    seed: int = 0
    structure: str | None = None
    clusters: str | None = None
    min_count: int | None = None
    scale: str | None = None
    window: str | None = None
    decoder: str | None = None

    @property
    def given(self) -> list[str]:
        """Names of what a user said."""
        every = dict.fromkeys(name for names in OPTIONS.values() for name in names)
        return [name for name in every if getattr(self, name) is not None]

    def fitting(self, model: str) -> Choice:
        """Return what a model understands, for a panel in which others understand the rest."""
        foreign: dict[str, Any] = {name: None for name in self.given if name not in OPTIONS[model]}
        return replace(self, **foreign)


def build(name: str, data: FileData, choice: Choice) -> Any:
    """Return an unfitted model; an option that it does not have is refused."""
    require_model(name)
    for option in choice.given:
        if option not in OPTIONS[name]:
            those = ", ".join(model for model, options in OPTIONS.items() if option in options)
            raise InputError(f"--{option.replace('_', '-')} is not for {name}; it is for {those}.")
    structure = name_for(data, choice.structure)
    if name in CHAINS and structure != "chain":
        those = ", ".join(model for model in MODELS if model not in CHAINS)
        raise InputError(f"{name} has no structure {structure}: choose one of {those}, or --structure chain.")
    if data.is_joint and "features" not in OPTIONS[name]:
        those = ", ".join(model for model, options in OPTIONS.items() if "features" in options)
        raise InputError(f"--dense is not for {name}; it is for {those}.")
    unknown = data.n_positions - len(data.known)
    if unknown and name in COMPLETE:
        those = ", ".join(model for model in MODELS if model not in COMPLETE)
        raise InputError(
            f"{name} needs every label, and {unknown:,} were not observed; choose one of {those}."
        )
    return _prepared(name, data, choice)


def preparation_for(name: str, data: FileData, choice: Choice) -> Preparation:
    """Return what happens to the data before a model sees them."""
    curved = name in KERNELS and (name != "ssvm" or choice.kernel is not None or choice.gamma is not None)
    penalised = (
        None if choice.penalty is not None or name in UNPENALISED else "kernel" if curved else "linear"
    )
    asked = (choice.scale, choice.window, choice.decoder)
    return preparation(data, *asked, windows=name not in WITHOUT_WINDOWS, penalised=penalised)


def _prepared(name: str, data: FileData, choice: Choice) -> Any:
    """Return a model behind the transformers that the data ask for."""
    found = preparation_for(name, data, choice)
    steps, seen = found.steps(), data
    if steps and name in KERNELS:  # whose width is that of what they see
        inputs: Any = data.inputs
        for step in steps:
            inputs = step.fit(inputs).transform(inputs)
        pairs = zip(data.items, inputs, strict=True)
        seen = replace(data, items=[replace(item, x=x) for item, x in pairs])
    model = MODELS[name](seen, choice)
    known = model.get_params(deep=False)
    if found.decoder is not None and "decoder" in known:
        model.set_params(decoder=found.decoder)
    if choice.penalty is None and "penalty" in known:
        model.set_params(penalty=float(f"{known['penalty'] * found.factor:.3g}"))
    return SequencePipeline(steps, model) if steps else model


def require_model(name: str) -> None:
    """Refuse an unknown name of a model."""
    if name not in MODELS:
        raise InputError(f"There is no model {name!r}; choose one of {', '.join([*MODELS, 'auto'])}.")


def _crf(data: FileData, choice: Choice) -> CRF:
    settings = _shared(data, choice) | _search(choice) | {"penalty": _penalty(choice)}
    # Which pairs of feature and label occur is known where all labels are.
    return CRF(**settings, observed_only=data.is_sparse and len(data.known) == data.n_positions)


def _kernel_crf(data: FileData, choice: Choice) -> KernelCRF:
    large = choice.basis is not None or data.n_positions > DENSE_LIMIT
    basis = Nystroem(BASIS if choice.basis is None else choice.basis) if large else None
    settings = _shared(data, choice) | _search(choice) | {"random_state": choice.seed}
    penalty = _penalty(choice, 1.0 if data.is_sparse else 0.1)
    return KernelCRF(_kernel(data, choice), penalty=penalty, basis=basis, **settings)


def _gp(data: FileData, choice: Choice) -> GPSequenceClassifier:
    settings = (
        {"features": features_of(data, choice.features, choice.clusters)}
        | _structure(data, choice)
        | _search(choice)
    )
    return GPSequenceClassifier(_kernel(data, choice) * (1.0 / _positive_penalty("gp", choice)), **settings)


def _perceptron(data: FileData, choice: Choice) -> StructuredPerceptron:
    settings: dict[str, Any] = {} if choice.max_iter is None else {"max_iter": choice.max_iter}
    return StructuredPerceptron(**_shared(data, choice), random_state=choice.seed, **settings)


def _ssvm(data: FileData, choice: Choice) -> StructuredSVM:
    kernel = None if choice.kernel is None and choice.gamma is None else _kernel(data, choice)
    settings = _shared(data, choice) | _search(choice) | {"random_state": choice.seed}
    return StructuredSVM(kernel, penalty=_positive_penalty("ssvm", choice), **settings)


def _hmm(data: FileData, choice: Choice) -> HMM:
    """Return an HMM over the words of the first column, unknown ones by shape and ending; or Gaussians."""
    if data.is_sparse and not data.is_text:
        raise InputError("hmm takes words or numbers, not dictionaries of features; choose crf, say.")
    emissions = Categorical(unknown=UnknownWords()) if data.is_text else DiagonalGaussian()
    settings: dict[str, Any] = {"constraints": constraints_of(data, choice), "random_state": choice.seed}
    return HMM(emissions, **settings, **_search(choice))


def _boosted(data: FileData, choice: Choice) -> BoostedCRF:
    if data.is_sparse:
        raise InputError("boosted takes numbers, not tokens; choose crf, say.")
    settings: dict[str, Any] = {"constraints": constraints_of(data, choice), "random_state": choice.seed}
    settings |= _structure(data, choice)
    max_iter = 100 if choice.max_iter is None else choice.max_iter
    return BoostedCRF(max_iter, penalty=_penalty(choice), **settings)


MODELS: Mapping[str, Callable[[FileData, Choice], Any]] = {
    "crf": _crf,
    "kernel-crf": _kernel_crf,
    "gp": _gp,
    "ssvm": _ssvm,
    "perceptron": _perceptron,
    "hmm": _hmm,
    "boosted": _boosted,
}


KERNELS = ("kernel-crf", "gp", "ssvm")
UNPENALISED = ("gp", "perceptron", "hmm")
WITHOUT_WINDOWS = ("hmm", "boosted")
"""Models that get no windows unasked: Gaussians would take neighbours for independent, trees need no more."""
CHAINS = ("hmm",)
"""Models that have no other structure."""
COMPLETE = ("ssvm", "perceptron")
"""Models that learn from sequences only whose labels are all known."""
_SEARCH = ("tol", "max_iter")
_SIGNALS = ("scale", "window", "decoder")
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "crf": ("penalty", "features", "clusters", "constraints", *_SEARCH, *_SIGNALS),
    "kernel-crf": (
        "penalty",
        "kernel",
        "gamma",
        "basis",
        "features",
        "clusters",
        "constraints",
        *_SEARCH,
        *_SIGNALS,
    ),
    "gp": ("penalty", "kernel", "gamma", "features", "clusters", *_SEARCH, *_SIGNALS),
    "ssvm": ("penalty", "kernel", "gamma", "features", "clusters", "constraints", *_SEARCH, *_SIGNALS),
    "perceptron": ("features", "clusters", "constraints", "max_iter", *_SIGNALS),
    "hmm": ("constraints", *_SEARCH, *_SIGNALS),
    "boosted": ("penalty", "constraints", "max_iter", *_SIGNALS),
}
"""Fields of `Choice` that a model understands."""


def _penalty(choice: Choice, usual: float = 1.0) -> float:
    return usual if choice.penalty is None else choice.penalty


def _positive_penalty(name: str, choice: Choice) -> float:
    penalty = _penalty(choice)
    if not penalty > 0:
        raise InputError(f"--penalty {penalty:g} is not for {name}, whose penalty must be positive.")
    return penalty


def _shared(data: FileData, choice: Choice) -> dict[str, Any]:
    return {
        "features": features_of(data, choice.features, choice.clusters),
        "constraints": constraints_of(data, choice),
    } | _structure(data, choice)


def _structure(data: FileData, choice: Choice) -> dict[str, Any]:
    return {"structure": name_for(data, choice.structure)}


def constraints_of(data: FileData, choice: Choice) -> str | None:
    """Return the rules about labels that a user named, or those of entities that all labels obey.

    Entities are spans of sequences: labels of trees get no rules unasked.
    """
    constraints = choice.constraints
    if constraints is None and data.structure == "chain" and has_entities(data.known):
        constraints = next((name for name, rule in CONSTRAINTS.items() if rule.obeyed_by(data.labels)), None)
    return None if constraints == "none" else constraints


def _search(choice: Choice) -> dict[str, Any]:
    given = {"tol": choice.tol, "max_iter": choice.max_iter}
    return {name: value for name, value in given.items() if value is not None}


def _kernel(data: FileData, choice: Choice) -> Kernel:
    """Return a kernel of degree 2 for symbolic features, a Gaussian one for numbers."""
    name = choice.kernel or ("polynomial" if data.is_sparse else "rbf")
    if name == "rbf" and choice.gamma is not None:
        return RBF(gamma=choice.gamma)
    if choice.gamma is not None:
        raise InputError(f"--gamma is for the rbf kernel, not for {name}; add --kernel rbf.")
    if name == "polynomial":
        return Polynomial(degree=2)
    return as_kernel(name)
