"""How much one request may ask for."""

from __future__ import annotations

from dataclasses import dataclass

from ..web.bodies import MEGABYTE


@dataclass(frozen=True)
class Limits:
    """What keeps one request from taking all the memory, or the others' time."""

    bytes: int = 4 * MEGABYTE
    """Of a body."""
    sequences: int = 10_000
    """In a request."""
    positions: int = 50_000
    """In all sequences of a request together."""
    longest: int = 10_000
    """Positions of one sequence."""
    nested: int = 250_000
    """Lists and objects in a body: while they are read, which may take a tenth of a second, no other thread
    runs."""
    numbers: int = 2_000_000
    """In an answer: probabilities of labels, or labels of k best labellings."""
    kbest: int = 100
    """Labellings of one sequence."""
    waiting: int = 256
    """Requests that wait to be answered; more are asked to come back."""
    large_waiting: int = 64
    """The same, of large requests."""
    dear_waiting: int = 16
    """The same, of requests that take long to answer."""
    small: int = 2**13
    """Bytes up to which a request is read with the small ones."""
    cheap: float = 0.02
    """Seconds up to which a request is answered with the small ones, as estimated."""
    piece: float = 0.1
    """Seconds of a piece of a large request; whether it is still wanted is looked at between two pieces."""
    seconds: float = 10.0
    """Time that the answer to a request may take, as estimated."""
    memory: int = 512 * MEGABYTE
    """Bytes of all requests under way together, as estimated, with answers that were not read yet."""
    patience: float = 10.0
    """Seconds after which a request that still waits is asked to come back."""


LARGEST = 1e30
"""Numbers beyond this, up or down, are mistakes, and sums of their squares would overflow."""
