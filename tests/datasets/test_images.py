"""Loaders of images with labels: the counts that their sources state, and what is known about each image."""

from itertools import pairwise

import numpy as np
import pytest

from kernelfields.datasets import load_horses, load_scene, load_snakes
from kernelfields.errors import InputError, MissingDataError

STEPS = {(0, 255, 0): (1, 0), (255, 0, 0): (-1, 0), (0, 255, 255): (0, -1), (255, 255, 0): (0, 1)}
"""Where the next pixel lies, by colour."""


def assert_each_points_along_itself(found):
    for image, labels in zip(found.images, found.labels, strict=True):
        assert image.shape == (*labels.shape, 3)
        assert np.bincount(labels.ravel())[1:].tolist() == [1] * 10
        assert (image[labels == 0] == [0, 0, 255]).all()
        path = [tuple(np.argwhere(labels == k)[0]) for k in range(1, 11)]
        for here, there in pairwise(path):
            step = STEPS[tuple(image[here].tolist())]
            assert (here[0] + step[0], here[1] + step[1]) == there


@pytest.mark.parametrize(("part", "images"), [("train", 24), ("test", 12)])
def test_snakes_point_along_themselves(part, images, sample_dir):
    found = load_snakes(part, sample_dir)
    assert len(found.images) == images
    assert_each_points_along_itself(found)


@pytest.mark.data
def test_snakes_are_as_published(data_dir):
    for part, images, pixels in (("train", 200, 7566), ("test", 100, 3750)):
        found = load_snakes(part, data_dir)
        assert len(found.images) == images
        assert sum(one.size for one in found.labels) == pixels
        assert_each_points_along_itself(found)


def assert_masks_lie_on_their_images(found):
    for image, mask in zip(found.images, found.labels, strict=True):
        assert image.shape == (*mask.shape, 3)
        assert set(np.unique(mask)) == {0, 1}
    inside = np.mean([one[one.shape[0] // 3 : 2 * one.shape[0] // 3].mean() for one in found.labels])
    outside = np.mean([one[:3].mean() for one in found.labels])
    assert inside > 5 * outside  # rows and columns are in their places


@pytest.mark.parametrize(("part", "images"), [("train", 7), ("test", 5)])
def test_horses_are_cut_into_images(part, images, sample_dir):
    found = load_horses(part, sample_dir)
    assert len(found.images) == images
    assert_masks_lie_on_their_images(found)
    for image, mask in zip(found.images, found.labels, strict=True):
        assert image[mask == 1].mean() < image[mask == 0].mean() - 60  # drawn darker


@pytest.mark.data
def test_horses_are_a_quarter_of_all_pixels(data_dir):
    train, test = (load_horses(part, data_dir) for part in ("train", "test"))
    assert (len(train.images), len(test.images)) == (278, 49)
    labels = [*train.labels, *test.labels]
    assert sum(one.size for one in labels) == 1619840
    assert sum(one.sum() for one in labels) / 1619840 == pytest.approx(0.251, abs=5e-4)
    assert {max(one.shape) for one in labels} == {80}
    for found in (train, test):
        assert_masks_lie_on_their_images(found)


@pytest.mark.parametrize(("part", "images"), [("train", 120), ("test", 80)])
def test_scenes_are_rows_and_labels_of_their_part(part, images, sample_dir):
    found = load_scene(part, sample_dir)
    assert found.features.shape == (images, 294)
    assert found.labels.shape == (images, len(found.names))
    assert found.features.dtype == np.float64
    with np.load(sample_dir / "scene_multilabel" / "scene.npz") as data:
        np.testing.assert_array_equal(found.features, data[f"X_{part}"])
        np.testing.assert_array_equal(found.labels, data[f"y_{part}"])


@pytest.mark.data
def test_scenes_are_as_published(data_dir):
    for part, images, positive in (
        ("train", 1211, [227, 165, 197, 196, 277, 224]),
        ("test", 1196, [200, 199, 200, 237, 256, 207]),
    ):
        found = load_scene(part, data_dir)
        assert found.features.shape == (images, 294)
        assert found.labels.sum(axis=0).tolist() == positive
        assert 0 <= found.features.min() < found.features.max() <= 1


@pytest.mark.parametrize("load", [load_snakes, load_horses, load_scene])
def test_unknown_parts_and_missing_files_are_said(load, tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"part='dev' is not known; choose one of 'train', 'test'\."):
        load("dev")
    with pytest.raises(MissingDataError, match="there is no file"):
        load("test", tmp_path)
    monkeypatch.setenv("KERNELFIELDS_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="set KERNELFIELDS_DATA"):
        load()
