"""Sizes of files as people write them."""

from __future__ import annotations


def size_of(count: int) -> str:
    """Return a number of bytes in words: 812 bytes, 13 kB, 0.4 MB, 2.1 GB."""
    if count < 1000:
        return f"{count} bytes"
    if count < 100_000:
        return f"{count / 1e3:.0f} kB"
    return f"{count / 1e6:.1f} MB" if count < 1e9 else f"{count / 1e9:.1f} GB"
