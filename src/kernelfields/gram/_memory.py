"""How much memory a Gram matrix may take."""

from __future__ import annotations

from ..checks import require_whole
from ..memory import available_memory

SHARE = 0.5
"""Of the available memory: what a Gram matrix may take if no limit is given."""


def memory_budget(limit: int | None) -> int:
    """Bytes that may be used: ``limit``, or ``SHARE`` of what is available."""
    return int(SHARE * available_memory()) if limit is None else require_whole("memory_limit", limit, 0)
