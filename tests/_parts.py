"""Parts of models, for tests that give several the same penalty."""

from __future__ import annotations

from kernelfields import FreeScores


def free(penalty: float, *names: str) -> dict[str, FreeScores]:
    """Return free parts with this penalty by name."""
    return {name: FreeScores(penalty=penalty) for name in names}
