"""Break the code in small ways and see whether the tests notice: ``make mutants``.

Each mutant replaces one piece of text in a copy of the repository, rebuilds it if the piece is C++
(for the baseline instruction set only), and runs a quick selection of tests. A mutant that survives
is a test that is missing. To add one, add a row to the table: Python mutants cost no rebuild.

    python tests/mutants.py               all of them
    python tests/mutants.py chain_kbest   those whose file or text contains a word
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT = 180.0


class Selection(NamedTuple):
    """The tests that should notice."""

    paths: tuple[str, ...]
    deselect: str = ""


CHAIN = Selection(
    ("tests/test_identities.py", "tests/native/test_recursions.py", "tests/structures"),
    "hundred_thousand or many_labels",
)
SEAM = Selection(
    (
        "tests/spaces",
        "tests/losses",
        "tests/objective",
        "tests/solvers",
        "tests/decoders",
        "tests/estimators/test_crf.py",
    )
)
BLOCKS = Selection(("tests/structures/test_blocks.py",))
MARGINAL = Selection(("tests/losses/test_marginal_log.py",))
SOLVING = Selection(("tests/objective", "tests/solvers"))
RULES = Selection(("tests/constraints", "tests/estimators/test_crf_constraints.py"))
THREADS = Selection(("tests/native/test_threads.py", "tests/native/test_bindings.py"))


KERNELS = Selection(
    (
        "tests/spaces",
        "tests/estimators/test_search.py",
        "tests/estimators/test_kernel_crf.py",
        "tests/estimators/test_gp_sequence_classifier.py",
        "tests/estimators/test_kernel_logistic_regression.py",
    ),
    "letters",
)
FEATURES = Selection(("tests/features",), "conll2000 or million")
ONLINE = Selection(("tests/online", "tests/estimators/test_online.py", "tests/estimators/test_memm.py"))

FORMULAS = Selection(("tests/kernels",))
EXPERIMENTS = Selection(("tests/experiments", "tests/datasets"), "quick_run")
GRAM = Selection(("tests/gram",), "instruction or peak")

LOW_RANK = Selection(
    (
        "tests/selection",
        "tests/spaces/test_lowrank.py",
        "tests/estimators/test_kernel_crf_lowrank.py",
        "tests/features/test_windows.py",
    )
)


class Mutant(NamedTuple):
    """One break: ``old`` occurs exactly once in ``file`` and becomes ``new``."""

    file: str
    old: str
    new: str
    tests: Selection = CHAIN


CPP = "cpp/include/kernelfields/"
ISA = CPP + "isa/"
PACKAGE = "src/kernelfields/"
STRUCTURES = PACKAGE + "structures/"

FEATURE_MUTANTS = [
    Mutant(PACKAGE + "features/extractor.py", "np.diff(rows.offsets)", "rows.offsets[1:]", FEATURES),
    Mutant(PACKAGE + "features/parsing.py", "range(first, last + 1)", "range(first, last)", FEATURES),
    Mutant(PACKAGE + "features/frames.py", 'argsort(kind="stable")', "argsort()[::-1]", FEATURES),
    Mutant(
        CPP + "transforms.hpp", "count.first_is_upper && count[upper] == 1", "count.first_is_upper", FEATURES
    ),
    Mutant(CPP + "transforms.hpp", "at > 0 && is_continuation(word[at])", "false", FEATURES),
    Mutant(CPP + "characters.hpp", "code < 0x10000 ? 2 : 3", "2", FEATURES),
    Mutant(CPP + "templates.hpp", "set_.marks && !is_predicate(transform)", "set_.marks", FEATURES),
    Mutant(CPP + "templates.hpp", "T == 0) continue", "T == 1) continue", FEATURES),
    Mutant(CPP + "templates.hpp", "values_.mark(set_.margin + m - 1)", "values_.mark(m - 1)", FEATURES),
    Mutant(CPP + "feature_keys.hpp", "(key[t] | v) < 0", "v < 0", FEATURES),
    Mutant(CPP + "feature_keys.hpp", "bound_ > limit / radix", "false", FEATURES),
    Mutant(CPP + "feature_counts.hpp", "by_frequency ? -counts_[j].counts[f] : 0", "0", FEATURES),
    Mutant(
        CPP + "feature_counts.hpp", "counts_[j].counts[f] >= least", "counts_[j].counts[f] > least", FEATURES
    ),
    Mutant(CPP + "feature_index.hpp", "if (word.starts_with(\"__\")) text += '\\\\';", "", FEATURES),
    Mutant(
        CPP + "extraction.hpp",
        "piece.ends[t] + static_cast<std::int64_t>(before[b])",
        "piece.ends[t]",
        FEATURES,
    ),
    Mutant(CPP + "attributes.hpp", "kept += indices[kept] != none", "++kept", FEATURES),
    Mutant("cpp/bindings/attributes.cpp", "if (number != 0) push(number)", "push(number)", FEATURES),
]

KERNEL_MUTANTS = [
    Mutant(PACKAGE + "kernels/_base.py", "if cls is not ProductKernel or not", "if not", FORMULAS),
    Mutant(
        PACKAGE + "kernels/_base.py", "return all(isinstance(part", "return any(isinstance(part", FORMULAS
    ),
    Mutant(PACKAGE + "kernels/_base.py", "*(products.copy() for", "*(products for", FORMULAS),
    Mutant(
        PACKAGE + "kernels/_base.py",
        "np.minimum(some[:, None], some[None, :])",
        "np.outer(some, some)",
        FORMULAS,
    ),
    Mutant(PACKAGE + "kernels/_base.py", "    __array_ufunc__ = None", "    array_ufunc = None", FORMULAS),
    Mutant(
        PACKAGE + "kernels/_observations.py", "all(found == np.float32", "any(found == np.float32", FORMULAS
    ),
    Mutant(PACKAGE + "kernels/_parameters.py", "return float(value)", "return value", FORMULAS),
    Mutant(PACKAGE + "kernels/_powers.py", "bin(exponent)[3:]", "bin(exponent)[:2:-1]", FORMULAS),
    Mutant(PACKAGE + "kernels/_distances.py", "    np.maximum(products, 0, out=products)\n", "", FORMULAS),
    Mutant(PACKAGE + "kernels/_distances.py", "ROUNDING = 16", "ROUNDING = 0", FORMULAS),
    Mutant(PACKAGE + "kernels/_norms.py", "where=roots != 0", "where=roots > 1", FORMULAS),
    Mutant(PACKAGE + "kernels/matern.py", "np.sqrt(2 * self.nu)", "(2 * self.nu)", FORMULAS),
    Mutant(PACKAGE + "kernels/matern.py", "(1.0, 1.0, 1 / 3)", "(1.0, 1 / 3, 1.0)", FORMULAS),
    Mutant(PACKAGE + "kernels/tanimoto.py", "products[empty] = 1", "products[empty] = 0", FORMULAS),
    Mutant(
        PACKAGE + "kernels/jaccard.py",
        "frozenset(members) for members",
        "list(members) for members",
        FORMULAS,
    ),
    Mutant(PACKAGE + "kernels/chi_square.py", "result /= 2", "result /= 1", FORMULAS),
    Mutant(PACKAGE + "kernels/spectrum.py", "len(letters) - length + 1", "len(letters) - length", FORMULAS),
    Mutant(PACKAGE + "kernels/subsequence.py", "ends[:1], ends[:, :1] = 0, 0", "", FORMULAS),
    Mutant(PACKAGE + "kernels/subsequence.py", "PADDING = -1", "PADDING = 0", FORMULAS),
    Mutant(PACKAGE + "kernels/normalized.py", "product_diagonal(kernel, right)", "right", FORMULAS),
    Mutant(PACKAGE + "kernels/power.py", "written(self.kernel, Binding.CALL)", "repr(self.kernel)", FORMULAS),
    Mutant(PACKAGE + "kernels/precomputed.py", "| (found < 0)", "", FORMULAS),
    Mutant(PACKAGE + "kernels/window.py", "if X.shape[1] % width:", "if False:", FORMULAS),
    Mutant(PACKAGE + "kernels/checks.py", "        self._function_of_two()\n", "", FORMULAS),
    Mutant(PACKAGE + "kernels/checks.py", "-self.root * np.abs", "1e-18 * np.abs", FORMULAS),
    Mutant(PACKAGE + "kernels/checks.py", "self.root * float(gram.diagonal().max())", "1.0", FORMULAS),
    Mutant(
        PACKAGE + "kernels/checks.py",
        "np.linspace(0, size - 1, min(SAMPLE, size))",
        "np.arange(min(SAMPLE, size))",
        FORMULAS,
    ),
]

ONLINE_MUTANTS = [
    Mutant(PACKAGE + "online/descent.py", "sweep.steps, self.least", "0, self.least", ONLINE),
    Mutant(PACKAGE + "online/descent.py", "return step / 2", "return 64 * step", ONLINE),
    Mutant(PACKAGE + "online/sweep.py", "Boundary: slice(1, 3)", "Boundary: slice(0, 2)", ONLINE),
    Mutant(
        PACKAGE + "online/examples.py",
        "rows_of(self.pair_first, used)]",
        "rows_of(self.pair_first, used)][::-1]",
        ONLINE,
    ),
    Mutant(
        PACKAGE + "estimators/_online_base.py", "if wrong < self.fewest", "if wrong > self.fewest", ONLINE
    ),
    Mutant(
        PACKAGE + "estimators/_online_base.py",
        "            sweep.begin_average()\n",
        "            pass\n",
        ONLINE,
    ),
    Mutant(PACKAGE + "estimators/memm.py", "before[chain.first_positions] = chain.n_labels", "pass", ONLINE),
    Mutant(
        PACKAGE + "estimators/memm.py",
        "_log_softmax(local[chain.edge_heads]",
        "(local[chain.edge_heads]",
        ONLINE,
    ),
    Mutant(CPP + "online_weights.hpp", "return -average / rest", "return -average", ONLINE),
    Mutant(CPP + "online_weights.hpp", "node = edges = {1, 0, 1};", "node = edges = {1, 1, 1};", ONLINE),
    Mutant(CPP + "online_weights.hpp", "p + 1 < begin + count}", "false}", ONLINE),
    Mutant(CPP + "online_rows.hpp", "weight->second += ratio * d", "weight->second += d", ONLINE),
    Mutant(CPP + "online_rows.hpp", "if (!counts(row)) continue;", "", ONLINE),
    Mutant(
        CPP + "online.hpp",
        "if (entry.second != 0) change_[kept++] = entry",
        "change_[kept++] = change_[k - 1]",
        ONLINE,
    ),
    Mutant(CPP + "online.hpp", "-= weight_;", "-= 1;", ONLINE),
    Mutant(CPP + "online_rules.hpp", "eta * node_decay * time++", "eta * node_decay * time", ONLINE),
    Mutant(CPP + "online_rules.hpp", "loss / (square + 0.5 / c)", "loss / (square + 1 / c)", ONLINE),
    Mutant(
        CPP + "online_rules.hpp",
        "static constexpr bool kMerged = true;\n\n    int variant",
        "static constexpr bool kMerged = false;\n\n    int variant",
        ONLINE,
    ),
    Mutant(CPP + "online_rules.hpp", "value * value / gamma", "value / gamma", ONLINE),
    Mutant(ISA + "sparse_changes.hpp", "lanes_of<S>(word) ? change : Vec<S>{}", "change", ONLINE),
    Mutant(ISA + "sparse_changes.hpp", "+ c / 32] >> (c % 32)", "] >> (c % 32)", ONLINE),
]

GRAM_MUTANTS = [
    Mutant(
        PACKAGE + "experiments/_claims.py",
        "self.value >= self.at_least",
        "self.value > self.at_least",
        EXPERIMENTS,
    ),
    Mutant(PACKAGE + "experiments/_claims.py", "self.value <= self.at_most", "True", EXPERIMENTS),
    Mutant(PACKAGE + "experiments/_results.py", 'float("nan") if claim', "0.0 if claim", EXPERIMENTS),
    Mutant(PACKAGE + "experiments/_folds.py", "ddof=1", "ddof=0", EXPERIMENTS),
    Mutant(PACKAGE + "experiments/_folds.py", "np.setdiff1d(numbers, part)", "numbers", EXPERIMENTS),
    Mutant(
        PACKAGE + "experiments/_selection.py",
        "folds_of(fold.train, self",
        "folds_of(len(X), self",
        EXPERIMENTS,
    ),
    Mutant(PACKAGE + "experiments/_selection.py", "reverse=True", "reverse=False", EXPERIMENTS),
    Mutant(
        PACKAGE + "experiments/_selection.py",
        "make(penalty, self.tol)",
        "make(penalty, self.inner_tol)",
        EXPERIMENTS,
    ),
    Mutant(PACKAGE + "experiments/_gram.py", "size / 2**degree", "size / 2", EXPERIMENTS),
    Mutant(PACKAGE + "experiments/_gram.py", "gamma=1 / size", "gamma=1.0", EXPERIMENTS),
    Mutant(PACKAGE + "experiments/explicit.py", "i == j, 1.0", "i == j, np.sqrt(2.0)", EXPERIMENTS),
    Mutant(PACKAGE + "experiments/explicit.py", "i * (i - 1) // 2", "i * (i + 1) // 2", EXPERIMENTS),
    Mutant(
        PACKAGE + "experiments/pitch_accent.py",
        "(1 - at(answered) / at(1.0))",
        "(at(1.0) - at(answered)) / 100",
        EXPERIMENTS,
    ),
    Mutant(
        PACKAGE + "experiments/_settings.py", "merged.keys() ^ known", "known - merged.keys()", EXPERIMENTS
    ),
    Mutant(PACKAGE + "datasets/prosody.py", 'rest[0] == "0"', 'rest[0] != "2"', EXPERIMENTS),
    Mutant(PACKAGE + "datasets/prosody.py", "words[-1]._replace(after=text)", "words[-1]", EXPERIMENTS),
    Mutant(PACKAGE + "datasets/conll2002.py", "column[2] for", "column[1] for", EXPERIMENTS),
    Mutant(PACKAGE + "datasets/folder.py", "(Path.cwd(), _REPOSITORY)", "(_REPOSITORY,)", EXPERIMENTS),
    Mutant(PACKAGE + "gram/collapsed.py", "summed)[self.inverse]", "summed)[self.inverse * 0]", GRAM),
    Mutant(PACKAGE + "gram/tiled.py", "beyond = max(column, end)", "beyond = column", GRAM),
    Mutant(PACKAGE + "gram/cross.py", "coefficients[column:stop]", "coefficients[: stop - column]", GRAM),
    Mutant(PACKAGE + "gram/unique.py", "return first[order], place[inverse]", "return first, inverse", GRAM),
    Mutant(PACKAGE + "gram/unique.py", "words ^ salt", "words", GRAM),
    Mutant(PACKAGE + "gram/_finite.py", "if len(bad):", "if False:", GRAM),
    Mutant(
        PACKAGE + "gram/build.py", "<= memory_budget(memory_limit)", "< memory_budget(memory_limit)", GRAM
    ),
    Mutant(PACKAGE + "kernels/_sparse.py", "rows = rows.copy()", "pass", GRAM),
    Mutant(CPP + "gram.hpp", "plan.holds(i, j) ? row + j : plan.row(j) + i", "row + j", GRAM),
    Mutant(CPP + "gram.hpp", "std::max(piece.from, first + rows)", "piece.from", GRAM),
    Mutant(CPP + "gram.hpp", "std::max(from, start(g))", "from", GRAM),
    Mutant(CPP + "gram_sparse.hpp", "if (found.size() > most) found.resize(most);", "", GRAM),
    Mutant(
        CPP + "gram_sparse.hpp",
        "std::lower_bound(begin, end, static_cast<std::int32_t>(start))",
        "begin",
        GRAM,
    ),
    Mutant(CPP + "gram_sparse.hpp", "out[j] += more[j]", "out[j] = more[j]", GRAM),
    Mutant(ISA + "gram_counts.hpp", "for (int p = 3; p < kPlanes; ++p)", "for (int p = 3; p < 6; ++p)", GRAM),
    Mutant(
        ISA + "gram_products.hpp",
        "if (const std::size_t rest = columns - c)",
        "if (const std::size_t rest = 0)",
        GRAM,
    ),
    Mutant(
        ISA + "gram_transform.hpp",
        "maximum<S>(left + square - S(2) * product, Vec<S>{})",
        "(left + square - S(2) * product)",
        GRAM,
    ),
]

SELECTION = PACKAGE + "selection/"
CHOLESKY = SELECTION + "incomplete_cholesky.py"

LOW_RANK_MUTANTS = [
    Mutant(CHOLESKY, "column -= room[:, :j] @ room[p, :j]", "pass", LOW_RANK),
    Mutant(CHOLESKY, "residual -= np.square(column, dtype=np.float64)", "pass", LOW_RANK),
    Mutant(CHOLESKY, "        residual[p] = 0\n", "", LOW_RANK),
    Mutant(CHOLESKY, "if residual[p] <= least:", "if residual[p] < 0:", LOW_RANK),
    Mutant(CHOLESKY, "np.argmax(residual >= (1 - slack) * residual.max())", "np.argmin(residual)", LOW_RANK),
    Mutant(CHOLESKY, "- np.square(rows).sum(axis=1)", "", LOW_RANK),
    Mutant(CHOLESKY, "min(settings.sample or n, n)", "1", LOW_RANK),
    Mutant(SELECTION + "_basis.py", "kept = order[:rank] - 1", "kept = np.arange(rank)", LOW_RANK),
    Mutant(SELECTION + "_basis.py", "least = tol * float", "least = 0 * float", LOW_RANK),
    Mutant(
        SELECTION + "_columns.py",
        "self._norms[rows], right",
        "self._norms[: len(out[rows])], right",
        LOW_RANK,
    ),
    Mutant(SELECTION + "landmarks.py", "(size / n) * ridge", "ridge", LOW_RANK),
    Mutant(SELECTION + "landmarks.py", "p=scores / scores.sum()", "p=None", LOW_RANK),
    Mutant(SELECTION + "fourier.py", "np.sqrt(2 * kernel.gamma)", "np.sqrt(kernel.gamma)", LOW_RANK),
    Mutant(SELECTION + "fourier.py", "np.sin(angles", "np.cos(angles", LOW_RANK),
    Mutant(SELECTION + "storage.py", "self.memory_limit is None or", "True or", LOW_RANK),
    Mutant(
        PACKAGE + "spaces/_lowrank_base.py",
        "rotation if dual is None else dual @ rotation",
        "rotation if dual is None else dual",
        LOW_RANK,
    ),
    Mutant(PACKAGE + "spaces/_lowrank_base.py", " * (n / max(1, len(rows)))", "", LOW_RANK),
    Mutant(
        PACKAGE + "spaces/_lowrank_base.py", "mean @ np.square(vectors)", "mean @ np.abs(vectors)", LOW_RANK
    ),
    Mutant(
        PACKAGE + "spaces/_products.py", "weights, dtype=np.float64)", "weights, dtype=np.float32)", LOW_RANK
    ),
    Mutant(
        PACKAGE + "spaces/_free_base.py", "self.adjoint(expected)", "0 * self.adjoint(expected)", LOW_RANK
    ),
    Mutant(
        PACKAGE + "objective.py",
        "part += 1 if term.penalty > 0 else",
        "part += 0 if term.penalty > 0 else",
        LOW_RANK,
    ),
    Mutant(
        PACKAGE + "estimators/_expanded.py",
        "coef[rows[id(_basis(one))]] += part",
        "coef[: len(part)] += part",
        LOW_RANK,
    ),
    Mutant(
        PACKAGE + "estimators/_expanded.py",
        "np.add.at(result, place, values)",
        "result[place] = values",
        LOW_RANK,
    ),
    Mutant(
        PACKAGE + "estimators/_vertex_kernels.py", "basis[used], coef[used]", "basis, coef[used]", LOW_RANK
    ),
    Mutant(
        PACKAGE + "estimators/_full_gap.py", "coef @ np.linalg.pinv(vectors.T)", "coef @ vectors", LOW_RANK
    ),
    Mutant(PACKAGE + "features/windows.py", "min(T, T - ahead)", "T", LOW_RANK),
]

MUTANTS = [
    *FEATURE_MUTANTS,
    *KERNEL_MUTANTS,
    *ONLINE_MUTANTS,
    *GRAM_MUTANTS,
    *LOW_RANK_MUTANTS,
    # Python first: no rebuild.
    Mutant(STRUCTURES + "_base.py", "tail.astype(np.int64) * L + head", "head.astype(np.int64) * L + tail"),
    Mutant(STRUCTURES + "_base.py", "np.repeat(weights, np.diff(self.edge_offsets))", "1.0"),
    Mutant(
        STRUCTURES + "_base.py", "edge[rows_of(self.edge_offsets, ids)]", "edge[rows_of(self._offsets, ids)]"
    ),
    Mutant(STRUCTURES + "_sequence_base.py", "np.maximum(lengths - 1, 0)", "np.maximum(lengths - 1, -1)"),
    Mutant(
        STRUCTURES + "_sequence_base.py", "np.diff(self._offsets) > 0] - 1", "np.diff(self._offsets) > 0]"
    ),
    Mutant(STRUCTURES + "chain.py", "        require_feasible(native.chain_argmax(*arrays)[1])\n", ""),
    Mutant(STRUCTURES + "chain.py", "along, weights)", "along, None)"),
    Mutant(
        STRUCTURES + "_base.py",
        "offsets[ids] - offsets_of(lengths)[:-1]",
        "offsets[ids] - offsets_of(lengths)[1:]",
    ),
    Mutant(STRUCTURES + "_base.py", "values[s] == -np.inf", "values[s] == np.inf"),
    # Spaces, losses, objective, solvers, decoders.
    Mutant(PACKAGE + "spaces/free.py", "into[self.structure.last_positions] += end", "", SEAM),
    Mutant(PACKAGE + "spaces/free.py", "gradient[self.members]", "gradient", SEAM),
    Mutant(
        PACKAGE + "spaces/linear.py", "features[structure.edge_tails]", "features[structure.edge_heads]", SEAM
    ),
    Mutant(PACKAGE + "losses/log.py", "gradient, self.labels, self.weights)", "gradient, self.labels)", SEAM),
    Mutant(PACKAGE + "losses/log.py", 'scores["node"] + self.cost', 'scores["node"] - self.cost', SEAM),
    Mutant(PACKAGE + "losses/log.py", "np.dot(values, self.weights)", "values.sum()", SEAM),
    Mutant(PACKAGE + "losses/log.py", "covariance(self._augmented(scores)", "covariance((scores)", SEAM),
    Mutant(PACKAGE + "losses/partial_log.py", "parts - fixed[clique]", "parts", SEAM),
    Mutant(PACKAGE + "losses/partial_log.py", "convex = False", "convex = True", SEAM),
    Mutant(PACKAGE + "objective.py", "scale * (self.loss.value - along)", "scale * self.loss.value", SEAM),
    Mutant(
        PACKAGE + "objective.py",
        "gradient[term.space.clique]) / term.metric",
        "gradient[term.space.clique])",
        SEAM,
    ),
    Mutant(PACKAGE + "objective.py", "term.metric * term.space.inner(left", "term.space.inner(left", SEAM),
    Mutant(PACKAGE + "objective.py", "damped(direction) + problem", "damped(direction) - problem", SEAM),
    Mutant(
        PACKAGE + "objective.py",
        "if term.penalty == 0:\n                result[",
        "if term.penalty < 0:\n                result[",
        SEAM,
    ),
    Mutant(
        PACKAGE + "solvers/lbfgs.py",
        "result -= np.multiply(change, share",
        "result += np.multiply(change, share",
        SEAM,
    ),
    Mutant(PACKAGE + "solvers/_newton_base.py", "if curvature <= 0:", "if curvature < -1e300:", SOLVING),
    Mutant(
        PACKAGE + "solvers/_newton_base.py",
        "found = wolfe(point.along(direction), point, rounding=problem.rounding)",
        "found = __import__('types').SimpleNamespace(point=point.along(direction).at(1.0))",
        SOLVING,
    ),
    Mutant(PACKAGE + "solvers/_newton_base.py", "        refuse_l1(problem, self)\n", "", SOLVING),
    Mutant(PACKAGE + "solvers/lbfgs.py", "        refuse_l1(problem, self)\n", "", SOLVING),
    Mutant(PACKAGE + "solvers/subspace.py", "        refuse_l1(problem, self)\n", "", SOLVING),
    Mutant(
        PACKAGE + "solvers/subspace.py",
        "            element[place] = values\n",
        "            pass\n",
        SOLVING,
    ),
    Mutant(
        PACKAGE + "solvers/subspace.py",
        "        if result.reason is Reason.INTERRUPTED:\n            raise KeyboardInterrupt\n",
        "",
        SOLVING,
    ),
    Mutant(PACKAGE + "solvers/subspace.py", "norms[-1] <= self.share * norms[0]", "True", SOLVING),
    Mutant(
        PACKAGE + "solvers/block_jacobi.py", "point.block_hessian_product", "point.hessian_product", SOLVING
    ),
    Mutant(PACKAGE + "losses/marginal_log.py", "seen.cut(rare), free", "seen.cut(~rare), free", MARGINAL),
    Mutant(PACKAGE + "losses/marginal_log.py", "RARE = 1e-5", "RARE = 1e-150", MARGINAL),
    Mutant(PACKAGE + "losses/marginal_log.py", "STEP = 1e-4", "STEP = 1e-1", MARGINAL),
    Mutant(
        PACKAGE + "losses/marginal_log.py", "= -seen.counted / likely", "= -seen.kappa / likely", MARGINAL
    ),
    Mutant(PACKAGE + "losses/marginal_log.py", "-seen.kappa * logs", "-logs", MARGINAL),
    Mutant(PACKAGE + "losses/marginal_log.py", "self.labels >= 0", "self.labels >= -1", MARGINAL),
    Mutant(PACKAGE + "losses/marginal_log.py", "self.vertex_weights[rows]", "self.vertex_weights", MARGINAL),
    Mutant(
        PACKAGE + "losses/marginal_log.py",
        "rare.vertices - structure.offsets[ids]",
        "rare.vertices",
        MARGINAL,
    ),
    Mutant(
        PACKAGE + "losses/partial_log.py",
        "blocks_of(self.structure, scores",
        "blocks_of(self.structure, self._restricted(scores)",
        SEAM,
    ),
    Mutant(
        PACKAGE + "losses/log.py",
        "blocks_of(self.structure, self._augmented(scores)",
        "blocks_of(self.structure, (scores)",
        SOLVING,
    ),
    Mutant(
        PACKAGE + "objective.py",
        "blocks(self.problem.with_offset(self.theta))",
        "blocks(self.theta)",
        SOLVING,
    ),
    Mutant(
        PACKAGE + "objective.py",
        "replace(term, space=term",
        "Term(term.name, penalty=term.penalty, space=term",
        SOLVING,
    ),
    Mutant(PACKAGE + "testing/euclidean.py", "gradient + term.penalty * alpha", "gradient", SOLVING),
    Mutant(STRUCTURES + "blocks.py", "along * self._total -", "along * self._total +", BLOCKS),
    Mutant(STRUCTURES + "blocks.py", "(count * (flat @ along)) @ flat", "(flat @ along) @ flat", BLOCKS),
    Mutant(STRUCTURES + "blocks.py", "flat * (along - mean[:, None])", "flat * along", BLOCKS),
    Mutant(
        STRUCTURES + "_blocks_base.py",
        "np.repeat(weights, np.diff(self.edge_offsets))",
        "np.repeat(weights, np.diff(self._offsets))[: self.n_edges]",
        BLOCKS,
    ),
    Mutant(
        PACKAGE + "solvers/line_search.py",
        "if not enough or trial.value >= low.value:",
        "if not enough:",
        SEAM,
    ),
    Mutant(
        PACKAGE + "solvers/_base.py",
        "max(self.lower_bound, certificate.lower_bound)",
        "certificate.lower_bound",
        SEAM,
    ),
    Mutant(PACKAGE + "decoders/cost.py", '"eab,abcd->ecd"', '"eab,cdab->ecd"', SEAM),
    Mutant(PACKAGE + "decoders/abstain.py", ">= self.threshold", "> 1 - self.threshold", SEAM),
    Mutant(
        PACKAGE + "decoders/posterior.py", "values == -np.inf, -np.inf,", "values == np.inf, -np.inf,", SEAM
    ),
    # Rules about labels.
    Mutant(PACKAGE + "constraints/tags.py", "tag.kind == tags[k].kind", "True", RULES),
    Mutant(PACKAGE + "constraints/tags.py", "bool(self.end) and self._open(tag)", "self._open(tag)", RULES),
    Mutant(
        PACKAGE + "constraints/named.py",
        "[index[first], index[second]]",
        "[index[second], index[first]]",
        RULES,
    ),
    Mutant(
        PACKAGE + "estimators/_constraints.py",
        "[chain.last_positions] +=",
        "[chain.first_positions] +=",
        RULES,
    ),
    Mutant(PACKAGE + "estimators/_constraints.py", "seen[first] & seen[second] &", "", RULES),
    Mutant(PACKAGE + "estimators/_base.py", "return Posterior(respect=True)", "return Posterior()", RULES),
    # Kernel expansions.
    Mutant(
        PACKAGE + "spaces/_kernel_base.py",
        "left[: self.half], right[self.half :]",
        "left[: self.half], right[: self.half]",
        KERNELS,
    ),
    Mutant(
        PACKAGE + "spaces/_kernel_base.py",
        "self.image(result)[...] = self.gram.times(spread)",
        "self.image(result)[...] = spread",
        KERNELS,
    ),
    Mutant(
        PACKAGE + "spaces/_kernel_base.py",
        "self.image(result)[...] = self.gram.times(self.coordinates(element))",
        "pass",
        KERNELS,
    ),
    Mutant(
        PACKAGE + "spaces/_kernel_base.py", "        if not self._distinct:", "        if False:", KERNELS
    ),
    Mutant(
        PACKAGE + "spaces/kernel.py",
        "vertices if self.rows is None else self.rows[vertices]",
        "vertices",
        KERNELS,
    ),
    Mutant(PACKAGE + "spaces/kernel_edges.py", "self.rows[edges]", "edges", KERNELS),
    Mutant(PACKAGE + "spaces/label_embedding.py", "np.sqrt(rows * (rows + 1))", "np.sqrt(rows)", KERNELS),
    Mutant(
        PACKAGE + "spaces/label_embedding.py",
        "vectors[:, kept] * np.sqrt(values[kept])",
        "vectors[:, kept] * values[kept]",
        KERNELS,
    ),
    Mutant(
        PACKAGE + "spaces/label_embedding.py",
        "if values.min(initial=0.0) < -1e4 * least:",
        "if False:",
        KERNELS,
    ),
    Mutant(
        PACKAGE + "estimators/_vertex_kernels.py",
        "1.0 / float(value)",
        "float(value)",
        KERNELS,
    ),
    Mutant(PACKAGE + "estimators/_vertex_kernels.py", "coef[:, labels])", "coef[:, : len(labels)])", KERNELS),
    Mutant(
        PACKAGE + "estimators/_kernel_model.py",
        "observations[chain.edge_tails]",
        "observations[chain.edge_heads]",
        KERNELS,
    ),
    Mutant(
        PACKAGE + "estimators/_kernel_model.py",
        "self.dual_coef_ = coef[used]",
        "self.dual_coef_ = coef[: used.sum()]",
        KERNELS,
    ),
    Mutant(PACKAGE + "estimators/_kernel_problem.py", 'offset["node"] + log_q', 'offset["node"]', KERNELS),
    Mutant(
        PACKAGE + "estimators/_search.py",
        "progress._replace(iteration=done + progress.iteration)",
        "progress",
        KERNELS,
    ),
    Mutant(PACKAGE + "estimators/gp_sequence_classifier.py", "PAPER = 2.0", "PAPER = 1.0", KERNELS),
    Mutant(
        PACKAGE + "estimators/gp_sequence_classifier.py",
        "PAPER / self.edge_variance",
        "PAPER * self.edge_variance",
        KERNELS,
    ),
    Mutant(
        PACKAGE + "estimators/kernel_logistic_regression.py",
        "edges=False, boundaries=False,",
        "edges=False,",
        KERNELS,
    ),
    Mutant(
        PACKAGE + "estimators/kernel_logistic_regression.py",
        "edges=False, boundaries=False,",
        "boundaries=False,",
        KERNELS,
    ),
    # Trees.
    Mutant(CPP + "tree_sample.hpp", "uniform_at(seed, draw,", "uniform_at(seed, 0 * draw,"),
    # Second-order chains.
    Mutant(
        STRUCTURES + "chain2.py", "(labels[ends - 2], labels[ends - 1]", "(labels[ends - 1], labels[ends - 2]"
    ),
    Mutant(STRUCTURES + "chain2.py", "self.first_positions, invert=True", "self.last_positions, invert=True"),
    Mutant(STRUCTURES + "chain2.py", "        require_feasible(native.chain2_argmax(*arrays)[1])\n", ""),
    Mutant(CPP + "chain2_conditionals.hpp", "kSmall = 1e-200", "kSmall = 0"),
    Mutant(CPP + "chain2_conditionals.hpp", "next[c] /= total;", "next[c] /= 1;"),
    Mutant(CPP + "chain2_conditionals.hpp", "(t > 1 ? triples_.largest[c] : 0) +", ""),
    Mutant(CPP + "chain2_messages.hpp", "length < 3 ? 0 : batch.cube()", "batch.cube()"),
    Mutant(
        CPP + "chain2_messages.hpp",
        "return t > 1 ? static_cast<double>(batch.triple",
        "return t > 2 ? static_cast<double>(batch.triple",
    ),
    Mutant(CPP + "chain2_covariance.hpp", "total += centre;", ""),
    Mutant(CPP + "chain2_covariance.hpp", "m[c] * (along[k] - mean)", "m[c] * along[k]"),
    Mutant(CPP + "chain2_sample.hpp", "uniform_at(seed, n, v)", "uniform_at(seed, 0 * n, v)"),
    Mutant(CPP + "chain2_kbest.hpp", "return t > 1 ? i * chain_.labels", "return t > 2 ? i * chain_.labels"),
    # Scaled recursions.
    Mutant(ISA + "chain_scaled.hpp", "scale[r].log() + row.largest +", "scale[r].log() +"),
    Mutant(ISA + "chain_scaled.hpp", "return alpha > 0 ? value", "return alpha >= 0 ? value"),
    Mutant(ISA + "chain_scaled.hpp", "(value > 0) & (value < threshold)", "(value > 0) & (value < 0)"),
    Mutant(
        ISA + "chain_scaled.hpp",
        "static_cast<double>(A[i * stride + j])",
        "static_cast<double>(A[j * stride + i])",
    ),
    Mutant(ISA + "chain_scaled.hpp", "weight[r] / sum<C>(meet[r])", "1 / sum<C>(meet[r])"),
    Mutant(ISA + "chain_rows.hpp", "kRange<float> = 38", "kRange<float> = 85"),
    Mutant(ISA + "chain_rows.hpp", "& 0x7ff) - 1023", "& 0x7ff) - 1022"),
    Mutant(ISA + "chain_rows.hpp", "node.range + edge_range <= kRange<C>", "node.range <= kRange<C>"),
    Mutant(ISA + "chain_rows.hpp", "-largest<C>(-lowest) + kRange<C>", "kRange<C>"),
    Mutant(ISA + "chain_edges.hpp", "shifted += largest_edge[t - 1];", "shifted -= largest_edge[t - 1];"),
    Mutant(ISA + "chain_edges.hpp", "alpha[i] * (state.weight / meet)", "alpha[i] * (1 / meet)"),
    # Logarithms.
    Mutant(ISA + "chain_log.hpp", "beta[i] = base + ", "beta[i] = "),
    Mutant(
        ISA + "chain_log.hpp",
        "return chain.finite() ? log_forward(chain, messages)",
        "return true ? log_forward(chain, messages)",
    ),
    Mutant(ISA + "chain_log.hpp", "finish(k, total + base)", "finish(k, total)"),
    Mutant(
        ISA + "chain_log.hpp",
        "load(w.beta + k) + chain.scores(t + 1, k)",
        "load(w.beta + k) + chain.scores(t, k)",
    ),
    Mutant(ISA + "chain_entropy.hpp", "p > 0 ? -p * log_p", "p > 0 ? p * log_p"),
    Mutant(ISA + "simd.hpp", "1.0 / 5040,", "1.0 / 5041,"),
    # Covariance products.
    Mutant(ISA + "chain_covariance.hpp", "(lean + load(tilt.db + k))", "(lean - load(tilt.db + k))"),
    Mutant(ISA + "chain_covariance.hpp", " + work.plain_sum[at] * edges.forward[at]", ""),
    Mutant(ISA + "chain_log_covariance.hpp", " + c.pair_direction(t, i, j) +", " +"),
    # Best labellings, samples.
    Mutant(ISA + "chain_argmax.hpp", "== top ? index : first, first)", "== top ? index : first, index)"),
    Mutant(
        ISA + "chain_argmax.hpp", "node[r] = rows[r].node + t * L;", "node[r] = rows[r].node + (t - 1) * L;"
    ),
    Mutant(CPP + "chain_kbest.hpp", "rank < k ?", "rank + 1 < k ?"),
    Mutant(CPP + "chain_sample.hpp", "pairs[i * L + next]", "pairs[next * L + i]"),
    # Batches, threads, memory.
    Mutant(
        CPP + "chain.hpp",
        "edge_sum[k] += sums[b * square + k]",
        "edge_sum[k] = sums[b * square + k]",
    ),
    Mutant(CPP + "chain.hpp", "if (batch.length(s) > 1 && !finite)", "if (batch.length(s) > 0 && !finite)"),
    Mutant(CPP + "parallel.hpp", "|| in_forked_child()", "", THREADS),
    Mutant("cpp/src/memory.cpp", "            block = nullptr;\n", "", THREADS),
]


class Copy:
    """A copy of the repository with its own build folder and its own Python environment."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repository"
        self.build_folder = self.root / "build" / "mutants"
        self.python = folder / "venv" / "bin" / "python"
        self.environment = dict(os.environ)
        self.environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        hidden = shutil.ignore_patterns(".*", "build", "dist", "__pycache__", "*.so")
        shutil.copytree(ROOT, self.root, ignore=hidden)
        self._make_environment(folder)
        # One instruction set, hardly optimised: quicker to build by far, and wrong is wrong.
        self.replace("CMakeLists.txt", "if(processor MATCHES", "if(FALSE AND processor MATCHES")
        self.replace("CMakeLists.txt", "set(flags -O3 ", "set(flags -O1 ")
        self._run(
            [
                "cmake",
                "-S",
                self.root,
                "-B",
                self.build_folder,
                "-G",
                "Ninja",
                f"-DPython_EXECUTABLE={sys.executable}",
            ]
        )

    def _make_environment(self, folder: Path) -> None:
        """Packages of the present environment, without its editable installation of kernelfields."""
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        paths = folder / "venv" / "lib" / version / "site-packages" / "paths.pth"
        paths.write_text(f"{self.root / 'src'}\n{sysconfig.get_path('purelib')}\n")

    def _run(self, command: list[str | Path]) -> None:
        result = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError(f"{command[0]} failed:\n{result.stdout[-3000:]}{result.stderr[-3000:]}")

    def build(self) -> None:
        self._run(["cmake", "--build", self.build_folder, "--target", "_core"])
        for module in self.build_folder.glob("_core*.so"):
            shutil.copy(module, self.root / "src" / "kernelfields")

    def replace(self, file: str, old: str, new: str) -> str:
        """Replace text that must occur once; return the text of the file before."""
        path = self.root / file
        text = path.read_text()
        if text.count(old) != 1:
            raise RuntimeError(
                f"{file} has {text.count(old)} times {old!r}, expected once: bring the table up to date."
            )
        path.write_text(text.replace(old, new))
        return text

    def tests_pass(self, tests: Selection) -> bool:
        command = [self.python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests.paths]
        if tests.deselect:
            command += ["-k", f"not ({tests.deselect})"]
        try:
            result = subprocess.run(
                command, cwd=self.root, env=self.environment, capture_output=True, text=True, timeout=TIMEOUT
            )
        except subprocess.TimeoutExpired:
            return False
        if result.returncode in (2, 3, 4, 5):  # interrupted, internal error, bad usage, nothing collected
            raise RuntimeError(f"pytest could not run:\n{result.stdout[-3000:]}{result.stderr[-3000:]}")
        return result.returncode == 0


def survives(copy: Copy, mutant: Mutant) -> bool:
    before = copy.replace(mutant.file, mutant.old, mutant.new)
    try:
        if mutant.file.startswith("cpp/"):
            copy.build()
        return copy.tests_pass(mutant.tests)
    finally:
        (copy.root / mutant.file).write_text(before)


def in_order(mutants: list[Mutant]) -> list[Mutant]:
    """Python mutants first, while the module is still unbroken."""
    return sorted(mutants, key=lambda mutant: mutant.file.startswith("cpp/"))


def main(words: list[str]) -> int:
    chosen = in_order([m for m in MUTANTS if all(word in m.file + m.old for word in words)])
    survivors = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Copy(Path(folder))
        copy.build()
        for tests in dict.fromkeys(mutant.tests for mutant in chosen):
            if not copy.tests_pass(tests):
                print(f"The tests fail without any mutant: {' '.join(tests.paths)}")
                return 2
        for mutant in chosen:
            start = time.perf_counter()
            survived = survives(copy, mutant)
            survivors += [mutant] if survived else []
            word = "SURVIVED" if survived else "killed"
            name = f"{mutant.file}: {mutant.old.strip()} -> {mutant.new.strip() or '(nothing)'}"
            print(f"{word:9}{time.perf_counter() - start:5.0f} s  {name}", flush=True)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants killed.")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
