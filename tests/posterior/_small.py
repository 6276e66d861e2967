"""A small kernel CRF and a small linear one, as objectives."""

import numpy as np

from kernelfields.gram import gram_of
from kernelfields.kernels import RBF
from kernelfields.losses import LogLoss
from kernelfields.objective import Problem, Term
from kernelfields.solvers import LBFGS, Stop
from kernelfields.spaces import Expansion, Free, LinearFeatures
from kernelfields.structures import ChainBatch


def problem(
    seed, kernel=True, penalty=1.0, n_sequences=4, n_labels=3, weights=None, gamma=0.5, edge_penalty=0.5
):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 5, size=n_sequences)
    chain = ChainBatch(np.concatenate([[0], np.cumsum(lengths)]), n_labels)
    X = rng.normal(size=(chain.n_vertices, 2))
    labels = (X[:, 0] > 0).astype(np.int32) + (X[:, 1] > 0.7)
    loss = LogLoss(chain, np.minimum(labels, n_labels - 1), weights)
    if kernel:
        space = Expansion(chain, "node", gram_of(RBF(gamma), X, np.dtype(np.float64), None))
    else:
        space = LinearFeatures(chain, "node", X)
    terms = [Term("features", space, penalty), Term("edges", Free(chain, "edge"), edge_penalty)]
    return Problem.of(loss, terms)


def mode(of):
    stop = Stop(gap=1e-10, gradient=1e-10, iterations=1000)
    return LBFGS().minimize(of, of.zero(), stop).point
