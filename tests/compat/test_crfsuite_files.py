"""Model files that CRFsuite wrote: the same tags, marginals within 1e-6; damaged ones are refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelfields import load
from kernelfields.compat.convert import convert_model
from kernelfields.errors import ModelFormatError
from kernelfields.io.crfsuite import read_crfsuite

from ._both import messages, ours, tagger, theirs
from ._data import training_set

MODELS = {
    "lbfgs": ("lbfgs", {"max_iterations": 8}),
    "l1": ("lbfgs", {"c1": 0.5, "c2": 0.0, "max_iterations": 8}),
    "all pairs": (
        "lbfgs",
        {"feature.possible_states": 1, "feature.possible_transitions": 1, "max_iterations": 4},
    ),
    "frequent": ("lbfgs", {"feature.minfreq": 5, "max_iterations": 4}),
    "l2sgd": ("l2sgd", {"max_iterations": 3}),
    "ap": ("ap", {"max_iterations": 3}),
    "pa": ("pa", {"max_iterations": 3}),
    "arow": ("arow", {"max_iterations": 3}),
}
"""``python -m benchmarks crfsuite_files`` has twenty, tagged on 1,000 sequences each."""

X, Y = training_set(60, seed=3)
X_TEST, _ = training_set(40, seed=4, vocabulary=60)


def require_equal(path, sequences, folder):
    """Tags and marginals of a file, read by CRFsuite, by compat, and converted."""
    original, compat = tagger(theirs, path), tagger(ours, path)
    convert_model(path, folder / "converted.kf")
    model = load(folder / "converted.kf")
    labels = original.labels()
    assert compat.labels() == labels == model.classes_.tolist()
    for items, tags, marginals in zip(
        sequences, model.predict(sequences), model.predict_marginals(sequences), strict=True
    ):
        assert compat.tag(items) == tags == original.tag(items)
        expected = [[original.marginal(label, t) for label in labels] for t in range(len(items))]
        np.testing.assert_allclose(marginals, np.reshape(expected, marginals.shape), atol=1e-6)
        found = [[compat.marginal(label, t) for label in labels] for t in range(len(items))]
        np.testing.assert_allclose(found, expected, atol=1e-6)
        assert compat.probability(tags) == pytest.approx(original.probability(tags), abs=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_same_tags_and_marginals(name, tmp_path):
    messages(theirs, X, Y, tmp_path / "model", *MODELS[name])
    require_equal(tmp_path / "model", [*X_TEST, [{"unknown": 1.0}], []], tmp_path)


def test_one_label_and_large_values(tmp_path):
    messages(theirs, X, [["x"] * len(y) for y in Y], tmp_path / "one", "lbfgs", {})
    require_equal(tmp_path / "one", X_TEST[:3], tmp_path)
    steep = [[{"v": 300.0 * i, "w": -200.0} for i in range(len(items))] for items in X]
    messages(theirs, steep, Y, tmp_path / "steep", "lbfgs", {"max_iterations": 2})
    require_equal(tmp_path / "steep", steep[:5], tmp_path)


def test_info_is_that_of_the_original(tmp_path):
    messages(theirs, X, Y, tmp_path / "model", *MODELS["lbfgs"])
    expected, found = (tagger(module, tmp_path / "model").info() for module in (theirs, ours))
    assert found.header == expected.header
    assert found.labels == expected.labels
    assert found.attributes == expected.attributes
    assert found.transitions == pytest.approx(expected.transitions, abs=6e-7)
    assert found.state_features == pytest.approx(expected.state_features, abs=6e-7)


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model"
    messages(theirs, X[:8], Y[:8], path, "ap", {"max_iterations": 1})
    return path.read_bytes()


@settings(deadline=None)  # cores may be busy
@given(share=st.floats(0, 1, exclude_max=True))
def test_truncated_files_are_refused(content, share):
    with pytest.raises(ModelFormatError, match="cannot be read as a model of CRFsuite: "):
        read_crfsuite(content[: int(share * len(content))])


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_damaged_files_are_refused_or_read(content, data):
    """Never another exception, never a crash; what is read can tag."""
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.one_of(st.integers(0, 60), st.integers(0, len(damaged) - 1)))
        damaged[place] = data.draw(st.integers(0, 255))
    model = ours.Tagger()
    try:
        model.open_inmemory(bytes(damaged))
    except ModelFormatError:
        return
    model.tag(X_TEST[0])


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_noise_is_refused(noise):
    for prefix in (b"", b"lCRF"):
        with pytest.raises(ModelFormatError):
            ours.Tagger().open_inmemory(prefix + noise)


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        (4, 2**31, "it should have 2147483648 bytes"),
        (8, 7, "it is of the type"),
        (12, 99, "it has version 99, expected 100"),
        (20, 2**20, "there are fewer than 1048576 labels"),
        (28, 3, "the chunk FEAT is outside of the file"),
        (32, 48, "expected b'CQDB'"),
        (44, 2**32 - 1, "the chunk AFRF is outside of the file"),
        (56, 2**30, "there is no room for 1073741824 weights"),
        (60, 5, "it has weights of an unknown type"),
        (64, 2**20, "a weight belongs to attribute 1048576"),
        (68, 2**20, "a weight belongs to label 1048576"),
        (76, 0x7FF80000, "a weight is NaN or infinite"),
    ],
)
def test_reasons(content, place, value, reason):
    damaged = bytearray(content)
    damaged[place : place + 4] = value.to_bytes(4, "little")
    with pytest.raises(ModelFormatError, match=reason):
        read_crfsuite(bytes(damaged))


def test_names_are_checked(content):
    header = read_crfsuite(content).header
    start = header["off_attrs"]
    table = start + int.from_bytes(content[start + 20 : start + 24], "little")
    record = start + int.from_bytes(content[table : table + 4], "little")
    for place, value, reason in (
        (start + 12, b"\0\0\0\0", "unknown byte order"),
        (table, b"\xff\xff\xff\x7f", "is outside of its chunk"),
        (record, b"\x05\0\0\0", "not numbered one by one"),
        (record + 4, b"\xff\xff\0\0", "is cut off"),
        (record + 4, b"\x02\0\0\0", "has no end"),
        (record + 8, b"\xff", "not UTF-8"),
    ):
        damaged = bytearray(content)
        damaged[place : place + len(value)] = value
        with pytest.raises(ModelFormatError, match=reason):
            read_crfsuite(bytes(damaged))
