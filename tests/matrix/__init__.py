"""Every estimator, on every kind of input, with every pair of its options.

A case is one of these combinations on a small data set (`data`). It must fit, or be refused in one sentence
of ours; a fitted model must pass all of `checks`. `make matrix` runs all cases, `make test` a sample.
"""
