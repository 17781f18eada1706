"""MNIST, or the bundled digits in its place, in batches."""

from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

import penstock as tf
from penstock.examples.tutorials.mnist import bundled
from penstock.examples.tutorials.mnist.idx import Array, read_idx

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"

TRAIN_IMAGES = "train-images-idx3-ubyte.gz"
TRAIN_LABELS = "train-labels-idx1-ubyte.gz"
TEST_IMAGES = "t10k-images-idx3-ubyte.gz"
TEST_LABELS = "t10k-labels-idx1-ubyte.gz"
_FILES = (TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS)
_MNIST_TRAIN_SIZE = 60000
_FAKE_SIZE = 10000
_FAKE_PIXELS = 784


class DataSet:
    """Images and labels, handed out in batches, epoch after epoch.

    NumPy's global generator draws the order of the epochs; `seed`, or else the graph's, seeds it.
    """

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = tf.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        self.one_hot = one_hot
        _seed_shuffles(seed)
        self._epochs_completed = 0
        self._index_in_epoch = 0
        if fake_data:
            self._images, self._labels = images, labels
            self._num_examples = _FAKE_SIZE
            return
        if images.shape[0] != labels.shape[0]:
            raise ValueError(
                f"as many labels as images are required, got images.shape: {images.shape} "
                f"labels.shape: {labels.shape}"
            )
        self._images = _prepared(images, dtype, reshape)
        self._labels = labels
        self._num_examples = images.shape[0]

    @property
    def images(self) -> Any:
        return self._images

    @property
    def labels(self) -> Any:
        return self._labels

    @property
    def num_examples(self) -> int:
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        return self._epochs_completed

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> tuple[Any, Any]:
        """Return the next `batch_size` images and labels.

        The first epoch starts with a shuffle. A batch that reaches past the end of an epoch takes
        what is left of it, then the start of the next one, shuffled anew.
        """
        if fake_data:
            label: Any = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * _FAKE_PIXELS] * batch_size, [label] * batch_size
        if not self._num_examples:
            raise ValueError("next_batch requires a data set with examples, this one is empty")
        if self._epochs_completed == 0 and self._index_in_epoch == 0 and shuffle:
            self._reorder()
        parts = []
        missing = batch_size
        while self._index_in_epoch + missing > self._num_examples:
            parts.append(self._take(self._num_examples - self._index_in_epoch))
            missing -= len(parts[-1][0])
            self._epochs_completed += 1
            self._index_in_epoch = 0
            if shuffle:
                self._reorder()
        parts.append(self._take(missing))
        if len(parts) == 1:
            return parts[0]
        images, labels = zip(*parts, strict=True)
        return np.concatenate(images), np.concatenate(labels)

    def _take(self, count: int) -> tuple[Array, Array]:
        start = self._index_in_epoch
        self._index_in_epoch += count
        return self._images[start : start + count], self._labels[start : start + count]

    def _reorder(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)  # noqa: NPY002 (the generator that programs draw from, too)
        self._images, self._labels = self._images[order], self._labels[order]


class Datasets(NamedTuple):
    """The three parts of a data set."""

    train: DataSet
    validation: DataSet
    test: DataSet


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = tf.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> Datasets:
    """Return MNIST from its four files in `train_dir`, or else the bundled digits.

    Nothing is downloaded: without the files, and with no other data set asked for by `source_url`,
    the digits that come with Penstock stand in, and a line says so.

    Args:
      train_dir: folder of the four idx files, gzipped or not.
      fake_data: make data sets whose batches, asked for with fake_data, are constant.
      one_hot: labels as rows of ten numbers instead of one.
      dtype: `tf.float32` for pixels in [0, 1], `tf.uint8` for pixels in [0, 255].
      reshape: images as rows of 784 pixels; otherwise [28, 28, 1].
      validation_size: how many training images to set apart. Where the bundled digits are fewer,
        the same share of them as it is of MNIST's 60,000.
      seed: fixes the order of batches; by default the graph's seed does, if it has one.
      source_url: where the files come from, for the error that asks for them.
    """
    options: dict[str, Any] = {"one_hot": one_hot, "dtype": dtype, "reshape": reshape, "seed": seed}
    if fake_data:
        return Datasets(*(DataSet([], [], fake_data=True, **options) for _ in Datasets._fields))
    paths = _find_files(Path(train_dir), source_url)
    arrays = bundled.load_digits() if paths is None else _read_files(paths)
    train_images, train_labels, test_images, test_labels = arrays
    if paths is None and len(train_images) <= validation_size <= _MNIST_TRAIN_SIZE:
        validation_size = round(len(train_images) * validation_size / _MNIST_TRAIN_SIZE)
    if not 0 <= validation_size <= len(train_images):
        raise ValueError(
            f"Validation size should be between 0 and {len(train_images)}. "
            f"Received: {validation_size}."
        )
    if one_hot:
        train_labels, test_labels = (dense_to_one_hot(x, 10) for x in (train_labels, test_labels))
    sets = Datasets(
        DataSet(train_images[validation_size:], train_labels[validation_size:], **options),
        DataSet(train_images[:validation_size], train_labels[:validation_size], **options),
        DataSet(test_images, test_labels, **options),
    )
    if paths is None:
        print(f"No MNIST files in {train_dir!r}: using Penstock's bundled digits ({_sizes(sets)}).")
    return sets


def extract_images(f: IO[bytes]) -> Array:
    """Return the images of an open idx file as uint8 of shape [n, rows, columns, 1]."""
    return read_idx(f, rank=3)[..., np.newaxis]


def extract_labels(f: IO[bytes], one_hot: bool = False, num_classes: int = 10) -> Array:
    """Return the labels of an open idx file: uint8 of shape [n], or one-hot rows."""
    labels = read_idx(f, rank=1)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def dense_to_one_hot(labels_dense: Array, num_classes: int) -> Array:
    """Return a row of zeros with a one at the label, for each label."""
    if labels_dense.size and labels_dense.max() >= num_classes:
        raise ValueError(f"label {labels_dense.max()} is not below num_classes={num_classes}")
    return np.eye(num_classes)[labels_dense]


def _seed_shuffles(seed: int | None) -> None:
    """Seeds NumPy's global generator, which shuffles, with a given seed or else the graph's.

    Programs that draw numbers of their own between batches see the same ones as in TensorFlow.
    """
    if seed is None:
        seed = tf.get_default_graph().seed
    if seed is not None:
        np.random.seed(seed)  # noqa: NPY002


def _prepared(images: Array, dtype: Any, reshape: bool) -> Array:
    dtype = tf.as_dtype(dtype).base_dtype
    if dtype not in (tf.uint8, tf.float32):
        raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
    if reshape:
        if images.shape[3] != 1:
            raise ValueError(f"reshape requires images of depth 1, got shape {images.shape}")
        images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
    if dtype == tf.float32:
        return np.multiply(images.astype(np.float32), np.float32(1 / 255))
    return images


def _find_files(directory: Path, source_url: str) -> dict[str, Path] | None:
    """Return where the four files are, or None where the bundled digits may stand in."""
    found = {
        name: path
        for name in _FILES
        for path in (directory / name.removesuffix(".gz"), directory / name)
        if path.exists()
    }
    missing = [name for name in _FILES if name not in found]
    if not missing:
        return found
    if not found and source_url == DEFAULT_SOURCE_URL:
        return None
    raise FileNotFoundError(
        f"{', '.join(missing)} not found in {str(directory)!r}. Penstock downloads nothing: "
        f"fetch what is missing from {source_url} first."
    )


def _read_files(paths: dict[str, Path]) -> tuple[Array, Array, Array, Array]:
    arrays = []
    for name in _FILES:
        with open(paths[name], "rb") as file:
            arrays.append(extract_images(file) if "images" in name else extract_labels(file))
    train_images, train_labels, test_images, test_labels = arrays
    return train_images, train_labels, test_images, test_labels


def _sizes(sets: Datasets) -> str:
    return ", ".join(f"{name} {part.num_examples}" for name, part in sets._asdict().items())
