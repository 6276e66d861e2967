"""Attributes that several estimators learn, as they are declared for files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..features import DictFeatures, TemplateFeatures
from ..kernels import Kernel
from ..objective import Certificate
from ..selection import FourierMap
from ._features import Verbatim
from ._provenance import Provenance
from ._saving_fields import Field, Kind, Numbers, Observations, Rules, Sizes
from ._vertex_kernels import VertexKernels

LABELLER: Mapping[str, Field] = {
    "n_features_in_": Kind(int),
    "feature_names_in_": Numbers("D", kinds="OU", needed=False),
    "features_": Kind((TemplateFeatures, DictFeatures, Verbatim), needed=False, large=True),
    "forbidden_": Rules(),
    "certificate_": Kind(Certificate, needed=False),
    "mismatch_": Kind(dict, needed=False),
    "n_iter_": Kind(int, needed=False),
    "stop_reason_": Kind(str, needed=False),
    "provenance_": Kind(Provenance, needed=False),
}
"""Of all that label sequences."""

FREE: Mapping[str, Field] = {
    "intercept_": Numbers("L"),
    "start_": Numbers("L"),
    "end_": Numbers("L"),
    "transitions_": Numbers("L L"),
    "second_order_": Numbers("L L L", needed=False),
}
"""Weights that look at labels only."""

LINEAR: Mapping[str, Field] = {
    **LABELLER,
    **FREE,
    "coef_": Numbers("L D", sparsely=True),
    "edge_coef_": Numbers("L L D", needed=False),
}
"""Of linear chains."""

ONLINE: Mapping[str, Field] = {**LINEAR, "losses_": Kind(list)}
"""Of linear chains that learn sequence by sequence."""


@dataclass(frozen=True)
class LabelKernels(Field):
    """Kernels of vertices, for labels that there are."""

    needed: bool = True
    large: bool = True

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if it is none, or names labels that are none."""
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


@dataclass(frozen=True)
class RandomFeatures(Field):
    """Random features, as many as coefficients."""

    needed: bool = False
    large: bool = True

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if they are of another size."""
        if not isinstance(value, FourierMap):
            return "is no map of observations"
        expected = (value.size, value.frequencies.shape[1])
        found = (sizes.setdefault("n", value.size), sizes.setdefault("D", expected[1]))
        return "" if found == expected else f"has size {expected}, expected {found}"


KERNEL: Mapping[str, Field] = {
    **LABELLER,
    **FREE,
    "basis_": Observations(),
    "basis_origin_": Numbers("n 2", kinds="i", needed=False),
    "dual_coef_": Numbers("n L"),
    "edge_dual_coef_": Numbers("n L L", needed=False),
    "kernel_": Kind((Kernel, dict), large=True),
    "edge_kernel_": Kind(Kernel, needed=False, large=True),
    "_kernels": LabelKernels(),
    "fourier_": RandomFeatures(),
    "certificate_space_": Kind(str, needed=False),
}
"""Of kernel models."""
