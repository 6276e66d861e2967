"""The search as estimators run it: certificates only from images computed anew."""

import numpy as np
import pytest

from kernelfields import CRF
from kernelfields.constraints import Constraints
from kernelfields.fitting.run import exact_certificate, search
from kernelfields.gram import StoredGram
from kernelfields.objective import Problem, Term
from kernelfields.solvers import LBFGS, Reason, Stop
from kernelfields.spaces import Expansion
from tests._problems import kernel_problem


class DriftingGram(StoredGram):
    """Wrong by a twentieth for some products, then right."""

    wrong = 0

    def times(self, columns):
        self.wrong -= 1
        return super().times(columns) * (1.05 if self.wrong >= 0 else 1.0)


def drifting(problem, wrong):
    space = problem.terms[0].space
    gram = DriftingGram(space.gram.matrix)
    gram.wrong = wrong
    terms = [Term("kernel", Expansion(space.structure, "node", gram), 0.5), problem.terms[1]]
    return Problem.of(problem.loss, terms)


def test_search_goes_on_where_images_had_drifted(rng):
    exact = kernel_problem(rng)
    stop = Stop(gap=1e-5)
    plain = LBFGS().minimize(drifting(exact, 10**6), exact.zero(), stop)
    assert plain.reason is Reason.GAP  # or so it says
    fooled = exact.at(exact.refreshed(plain.point.element))
    assert fooled.certificate.relative_gap > stop.gap
    seen = []
    drifts = drifting(exact, plain.progress.iteration + 1)
    found = search(
        drifts,
        exact.zero(),
        LBFGS(),
        stop,
        lambda progress, point: seen.append(progress.iteration),
        drifts.exact,
    )
    assert found.reason is Reason.GAP
    assert found.point.certificate.relative_gap <= stop.gap
    assert exact.at(found.point.element).certificate.relative_gap <= stop.gap
    assert found.iterations > plain.progress.iteration
    assert sorted(set(seen)) == list(range(found.iterations + 1))
    assert seen == sorted(seen)


def test_limit_of_iterations_holds_over_all_rounds(rng):
    exact = kernel_problem(rng)
    rounds = LBFGS().minimize(drifting(exact, 10**6), exact.zero(), Stop(gap=1e-5)).progress.iteration
    drifts, stop = drifting(exact, rounds + 1), Stop(gap=1e-5, iterations=rounds + 1)
    with pytest.warns(match="limit of iterations"):
        found = search(drifts, exact.zero(), LBFGS(), stop, None, drifts.exact)
    assert found.iterations == rounds + 1
    assert np.isfinite(found.point.value)


def test_nothing_to_learn_is_no_reason_to_warn():
    rule = Constraints(forbidden_starts=["b"], forbidden_ends=["a"])  # leaves one labelling, of probability 1
    model = CRF(constraints=rule).fit([[["x"], ["y"]]], [["a", "b"]])
    assert model.certificate_.value == model.certificate_.lower_bound == 0


def in_single(problem):
    space = problem.terms[0].space
    gram = StoredGram(space.gram.matrix.astype(np.float32))
    terms = [Term("kernel", Expansion(space.structure, "node", gram), 0.01), problem.terms[1]]
    return Problem.of(problem.loss, terms, None, np.float32, np.float32)


def test_averages_certify_searches_in_single_precision(rng):
    exact = kernel_problem(rng, penalty=0.01)
    lowest = LBFGS().minimize(exact, exact.zero(), Stop(gap=1e-10)).point.value
    single, helped = in_single(exact), 0
    for gap in (0.3, 0.1, 0.03, 0.01, 0.003):
        result = LBFGS().minimize(single, single.zero(), Stop(gap=gap))
        point = exact.at(exact.refreshed(result.point.element.astype(np.float64)))
        certificate = exact_certificate(point, result, gap)
        assert certificate.value == point.value
        assert certificate.lower_bound <= lowest
        helped += point.certificate.relative_gap > gap >= certificate.relative_gap
    assert helped
