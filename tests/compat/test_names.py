"""What programs written for the originals import, subclass and look at."""

import importlib
import pickle
from pathlib import Path

import pytest

from ._both import BOTH, ours, theirs

X, Y = [[{"w": "a"}, {"w": "b"}], [{"w": "b"}, {"w": "a"}]], [["A", "B"], ["B", "A"]]


@BOTH
def test_trainers_need_not_call_init(module, tmp_path):
    class Capturing(module.Trainer):
        def __init__(self, where):
            self.messages = where

        def message(self, message):
            self.messages.append(message)

    messages = []
    trainer = Capturing(messages)
    assert not trainer.verbose
    assert trainer.logparser is None
    trainer.append(X[0], Y[0])
    trainer.train(str(tmp_path / "m"))
    assert "type: CRF1d\n" in messages
    assert trainer.get_params() == module.Trainer("lbfgs").get_params()


@BOTH
def test_taggers_need_not_call_init(module, tmp_path):
    trainer = module.Trainer(verbose=False)
    trainer.append(X[0], Y[0])
    trainer.train(str(tmp_path / "m"))

    class Own(module.Tagger):
        def __init__(self, path, **options):
            self.open(path)

    assert Own(str(tmp_path / "m"), unused=1).tag(X[0]) == Y[0]


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("pycrfsuite._logparser", ["TrainLogParser", "LabelScore"]),
        ("pycrfsuite._dumpparser", ["CRFsuiteDumpParser", "ParsedDump"]),
        ("pycrfsuite._pycrfsuite", ["Trainer", "BaseTrainer", "Tagger", "ItemSequence", "CRFSuiteError"]),
        ("sklearn_crfsuite.estimator", ["CRF"]),
        ("sklearn_crfsuite.trainer", ["LinePerIterationTrainer"]),
        ("sklearn_crfsuite.utils", ["flatten"]),
        ("sklearn_crfsuite.metrics", ["flat_f1_score", "flat_classification_report"]),
        ("sklearn_crfsuite.scorers", ["flat_accuracy", "sequence_accuracy"]),
    ],
)
def test_modules_have_the_names(module, names):
    for package in ("", "kernelfields.compat."):
        imported = importlib.import_module(package + module)
        assert all(hasattr(imported, name) for name in names)


@BOTH
def test_dumps_are_read_back(module, tmp_path):
    """By the parser of either; weights have six digits in a dump."""
    trainer = module.Trainer(verbose=False)
    trainer.extend(X, Y) if module is ours else [trainer.append(*pair) for pair in zip(X, Y, strict=True)]
    trainer.train(str(tmp_path / "m"))
    tagger = module.Tagger()
    tagger.open(str(tmp_path / "m"))
    tagger.dump(str(tmp_path / "dump"))
    for side in (theirs, ours):
        parser = importlib.import_module(f"{side.__name__}._dumpparser").CRFsuiteDumpParser()
        for line in (tmp_path / "dump").read_text().splitlines(keepends=True):
            parser.feed(line)
        info = tagger.info()
        assert parser.result.labels == info.labels
        assert parser.result.attributes == info.attributes
        assert parser.result.header["num_labels"] == "2"
        assert parser.result.transitions == pytest.approx(info.transitions, abs=1e-6)
        assert parser.result.state_features == pytest.approx(info.state_features, abs=1e-6)


def test_no_dump_is_refused():
    parser = importlib.import_module(f"{ours.__name__}._dumpparser").CRFsuiteDumpParser()
    with pytest.raises(ValueError, match="No line of a dump: 'what'"):
        parser.feed("what\n")


@pytest.fixture(params=["sklearn_crfsuite", "kernelfields.compat.sklearn_crfsuite"])
def make(request):
    return importlib.import_module(request.param).CRF


def test_the_size_is_that_of_the_file(make, tmp_path):
    crf = make()
    assert crf.size_ is None
    crf.fit(X, Y)
    assert crf.size_ == Path(crf.modelfile.name).stat().st_size > 0
    named = make(model_filename=str(tmp_path / "m")).fit(X, Y)
    assert named.modelfile.name == str(tmp_path / "m")
    assert named.size_ == (tmp_path / "m").stat().st_size
    assert pickle.loads(pickle.dumps(crf)).size_ == crf.size_


def test_temporary_files_go_with_the_model(make, tmp_path):
    crf = make().fit(X, Y)
    path = Path(crf.modelfile.name)
    assert make(model_filename=str(path)).predict_single(X[0]) == Y[0]
    del crf
    assert not path.exists()
    crf = make(keep_tempfiles=True).fit(X, Y)
    path = Path(crf.modelfile.name)
    del crf
    assert path.exists()
    path.unlink()
