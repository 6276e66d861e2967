"""Pictures with matplotlib of fitted models and what they say: `pip install 'kernelfields[plot]'`.

Every function draws into ``ax``, or into a new figure if none is given, and returns the axes. Where a test is
needed, it takes a model with its test data, or an `Evaluation` of `kernelfields.report`, which labels them
once for all pictures.
"""

from .answered import answered
from .arcs import arcs
from .axes import STYLE
from .confusion import confusion
from .links import links
from .marginals import marginal_table, marginals
from .network import network
from .path import path
from .reliability import reliability
from .segmentation import segmentation
from .transitions import transitions

__all__ = [
    "STYLE",
    "answered",
    "arcs",
    "confusion",
    "links",
    "marginal_table",
    "marginals",
    "network",
    "path",
    "reliability",
    "segmentation",
    "transitions",
]
