"""Linear conditional random fields."""

from __future__ import annotations

import copy
import os
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from ..checks import require_settings
from ..constraints import Rule
from ..data.reading import FeatureSetting
from ..data.training import Training
from ..data.types import Items, Lengths, Outputs, Seed, Weights
from ..decoders import Decoder
from ..errors import InputError
from ..fitting.run import previous, starts_afresh
from ..fitting.run_settings import Run
from ..fitting.settings import CHECKS
from ..losses import CustomLoss, LossSettings
from ..models.attributes import LinearAttributes, keep_scorers, learnt_model
from ..models.fit.linear import FIRST_ORDER, LinearFit, solver_of, widened_scorers
from ..models.fit.steps import FitArguments, ObjectiveModel, Reader
from ..models.learnt import LINEAR
from ..models.model import Model
from ..models.parts import FixedScores, Part, Parts, looked_at, norms_of, parts_of
from ..solvers import Solver
from ..structures import Structure
from ..tables import loss_settings

if TYPE_CHECKING:
    from ..posterior import PosteriorMethod


@dataclass(eq=False, repr=False)
class CRF(LinearAttributes, ObjectiveModel):
    """Linear conditional random field, on sequences or on trees.

    The distribution over labellings of a sequence x is

        p(y|x) ∝ exp( Σ_t ⟨w_{y_t}, x_t⟩ + b_{y_t} + Σ_t V_{y_t, y_{t+1}} + start_{y_1} + end_{y_T} )

    and the weights minimise Σ_i −log p(y^i|x^i) + (λ/2)(‖w‖² + ‖b‖² + ‖start‖² + ‖end‖² + ‖V‖²).
    The problem is convex; every fit comes with a certificate of how far from the optimum it can be. Use it
    for features in which labels are (nearly) linear, text above all.

    With ``structure="chain2"`` the exponent has the terms Σ_t U_{y_{t−1}, y_t, y_{t+1}}, too; a sequence then
    takes time T·L³ instead of T·L². With ``structure="segments"`` it has a term S_{b(d), l} for every run of
    a label l that is d positions long. Each of these terms is a part of the model: ``parts`` gives parts
    penalties of their own, takes them away, and adds others.

    Parameters
    ----------
    penalty : float
        λ, for all parts without one of their own. CRFsuite's c2 is λ/2; scikit-learn's C is 1/λ.
    features : str, Templates or extractor (TemplateFeatures, DictFeatures, MissingValues), optional
        What to look at where X holds tokens instead of arrays: a ready-made set ("chunking", "ner",
        "pos"), templates, or an extractor. Dictionaries and collections of strings are read as
        CRFsuite reads them if nothing is given. ``MissingValues`` takes arrays that have NaN, and fills them;
        ``TokensAndArrays`` takes pairs of tokens and an array of numbers, such as embeddings.
    structure : "chain", "chain2", "segments", "tree", "graph" or Structure
        What labels depend on: the label before them, the two before them (which takes time T·L³ instead
        of T·L²), or that of their parent; or an object of ``structures``, such as ``Chain(order=2)``.
        With "segments" it also matters how long runs of one label are, see ``Segments``.
        With "tree", items of X are pairs (features, parents), and first and last labels are those of
        roots and leaves; with "graph", pairs (features, edges), and none is first or last. ``Grid``,
        ``MultiLabel`` and ``Hierarchy`` are for images and for several labels a row.
    parts : Parts
        What differs from the parts above: ``Parts(edges=FreeScores(penalty=0.1))`` gives V a penalty of its
        own, ``Parts(boundaries=None)`` takes start and end away, ``Parts(edge_features=LinearScores())`` adds
        weights of label pairs for the features of their first position, or for those of edges where graphs
        have such. ``FixedScores(q)`` adds what is known beforehand, and ``norm=`` of a part is a further
        penalty that is not squared: ``L1Norm(κ)`` makes most weights zero, ``GroupNorm(κ)`` whole features,
        ``SpaceNorm(ε)`` is ε‖f‖. With penalties of 0 and the last, the moments of the model match those
        observed up to ε [altun2006, Theorem 1], and ``mismatch_`` says so. See `Parts`.
    l1 : float
        κ of a further penalty κ‖w‖₁ on the weights of the features, which makes most of them zero.
    observed_only : bool
        Whether only pairs of feature and label, and of neighbouring labels, that occur in the
        training set have weights: for sparse features; much smaller, hardly worse, and what CRFsuite
        does.
    classes : list, optional
        All labels that there are, in the order of ``classes_``, also those that the training set happens
        to lack; if not given, those that occur.
    loss : "log", "marginal-log", "pseudo", "piecewise", "pseudo-em", "entropy", or settings
        What is minimised: −log p(y|x) of whole labellings; or Σ_t −log p(y_t|x), the log loss of every
        label by itself, which fits decoding label by label, and is not convex: no certificate; or, for
        graphs where sums over labellings are out of reach, Σ_t −log p(y_t | labels around it, x), or
        the log loss of every clique by itself, both convex, leaving out cliques with a label that was not
        observed. ``losses.VariationalEM(...)`` is the first of these, learnt in turn with beliefs about
        labels that were not observed: for few labels in a large graph. ``losses.EntropyRegularised(γ)``
        adds γ times the entropy of sequences without any label to the first: not convex, either.
        ``losses.Log(cost=…)`` has a cost inside (softmax-margin), that of labels as ``class_weight``; the
        ``class_weight`` of `MarginalLog`, `PseudoLikelihood`, `Piecewise`, `VariationalEM` weighs positions.
    constraints : "iob2", "iobes", "bilou", "bmes", Rule or None
        Label pairs, starts and ends that cannot occur: a tag scheme, or ``Constraints(...)``. Such
        labellings have probability 0, in training and in prediction; training labels that break
        the rule are refused, and the weights of forbidden pairs stay 0.
    solver : "lbfgs", "newton-cg", "block-jacobi", "subspace", "conjugate-gradients", "meta-descent", \
"iterative-scaling" or Solver
        How to minimise: by limited-memory quasi-Newton steps, by Newton's with exact products, by
        Newton's without covariances between cliques (not with "chain2"), over one clique type at a time, by
        conjugate gradients, by stochastic descent with gains that learn, or by scaling (features that
        are not negative only). All reach the same optimum, "lbfgs" most often soonest. With ``l1``
        "lbfgs" means OWL-QN, its form for such penalties; others are refused.
    decoder : "viterbi", "posterior" or Decoder
        How `predict` decides: the best labelling as a whole, or label by label.
    tol : float
        Relative certified gap at which to stop.
    max_iter : int
        Limit of iterations; reaching it is a `ConvergenceWarning`.
    posterior : "laplace", "variational", "mcmc", PosteriorMethod, optional
        Average probabilities over functions drawn from the posterior exp(−R), instead of taking the most
        probable one: see `posterior`. ``posterior_`` has them, and the evidence of the settings.
    warm_start : bool
        Whether `fit` starts from the weights of the last one, if labels and features are the same.
    random_state : int, RandomState or None
        Seed of `sample`; fitting has no randomness.
    run : Run
        Heeds ``patience``, ``callback``, ``checkpoint``, ``checkpoint_seconds`` and ``quick_start``.
    verbose : int
        1 shows a line of progress.

    Attributes
    ----------
    classes_ : (L,) array
        Labels, in the order of all arrays over labels.
    coef_ : (L, D) array, or scipy-sparse matrix with ``observed_only``
        w; ``intercept_`` (L,) is b, ``transitions_`` (L, L) is V, ``start_`` and ``end_`` (L,), and
        ``edge_coef_`` (L, L, D) with the part "edge_features", ``factors_`` a dictionary of the tables of
        further clique types of graphs, ``second_order_`` (L, L, L) with "chain2" is U,
        ``durations_`` (B, L) with "segments" is S, ``rules_`` (R,) those of a `GrammarTrees`; zeros for
        parts that were taken away, and ``parts_`` a dictionary of all others.
    forbidden_ : Forbidden or None
        What ``constraints`` forbids among ``classes_``, as masks.
    certificate_ : Certificate or None
        Value, lower bound and gap; None where no bound exists (unobserved labels, or a penalty of
        0).
    objective_ : float
        Loss and penalty of the model, with a certificate or without; ``objective_path_`` has those before
        every step of EM, where labels own hidden states.
    mismatch_ : dict
        For every part of the model the distance between expected and observed features, summed over the
        training set, in the dual of the norm of the part, or in that of the space. For
        means instead of sums, divide it by the number of sequences: that is the ε in "maximum entropy with
        moments matched up to ε" that the penalty stands for.
    n_iter_, stop_reason_ : int, str
        How and why the search ended.
    provenance_ : Provenance
        Hash and size of the training set, date, versions.
    n_features_in_, feature_names_in_ : int, array
        As in scikit-learn.

    Examples
    --------
    >>> from kernelfields import CRF
    >>> X = [[[0.0], [1.0], [1.0]], [[1.0], [0.0]]]
    >>> y = [["A", "B", "B"], ["B", "A"]]
    >>> CRF(penalty=0.1).fit(X, y).predict([[[1.0], [0.0], [0.0]]])
    [['B', 'A', 'A']]
    """

    _learnt = LINEAR
    _heeds: ClassVar[frozenset[str]] = frozenset(
        {"patience", "callback", "checkpoint", "checkpoint_seconds", "quick_start"}
    )
    _scores_rows = True

    penalty: float = 1.0
    _: KW_ONLY
    features: FeatureSetting = None
    structure: str | Structure = "chain"
    parts: Parts = Parts()
    l1: float = 0.0
    observed_only: bool = False
    classes: Sequence[Hashable] | None = None
    loss: str | LossSettings | CustomLoss = "log"
    constraints: str | Rule | None = None
    solver: str | Solver = "lbfgs"
    decoder: str | Decoder = "viterbi"
    tol: float = 1e-3
    max_iter: int = 1000
    posterior: str | PosteriorMethod | None = None
    warm_start: bool = False
    random_state: Seed = None
    run: Run = Run()
    verbose: int = 0

    @starts_afresh
    def fit(
        self,
        X: Items,
        y: Outputs,
        *,
        lengths: Lengths = None,
        sample_weight: Weights = None,
        X_dev: Items | None = None,
        y_dev: Outputs | None = None,
        X_unlabelled: Items | None = None,
    ) -> Self:
        """Fit to labelled sequences.

        Parameters
        ----------
        X : list of (T, D) arrays, or flat array
            Sequences.
        y : list of label sequences
            Labels; None marks one that was not observed. In the place of a label sequence, None or −1 says
            that there are no labels, and the sequence is left out, if the loss does not learn from it.
        lengths : sequence of int, optional
            Lengths of the sequences in a flat X.
        sample_weight : (S,) array, optional
            How many times each sequence counts.
        X_dev, y_dev : lists, optional
            Held-out sequences: the search ends when their likelihood has not risen for ``patience``
            iterations, and the best weights seen are kept.
        X_unlabelled : list, optional
            More sequences without labels, for losses that learn from them (``EntropyRegularised``); others
            would not, and refuse them.
        """
        return self._fit(FitArguments(X, y, lengths, sample_weight, X_dev, y_dev, X_unlabelled))

    @starts_afresh
    def fit_stream(
        self,
        sentences: str | os.PathLike[str] | Iterable[object],
        *,
        memory_limit: int = 2**31,
        directory: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Fit to more sentences than memory holds: their features are kept in files, and read in turn.

        The result is that of `fit`, certificate included. ``features`` must be templates, which are hashed to
        2²⁰ columns, or `TemplateFeatures`: with ``n_hash``, with a vocabulary, or without. In the last case
        features are counted first, and the vocabulary is that of `fit`; see `TemplateFeatures.fit_chunks`.

        Parameters
        ----------
        sentences : paths, or iterable of pairs
            Files of CoNLL, the last column of which has the labels, or files of Parquet or Arrow (.parquet,
            .pq, .arrow, .feather), as `kernelfields.io.read_parquet` reads them; or pairs of tokens and
            labels. All are gone through twice: for labels and a vocabulary, unless both are known, and
            for features.
        memory_limit : int
            Bytes that the process may take.
        directory : path, optional
            Where the files go; the folder for temporary files if not given. A token of CoNLL-2000 takes 101
            bytes with the features "chunking", 204 with "ner".
        """
        require_settings(vars(self), CHECKS)
        if self.posterior is not None:
            raise InputError("fit_stream has no posterior; set posterior=None, or call fit.")
        if not isinstance(solver_of(self), FIRST_ORDER):
            raise InputError(f"fit_stream does not go with solver={self.solver!r}, which needs curvatures.")
        from ..models.fit.stream import streamed
        from ..models.stream_chunks import sentences_of

        with streamed(self, sentences_of(sentences), memory_limit, directory) as stream:
            stream.keep(self, stream.search(None))
        return self

    @starts_afresh
    def partial_fit(
        self,
        X: Items,
        y: Outputs,
        *,
        classes: Sequence[Hashable] | None = None,
        lengths: Lengths = None,
        sample_weight: Weights = None,
    ) -> Self:
        """Go on from the present weights with more sequences.

        Minimises the loss of the new sequences plus (λ/2)‖w − w₀‖², w₀ the weights so far: the penalty
        is centred at what was learnt. Labels not seen before start from weights of zero; features not
        seen before are dropped. The certificate is that of this step.

        Parameters
        ----------
        X, y, lengths, sample_weight
            As in `fit`.
        classes : list, optional
            Labels to come, for the first call.
        """
        if self.l1 or norms_of(self.parts):
            raise InputError("partial_fit does not go with l1 or norms of parts.")
        if self.run.checkpoint is not None:
            raise InputError("partial_fit keeps no checkpoints; leave checkpoint out of run, or call fit.")
        if self.posterior is not None:
            raise InputError("partial_fit has no posterior; set posterior=None, or call fit.")
        base = previous(self)
        known = classes if base is None else base.classes_.tolist()
        training = self._training(FitArguments(X, y, lengths, sample_weight), known, base)
        if base is not None:
            known_parts = widened_scorers(base, training.batch)
            base = copy.copy(base)
            base.classes_ = training.encoded.classes
            keep_scorers(base, known_parts, len(base.classes_))
        fit = LinearFit(self, training, base)
        fit.keep(self, fit.search(None))
        return self

    def _objective(self, given: FitArguments) -> LinearFit:
        if given.X_unlabelled is not None and not loss_settings(self.loss).learns_without_labels:
            raise InputError(
                "X_unlabelled is for losses that learn from it, such as EntropyRegularised; "
                f"loss={self.loss!r} does not."
            )
        training, checkpoint = self._training(given), None
        if self.run.checkpoint is not None:
            from ..fitting.checkpoint import checkpoint_of

            checkpoint = checkpoint_of(self, training.contents())
        fit = LinearFit(self, training, checkpoint=checkpoint)
        if self.posterior is not None:
            from ..posterior import require_posterior

            require_posterior(fit.problem)
        return fit

    def _training(
        self, given: FitArguments, known: Sequence[Hashable] | None = None, base: CRF | None = None
    ) -> Training:
        """Read and check a training set, changing nothing."""
        require_settings(vars(self), CHECKS)
        return Reader(
            self.structure,
            self.features,
            self.loss,
            self.constraints,
            self.classes,
            own=looked_at(parts_of(self, Part, FixedScores)),
            observed_only=self.observed_only,
            binary=True,
        ).read(given, known, base)

    def _model(self) -> Model:
        return learnt_model(self)
