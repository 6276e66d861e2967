"""Parts of the experiment on Spanish named entities: draws, models, choices and claims."""

import numpy as np
import pytest

from experiments.lib import ner_samples
from experiments.lib.ner_rows import (
    DEGREE1,
    DEGREE2,
    WITH,
    WITHOUT,
    EntityTest,
    TriedPenalty,
    chosen_penalty,
    claims_about,
    row_of,
)
from experiments.lib.ner_samples import EntitySamples
from experiments.lib.ner_sparse import PUBLISHED, SPARSE, WHOLE, SparseSettings
from experiments.lib.settings import load_settings
from experiments.ner_table1 import NERTable1Settings, _model, _require_known
from kernelfields import KernelCRF, Parts, Run
from kernelfields.datasets import Entities
from kernelfields.errors import InputError
from kernelfields.kernels import Precomputed
from kernelfields.selection import (
    SGPS,
    AtRandom,
    FunctionalGradient,
    InTurn,
    RefitAll,
    RefitNew,
    WholeSequences,
)


@pytest.fixture
def corpus(monkeypatch):
    random = np.random.default_rng(5)
    lengths = random.integers(1, 9, size=60)
    sentences = [[f"s{i}w{t}" for t in range(n)] for i, n in enumerate(lengths)]
    found = Entities(sentences, [["O"] * len(words) for words in sentences])
    monkeypatch.setattr(ner_samples, "load_conll2002", lambda part: found)
    return found


def test_draws_have_enough_words_and_no_sentence_in_common(corpus):
    samples = EntitySamples(40, seed=0)
    ids = [samples.ids(number) for number in range(4)]
    assert len(np.unique(np.concatenate(ids))) == sum(map(len, ids))
    order = np.random.default_rng(0).permutation(60).tolist()
    for some in ids:
        lengths = {i: len(corpus.sentences[i]) for i in some}
        last = max(some, key=order.index)
        assert sum(lengths.values()) >= 40
        assert sum(lengths.values()) - lengths[last] < 40
    drawn = samples.draw(1)
    assert drawn.words == sum(drawn.lengths) == drawn.features.shape[0]
    assert [len(y) for y in drawn.y] == [len(corpus.sentences[i]) for i in ids[2]]
    assert samples.apart().words == sum(len(corpus.sentences[i]) for i in ids[0])
    assert drawn.size == pytest.approx(np.square(drawn.features.toarray()).sum(axis=1).mean())


def test_more_draws_than_there_are_words_for_are_refused(corpus):
    with pytest.raises(InputError, match="too few sentences"):
        EntitySamples(40, seed=0).draw(20)


@pytest.fixture
def settings():
    return load_settings(NERTable1Settings, "ner-table1", quick=True)


@pytest.fixture
def task(rng):
    features = rng.normal(size=(40, 3))
    rows = [np.arange(a, a + 5)[:, None] for a in range(0, 40, 5)]
    y = [[str(int(features[i, 0] > 0) + int(features[i, 1] > 1)) for i in row[:, 0]] for row in rows]
    return features, Precomputed(features @ features.T), rows, y


def test_rows_of_kernels_have_the_prior_that_the_penalty_stands_for(task, settings):
    features, kernel, rows, y = task
    for penalty in (0.1, 3.0):
        model = (
            _model(DEGREE1, kernel, penalty, settings).set_params(tol=1e-6, run__dtype="float64").fit(rows, y)
        )
        primal = _model(WITH, None, penalty, settings).set_params(tol=1e-6)
        crf = primal.fit([features[row[:, 0]] for row in rows], y)
        options = {"parts": Parts(bias=None, boundaries=None), "tol": 1e-6, "run": Run(dtype="float64")}
        other = KernelCRF(kernel, penalty=penalty, **options)
        assert model.certificate_.value == pytest.approx(crf.certificate_.value, rel=1e-5)
        assert model.certificate_.value == pytest.approx(other.fit(rows, y).certificate_.value, rel=1e-5)


def test_only_sgps_as_published_ends_without_a_fit(task, settings):
    _, kernel, rows, y = task
    with pytest.warns(UserWarning, match="iterations"):
        published = _model(PUBLISHED, kernel, 0.1, settings).fit(rows, y)
    assert published.certificate_.value == pytest.approx(published.path_[-1].value, rel=1e-4)
    sparse = _model(SPARSE, kernel, 0.1, settings).set_params(tol=1e-3).fit(rows, y)
    assert sparse.certificate_.relative_gap <= 1e-3
    assert published.certificate_.relative_gap > 1e-3


def test_each_sparse_system_has_its_selection():
    settings = SparseSettings(0.25, 600, 160, 8, 0.02, 4, 2, 10, 20, 1e-2)
    sparse, published, whole = map(settings.selection, (SPARSE, PUBLISHED, WHOLE))
    assert sparse == SGPS(0.25, 600, order=AtRandom(160), refit=RefitAll(iterations=20))
    assert published == SGPS(0.25, 8, order=InTurn(1), by=FunctionalGradient(), refit=RefitNew(iterations=20))
    assert whole == WholeSequences(0.02, 4, order=AtRandom(2), refit=RefitAll(iterations=10))


def test_systems_are_known_and_bring_what_they_need():
    _require_known([DEGREE2, SPARSE, PUBLISHED])
    with pytest.raises(InputError, match="no system 'magic'"):
        _require_known(["magic"])
    with pytest.raises(InputError, match=f"'{SPARSE}' needs '{DEGREE2}'"):
        _require_known([SPARSE])
    with pytest.raises(InputError, match=f"'{DEGREE1}' needs '{WITH}'"):
        _require_known([DEGREE1, DEGREE2])


def test_of_penalties_with_few_errors_the_likeliest_is_chosen():
    tried = {
        0.1: TriedPenalty(4.70, -0.12),
        0.3: TriedPenalty(4.74, -0.11),
        1.0: TriedPenalty(4.75, -0.11),
        3.0: TriedPenalty(4.80, -0.10),
    }
    assert chosen_penalty(tried, 0.06) == 1.0
    assert chosen_penalty(tried, 0.0) == 0.1
    assert chosen_penalty(tried, 0.2) == 3.0


def folds_with(*errors, seconds=2.0, value=1.0):
    return [EntityTest(error, seconds, value, 1e-3, None) for error in errors]


def test_claims_compare_fold_by_fold():
    found = {
        WITHOUT: folds_with(5.0, 7.2),
        WITH: folds_with(4.2, 6.2),
        DEGREE1: folds_with(4.2, 6.2, value=1.001),
        DEGREE2: folds_with(4.0, 6.0),
        SPARSE: folds_with(4.1, 6.3),
        PUBLISHED: folds_with(4.0, 6.1),
        WHOLE: folds_with(7.0, 8.0, seconds=1.5),
    }
    chosen, grids = {WITH: 1.0, DEGREE2: 0.1}, {WITH: [0.1, 1.0, 10.0], DEGREE2: [0.1, 1.0]}
    claims = {claim.name: claim for claim in claims_about(found, chosen, grids)}
    lower = claims["prior_below_no_prior_points_lower_end"]
    assert lower.value == pytest.approx(0.9 - 12.7062 * 0.1, abs=1e-3)
    assert lower.paper == pytest.approx(0.36)
    assert not lower.holds
    assert claims["degree2_below_crf_points_lower_end"].value == pytest.approx(0.2)
    assert claims["degree1_objective_is_that_of_crf"].value == pytest.approx(1e-3, rel=1e-2)
    assert claims["sgps_above_dense_points"].value == pytest.approx(0.2)
    upper = claims["sgps_above_dense_points_upper_end"]
    assert upper.value == pytest.approx(0.2 + 12.7062 * 0.1, abs=1e-3)
    assert claims["sgps_as_published_above_dense_points"].holds
    assert not claims["sgps_as_published_above_dense_points_upper_end"].holds
    whole = claims["whole_sequences_above_sgps_points_lower_end"]
    assert whole.value == pytest.approx(2.3 - 12.7062 * 0.6, abs=1e-3)
    assert claims["whole_sequences_over_sgps_seconds"].value == pytest.approx(0.75)
    assert claims["penalties_chosen_at_ends_of_grids"].value == 1
    assert row_of(SPARSE, 0.1, found)["above degree 2"] == "-1.07 … +1.47"


def test_systems_that_were_not_run_have_no_claims():
    names = [claim.name for claim in claims_about({DEGREE2: folds_with(4.0)}, {}, {})]
    assert names == ["penalties_chosen_at_ends_of_grids"]
