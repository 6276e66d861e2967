"""Fits: what is minimised on a training set, the search, and what a model keeps of its end.

    read → parts → problem → start → search → keep → average

`ObjectiveModel` takes these steps; a `Fit` says what they are for linear models, kernels, selections and
margins. There is a module for each of them, and estimators import the one they need.
"""
