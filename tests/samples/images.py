"""Images with a label per pixel, and images with several labels."""

from pathlib import Path

import numpy as np

from ._files import offsets_of, write_arrays

COLOURS = {(0, 1): (255, 255, 0), (1, 0): (0, 255, 0), (-1, 0): (255, 0, 0)}
"""Of a pixel of a snake, by where the next one lies."""


def write_images(folder: Path, rng: np.random.Generator) -> None:
    """Snakes, horses and scenes."""
    write_snakes(folder, rng)
    write_horses(folder, rng)
    write_scenes(folder, rng)


def write_snakes(folder: Path, rng: np.random.Generator) -> None:
    """Snakes of ten pixels on a background."""
    arrays = {}
    for part, count in (("train", 24), ("test", 12)):
        drawn = [snake(rng) for _ in range(count)]
        arrays |= {
            f"{part}_shape": np.array([labels.shape for _, labels in drawn], np.int32),
            f"{part}_offsets": offsets_of([labels.size for _, labels in drawn]),
            f"{part}_rgb": np.concatenate([rgb.reshape(-1, 3) for rgb, _ in drawn]),
            f"{part}_label": np.concatenate([labels.reshape(-1) for _, labels in drawn]),
        }
    write_arrays(folder / "snakes" / "snakes.npz", **arrays)


def snake(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A path that turns at every other step, down or up and to the right; the last pixel repeats a colour."""
    down = 1 if rng.random() < 0.5 else -1
    path = [(0 if down > 0 else 4, 0)]
    for n in range(9):
        i, j = path[-1]
        path.append((i, j + 1) if n % 2 or not 0 <= i + down < 5 else (i + down, j))
    height, width = 7, 3 + max(j for _, j in path)
    rgb, labels = np.zeros((height, width, 3), np.uint8), np.zeros((height, width), np.uint8)
    rgb[..., 2] = 255
    for n, (i, j) in enumerate(path):
        labels[i + 1, j + 1] = n + 1
        if n < 9:
            step = path[n + 1][0] - i, path[n + 1][1] - j
        rgb[i + 1, j + 1] = COLOURS[step]
    return rgb, labels


def write_horses(folder: Path, rng: np.random.Generator) -> None:
    """Dark boxes on bright ground instead of horses."""
    shapes = np.array([(int(rng.integers(14, 20)), int(rng.integers(16, 24))) for _ in range(12)], np.int16)
    rgb, masks = [], []
    for height, width in shapes.tolist():
        mask = np.zeros((height, width), np.uint8)
        mask[height // 4 : 3 * height // 4, width // 4 : 3 * width // 4] = 1
        bright = np.where(mask[..., None], 70, 180) + rng.normal(0, 30, (height, width, 3))
        rgb.append(np.clip(bright, 0, 255).astype(np.uint8).reshape(-1, 3))
        masks.append(mask.reshape(-1))
    write_arrays(
        folder / "weizmann_horses" / "horses80.npz",
        shape=shapes,
        offsets=offsets_of([len(mask) for mask in masks]),
        rgb=np.concatenate(rgb),
        mask=np.packbits(np.concatenate(masks)),
        split=(np.arange(len(shapes)) >= 7).astype(np.uint8),
    )


def write_scenes(folder: Path, rng: np.random.Generator) -> None:
    """Colours that depend on labels, of which there is at least one."""
    centres, arrays = rng.random((6, 294)), {}
    for part, count in (("train", 120), ("test", 80)):
        labels = (rng.random((count, 6)) < 0.2).astype(np.uint8)
        labels[np.arange(count), rng.integers(6, size=count)] = 1
        means = labels @ centres / labels.sum(axis=1, keepdims=True)
        arrays[f"X_{part}"] = np.clip(means + rng.normal(0, 0.1, means.shape), 0, 1).astype(np.float32)
        arrays[f"y_{part}"] = labels
    write_arrays(folder / "scene_multilabel" / "scene.npz", **arrays)
