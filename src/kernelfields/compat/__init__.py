"""Faces of other libraries: what was written for them runs here with one changed import.

``pycrfsuite`` stands for python-crfsuite, ``sklearn_crfsuite`` for sklearn-crfsuite. Both take the same
steps as CRFsuite, in the same order, so that the same training set gives the same weights up to
rounding; docs/moving_from_crfsuite.md lists where they differ.
"""
