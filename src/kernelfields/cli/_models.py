"""The models that ``kf`` trains, with defaults that suit the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..emissions import Categorical, DiagonalGaussian, UnknownWords
from ..errors import InputError
from ..estimators import (
    CRF,
    HMM,
    BoostedCRF,
    GPSequenceClassifier,
    KernelCRF,
    StructuredPerceptron,
    StructuredSVM,
)
from ..estimators._tables import CONSTRAINTS
from ..features import TemplateFeatures
from ..features.sets import chunking, ner, pos
from ..kernels import RBF, Kernel, Polynomial, as_kernel
from ..metrics import has_entities
from ..selection import Nystroem
from ._data import Data

DENSE_LIMIT = 15_000
"""Positions up to which a kernel model expands over all of them."""
BASIS = 1000
"""Basis functions beyond that."""


@dataclass(frozen=True)
class Choice:
    """What a user said about the model; None where nothing was said."""

    penalty: float | None = None
    kernel: str | None = None
    gamma: float | None = None
    features: str | None = None
    constraints: str | None = None
    basis: int | None = None
    tol: float | None = None
    max_iter: int | None = None
    seed: int = 0


def build(name: str, data: Data, choice: Choice) -> Any:
    """Give an unfitted model."""
    if name not in MODELS:
        raise InputError(f"There is no model {name!r}; choose one of {', '.join([*MODELS, 'auto'])}.")
    return MODELS[name](data, choice)


def _crf(data: Data, choice: Choice) -> CRF:
    settings = _shared(data, choice) | _search(choice) | {"penalty": choice.penalty or 1.0}
    return CRF(**settings, observed_only=data.is_sparse)


def _kernel_crf(data: Data, choice: Choice) -> KernelCRF:
    large = choice.basis is not None or data.n_positions > DENSE_LIMIT
    approximation = Nystroem(choice.basis or BASIS) if large else None
    settings = _shared(data, choice) | _search(choice) | {"random_state": choice.seed}
    penalty = choice.penalty or (1.0 if data.is_sparse else 0.1)
    return KernelCRF(_kernel(data, choice), penalty, approximation=approximation, **settings)


def _gp(data: Data, choice: Choice) -> GPSequenceClassifier:
    settings: dict[str, Any] = {"features": features_of(data, choice.features)} | _search(choice)
    return GPSequenceClassifier(_kernel(data, choice) * (1.0 / (choice.penalty or 1.0)), **settings)


def _perceptron(data: Data, choice: Choice) -> StructuredPerceptron:
    settings: dict[str, Any] = {"epochs": choice.max_iter} if choice.max_iter else {}
    return StructuredPerceptron(
        features=features_of(data, choice.features), random_state=choice.seed, **settings
    )


def _ssvm(data: Data, choice: Choice) -> StructuredSVM:
    kernel = None if choice.kernel is None and choice.gamma is None else _kernel(data, choice)
    settings = _shared(data, choice) | _search(choice) | {"random_state": choice.seed}
    return StructuredSVM(kernel, choice.penalty or 1.0, **settings)


def _hmm(data: Data, choice: Choice) -> HMM:
    """Words of the first column, unknown ones by their shapes and endings; or Gaussians."""
    if data.is_sparse and not data.is_text:
        raise InputError("hmm takes words or numbers, not dictionaries of features; choose crf, say.")
    if choice.features is not None:
        raise InputError("--features is not for hmm, which looks at the words themselves.")
    emissions = Categorical(unknown=UnknownWords()) if data.is_text else DiagonalGaussian()
    settings: dict[str, Any] = {"constraints": constraints_of(data, choice), "random_state": choice.seed}
    return HMM(emissions, **settings, **_search(choice))


def _boosted(data: Data, choice: Choice) -> BoostedCRF:
    if data.is_sparse:
        raise InputError("boosted takes numbers, not tokens; choose crf, say.")
    settings: dict[str, Any] = {"constraints": constraints_of(data, choice), "random_state": choice.seed}
    return BoostedCRF(choice.max_iter or 100, penalty=choice.penalty or 1.0, **settings)


MODELS: Mapping[str, Callable[[Data, Choice], Any]] = {
    "crf": _crf,
    "kernel-crf": _kernel_crf,
    "gp": _gp,
    "ssvm": _ssvm,
    "perceptron": _perceptron,
    "hmm": _hmm,
    "boosted": _boosted,
}


def _shared(data: Data, choice: Choice) -> dict[str, Any]:
    return {
        "features": features_of(data, choice.features),
        "constraints": constraints_of(data, choice),
    }


def constraints_of(data: Data, choice: Choice) -> str | None:
    """Give the rules about labels that a user named, or those of entities that all labels obey."""
    constraints = choice.constraints
    if constraints is None and has_entities(chain(*data.labels)):
        constraints = next((name for name, rule in CONSTRAINTS.items() if rule.obeyed_by(data.labels)), None)
    return None if constraints == "none" else constraints


def _search(choice: Choice) -> dict[str, Any]:
    given = {"tol": choice.tol, "max_iter": choice.max_iter}
    return {name: value for name, value in given.items() if value is not None}


def _kernel(data: Data, choice: Choice) -> Kernel:
    """Degree 2 where features are words and the like, Gaussian where they are numbers."""
    name = choice.kernel or ("polynomial" if data.is_sparse else "rbf")
    if name == "rbf":
        return RBF(gamma=choice.gamma or typical_gamma(data))
    if name == "polynomial":
        return Polynomial(degree=2)
    return as_kernel(name)


def typical_gamma(data: Data) -> float:
    """1 / (D · variance), as in scikit-learn's SVC."""
    if data.is_sparse:
        return 0.01
    X = np.concatenate([np.asarray(x) for x in data.inputs])
    variance = float(np.nanvar(X))
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def features_of(data: Data, given: str | None) -> Any:
    """Give what to look at in tokens: a named set, a file of templates; None for numbers and dictionaries."""
    if not data.is_text:
        if given is not None:
            raise InputError("--features is for tokens; these data have numbers or features already.")
        return None
    if given is None:
        given = "ner" if has_entities(chain(*data.labels)) else "pos"
    if given == "ner":
        return TemplateFeatures(ner(pos=data.n_columns > 1), dtype=np.float32)
    sets = {"pos": pos, "chunking": chunking}
    if given in sets:
        return TemplateFeatures(sets[given](), dtype=np.float32)
    path = Path(given)
    if not path.is_file():
        raise InputError(f"--features {given}: neither a file of templates nor one of ner, pos, chunking.")
    return TemplateFeatures(path.read_text(encoding="utf-8"), dtype=np.float32)
