"""Estimators that say which arguments they want to be given, and which they lack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from ..routing import MetadataRequests
from .run import refuse_lacking


class Routed(MetadataRequests):
    """An estimator that takes part in metadata routing, and refuses options that it lacks."""

    _lacks: ClassVar[Mapping[str, str]] = {}
    """Options that most estimators have and this one has not: settings and arguments of `fit`, and why."""

    def __new__(cls, *_: Any, **settings: Any) -> Self:
        """Refuse settings that it lacks in a sentence of its own, before Python does."""
        refuse_lacking(cls, settings)
        return super().__new__(cls)
