"""The optional packages that servers need."""

from __future__ import annotations

from ..errors import InputError


def require_web(command: str) -> None:
    """Refuse a command whose packages are not installed."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise InputError(
            f"{command} needs the packages starlette and uvicorn, which are not installed: "
            'pip install "kernelfields[web]".'
        ) from None
