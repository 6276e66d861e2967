"""Calibrated labellers: what is answered, what is refused, what is kept."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from kernelfields import CRF, HMM, InputError, KernelCRF, StructuredPerceptron, StructuredSVM, load
from kernelfields.decoders import Abstain, Posterior
from kernelfields.guarantees import Betting, JudgedAnswers, learn_threshold
from kernelfields.metrics import entity_spans
from kernelfields.structures import Dependency, Grid
from tests.estimators.test_dependency import task

ALPHA, SURE = 0.2, 0.8


def drawn(rng, n, dtype=np.float64, noise=0.7):
    """Sequences of two labels that persist, seen through noise."""
    y = [np.cumsum(rng.uniform(size=rng.integers(2, 9)) < 0.3) % 2 for _ in range(n)]
    X = [(np.eye(2)[labels] + noise * rng.normal(size=(len(labels), 2))).astype(dtype) for labels in y]
    return X, [np.array(["a", "b"])[labels].tolist() for labels in y]


def flat(y):
    return [label for labels in y for label in labels]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return {"train": drawn(rng, 60), "held": drawn(rng, 400), "test": drawn(rng, 800)}


@pytest.fixture(scope="module")
def calibrated(data):
    return CRF(decoder="posterior").fit(*data["train"]).calibrate(*data["held"])


def test_errors_are_few_and_answers_are_those_of_the_threshold(calibrated, data):
    X, y = data["test"]
    found = calibrated.guarantees(ALPHA, SURE)[None]
    given = calibrated.predict(X, error_at_most=ALPHA, confidence=SURE)
    plain, marginals = calibrated.predict(X), calibrated.predict_marginals(X)
    for labels, mine, p in zip(plain, given, marginals, strict=True):
        best = p.max(axis=1)
        kept = sorted(range(len(p)), key=lambda t: -best[t])[: found.threshold.limit]
        expected = [
            labels[t] if t in kept and best[t] >= found.threshold.least else None for t in range(len(p))
        ]
        assert mine == expected
    answered = [(a, b) for a, b in zip(flat(given), flat(y), strict=True) if a is not None]
    assert np.mean([a != b for a, b in answered]) <= ALPHA
    assert len(answered) > 0.5 * len(flat(y))


def test_guarantees_are_those_of_the_marginals(calibrated, data):
    X, y = data["held"]
    p = np.concatenate(calibrated.predict_marginals(X))
    names = calibrated.classes_[p.argmax(axis=1)]
    offsets = np.concatenate([[0], np.cumsum([len(x) for x in X])])
    own = JudgedAnswers(p.max(axis=1), names != np.array(flat(y)), p.argmax(axis=1), offsets)
    assert learn_threshold(own, ALPHA, SURE) == calibrated.guarantees(ALPHA, SURE)[None]
    given = calibrated.predict(X, error_at_most=calibrated.guarantees(ALPHA, SURE))
    assert given == calibrated.predict(X, error_at_most=ALPHA, confidence=SURE)


def test_kept_by_files_and_pickles_and_forgotten_by_fits_and_clones(calibrated, data, tmp_path):
    X, _ = data["test"]
    expected = calibrated.predict(X, error_at_most=ALPHA, confidence=SURE)
    calibrated.save(tmp_path / "model.kf")
    for again in (load(tmp_path / "model.kf"), pickle.loads(pickle.dumps(calibrated))):
        assert again.predict(X, error_at_most=ALPHA, confidence=SURE) == expected
        assert again.predict_sets(X[:5]) == calibrated.predict_sets(X[:5])
        again.save(tmp_path / "again.kf")
        again.fit(*data["train"])
        with pytest.raises(InputError, match="call calibrate"):
            again.predict(X, error_at_most=ALPHA)
    assert not hasattr(clone(calibrated), "calibration_")
    model = StructuredPerceptron(random_state=0).fit(*data["train"]).calibrate(*data["held"])
    model.partial_fit(*data["train"])
    assert not hasattr(model, "calibration_")


@pytest.mark.parametrize("method", ["betting", "hoeffding-bentkus", Betting(risk=0.5)])
@pytest.mark.parametrize("per_label", [False, True])
def test_methods_and_labels(data, method, per_label, tmp_path):
    model = CRF().fit(*data["train"]).calibrate(*data["held"], method=method, per_label=per_label)
    found = model.guarantees(0.3, 0.7)
    assert list(found) == (["a", "b"] if per_label else [None])
    model.save(tmp_path / "model.kf")
    assert load(tmp_path / "model.kf").guarantees(0.3, 0.7) == found


def test_each_label_has_its_own_threshold(data):
    X, y = data["test"]
    model = CRF().fit(*data["train"]).calibrate(*data["held"], per_label=True)
    found = model.guarantees(ALPHA, SURE)
    given, p = flat(model.predict(X, error_at_most=found)), np.concatenate(model.predict_marginals(X))
    for k, name in enumerate(["a", "b"]):
        answered = np.array([label == name for label in given])
        assert answered.any()
        assert p[answered, k].min() >= found[name].threshold.least
        assert np.mean(np.array(flat(y))[answered] != name) <= ALPHA


def test_nothing_is_answered_where_nothing_is_proved(calibrated, data):
    X, y = data["held"]
    few = CRF().fit(*data["train"]).calibrate(X[:3], y[:3])
    with pytest.warns(UserWarning, match="nothing is answered"):
        assert set(flat(few.predict(X[:4], error_at_most=0.01))) == {None}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert calibrated.predict([], error_at_most=ALPHA) == []


def entities(rng, n):
    y = []
    for _ in range(n):
        labels = []
        while len(labels) < 7:
            labels += [["O"], ["B-P", "I-P"], ["B-L"], ["O"]][rng.integers(4)]
        y.append(labels)
    codes = {"O": 0, "B-P": 1, "I-P": 2, "B-L": 3}
    X = [np.eye(4)[[codes[one] for one in labels]] + 0.6 * rng.normal(size=(len(labels), 4)) for labels in y]
    return X, y


@pytest.mark.parametrize("per_label", [False, True])
def test_entities_are_given_whole_or_not_at_all(per_label, tmp_path):
    rng = np.random.default_rng(1)
    model = CRF(constraints="iob2").fit(*entities(rng, 60))
    model.calibrate(*entities(rng, 600), units="entities", per_label=per_label)
    X, y = entities(rng, 400)
    plain, given = model.predict(X), model.predict(X, error_at_most=0.1, confidence=SURE)
    before, after, true = entity_spans(plain), entity_spans(given), entity_spans(y)
    assert all(set(some) <= set(every) for some, every in zip(after, before, strict=True))
    for labels, mine, spans in zip(plain, given, after, strict=True):
        inside = {t for span in spans for t in range(span.start, span.stop)}
        assert all(
            (one == label) if t in inside or label == "O" else one is None
            for t, (one, label) in enumerate(zip(mine, labels, strict=True))
        )
    wrong = sum(span not in known for some, known in zip(after, true, strict=True) for span in some)
    assert 0 < sum(map(len, after)) < sum(map(len, before))
    assert wrong <= 0.1 * sum(map(len, after))
    if per_label:
        assert list(model.guarantees()) == ["L", "P"]
    model.save(tmp_path / "model.kf")
    assert load(tmp_path / "model.kf").predict(X, error_at_most=0.1, confidence=SURE) == given
    sets = model.predict_sets(X, miss_at_most=0.1, of="entities")
    lost = [
        np.mean([any(y[s][t] not in sets[s][t] for t in range(a, b)) for a, b, _ in spans])
        for s, spans in enumerate(true)
        if spans
    ]
    assert np.mean(lost) <= 0.1 + 4 * np.std(lost) / np.sqrt(len(lost))


def test_sets_miss_no_more_than_promised_and_grow_as_they_must(calibrated, data):
    X, y = data["test"]
    sizes = []
    for share in (0.02, 0.1, 0.3):
        sets = calibrated.predict_sets(X, miss_at_most=share)
        lost = [
            np.mean([label not in one for one, label in zip(s, t, strict=True)])
            for s, t in zip(sets, y, strict=True)
        ]
        assert np.mean(lost) <= share + 4 * np.std(lost) / np.sqrt(len(lost))
        sizes.append(len([label for s in sets for one in s for label in one]))
    assert sizes[0] > sizes[1] >= sizes[2]
    only = calibrated.predict_sets(X, miss_at_most=0.1, of=["b"])
    found = [
        ["b" in one for one, label in zip(s, t, strict=True) if label == "b"]
        for s, t in zip(only, y, strict=True)
    ]
    assert np.mean([1 - np.mean(one) for one in found if one]) <= 0.12
    assert all(
        one[0] == label
        for s, t in zip(sets, calibrated.predict(X), strict=True)
        for one, label in zip(s, t, strict=True)
    )


MODELS = [
    CRF(structure="chain2"),
    CRF(posterior="laplace", random_state=0),
    KernelCRF("rbf"),
    StructuredSVM(),
    HMM("gaussian"),
    StructuredPerceptron(random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda one: type(one).__name__)
def test_every_labeller_can_be_calibrated(model, data):
    X, y = data["held"]
    model = clone(model).fit(*data["train"]).calibrate(X, y)
    given = model.predict(X, error_at_most=0.4, confidence=0.6)
    assert {None} < set(flat(given)) | {None}
    assert model.predict_sets(X[:2], miss_at_most=0.2)


@pytest.mark.parametrize("form", ["flat", "float32", "sparse", "tokens"])
def test_all_kinds_of_input(form, data):
    (X, y), (Xc, yc) = data["train"], data["held"]
    settings, how = {}, {}
    if form == "float32":
        X, Xc = ([x.astype(np.float32) for x in some] for some in (X, Xc))
    if form == "sparse":
        X, Xc = ([sparse.csr_matrix(x) for x in some] for some in (X, Xc))
    if form == "tokens":
        X, Xc = ([[str(round(v[0])) for v in x] for x in some] for some in (X, Xc))
        settings = {"features": "columns: w\nw[-1..1]"}
    model = CRF(**settings).fit(X, y)
    if form == "flat":
        how = {"lengths": [len(x) for x in Xc]}
        Xc, yc = np.concatenate(Xc), flat(yc)
    model.calibrate(Xc, yc, **how).recalibrate(Xc, yc, **how).calibrate(Xc, yc, **how)
    assert len(flat(model.predict(Xc, error_at_most=0.4, confidence=0.6, **how))) == len(
        flat(data["held"][1])
    )


def test_images_are_labelled_as_arrays(rng):
    y = [(np.arange(12).reshape(3, 4) + k) // 6 % 2 for k in rng.integers(0, 6, 150)]
    X = [labels[..., None] + 0.4 * rng.normal(size=(3, 4, 1)) for labels in y]
    model = CRF(structure=Grid(), loss="pseudo").fit(X[:20], y[:20]).calibrate(X[20:], y[20:])
    given = model.predict(X[:3], error_at_most=0.3, confidence=0.6)
    assert [np.shape(one) for one in given] == [(3, 4)] * 3


def test_sequences_with_missing_labels_are_left_out(data):
    X, y = data["held"]
    gaps = [[None, *labels[1:]] if s < 5 else labels for s, labels in enumerate(y)]
    model = CRF().fit(*data["train"])
    with pytest.warns(UserWarning, match="5 of 400 sequences"):
        model.calibrate(X, gaps)
    assert model.calibration_.answers.n_sequences == 395
    assert model.guarantees(ALPHA, SURE) == CRF().fit(*data["train"]).calibrate(X[5:], y[5:]).guarantees(
        ALPHA, SURE
    )
    with pytest.raises(InputError, match="nothing to calibrate"):
        model.calibrate(X[:2], [[None] * len(x) for x in X[:2]])


def test_labels_that_training_did_not_have_are_errors(data):
    X, _ = data["held"]
    model = CRF().fit(*data["train"]).calibrate(X, [["new"] * len(x) for x in X])
    assert model.calibration_.answers.wrong.all()
    assert not model.guarantees(0.4, 0.6)[None].holds


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"error_at_most": 0}, "error_at_most is 0"),
        ({"error_at_most": "few"}, "error_at_most"),
        ({"error_at_most": {None: 1}}, "error_at_most must be"),
        ({"error_at_most": 0.1, "confidence": 1}, "confidence is 1"),
        ({"confidence": 0.9}, "error_at_most"),
        ({"error_at_most": 0.1, "abstain": 0.5}, "abstain does not go with"),
        ({"error_at_most": 0.1, "decoder": "viterbi"}, "decoder does not go with"),
        ({"error_at_most": 0.1, "allowed": [None]}, "allowed does not go with"),
    ],
)
def test_odd_questions_are_refused(calibrated, data, settings, said):
    with pytest.raises(InputError, match=said):
        calibrated.predict(data["test"][0][:1], **settings)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"method": "magic"}, "method='magic'"),
        ({"units": "words"}, "units"),
        ({"units": "entities"}, "name no entities"),
        ({"per_label": "yes"}, "per_label"),
    ],
)
def test_odd_calibrations_are_refused_and_change_nothing(calibrated, data, settings, said):
    before = calibrated.calibration_
    with pytest.raises(InputError, match=said):
        calibrated.calibrate(*data["held"], **settings)
    with pytest.raises(InputError, match="sequences"):
        calibrated.calibrate(data["held"][0], data["held"][1][:-1])
    assert calibrated.calibration_ is before


@pytest.mark.parametrize(
    ("of", "said"), [("b", "must be a list"), (["c"], "none of classes_"), ("entities", "no ent")]
)
def test_odd_sets_are_refused(calibrated, data, of, said):
    with pytest.raises(InputError, match=said):
        calibrated.predict_sets(data["test"][0], of=of)


def test_what_has_no_calibration_says_so(data):
    X, y = data["train"]
    model = CRF().fit(X, y)
    for ask in (lambda: model.predict(X, error_at_most=0.1), model.guarantees, lambda: model.predict_sets(X)):
        with pytest.raises(InputError, match="call calibrate with held-out data first"):
            ask()
    with pytest.raises(InputError, match="take the one inside"):
        CRF(decoder=Abstain(Posterior(), 0.5)).fit(X, y).calibrate(X, y)


def test_parses_are_refused():
    X, y = task(Dependency())
    model = CRF(structure=Dependency()).fit(X, y)
    with pytest.raises(InputError, match="labels of vertices"):
        model.calibrate(X, y)
