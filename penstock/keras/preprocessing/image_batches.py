"""Endless batches of changed images: of arrays, and of directories."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from penstock.keras.utils.arrays import to_categorical
from penstock.keras.utils.data_sequence import Sequence

__all__ = ["DirectoryIterator", "Iterator", "NumpyArrayIterator"]

_EXTENSIONS = (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".tif", ".tiff")


class Iterator(Sequence):
    """Batches of `n` samples in an order that each epoch may mix; a subclass makes a batch."""

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None):
        self.n = n
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.seed = seed
        self.total_batches_seen = 0
        self._order: Any = None
        self._next = 0

    @property
    def samples(self) -> int:
        return self.n

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def _mix(self) -> None:
        self._order = np.arange(self.n)
        if self.shuffle:
            self._order = np.random.permutation(self.n)  # noqa: NPY002 the program seeds it

    def reset(self) -> None:
        """Starts with the first batch again."""
        self._next = 0
        self._order = None

    def on_epoch_end(self) -> None:
        self._mix()

    def __getitem__(self, index: int) -> Any:
        if index >= len(self):
            raise ValueError(
                f"Asked to retrieve element {index}, but the Sequence has length {len(self)}"
            )
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)  # noqa: NPY002 as asked for
        self.total_batches_seen += 1
        if self._order is None:
            self._mix()
        chosen = self._order[self.batch_size * index : self.batch_size * (index + 1)]
        return self._batch(chosen)

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self._next >= len(self):
            self._next = 0
            self._order = None
        self._next += 1
        return self[self._next - 1]

    next = __next__

    def _batch(self, chosen: Any) -> Any:
        raise NotImplementedError


class NumpyArrayIterator(Iterator):
    """Batches of changed images of an array, with labels and weights if there are any."""

    def __init__(
        self,
        x: Any,
        y: Any,
        image_data_generator: Any,
        batch_size: int = 32,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: int | None = None,
        subset: str | None = None,
    ):
        self.x = np.asarray(x, dtype=image_data_generator.dtype)
        if self.x.ndim != 4:
            raise ValueError(
                "Input data in `NumpyArrayIterator` should have rank 4. You passed an array with "
                f"shape {self.x.shape}"
            )
        if y is not None and len(self.x) != len(y):
            raise ValueError(
                "`x` (images tensor) and `y` (labels) should have the same length. Found: "
                f"x.shape = {self.x.shape}, y.shape = {np.shape(y)}"
            )
        self.y = None if y is None else np.asarray(y)
        self.sample_weight: Any = None
        if sample_weight is not None:
            self.sample_weight = np.asarray(sample_weight)
        self.image_data_generator = image_data_generator
        if subset is not None:
            part = _part(len(self.x), image_data_generator.validation_split, subset)
            self.x = self.x[part]
            self.y = None if self.y is None else self.y[part]
            self.sample_weight = None if sample_weight is None else self.sample_weight[part]
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def _batch(self, chosen: Any) -> Any:
        generator = self.image_data_generator
        images = np.stack(
            [generator.standardize(generator.random_transform(self.x[i])) for i in chosen]
        ).astype(generator.dtype)
        parts = [images]
        if self.y is not None:
            parts.append(self.y[chosen])
        if self.sample_weight is not None:
            parts.append(self.sample_weight[chosen])
        return images if len(parts) == 1 else tuple(parts)


class DirectoryIterator(Iterator):
    """Batches of changed images of a directory that has one folder per class."""

    def __init__(
        self,
        directory: str,
        image_data_generator: Any,
        target_size: Any = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        subset: str | None = None,
        interpolation: str = "nearest",
    ):
        if class_mode not in ("categorical", "binary", "sparse", "input", None):
            raise ValueError(f"Invalid class_mode: {class_mode}")
        self.directory = directory
        self.image_data_generator = image_data_generator
        self.target_size = tuple(target_size)
        self.color_mode = color_mode
        self.class_mode = class_mode
        self.interpolation = interpolation
        names = classes or sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
        self.num_classes = len(names)
        self.class_indices = {name: index for index, name in enumerate(names)}
        files: list[tuple[str, int]] = []
        for name, index in self.class_indices.items():
            found = sorted(
                os.path.relpath(os.path.join(root, file), directory)
                for root, _, listed in os.walk(os.path.join(directory, name))
                for file in listed
                if file.lower().endswith(_EXTENSIONS)
            )
            part = slice(None)
            if subset is not None:
                part = _part(len(found), image_data_generator.validation_split, subset)
            files += [(file, index) for file in found[part]]
        self.filenames = [file for file, _ in files]
        self.classes = np.array([index for _, index in files], dtype="int32")
        super().__init__(len(files), batch_size, shuffle, seed)

    def _batch(self, chosen: Any) -> Any:
        from penstock.keras.preprocessing.image import img_to_array, load_img

        generator = self.image_data_generator
        images = []
        for index in chosen:
            image = load_img(
                os.path.join(self.directory, self.filenames[index]),
                color_mode=self.color_mode,
                target_size=self.target_size,
                interpolation=self.interpolation,
            )
            array = img_to_array(image, generator.data_format, generator.dtype)
            images.append(generator.standardize(generator.random_transform(array)))
        batch = np.stack(images).astype(generator.dtype)
        labels = self.classes[chosen]
        if self.class_mode is None:
            return batch
        if self.class_mode == "input":
            return batch, batch.copy()
        if self.class_mode == "categorical":
            return batch, to_categorical(labels, self.num_classes, generator.dtype)
        return batch, labels.astype(generator.dtype)


def _part(count: int, validation_split: float, subset: str) -> slice:
    if subset not in ("training", "validation"):
        raise ValueError(f'Invalid subset name: {subset}; expected "training" or "validation".')
    at = int(count * validation_split)
    return slice(0, at) if subset == "validation" else slice(at, None)
