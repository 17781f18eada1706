"""Endless batches of changed images: of arrays, and of files."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterator as Iteration
from typing import Any

import numpy as np

from penstock.keras import backend as K
from penstock.keras.preprocessing.image_files import array_to_img, img_to_array, load_img
from penstock.keras.utils.data_sequence import Sequence

__all__ = ["BatchesOfFiles", "DirectoryIterator", "Iterator", "NumpyArrayIterator"]

_CHANNELS = {"rgba": 4, "rgb": 3, "grayscale": 1}


class Iterator(Sequence):
    """Batches of `n` samples in an order that each epoch may mix; a subclass makes a batch."""

    white_list_formats = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None):
        self.n = n
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.seed = seed
        self.batch_index = 0
        self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array: Any = None
        self.index_generator = self._flow_index()

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def _set_index_array(self) -> None:
        self.index_array = np.arange(self.n)
        if self.shuffle:
            self.index_array = np.random.permutation(self.n)  # noqa: NPY002 the program seeds it

    def _seed_batch(self) -> None:
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)  # noqa: NPY002 as asked for

    def reset(self) -> None:
        """Starts with the first batch again."""
        self.batch_index = 0

    def on_epoch_end(self) -> None:
        self._set_index_array()

    def __getitem__(self, idx: int) -> Any:
        if idx >= len(self):
            raise ValueError(
                f"Asked to retrieve element {idx}, but the Sequence has length {len(self)}"
            )
        self._seed_batch()
        self.total_batches_seen += 1
        if self.index_array is None:
            self._set_index_array()
        chosen = self.index_array[self.batch_size * idx : self.batch_size * (idx + 1)]
        return self._get_batches_of_transformed_samples(chosen)

    def _flow_index(self) -> Iteration[Any]:
        """The samples of one batch after the other, without end."""
        self.reset()
        while True:
            self._seed_batch()
            if self.batch_index == 0:
                self._set_index_array()
            start = self.batch_index * self.batch_size % self.n if self.n else 0
            stop = start + self.batch_size
            self.batch_index = self.batch_index + 1 if stop < self.n else 0
            self.total_batches_seen += 1
            yield self.index_array[start:stop]

    def __iter__(self) -> Any:
        return self

    def __next__(self, *args: Any, **kwargs: Any) -> Any:
        return self.next(*args, **kwargs)

    def next(self) -> Any:
        """The next batch; only the choice of its samples is one thread's at a time."""
        with self.lock:
            chosen = next(self.index_generator)
        return self._get_batches_of_transformed_samples(chosen)

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        raise NotImplementedError


class NumpyArrayIterator(Iterator):
    """Batches of changed images of an array, with labels and weights if there are any.

    Args:
      x: images, or (images, other array or list of arrays) whose rows go with them unchanged.
      subset: "training" or "validation", the parts of the generator's `validation_split`.
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        image_data_generator: Any,
        batch_size: int = 32,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        dtype: Any = None,
    ):
        self.data_format = data_format or K.image_data_format()
        self.dtype = dtype or K.floatx()
        x, others = _images_and_others(x)
        _check_lengths(x, y, others, sample_weight)
        if subset is not None:
            part = _part_of_arrays(y, len(x), image_data_generator._validation_split, subset)
            x, others = x[part], [each[part] for each in others]
            y = y if y is None else y[part]
            # Not the weights: Keras leaves them whole, and takes those of the first samples.
        self.x = np.asarray(x, dtype=self.dtype)
        self.x_misc = others
        if self.x.ndim != 4:
            raise ValueError(
                "Input data in `NumpyArrayIterator` should have rank 4. You passed an array with "
                f"shape {self.x.shape}"
            )
        self._warn_of_channels()
        self.y = None if y is None else np.asarray(y)
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self.image_data_generator = image_data_generator
        self.save_to_dir = save_to_dir
        self.save_prefix = save_prefix
        self.save_format = save_format
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def _warn_of_channels(self) -> None:
        axis = 3 if self.data_format == "channels_last" else 1
        count = self.x.shape[axis]
        if count not in _CHANNELS.values():
            warnings.warn(
                f'NumpyArrayIterator is set to use the data format convention "{self.data_format}" '
                f"(channels on axis {axis}), i.e. expected either 1, 3, or 4 channels on axis "
                f"{axis}. However, it was passed an array with shape {self.x.shape} ({count} "
                "channels).",
                stacklevel=3,
            )

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        generator = self.image_data_generator
        images = np.zeros((len(index_array), *self.x.shape[1:]), dtype=self.dtype)
        for place, index in enumerate(index_array):
            image = self.x[index].astype(self.dtype)
            changes = generator.get_random_transform(image.shape)
            images[place] = generator.standardize(generator.apply_transform(image, changes))
        _save_batch(self, images, index_array, 10**4)
        others = [each[index_array] for each in self.x_misc]
        inputs: Any = [images, *others] if others else images
        if self.y is None:
            return inputs
        if self.sample_weight is None:
            return inputs, self.y[index_array]
        return inputs, self.y[index_array], self.sample_weight[index_array]


def _images_and_others(x: Any) -> tuple[Any, list[Any]]:
    if type(x) not in (tuple, list):
        return x, []
    others = x[1] if type(x[1]) is list else [x[1]]
    return x[0], [np.asarray(each) for each in others]


def _check_lengths(x: Any, y: Any, others: list[Any], sample_weight: Any) -> None:
    for other in others:
        if len(other) != len(x):
            raise ValueError(
                "All of the arrays in `x` should have the same length. Found a pair with: "
                f"len(x[0]) = {len(x)}, len(x[?]) = {len(other)}"
            )
    for name, shown, beside in (
        ("y", "`y` (labels)", y),
        ("sample_weight", "`sample_weight`", sample_weight),
    ):
        if beside is not None and len(beside) != len(x):
            raise ValueError(
                f"`x` (images tensor) and {shown} should have the same length. Found: x.shape = "
                f"{np.shape(x)}, {name}.shape = {np.shape(beside)}"
            )


def _part_of_arrays(y: Any, count: int, validation_split: float, subset: str) -> slice:
    if subset not in ("training", "validation"):
        raise ValueError("Invalid subset name:", subset, '; expected "training" or "validation".')
    at = int(count * validation_split)
    if y is not None and not np.array_equal(np.unique(y[:at]), np.unique(y[at:])):
        raise ValueError(
            "Training and validation subsets have different number of classes after the split. If "
            "your numpy arrays are sorted by the label, you might want to shuffle them."
        )
    return slice(0, at) if subset == "validation" else slice(at, None)


def _save_batch(batches: Any, images: Any, index_array: Any, limit: int) -> None:
    """Writes changed images where the program wants to see them, under names with a number."""
    if not batches.save_to_dir:
        return
    for image, index in zip(images, index_array, strict=True):
        number = np.random.randint(limit)  # noqa: NPY002 drawn as the program seeds it
        name = f"{batches.save_prefix}_{index}_{number}.{batches.save_format}"
        picture = array_to_img(image, batches.data_format, scale=True)
        picture.save(os.path.join(batches.save_to_dir, name))


class BatchesOfFiles(Iterator):
    """Batches of changed images of files; a subclass knows the files and their labels.

    Before the iterator itself is set up, `_set_processing` says how pictures are read and where
    changed ones are saved. `classes` and `class_indices` are set where `class_mode` needs them.
    """

    class_mode: str | None
    classes: Any
    class_indices: dict[Any, int]
    filepaths: list[str]
    dtype: Any

    def _set_processing(
        self,
        image_data_generator: Any,
        target_size: Any,
        color_mode: str,
        data_format: str | None,
        saving: tuple[Any, str, str],
        subset: str | None,
        interpolation: str,
    ) -> None:
        if color_mode not in _CHANNELS:
            raise ValueError(
                "Invalid color mode:", color_mode, '; expected "rgb", "rgba", or "grayscale".'
            )
        self.image_data_generator = image_data_generator
        self.target_size = tuple(target_size)
        self.color_mode = color_mode
        self.data_format = data_format or K.image_data_format()
        channels = (_CHANNELS[color_mode],)
        is_last = self.data_format == "channels_last"
        self.image_shape = self.target_size + channels if is_last else channels + self.target_size
        self.save_to_dir, self.save_prefix, self.save_format = saving
        self.interpolation = interpolation
        self.subset = subset
        self.split: Any = None
        if subset is not None:
            at = image_data_generator._validation_split
            parts = {"validation": (0, at), "training": (at, 1)}
            if subset not in parts:
                raise ValueError(
                    f'Invalid subset name: {subset};expected "training" or "validation"'
                )
            self.split = parts[subset]

    def _in_split(self, found: list[Any]) -> list[Any]:
        if self.split is None:
            return found
        low, high = self.split
        return found[int(low * len(found)) : int(high * len(found))]

    @property
    def labels(self) -> Any:
        return self.classes

    @property
    def sample_weight(self) -> Any:
        return None

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        images = np.zeros((len(index_array), *self.image_shape), dtype=self.dtype)
        for place, index in enumerate(index_array):
            images[place] = self._changed_image(self.filepaths[index])
        _save_batch(self, images, index_array, 10**7)
        if self.class_mode is None:
            return images
        labels = self._labels_of(images, index_array)
        if self.sample_weight is None:
            return images, labels
        return images, labels, self.sample_weight[index_array]

    def _changed_image(self, path: str) -> Any:
        picture = load_img(
            path,
            color_mode=self.color_mode,
            target_size=self.target_size,
            interpolation=self.interpolation,
        )
        image = np.array(img_to_array(picture, self.data_format))
        generator = self.image_data_generator
        if not generator:
            return image
        changes = generator.get_random_transform(image.shape)
        return generator.standardize(generator.apply_transform(image, changes))

    def _labels_of(self, images: Any, index_array: Any) -> Any:
        if self.class_mode == "input":
            return images.copy()
        if self.class_mode in ("binary", "sparse"):
            return np.array([self.classes[index] for index in index_array], dtype=self.dtype)
        if self.class_mode == "categorical":
            labels = np.zeros((len(images), len(self.class_indices)), dtype=self.dtype)
            for place, index in enumerate(index_array):
                labels[place, self.classes[index]] = 1.0
            return labels
        if self.class_mode == "multi_output":
            return [output[index_array] for output in self.labels]
        return self.labels[index_array]


class DirectoryIterator(BatchesOfFiles):
    """Batches of changed images of a directory that has one folder per class."""

    allowed_class_modes = ("categorical", "binary", "sparse", "input", None)

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
        data_format: str | None = None,
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
        dtype: Any = None,
    ):
        saving = (save_to_dir, save_prefix, save_format)
        self._set_processing(
            image_data_generator,
            target_size,
            color_mode,
            data_format,
            saving,
            subset,
            interpolation,
        )
        if class_mode not in self.allowed_class_modes:
            raise ValueError(
                f"Invalid class_mode: {class_mode}; expected one of: {self.allowed_class_modes}"
            )
        self.directory = directory
        self.class_mode = class_mode
        self.dtype = dtype or K.floatx()
        names = classes or sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
        self.num_classes = len(names)
        self.class_indices = {name: index for index, name in enumerate(names)}
        self.filenames: list[str] = []
        numbers: list[int] = []
        for name, index in self.class_indices.items():
            found = self._in_split(self._files_of(name, follow_links))
            self.filenames += found
            numbers += [index] * len(found)
        self.samples = len(self.filenames)
        self.classes = np.array(numbers, dtype="int32")
        sys.stdout.write(f"Found {self.samples} images belonging to {self.num_classes} classes.\n")
        self.filepaths = [os.path.join(directory, file) for file in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _files_of(self, name: str, follow_links: bool) -> list[str]:
        """The pictures under a class's folder, folder by folder."""
        walked = os.walk(os.path.join(self.directory, name), followlinks=follow_links)
        return [
            os.path.relpath(os.path.join(root, file), self.directory)
            for root, _, files in sorted(walked, key=lambda found: found[0])
            for file in sorted(files)
            if file.lower().endswith(self.white_list_formats)
        ]
