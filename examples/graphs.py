"""Graphs, grids, and labels that go together, on made-up data: python examples/graphs.py [graphs-report.html]

What edges are worth: the same features, with and without the labels of neighbours.
"""

import sys

import numpy as np

from kernelfields import CRF, StructuredSVM
from kernelfields.report import evaluate, write_report
from kernelfields.structures import Grid, MultiLabel, TreeReweighted

EVERY = 1  # of so many items, one is learnt from


def friends(rng, size=14):
    """People of three clubs who mostly know their own; features say little about the club."""
    club = rng.integers(3, size=size)
    chance = np.where(club[:, None] == club[None], 0.45, 0.04)
    edges = np.argwhere(np.triu(rng.random((size, size)) < chance, 1))
    return (np.eye(3)[club] + 1.2 * rng.normal(size=(size, 3)), edges), [f"club {k}" for k in club]


def picture(rng, height=6, width=20):
    """Land below, sky above, a sun; every pixel is a noisy colour."""
    rows, columns = np.mgrid[:height, :width]
    land = rows > height / 2 + 1.5 * np.sin(columns / 3 + rng.uniform(0, 6))
    sun = (rows - 1) ** 2 + (columns - rng.integers(2, width - 2)) ** 2 < 3
    kind = np.where(land, 0, np.where(sun, 1, 2))
    return np.eye(3)[kind] + 1.1 * rng.normal(size=(height, width, 3)), np.array(["land", "sun", "sky"])[kind]


def topics(rng, n=600, count=5):
    """Rows with several labels each, every one pushed by the one before it."""
    X, y = rng.normal(size=(n, 6)), np.zeros((n, count), dtype=int)
    for k in range(count):
        push = X[:, k] + (2.5 * (2 * y[:, k - 1] - 1) if k else 0)
        y[:, k] = rng.random(n) < 1 / (1 + np.exp(-push))
    return X, y


def wrong(model, X, y):
    """Fit to the first half; return the share of wrong labels in the second."""
    half = len(X) // 2
    return 1 - model.fit(X[:half:EVERY], y[:half:EVERY]).score(X[half:], y[half:])


def drawn(make, rng, count):
    """Return inputs and labels of so many items."""
    X, y = zip(*(make(rng) for _ in range(count)), strict=True)
    return list(X), list(y)


def main() -> None:
    """Fit models with and without edges; write a report of the last one of pictures."""
    path = sys.argv[1] if len(sys.argv) > 1 else "graphs-report.html"
    rng = np.random.default_rng(0)
    X, y = drawn(friends, rng, 120)
    field = CRF(structure="graph", decoder="posterior")
    print(f"clubs, no edges                 {wrong(field, [(x, []) for x, _ in X], y):.1%}")
    print(f"clubs, CRF                      {wrong(field, X, y):.1%}")
    print(f"clubs, structured SVM           {wrong(StructuredSVM(structure='graph'), X, y):.1%}")
    X, y = topics(rng)
    for edges in ([], "full", "tree"):
        model = CRF(structure=MultiLabel(edges)).fit(X[:300:EVERY], y[:300:EVERY])
        share = (model.predict(X[300:]) != y[300:]).any(axis=1).mean()
        print(f"topics, edges {edges!s:17} {share:.1%} of all rows")
    X, y = drawn(picture, rng, 40)
    grids = {
        "neighbours alike": Grid(),
        "tree-reweighted sums": Grid(inference=TreeReweighted()),
        "directions": Grid(directions=True),
    }
    for name, grid in grids.items():
        model = CRF(structure=grid, decoder="posterior")
        print(f"pictures, {name:21} {wrong(model, X, y):.1%}")
    found = evaluate(model, X[20:], y[20:])
    write_report(found, path, title="Pictures")
    print(f"{found.token_error:.1%} of {found.n_tokens} pixels wrong; see {path}")


if __name__ == "__main__":
    main()
