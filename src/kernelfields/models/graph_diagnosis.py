"""Graph kernels, and whether their graphs know about the labels of a training set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..data.training import Training
from ..graphs import Diagnosis, warn_of_uninformative
from ..graphs.permutations import agreement_test
from ..kernels import Kernel, SpectralKernel
from ..observations import take

FEWEST = 20
"""Labels below which chance is not told from anything."""

MOST = 300
"""Labels that are looked at: all pairs of them are compared."""

PERMUTATIONS = 199


def warn_of_graphs(kernel: Any, training: Training, seed: int = 0) -> None:
    """Warn of each graph kernel under which close observations agree in labels no more than by chance.

    ``kernel`` is what `KernelRecipe.on` made of a user's. Looked at are up to 300 labelled observations.
    """
    labels = training.encoded.labels
    if not training.structure.labelling or len(labels) != training.inputs.features.shape[0]:
        return
    random = np.random.default_rng(seed)
    known = np.flatnonzero(labels >= 0)
    if len(known) < FEWEST or len(np.unique(labels[known])) < 2:
        return
    some = np.sort(random.permutation(known)[:MOST])
    if len(np.unique(labels[some])) < 2:
        return
    for graph_kernel in spectral_kernels(kernel):
        features = graph_kernel.features(take(training.inputs.features, some))
        test = agreement_test(close_by(features), labels[some], PERMUTATIONS, random)
        pairs = len(some) * (len(some) - 1) // 2
        warn_of_uninformative(Diagnosis(len(some), pairs, 0, 0, test))


def close_by(features: Array) -> Any:
    """Return the weights of pairs of observations: how much closer they are than others are, or 0."""
    centred = features - features.mean(axis=0)
    values = np.maximum(centred @ centred.T, 0.0)
    np.fill_diagonal(values, 0.0)
    return sparse.csr_matrix(values)


def spectral_kernels(kernel: Any) -> Iterator[SpectralKernel]:
    """Yield the graph kernels that a kernel, or several, are made of."""
    if isinstance(kernel, SpectralKernel):
        yield kernel
    elif isinstance(kernel, Kernel):
        for part in kernel.get_params(deep=False).values():
            yield from spectral_kernels(part)
    elif isinstance(kernel, list | tuple):
        for part in kernel:
            yield from spectral_kernels(part)
    elif isinstance(kernel, dict):
        yield from spectral_kernels(list({id(one): one for one in kernel.values()}.values()))
