"""Constraints: rules about which labels may follow one another, start or end a sequence."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ._base import Forbidden, Rule
    from .merging import merged_marginals
    from .named import Constraints
    from .owned import OwnedRule
    from .rewriting import rewritten
    from .runs import RunParts
    from .tags import BILOU, BMES, IOB2, IOBES, TagScheme
    from .topologies import Cyclic, LeftRight
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_base": "Forbidden Rule",
            "merging": "merged_marginals",
            "named": "Constraints",
            "owned": "OwnedRule",
            "rewriting": "rewritten",
            "runs": "RunParts",
            "tags": "BILOU BMES IOB2 IOBES TagScheme",
            "topologies": "Cyclic LeftRight",
        },
    )

__all__ = [
    "BILOU",
    "BMES",
    "IOB2",
    "IOBES",
    "Constraints",
    "Cyclic",
    "Forbidden",
    "LeftRight",
    "OwnedRule",
    "Rule",
    "RunParts",
    "TagScheme",
    "merged_marginals",
    "rewritten",
]
