"""Fits: what is minimised on a training set, the search, and what a model keeps of its end.

    read → parts → problem → start → search → keep → average

`ObjectiveModel` takes these steps, a `Fit` has them for linear models, kernels, selections or margins. There
is a module for each of these, and estimators import the one they need.
"""
