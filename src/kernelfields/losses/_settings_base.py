"""Settings of a loss: what users give, and what makes the loss of a training set of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ..arrays import Array
from ..checks import Check, Checked, optional
from ..structures import StructureBatch
from ._base import Loss
from .class_weights import ClassWeight, require_class_weight


class LossSettings(ABC):
    """Settings of a loss, for ``loss=`` of `CRF` and `KernelCRF`; usually a frozen dataclass.

    All that estimators ask about a loss is here and in the `Loss` that `bind` returns. A loss that knows
    nothing of class names and missing labels is easier written as a `CustomLoss`.
    """

    learns_without_labels: ClassVar[bool] = False
    """Whether instances without labels count; other losses leave them out."""
    labelling_only: ClassVar[bool] = False
    """Whether it is about labels of vertices, and refuses other outputs."""
    unruled: ClassVar[str] = ""
    """Why it does not go with constraints; empty where it does."""

    class_weight: ClassWeight = None
    """Weights of labels, where a field of the settings: for structures that label vertices."""

    @abstractmethod
    def bind(self, batch: StructureBatch, outputs: Array, *, classes: Array, weights: Array | None) -> Loss:
        """Return the loss of a training set.

        Parameters
        ----------
        batch : StructureBatch
            Its structure.
        outputs : integers
            What was observed, flat: indices into the classes, −1 where a label is missing.
        classes : (L,) array
            The labels.
        weights : (S,) array or None
            How many times each instance counts.
        """


@dataclass(frozen=True)
class ClassWeighted(Checked, LossSettings):
    """Settings of a loss in which some labels count more than others.

    Parameters
    ----------
    class_weight : dict or "balanced", optional
        Weights of labels; "balanced" means inverse frequencies.
    """

    class_weight: ClassWeight = field(default=None, kw_only=True)
    _checks: ClassVar[Mapping[str, Check]] = {"class_weight": optional(require_class_weight)}
