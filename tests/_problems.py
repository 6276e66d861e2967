"""Small problems that several tests share."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from kernelfields.arrays import offsets_of
from kernelfields.gram import StoredGram
from kernelfields.kernels import RBF
from kernelfields.losses import LogLoss, PartialLog
from kernelfields.objective import Problem, Term
from kernelfields.spaces import (
    Boundary,
    Expansion,
    Free,
    LabelEmbedding,
    LinearFeatures,
    Pooled,
    SparseFeatures,
    WeightPairs,
)
from kernelfields.structures import ChainBatch, SecondOrderChainBatch, SegmentBatch, TreeBatch
from kernelfields.structures.segment_candidates import every_run

LENGTHS = [4, 1, 0, 3, 6, 2]


def small_chain(n_labels=3, shared_edges=True):
    return ChainBatch(offsets_of(LENGTHS), n_labels, shared_edges)


def small_second_order(n_labels=3, shared_edges=True):
    return SecondOrderChainBatch(offsets_of(LENGTHS), n_labels, shared_edges)


def small_segments():
    """Chains with every run of up to three positions as a candidate."""
    offsets = offsets_of(LENGTHS)
    return SegmentBatch(offsets, 3, [1, 2], candidates=every_run(offsets, 3))


def small_forest(shared_edges=True):
    """As many vertices as the chains: branches, several roots, an empty instance, children before parents."""
    parents = [1, -1, 1, 1, -1, -1, 5, 8, 5, 5, -1, -1, 11, 11, 13, 10]
    return TreeBatch(offsets_of([4, 1, 0, 5, 6]), parents, 3, shared_edges)


def small_scores(structure, rng, scale=1.0):
    return {clique: scale * rng.normal(size=shape) for clique, shape in structure.shapes.items()}


def small_labels(structure, rng):
    return rng.integers(structure.n_labels, size=structure.n_vertices).astype(np.int32)


def spaces(rng):
    """One bound space of every kind, by name."""
    shared, own = small_chain(), small_chain(shared_edges=False)
    features = rng.normal(size=(shared.n_vertices, 4))
    rare = sparse.random(shared.n_vertices, 7, density=0.3, format="csr", rng=rng)
    forest = small_forest(shared_edges=False)
    binary = sparse.csr_matrix((rng.random((shared.n_vertices, 40)) < 0.3).astype(float))
    labels = small_labels(shared, rng)
    members = rng.random(own.n_edges) < 0.5
    gram = StoredGram(RBF(0.3)(features))
    distinct = StoredGram(RBF(0.3)(features[:5]))
    repeated = rng.integers(5, size=shared.n_vertices)
    root = rng.normal(size=(3, 2))
    segments = small_segments()
    return {
        "linear": LinearFeatures(shared, "node", features),
        "linear, sparse": LinearFeatures(shared, "node", rare),
        "sparse": SparseFeatures(shared, "node", rare),
        "sparse, observed pairs": SparseFeatures(shared, "node", binary, WeightPairs.of(binary, 3, labels)),
        "bias": Free(shared, "node"),
        "boundary": Boundary(shared),
        "shared edges": Free(shared, "edge"),
        "tied edges": Free(own, "edge"),
        "untied edges": Free(own, "edge", members),
        "some label pairs": Free(shared, "edge", support=rng.random((3, 3)) < 0.5),
        "linear edges": LinearFeatures(own, "edge", features),
        "linear edges, sparse": LinearFeatures(own, "edge", rare),
        "linear edges of a forest": LinearFeatures(forest, "edge", features),
        "tied edges of a forest": Free(forest, "edge"),
        "triples": Free(small_second_order(), "triple"),
        "boundary of a forest": Boundary(forest),
        "boundary of second order": Boundary(small_second_order()),
        "kernel": Expansion(shared, "node", gram),
        "kernel, repeated observations": Expansion(shared, "node", distinct, rows=repeated),
        "kernel, centred labels": Expansion(shared, "node", gram, embedding=LabelEmbedding.centred(3)),
        "kernel, kernel on labels": Expansion(
            shared, "node", gram, embedding=LabelEmbedding.of(root @ root.T)
        ),
        "kernel of some labels": Expansion(shared, "node", gram, embedding=LabelEmbedding.only([0, 2], 3)),
        "kernel edges": Expansion(own, "edge", gram),
        "kernel edges of a forest": Expansion(forest, "edge", gram),
        "kernel edges, repeated observations": Expansion(own, "edge", distinct, repeated[: own.n_edges]),
        "pooled, linear": Pooled(LinearFeatures(segments, "node", features)),
        "pooled, sparse": Pooled(SparseFeatures(segments, "node", rare)),
        "pooled, kernel": Pooled(Expansion(segments, "node", gram)),
        "pooled, repeated observations": Pooled(Expansion(segments, "node", distinct, rows=repeated)),
        "linear edges of second order": LinearFeatures(
            small_second_order(shared_edges=False), "edge", features
        ),
    }


def problems(rng):
    """Problems whose minimum is not known but unique, by name: all convex."""
    result = {}
    for name, chain in (
        ("shared edges", small_chain()),
        ("edges with input", small_chain(shared_edges=False)),
        ("second order", small_second_order()),
        ("second order, edges with input", small_second_order(shared_edges=False)),
        ("forest", small_forest()),
        ("forest, edges with input", small_forest(shared_edges=False)),
    ):
        features = rng.normal(size=(chain.n_vertices, 4))
        terms = [
            Term("features", LinearFeatures(chain, "node", features), 0.5),
            Term("bias", Free(chain, "node"), 2.0),
            Term("boundaries", Boundary(chain), 0.1),
            Term("edges", Free(chain, "edge"), 1.0),
        ]
        if not chain.shared_edges:
            terms.append(Term("edge features", LinearFeatures(chain, "edge", features), 3.0))
        if name.startswith("second order"):
            terms.append(Term("triples", Free(chain, "triple"), 0.3))
        weights = rng.random(chain.n_instances) + 0.5
        result[name] = Problem.of(LogLoss(chain, small_labels(chain, rng), weights), terms)
    return result


def kernel_problem(rng, penalty=0.5, kernel=None, n_labels=3, **options):
    """A kernel expansion on vertices, free edges, random labels."""
    chain = small_chain(n_labels)
    features = rng.normal(size=(chain.n_vertices, 4))
    gram = StoredGram((RBF(0.3) if kernel is None else kernel)(features))
    terms = [
        Term("kernel", Expansion(chain, "node", gram, **options), penalty),
        Term("edges", Free(chain, "edge"), 1.0),
    ]
    return Problem.of(LogLoss(chain, small_labels(chain, rng)), terms)


def partial_problem(rng):
    """A problem that is not convex: half of the labels unobserved."""
    chain = small_chain()
    labels = small_labels(chain, rng)
    hidden = rng.random(chain.n_vertices) < 0.5
    allowed = hidden[:, None] | (labels[:, None] == np.arange(chain.n_labels))
    features = rng.normal(size=(chain.n_vertices, 4))
    terms = [
        Term("features", LinearFeatures(chain, "node", features), 0.5),
        Term("edges", Free(chain, "edge"), 1.0),
    ]
    return Problem.of(PartialLog(chain, allowed), terms)
