"""Small problems that several tests share."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from kernelfields.arrays import offsets_of
from kernelfields.gram import StoredGram
from kernelfields.kernels import RBF
from kernelfields.losses import Log, PartialLog
from kernelfields.objective import Problem, Term
from kernelfields.spaces import (
    Bias,
    Boundary,
    FreeEdges,
    FreeTriples,
    KernelEdges,
    KernelNodes,
    LabelEmbedding,
    LinearEdges,
    LinearNodes,
    SparseNodes,
    WeightPairs,
)
from kernelfields.structures import ChainBatch, SecondOrderChainBatch, TreeBatch

LENGTHS = [4, 1, 0, 3, 6, 2]


def small_chain(n_labels=3, shared_edges=True):
    return ChainBatch(offsets_of(LENGTHS), n_labels, shared_edges)


def small_second_order(n_labels=3, shared_edges=True):
    return SecondOrderChainBatch(offsets_of(LENGTHS), n_labels, shared_edges)


def small_scores(structure, rng, scale=1.0):
    return {clique: scale * rng.normal(size=shape) for clique, shape in structure.shapes.items()}


def small_labels(structure, rng):
    return rng.integers(structure.n_labels, size=structure.n_vertices).astype(np.int32)


def spaces(rng):
    """One bound space of every kind, by name."""
    shared, own = small_chain(), small_chain(shared_edges=False)
    features = rng.normal(size=(shared.n_vertices, 4))
    rare = sparse.random(shared.n_vertices, 7, density=0.3, format="csr", rng=rng)
    parents = [1, -1, 1, 1, -1, -1, 5, 8, 5, 5, -1, -1, 11, 11, 13, 10]
    forest = TreeBatch(offsets_of([4, 1, 0, 5, 6]), parents, 3, shared_edges=False)
    binary = sparse.csr_matrix((rng.random((shared.n_vertices, 40)) < 0.3).astype(float))
    labels = small_labels(shared, rng)
    members = rng.random(own.n_edges) < 0.5
    gram = StoredGram(RBF(0.3)(features))
    distinct = StoredGram(RBF(0.3)(features[:5]))
    repeated = rng.integers(5, size=shared.n_vertices)
    root = rng.normal(size=(3, 2))
    return {
        "linear": LinearNodes(shared, features),
        "linear, sparse": LinearNodes(shared, rare),
        "sparse": SparseNodes(shared, rare),
        "sparse, observed pairs": SparseNodes(shared, binary, WeightPairs.of(binary, 3, labels)),
        "bias": Bias(shared),
        "boundary": Boundary(shared),
        "shared edges": FreeEdges(shared),
        "tied edges": FreeEdges(own),
        "untied edges": FreeEdges(own, members),
        "some label pairs": FreeEdges(shared, pairs=rng.random((3, 3)) < 0.5),
        "linear edges": LinearEdges(own, features),
        "linear edges, sparse": LinearEdges(own, rare),
        "linear edges of a forest": LinearEdges(forest, features),
        "tied edges of a forest": FreeEdges(forest),
        "triples": FreeTriples(small_second_order()),
        "boundary of a forest": Boundary(forest),
        "boundary of second order": Boundary(small_second_order()),
        "kernel": KernelNodes(shared, gram),
        "kernel, repeated observations": KernelNodes(shared, distinct, rows=repeated),
        "kernel, centred labels": KernelNodes(shared, gram, LabelEmbedding.centred(3)),
        "kernel, kernel on labels": KernelNodes(shared, gram, LabelEmbedding.of(root @ root.T)),
        "kernel of some labels": KernelNodes(shared, gram, LabelEmbedding.only([0, 2], 3)),
        "kernel edges": KernelEdges(own, gram),
        "kernel edges of a forest": KernelEdges(forest, gram),
        "kernel edges, repeated observations": KernelEdges(own, distinct, repeated[: own.n_edges]),
        "linear edges of second order": LinearEdges(small_second_order(shared_edges=False), features),
    }


def problems(rng):
    """Problems whose minimum is not known but unique, by name: all convex."""
    result = {}
    for name, chain in (
        ("shared edges", small_chain()),
        ("edges with input", small_chain(shared_edges=False)),
        ("second order", small_second_order()),
        ("second order, edges with input", small_second_order(shared_edges=False)),
    ):
        features = rng.normal(size=(chain.n_vertices, 4))
        terms = [
            Term("features", LinearNodes(chain, features), 0.5),
            Term("bias", Bias(chain), 2.0),
            Term("boundaries", Boundary(chain), 0.1),
            Term("edges", FreeEdges(chain), 1.0),
        ]
        if not chain.shared_edges:
            terms.append(Term("edge features", LinearEdges(chain, features), 3.0))
        if name.startswith("second order"):
            terms.append(Term("triples", FreeTriples(chain), 0.3))
        weights = rng.random(chain.n_instances) + 0.5
        result[name] = Problem.of(Log(chain, small_labels(chain, rng), weights), terms)
    return result


def kernel_problem(rng, penalty=0.5, kernel=None, n_labels=3, **options):
    """A kernel expansion on vertices, free edges, random labels."""
    chain = small_chain(n_labels)
    features = rng.normal(size=(chain.n_vertices, 4))
    gram = StoredGram((RBF(0.3) if kernel is None else kernel)(features))
    terms = [
        Term("kernel", KernelNodes(chain, gram, **options), penalty),
        Term("edges", FreeEdges(chain), 1.0),
    ]
    return Problem.of(Log(chain, small_labels(chain, rng)), terms)


def partial_problem(rng):
    """A problem that is not convex: half of the labels unobserved."""
    chain = small_chain()
    labels = small_labels(chain, rng)
    hidden = rng.random(chain.n_vertices) < 0.5
    allowed = hidden[:, None] | (labels[:, None] == np.arange(chain.n_labels))
    features = rng.normal(size=(chain.n_vertices, 4))
    terms = [Term("features", LinearNodes(chain, features), 0.5), Term("edges", FreeEdges(chain), 1.0)]
    return Problem.of(PartialLog(chain, allowed), terms)
