"""Data sets that are read from a folder."""

import gzip

import numpy as np
import pytest

from kernelfields.datasets import (
    data_file,
    data_folder,
    load_conll2002,
    load_prosody,
    prosody_templates,
    spelling_templates,
)
from kernelfields.errors import InputError, MissingDataError
from kernelfields.features import TemplateFeatures

SENTENCES = "La DA O\nEFE NC B-ORG\n\nMadrid NP B-LOC\n\nSí R O\n. F O\n\n"
PROSODY = (
    "<file>\tone.txt\nThe\t0\t0\t0.1\t0.2\nJolly\t2\t0\t2.4\t0.7\n,\tNA\tNA\tNA\tNA\nthe\t1\t2\t1.0\t2.0\n"
    "<file>\tempty.txt\n!\tNA\tNA\tNA\tNA\n"
    "<file>\ttwo.txt\n...\tNA\tNA\tNA\tNA\nincomprehensibly\t0\t0\t0.0\t0.0\n"
)
BOUNDARIES = [[0.2, 0.7, 2.0], [0.0]]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in (("conll2002/esp.train.gz", SENTENCES), ("helsinki_prosody/dev.txt.gz", PROSODY)):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    monkeypatch.setenv("KERNELFIELDS_DATA", str(tmp_path))
    return tmp_path


def test_folder_is_that_of_the_variable(folder):
    assert data_folder() == folder
    assert data_file("conll2002", "esp.train.gz").is_file()


def test_folder_is_sought_beside_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.delenv("KERNELFIELDS_DATA", raising=False)
    (tmp_path / "shared" / "data").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    assert data_folder() == (tmp_path / "shared" / "data").resolve()


def test_missing_data_name_the_data_set(folder):
    with pytest.raises(MissingDataError, match=r"^The data set cb513 is missing: .*KERNELFIELDS_DATA.*\.$"):
        data_file("cb513", "all.npz")


def test_conll2002_reads_words_and_tags(folder):
    words, labels = load_conll2002()
    assert words == [["La", "EFE"], ["Madrid"], ["Sí", "."]]
    assert labels == [["O", "B-ORG"], ["B-LOC"], ["O", "O"]]


def test_conll2002_draws_sentences_by_seed(folder):
    draws = [load_conll2002("train", 2, seed) for seed in range(8)]
    assert all(len(draw.sentences) == len(draw.labels) == 2 for draw in draws)
    assert load_conll2002("train", 2, 3) == draws[3]
    assert len({str(draw) for draw in draws}) > 1


def test_spelling_looks_at_three_tokens():
    extractor = TemplateFeatures(spelling_templates())
    extractor.fit_transform([["la", "Agencia", "EFE-2"]])
    names = extractor.names()
    for name in (
        "w[-1]=la",
        "suffix3(w[0])=cia",
        "short_shape(w[1])=X-d",
        "is_title(w[0])",
        "lower(w[1])=efe-2",
    ):
        assert any(found.startswith(name) for found in names), name
    assert not any("[2]" in name or "[-2]" in name for name in names)


def test_prosody_has_two_labels_and_hangs_punctuation_on_words(folder):
    sentences, labels, boundaries = load_prosody()
    # "the" occurs twice, all else once; ⌊log₂ 2⌋ = 1
    assert sentences == [
        [("the", "1", "3", "-"), ("jolly", "0", "5", ","), ("the", "1", "3", "-")],
        [("incomprehensibly", "0", "10", "-")],
    ]
    assert labels == [["plain", "accented", "accented"], ["plain"]]
    assert [boundary.tolist() for boundary in boundaries] == BOUNDARIES
    assert len(load_prosody("dev", 1).sentences) == 1


def test_prosody_looks_at_five_words(folder):
    extractor = TemplateFeatures(prosody_templates())
    extractor.fit_transform(load_prosody().sentences)
    names = extractor.names()
    for name in ("w[1]=the", "frequency[-2]=1", "length[2]=3", "after[0]=,", "suffix3(w[0])=lly"):
        assert name in names
    assert not any("[3]" in name for name in names)


@pytest.mark.parametrize("count", [0, -1, 2.5, np.nan, "all"])
@pytest.mark.parametrize("load", [load_conll2002, load_prosody])
def test_numbers_of_sentences_are_whole(load, count, folder):
    with pytest.raises(InputError, match=r"n_sentences is .*; it must be a whole number from 1 on"):
        load(n_sentences=count)
    with pytest.raises(InputError, match="seed is -1"):
        load(n_sentences=1, seed=-1)


def test_folders_can_be_given(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELFIELDS_DATA", str(tmp_path / "elsewhere"))
    assert len(load_conll2002(folder=folder).sentences) == 3
    assert len(load_prosody(folder=folder).sentences) == 2
    with pytest.raises(MissingDataError, match="conll2002 is missing"):
        load_conll2002()
