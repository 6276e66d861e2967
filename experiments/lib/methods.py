"""The methods that the papers compare, each with the number that is to be chosen for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernelfields import Parts
from kernelfields.emissions import Categorical, UnknownWords
from kernelfields.estimators import (
    CRF,
    HMM,
    ClassifierMarkovModel,
    KernelCRF,
    SequenceAdaBoost,
    StructuredPerceptron,
    StructuredSVM,
)
from kernelfields.kernels import Kernel

from .contest import Method

NEVER = 10**9
"""As a least number of words of a class: no class is common enough, and unknown words are all alike."""


def hmm(name: str, pseudocounts: Sequence[float], *, spelling: bool) -> Method:
    """Return an HMM fitted by counts; unknown words are told apart by shape and ending if ``spelling``."""
    unknown = UnknownWords() if spelling else UnknownWords(least=NEVER)

    def make(pseudocount: float) -> HMM:
        return HMM(Categorical(pseudocount, unknown=unknown))

    return Method(name, make, pseudocounts, reads_tokens=True)


def crf(name: str, penalties: Sequence[float], tol: float, *, observed_only: bool = False) -> Method:
    """Return a linear CRF."""

    def make(penalty: float) -> CRF:
        return CRF(penalty, tol=tol, observed_only=observed_only)

    return Method(name, make, penalties)


def perceptron(name: str, epochs: Sequence[float]) -> Method:
    """Return the averaged structured perceptron."""

    def make(count: float) -> StructuredPerceptron:
        return StructuredPerceptron(max_iter=int(count), random_state=0)

    return Method(name, make, epochs)


def svm(
    name: str,
    penalties: Sequence[float],
    tol: float,
    *,
    kernel: Kernel | None = None,
    rescaling: str = "margin",
    solver: Any = "one-slack",
    max_iter: int = 2000,
) -> Method:
    """Return a structured SVM, linear or with a kernel."""

    def make(penalty: float) -> StructuredSVM:
        return StructuredSVM(
            kernel,
            penalty=penalty,
            rescaling=rescaling,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            parts=Parts() if kernel is None else Parts(bias=None),  # as the kernel CRF
            random_state=0,
        )

    return Method(name, make, penalties)


def adaboost(name: str, rounds: Sequence[float], n_candidates: int) -> Method:
    """Return AdaBoost for label sequences; the number to choose is that of rounds."""

    def make(count: float) -> SequenceAdaBoost:
        return SequenceAdaBoost(int(count), n_candidates=n_candidates)

    return Method(name, make, rounds)


def with_classifier(name: str, kind: str, penalties: Sequence[float]) -> Method:
    """Return logistic regressions with inference, as a hidden Markov model or one after each label."""

    def make(penalty: float) -> ClassifierMarkovModel:
        from sklearn.linear_model import LogisticRegression

        return ClassifierMarkovModel(LogisticRegression(C=1 / penalty, max_iter=1000), kind=kind)

    return Method(name, make, penalties)


def kernel_crf(name: str, kernel: Kernel, penalties: Sequence[float], tol: float) -> Method:
    """Return a kernel CRF, decoded like the other methods."""

    def make(penalty: float) -> KernelCRF:
        return KernelCRF(kernel, penalty=penalty, tol=tol, decoder="viterbi", parts=Parts(bias=None))

    return Method(name, make, penalties)
