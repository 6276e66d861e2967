"""Transformers and a model as one estimator, saved as one file."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from inspect import signature
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..arrays import Array, offsets_of
from ..checks import is_list, shown
from ..data.inputs import read_lengths
from ..data.types import (
    FittedModel,
    Groups,
    Items,
    Learner,
    Lengths,
    Outputs,
    SparseMatrix,
    Transformer,
    Weights,
)
from ..errors import InputError, ModelFormatError
from ..features.stacking import stack_rows
from ..fitting.run import Routed, starts_afresh
from ..models.labeller import Labels
from ..models.model import fitted_structure
from ..parameters import Parameterised
from ..persistence.fields import Field, Kind
from ..persistence.savable import Savable, no_fit, require_fitted
from ..structures import Structure
from ..tables import structure_of

if TYPE_CHECKING:
    from ..guarantees import Guarantee

STEPS = "transformers__"


class SequencePipeline(Routed, Savable):
    """Transformers of lists of arrays, and a model of what they return: one estimator, one model file.

    scikit-learn's ``Pipeline`` takes the same steps, but has only `predict` and `score` of sequence models,
    and cannot be saved without pickling. `of` makes a `SequencePipeline` of a fitted one.

    Parameters
    ----------
    transformers : list of transformers
        Applied in this order: `features.each(StandardScaler())`, `features.Windows`, `MissingValues` and the
        like; clones of them are fitted. ``transformers__0__width`` is a setting of the first in searches.
    estimator : estimator
        A model of sequences, which is given what the last transformer returns; for trees and graphs, with the
        links as they are.

    Attributes
    ----------
    classes_ : (L,) array
        Labels.
    transformers_ : list of transformers
        Fitted.
    estimator_ : estimator
        Fitted; `certificate_` and the like are its attributes.
    n_features_in_ : int
        Number of features that the first transformer takes.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelfields import CRF, SequencePipeline
    >>> from kernelfields.features import Windows, each
    >>> X = [[[100.0], [900.0], [800.0]], [[900.0], [200.0]]]
    >>> y = [["low", "high", "high"], ["high", "low"]]
    >>> model = SequencePipeline([each(StandardScaler()), Windows(3)], CRF(penalty=0.1)).fit(X, y)
    >>> model.predict([[[950.0], [50.0]]])
    [['high', 'low']]
    """

    _learnt: ClassVar[Mapping[str, Field]] = {
        "transformers_": Kind(list),
        "estimator_": Kind(Savable, large=True),
        "n_features_in_": Kind(int),
    }
    _lacks: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ["verbose", "warm_start", "checkpoint", "features", "decoder"], "it is a setting of estimator"
    )
    transformers_: list[Any]
    estimator_: Any
    n_features_in_: int

    def __init__(self, transformers: Sequence[Transformer], estimator: Learner) -> None:
        self.transformers = transformers
        self.estimator = estimator

    @classmethod
    def of(cls, pipeline: Any) -> Self:
        """Return scikit-learn's ``Pipeline`` as one of these, fitted if it is: to save it, for example."""
        steps = [step for _, step in pipeline.steps if step is not None and step != "passthrough"]
        *transformers, estimator = steps
        from sklearn.base import clone

        result = cls([clone(one) for one in transformers], clone(estimator))
        if hasattr(estimator, "classes_"):
            width = getattr((transformers or [estimator])[0], "n_features_in_", None)
            if width is None:
                raise InputError("The first step of the pipeline does not say how many features it takes.")
            result._have(list(transformers), estimator, width)
        return result

    @property
    def probabilistic(self) -> bool:
        """Whether the model's training makes probabilities."""
        return bool(getattr(vars(self).get("estimator_", self.estimator), "probabilistic", True))

    if not TYPE_CHECKING:  # else every name would pass for an attribute

        def __getattr__(self, name: str) -> Any:
            """Return what the estimator has learnt: ``certificate_``, ``structure_``, ``calibration_``."""
            try:
                return Savable.__getattr__(self, name)  # which waits for what a large file holds
            except AttributeError:
                fitted = vars(self).get("estimator_")
                if fitted is None or name.startswith("_") or not name.endswith("_"):
                    raise
                return getattr(fitted, name)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all settings; with ``deep`` also those of transformers, by number, and of the estimator."""
        result = Parameterised.get_params(self, deep)
        if deep and is_list(self.transformers):
            for n, one in enumerate(self.transformers):
                if hasattr(one, "get_params"):
                    result.update({f"{STEPS}{n}__{inner}": v for inner, v in one.get_params().items()})
        return result

    def set_params(self, **settings: object) -> Self:
        """Change settings: ``estimator__penalty``, ``transformers__0__width``."""
        steps = {key: settings.pop(key) for key in list(settings) if key.startswith(STEPS)}
        Parameterised.set_params(self, **settings)
        for key, value in steps.items():
            number, _, inner = key.removeprefix(STEPS).partition("__")
            if not number.isdigit() or int(number) >= len(self.transformers) or not inner:
                raise InputError(f"SequencePipeline has no {key!r}; it has {len(self.transformers)} steps.")
            self.transformers[int(number)].set_params(**{inner: value})
        return self

    @starts_afresh
    def fit(
        self,
        X: Items,
        y: Outputs | None = None,
        *,
        lengths: Lengths = None,
        sample_weight: Weights = None,
        groups: Groups = None,
        X_dev: Items | None = None,
        y_dev: Outputs | None = None,
        X_unlabelled: Items | None = None,
    ) -> Self:
        """Fit the transformers one after the other, and the estimator to what the last returns.

        Parameters
        ----------
        X : list of (T, D) arrays, or flat array
            Sequences, as the first transformer takes them.
        y : list of label sequences
            As the estimator takes them.
        lengths : sequence of int, optional
            Lengths of the sequences in a flat X.
        sample_weight : (S,) array, optional
            How many times each sequence counts, for the estimator.
        groups : (S,) array, optional
            Groups of sequences, for estimators with folds.
        X_dev, y_dev, X_unlabelled : optional
            Held-out and unlabelled sequences; the former as X, transformed by what was learnt from X.
        """
        self._require_steps()
        from sklearn.base import clone

        structure = structure_of(getattr(self.estimator, "structure", "chain"))
        items = SplitItems(structure, X, lengths)
        if structure.linked:
            _require_rowwise(self.transformers, structure)
        given_rows = stack_rows(items.sequences, "SequencePipeline", sparsely=True).rows
        if not given_rows.shape[0]:
            raise InputError("The training set is empty.")
        sequences, fitted = items.sequences, []
        for transformer in self.transformers:
            fitted.append(clone(transformer))
            sequences = fitted[-1].fit(sequences, y).transform(sequences)
        given = {
            "sample_weight": sample_weight,
            "groups": groups,
            "X_dev": None if X_dev is None else SplitItems(structure, X_dev, None).through(fitted),
            "y_dev": y_dev,
            "X_unlabelled": None
            if X_unlabelled is None
            else SplitItems(structure, X_unlabelled, None).through(fitted),
            **items.lengths,
        }
        options = _taken(self.estimator, given)
        model = clone(self.estimator).fit(items.joined(sequences), y, **options)
        self._have(fitted, model, int(given_rows.shape[1]))
        return self

    def predict(self, X: Items, *, lengths: Lengths = None, **settings: object) -> Labels:
        """Label sequences, as the estimator does, with its options: ``allowed``, ``decoder``, ``abstain``."""
        result: Labels = self._ask("predict", X, lengths, **settings)
        return result

    def predict_marginals(self, X: Items, *, lengths: Lengths = None, **settings: object) -> list[Array]:
        """Return p(y_t|x): a (T, L) array per sequence, columns as in ``classes_``."""
        result: list[Array] = self._ask("predict_marginals", X, lengths, **settings)
        return result

    def predict_kbest(self, X: Items, k: int, *, lengths: Lengths = None, **settings: object) -> list[Any]:
        """Return the k best labellings of every sequence with log p(y|x)."""
        result: list[Any] = self._ask("predict_kbest", X, lengths, k, **settings)
        return result

    def predict_sets(self, X: Items, *, lengths: Lengths = None, **settings: object) -> list[Any]:
        """Return sets of labels that hold the right one as often as promised; needs `calibrate`."""
        result: list[Any] = self._ask("predict_sets", X, lengths, **settings)
        return result

    def sequence_log_proba(self, X: Items, y: Outputs, *, lengths: Lengths = None) -> Array:
        """Log p(y|x) of whole labellings."""
        result: Array = self._ask("sequence_log_proba", X, lengths, y)
        return result

    def sample(self, X: Items, n: int = 1, *, lengths: Lengths = None) -> list[Labels]:
        """Draw n labellings of every sequence from p(y|x)."""
        result: list[Labels] = self._ask("sample", X, lengths, n)
        return result

    def score(self, X: Items, y: Outputs, *, lengths: Lengths = None, sample_weight: Weights = None) -> float:
        """Return the share of positions labelled right; each sequence counts ``sample_weight`` times."""
        return float(self._ask("score", X, lengths, y, sample_weight=sample_weight))

    def calibrate(self, X: Items, y: Outputs, *, lengths: Lengths = None, **settings: object) -> Self:
        """Keep what held-out sequences show of errors, for ``predict(..., error_at_most=)``."""
        self._ask("calibrate", X, lengths, y, **settings)
        return self

    def recalibrate(self, X: Items, y: Outputs, *, lengths: Lengths = None, **settings: object) -> Self:
        """Rescale all scores so that held-out labels are as probable as they can be."""
        self._ask("recalibrate", X, lengths, y, **settings)
        return self

    def guarantees(self, *args: object, **settings: object) -> dict[Hashable, Guarantee]:
        """Return what can be promised of errors, after `calibrate`."""
        return self._asked().guarantees(*args, **settings)

    def transform(self, X: Items, *, lengths: Lengths = None) -> Sequence[Any] | Array | SparseMatrix:
        """Return what the estimator is given of X."""
        return self._given(X, lengths)[0]

    def _asked(self) -> Any:
        if not hasattr(self, "classes_"):
            raise no_fit(self)
        return self.estimator_

    def _ask(self, method: str, X: Items, lengths: Lengths, /, *args: object, **settings: object) -> Any:
        model = self._asked()
        question: Callable[..., Any] | None = getattr(model, method, None)
        if question is None:
            raise InputError(f"{type(model).__name__} has no {method}.")
        seen, how = self._given(X, lengths)
        return question(seen, *args, **how, **settings)

    def _given(self, X: Items, lengths: Lengths) -> tuple[Any, dict[str, Any]]:
        """Return what the estimator sees, with the lengths that go with it."""
        items = SplitItems(fitted_structure(self._asked()), X, lengths)
        return items.through(self.transformers_), items.lengths

    def _have(self, transformers: list[Any], estimator: FittedModel, width: int) -> None:
        self.transformers_, self.estimator_ = transformers, estimator
        self.classes_, self.n_features_in_ = estimator.classes_, width

    def _require_steps(self) -> None:
        if not isinstance(self.transformers, list | tuple):
            raise InputError(f"transformers is {shown(self.transformers)}; it must be a list.")
        for n, one in enumerate(self.transformers):
            if isinstance(one, type) or not all(hasattr(one, name) for name in ("fit", "transform")):
                raise InputError(f"transformers[{n}] is {shown(one)}, which has no fit and transform.")
            if hasattr(one, "_validate_params") and not hasattr(one, "steps"):
                name = type(one).__name__
                raise InputError(f"{name} takes rows, not lists of arrays: wrap it, each({name}()).")
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit"):
            raise InputError(f"estimator is {shown(self.estimator)}; it must be a model of sequences.")

    def _state(self) -> dict[str, Any]:
        require_fitted(self)
        if not isinstance(self.estimator_, Savable):
            raise InputError(f"{type(self.estimator_).__name__} is none of the estimators that can be saved.")
        return super()._state()

    def _rehearse(self) -> None:
        """Send one row through the transformers, and no sequence through the estimator."""
        require_fitted(self.estimator_)
        rows = [np.zeros((1, self.n_features_in_))]
        for transformer in self.transformers_:
            rows = transformer.transform(rows)
        width = getattr(self.estimator_, "n_features_in_", None)
        if (
            width is not None
            and getattr(self.estimator_, "features_", None) is None
            and width != rows[0].shape[1]
        ):
            raise ModelFormatError(f"The transformers make {rows[0].shape[1]} features of {width}.")


def _require_rowwise(transformers: Sequence[Transformer], structure: Structure) -> None:
    for one in transformers:
        if getattr(one, "in_time", False):
            kind = type(structure).__name__
            raise InputError(f"{type(one).__name__} is for sequences in time, which {kind} has not.")


def _taken(estimator: Learner, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given; refuse those that the estimator does not take."""
    accepted = signature(estimator.fit).parameters
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in accepted:
            raise InputError(f"{name} cannot be had: {type(estimator).__name__}.fit does not take it.")
    return options


class SplitItems:
    """X as users give it: sequences for transformers, and what goes with them."""

    def __init__(self, structure: Structure, X: Items, lengths: Lengths) -> None:
        self._structure = structure
        given, self._links = structure.split(X, lengths)
        self.lengths: dict[str, Any] = {} if lengths is None else {"lengths": lengths}
        self.sequences: Sequence[Any] = given if lengths is None else _cut(given, lengths)

    def through(self, transformers: Iterable[Transformer]) -> Sequence[Any] | Array | SparseMatrix:
        """Return what transformers make of the sequences, with what went with them."""
        sequences = self.sequences
        for transformer in transformers:
            sequences = transformer.transform(sequences)
        return self.joined(sequences)

    def joined(self, sequences: Sequence[Any]) -> Sequence[Any] | Array | SparseMatrix:
        """Return sequences with links, or one below the other if they came with lengths."""
        if self._links is not None:
            return [self._structure.item(x, link) for x, link in zip(sequences, self._links, strict=True)]
        return stack_rows(sequences, "A model", sparsely=True).rows if self.lengths else sequences


def _cut(X: Any, lengths: Lengths) -> list[Any]:
    offsets = offsets_of(read_lengths(lengths))
    rows = X.tocsr() if hasattr(X, "tocsr") else X
    if offsets[-1] != rows.shape[0]:
        raise InputError(f"lengths add up to {offsets[-1]}, but X has {rows.shape[0]} rows.")
    return [rows[a:b] for a, b in pairwise(offsets.tolist())]
