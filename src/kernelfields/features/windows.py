"""Windows: every frame together with its neighbours, by a function or a transformer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..arrays import Array
from ..checks import require_number, require_unmasked, require_whole, shown
from ..errors import InputError
from ..memory import require_memory
from ._transformer_base import SequenceTransformer
from .stacking import StackedRows


def stack_windows(
    sequences: Sequence[Any],
    width: int,
    *,
    stride: int = 1,
    weights: npt.ArrayLike | None = None,
    padding: str | float = 0.0,
) -> list[Any]:
    """Return the window around every position, (x_{t−hs}, …, x_{t−s}, x_t, x_{t+s}, …, x_{t+hs}).

    Here h = (width − 1)/2 and s is the stride. Every position has a window, so that labels do not change.

    Parameters
    ----------
    sequences : list of (T, D) arrays or scipy-sparse matrices
        Frames.
    width : int
        Number of frames in a window; odd.
    stride : int
        Distance between the frames of a window: with 2, windows skip every other frame and reach twice as
        far.
    weights : (width,) array, optional
        Factors of the frames of a window, for example smaller ones for distant frames; 1 if not given.
    padding : float or "edge"
        Values beyond the ends of a sequence: a number, NaN for models that treat it as missing, or "edge" to
        repeat the first and the last frame. Sparse matrices take 0 or "edge".

    Returns
    -------
    list of (T, width·D) arrays, or CSR matrices where the frames are sparse
        Of the type of the frames, if it can hold weights and padding.

    Examples
    --------
    >>> frames = np.array([[1.0], [2.0], [3.0]])
    >>> stack_windows([frames], 3)[0]
    array([[0., 1., 2.],
           [1., 2., 3.],
           [2., 3., 0.]])
    >>> stack_windows([frames], 3, weights=[0.5, 1.0, 0.5], padding="edge")[0]
    array([[0.5, 1. , 1. ],
           [0.5, 2. , 1.5],
           [1. , 3. , 1.5]])
    """
    if require_whole("width", width) % 2 == 0:
        raise InputError(f"width is {width}; it must be odd.")
    require_whole("stride", stride, 1, 2**31 - 1)
    _require_padding(padding)
    frames = [_frames(x, s) for s, x in enumerate(sequences)]
    require_memory(f"A width of {width}", width * (8 + sum(8 * x.shape[0] * x.shape[1] for x in frames)))
    factors = None if weights is None else _factors(weights, width)
    steps = stride * (np.arange(width) - width // 2)
    return [_windows(x, steps, factors, padding) for x in frames]


def _require_padding(padding: Any) -> None:
    if (isinstance(padding, str) and padding == "edge") or (isinstance(padding, float) and np.isnan(padding)):
        return
    try:
        require_number("padding", padding)
    except InputError as error:
        message = f"padding is {shown(padding)}; it must be a finite number, NaN or 'edge'."
        raise InputError(message) from error


def _factors(weights: npt.ArrayLike, width: int) -> Array:
    require_unmasked(weights, "The list of weights", "write 0 for what is not to count")
    try:
        factors = np.asarray(weights)
        if factors.dtype.kind not in "fiu":
            factors = factors.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"weights are not numbers: {error}.") from error
    if factors.shape != (width,) or not np.isfinite(factors).all():
        raise InputError(f"weights must be {width} finite numbers, one for every frame of a window.")
    return factors


def _frames(x: Any, s: int) -> Any:
    """Return one sequence as a matrix."""
    require_unmasked(x, f"Sequence {s}")
    frames = x.tocsr() if sparse.issparse(x) else np.asarray(x)
    if frames.ndim != 2:
        raise InputError(f"Sequence {s} has {frames.ndim} dimensions, expected 2: one frame per position.")
    return frames


def _windows(frames: Any, steps: Array, factors: Array | None, padding: str | float) -> Any:
    if sparse.issparse(frames):
        return _sparse_windows(frames, steps, factors, padding)
    T, D = frames.shape
    blank = 0.0 if padding == "edge" else float(padding)
    kind = frames.dtype if blank == 0 else np.result_type(frames.dtype, np.float32)
    result = np.full((T, len(steps), D), blank, dtype=kind)
    for k, ahead in enumerate(steps.tolist()):  # the frame at t + ahead goes to place k
        first, last = min(max(0, -ahead), T), max(min(T, T - ahead), 0)
        if first < last:
            result[first:last, k] = frames[first + ahead : last + ahead]
        if padding == "edge" and T:
            result[:first, k], result[last:, k] = frames[0], frames[-1]
    if factors is not None:
        result = result * factors[:, None].astype(np.result_type(kind, np.float32), copy=False)
    return result.reshape(T, len(steps) * D)


def _sparse_windows(frames: Any, steps: Array, factors: Array | None, padding: str | float) -> Any:
    """Select the rows of every place in the window; there are none beyond the ends."""
    if padding != "edge" and padding != 0:
        raise InputError(f"padding is {padding}; with sparse matrices it must be 0 or 'edge'.")
    T = frames.shape[0]
    if T == 0:
        return sparse.csr_matrix((0, len(steps) * frames.shape[1]), dtype=frames.dtype)
    places = []
    for k, ahead in enumerate(steps.tolist()):
        there = np.clip(np.arange(T) + ahead, 0, T - 1)
        kept = np.arange(T) if padding == "edge" else np.flatnonzero(there == np.arange(T) + ahead)
        ones = np.ones(len(kept), dtype=frames.dtype)
        rows = sparse.csr_matrix((ones, (kept, there[kept])), shape=(T, T)) @ frames
        places.append(rows if factors is None else rows * factors[k])
    return sparse.hstack(places, format="csr", dtype=frames.dtype if factors is None else None)


class Windows(SequenceTransformer):
    """Every position together with its neighbours, for pipelines: `stack_windows` as a transformer.

    Parameters
    ----------
    width : int
        Number of positions in a window; odd.
    stride : int
        Distance between the positions of a window.
    padding : float or "edge"
        Values beyond the ends of a sequence: a number, NaN, or "edge" to repeat the first and the last row.
    weights : (width,) array, optional
        Factors of the positions of a window; 1 if not given.

    Attributes
    ----------
    n_features_in_, feature_names_in_ : int, array or None
        Columns that it takes, and their names if they came in frames.

    Examples
    --------
    >>> windows = Windows(3, padding="edge")
    >>> windows.fit_transform([np.array([[1.0], [2.0]])])[0].tolist()
    [[1.0, 1.0, 2.0], [1.0, 2.0, 2.0]]
    >>> windows.get_feature_names_out(["x"]).tolist()
    ['x[-1]', 'x', 'x[1]']
    """

    in_time: ClassVar[bool] = True

    def __init__(
        self, width: int = 3, *, stride: int = 1, padding: str | float = 0.0, weights: Any = None
    ) -> None:
        self.width = width
        self.stride = stride
        self.padding = padding
        self.weights = weights

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the settings, and keep what columns there are."""
        self._stacked([])
        self._read(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> list[Any]:
        """Fit, and transform the same sequences."""
        return self.fit(X).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return names such as x[-1], x and x[1], the windows' places in order."""
        names = self._names_in(input_features)
        steps = [self.stride * (k - self.width // 2) for k in range(self.width)]
        return np.array(
            [f"{name}[{step}]" if step else name for step in steps for name in names], dtype=object
        )

    def _transformed(self, given: StackedRows) -> list[Any]:
        return self._stacked(given.split(given.rows))

    def _stacked(self, sequences: list[Any]) -> list[Any]:
        how = {"stride": self.stride, "weights": self.weights, "padding": self.padding}
        return stack_windows(sequences, self.width, **how)
