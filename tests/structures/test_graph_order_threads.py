"""A search for an order of elimination leaves other threads alone."""

import threading

import numpy as np

from kernelfields import native


def test_other_threads_run_during_a_search():
    rng = np.random.default_rng(0)
    edges = np.sort(rng.integers(2000, size=(6000, 2)), axis=1)
    edges = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
    arguments = np.array([0, 2000]), [edges], 3, None, 2.0**24
    search = threading.Thread(target=native.GraphShape, args=arguments)
    search.start()
    count = 0
    while search.is_alive():
        count += 1
        threading.Event().wait(0.001)
    assert count > 5
