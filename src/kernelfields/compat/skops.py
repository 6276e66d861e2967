"""Fitted models through skops: which types a file may hold.

``skops.io.dump`` writes any fitted estimator; ``skops.io.load`` asks for the types that are trusted. Model
files of the library's own (`save`, `load`) are checked against damage, and need no such list.
"""

from __future__ import annotations

from ..estimators.registry import REGISTRY
from ..persistence.objects import full_name

TREES = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"
"""What scikit-learn's trees are made of, in `BoostedCRF`."""


def trusted_types() -> list[str]:
    """Return the names of all types that the models of this library are made of, for ``trusted=``.

    They are those that model files may hold, which only keep settings and numbers; functions as kernels or
    base measures are not among them.

    Examples
    --------
    >>> import skops.io
    >>> from kernelfields import CRF
    >>> from kernelfields.compat.skops import trusted_types
    >>> data = skops.io.dumps(CRF().fit([[[0.0], [1.0]]], [["a", "b"]]))
    >>> skops.io.loads(data, trusted=trusted_types()).predict([[[1.0]]])
    [['b']]
    """
    named = map(full_name, [*REGISTRY.recipes.values(), *(row.kind for row in REGISTRY.stored)])
    return sorted({*named, "numpy.dtype", TREES})
