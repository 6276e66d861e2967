"""Max-margin problems, instance by instance: the duals of hinge losses."""

from .block_dual import BlockDual, Plane, Reached

__all__ = ["BlockDual", "Plane", "Reached"]
