"""Settings of a loss: what users give, and what makes the loss of a training set of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from ..arrays import Array
from ..errors import InputError
from ..structures import StructureBatch
from ._base import Loss


class LossSettings(ABC):
    """Settings of a loss, for ``loss=`` of `CRF` and `KernelCRF`; usually a frozen dataclass.

    All that estimators ask about a loss is here and in the `Loss` that `bind` returns. A loss that knows
    neither class weights nor costs nor missing labels is easier written as a `CustomLoss`.
    """

    learns_without_labels: ClassVar[bool] = False
    """Whether instances without labels count; other losses leave them out."""
    labelling_only: ClassVar[bool] = False
    """Whether it is about labels of vertices, and refuses other outputs."""
    unruled: ClassVar[str] = ""
    """Why it does not go with constraints; empty where it does."""

    @abstractmethod
    def bind(
        self,
        batch: StructureBatch,
        outputs: Array,
        *,
        classes: Array,
        weights: Array | None,
        class_weight: Any,
        cost: Any,
    ) -> Loss:
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
        class_weight, cost
            As users give them to the estimator; None if they do not. Refuse what has no meaning.
        """


def refuse_given(reason: str, **settings: Any) -> None:
    """Refuse the first of these settings that was given, with the reason."""
    for name, value in settings.items():
        if value is not None:
            raise InputError(f"{name} {reason}")
