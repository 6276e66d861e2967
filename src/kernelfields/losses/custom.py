"""Losses of users that know nothing of class names and missing labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..missing import UNOBSERVED
from ..structures import StructureBatch
from ._base import Loss
from ._settings_base import LossSettings


class CustomLoss(ABC):
    """Settings of a loss of your own, for ``loss=`` of `CRF` and `KernelCRF`; usually a frozen dataclass."""

    @abstractmethod
    def bind(self, structure: StructureBatch, outputs: Array, weights: Array | None) -> Loss:
        """Return the loss of a training set, given its structure, flat outputs and instance weights."""


@dataclass(frozen=True)
class CustomSettings(LossSettings):
    """A user's loss, for which every label has to be observed."""

    custom: CustomLoss

    def bind(self, batch: StructureBatch, outputs: Array, *, classes: Array, weights: Array | None) -> Loss:
        """Return the loss of a training set."""
        name = type(self.custom).__name__
        missing = np.flatnonzero(outputs == UNOBSERVED)
        if len(missing):
            s = int(np.searchsorted(batch.output_offsets, missing[0], side="right")) - 1
            raise InputError(f"{name} needs every label, but {batch.words.item} {s} of y lacks some.")
        loss = self.custom.bind(batch, outputs, weights)
        if not isinstance(loss, Loss):
            raise InputError(f"bind() of {name} returned {type(loss).__name__}, expected a Loss.")
        return loss
