"""Templates of dependency parsers, and trees without crossing arcs."""

from __future__ import annotations

from collections.abc import Sequence

WORDS = """
columns: w u x
cliques: arcs
distance
w[h]
w[m]
w[h] & direction
w[m] & direction
w[h] & distance
w[m] & distance
w[h] & w[m]
w[h] & w[m] & direction
lower(w[h]) & lower(w[m])
suffix3(w[h]) & suffix3(w[m]) & direction
suffix2(w[h]) & suffix2(w[m])
cluster4(w[h]) & cluster4(w[m]) & distance
cluster6(w[h]) & cluster6(w[m]) & direction
cluster10(w[h]) & cluster10(w[m])
cluster6(w[h]) & w[m]
w[h] & cluster6(w[m])
w[h] & w[m-1]
w[h] & w[m+1]
"""

TAGS = """
t[h] & distance
t[m] & distance
w[h] & t[h] & direction
w[m] & t[m] & direction
t[h] & t[m]
t[h] & t[m] & direction
t[h] & t[m] & distance
w[h] & t[m]
w[h] & t[m] & direction
w[h] & t[m] & distance
t[h] & w[m]
t[h] & w[m] & direction
t[h] & w[m] & distance
w[h] & t[h] & t[m] & direction
t[h] & w[m] & t[m] & direction
w[h] & t[h] & w[m] & t[m] & direction
cluster6(w[h]) & t[m] & direction
t[h] & cluster6(w[m]) & direction
suffix3(w[h]) & t[m] & direction
t[h] & suffix3(w[m]) & direction
t[h] & between(t) & t[m] & direction
t[h] & between(t) & t[m] & distance
t[h] & t[h+1] & t[m-1] & t[m] & direction
t[h-1] & t[h] & t[m-1] & t[m] & direction
t[h] & t[h+1] & t[m] & t[m+1] & direction
t[h-1] & t[h] & t[m] & t[m+1] & direction
t[h] & t[m-1] & t[m] & direction
t[h] & t[m] & t[m+1] & direction
t[h-1] & t[h] & t[m] & direction
t[h] & t[h+1] & t[m] & direction
t[h] & t[m-1] & t[m] & distance
t[h] & t[m] & t[m+1] & distance
t[h-1] & t[h] & t[h+1] & t[m] & direction
t[h] & t[m-1] & t[m] & t[m+1] & direction
t[h] & t[m] & t[m+1] & t[m+2] & direction
t[h] & t[m-2] & t[m-1] & t[m] & direction
"""

BOTH = """
u[h] & x[m] & distance
x[h] & u[m] & distance
between(u) & u[m] & direction
u[h] & between(u) & direction
w[h] & between(u) & direction
between(w) & u[h] & u[m]
"""

ARCS = (
    WORDS
    + TAGS.replace("t[", "u[").replace("(t)", "(u)")
    + TAGS.replace("t[", "x[").replace("(t)", "(x)")
    + BOTH
)
"""Words, both tags, clusters and spelling, in between and around [mcdonald2005online]."""

SIBLINGS = """
columns: w u x
cliques: siblings
u[s] & u[m] & direction
x[s] & x[m] & direction
u[s] & u[m] & distance
u[h] & u[s] & u[m] & direction
x[h] & x[s] & x[m] & direction
x[h] & x[s] & x[m] & distance
w[h] & u[s] & u[m] & direction
x[h] & w[s] & x[m] & direction
x[h] & x[s] & w[m] & direction
w[h] & x[s] & x[m] & direction
w[s] & w[m] & direction
w[s] & x[m] & direction
x[s] & w[m] & direction
w[h] & w[s] & x[m]
w[h] & x[s] & w[m]
cluster6(w[h]) & cluster6(w[s]) & cluster6(w[m]) & direction
cluster6(w[s]) & cluster6(w[m]) & direction
cluster4(w[h]) & cluster4(w[s]) & cluster4(w[m]) & direction
"""
"""Neighbouring words of one head with each other and with it [mcdonald2006online]."""

PRUNING = """
columns: w u x
cliques: arcs
distance
u[h] & u[m] & distance
x[h] & x[m] & direction
x[h] & x[m] & distance
w[h] & u[m] & direction
u[h] & w[m] & direction
u[h] & between(u) & u[m] & direction
u[h] & u[h+1] & u[m-1] & u[m] & direction
u[h-1] & u[h] & u[m-1] & u[m] & direction
u[h] & u[h+1] & u[m] & u[m+1] & direction
u[h-1] & u[h] & u[m] & u[m+1] & direction
"""
"""Few and cheap ones, for a parser that leaves out arcs."""


def projective(heads: Sequence[int]) -> list[int]:
    """Return a tree without crossing arcs: words whose arc crosses others move up to their head's head.

    The shortest such arc moves first, until there is none [nivre2005pseudo].
    """
    above = [0, *heads]
    while True:
        crossing = [m for m in range(1, len(above)) if _crosses(above, m)]
        if not crossing:
            return above[1:]
        m = min(crossing, key=lambda m: (abs(m - above[m]), m))
        above[m] = above[above[m]]


def _crosses(above: Sequence[int], m: int) -> bool:
    """Whether some word between m and its head is not below that head."""
    head = above[m]
    for word in range(min(m, head) + 1, max(m, head)):
        at = word
        while at not in (0, head):
            at = above[at]
        if at != head:
            return True
    return False
