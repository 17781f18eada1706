"""Data of all forms as datasets of batches: `tensorflow.python.keras.engine.data_adapter`."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import penstock as tf
from penstock.data.dataset import make_one_shot_iterator
from penstock.ir.convert import CompositeTensor
from penstock.keras.engine.data_checks import STEPS_BESIDE_ARRAYS, list_to_tuple, slice_arrays
from penstock.keras.utils.data_sequence import Sequence
from penstock.keras.utils.enqueuers import GeneratorEnqueuer, OrderedEnqueuer
from penstock.nest import flatten, map_structure, pack_sequence_as
from penstock.platform import logging

_NUMBERS_OR_TEXT = (float, int, str)


class DataAdapter:
    """Makes a dataset of what `fit` and its kin are given.

    Args:
      x: inputs.
      y: labels, if there are any.
    """

    _dataset: Any = None
    _size: int | None = None
    _batch_size: int | None = None
    _partial_batch_size: int | None = None

    def __init__(self, x: Any, y: Any = None, **kwargs: Any):
        if not self.can_handle(x, y):
            raise ValueError(f"{type(self)} Cannot handle input {x}")

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether this is the class for such data."""
        raise NotImplementedError

    def get_dataset(self) -> Any:
        """The dataset of one epoch, or of as many as were asked for."""
        return self._dataset

    def get_size(self) -> int | None:
        """The number of batches, if it is known."""
        return self._size

    def batch_size(self) -> int | None:
        """The number of samples in a batch, if it is known."""
        return self._batch_size

    def has_partial_batch(self) -> bool:
        """Whether the last batch is smaller."""
        return self._partial_batch_size is not None

    def partial_batch_size(self) -> int | None:
        """The size of the last batch, if it is smaller."""
        return self._partial_batch_size

    def should_recreate_iterator(self, steps_per_epoch: int | None) -> bool:
        """Whether each epoch goes through the dataset anew."""
        return self.get_size() is not None or steps_per_epoch is None

    def _count_batches(self, samples: int, batch_size: int | None, steps: int | None) -> int:
        """Notes how many batches there are, and gives their size."""
        if steps and not batch_size:
            batch_size = math.ceil(samples / steps)
        if not batch_size:
            raise ValueError(
                "`batch_size` or `steps` is required for `Tensor` or `NumPy` input data."
            )
        self._size, self._batch_size = math.ceil(samples / batch_size), batch_size
        self._partial_batch_size = samples % batch_size or None
        return batch_size

    def _refuse_beside(self, y: Any, sample_weights: Any, source: str) -> None:
        for name, value in (("y", y), ("sample_weight", sample_weights)):
            if not is_none_or_empty(value):
                raise ValueError(
                    f"`{name}` argument is not supported when using {source} as input."
                )


class TensorLikeDataAdapter(DataAdapter):
    """Arrays and tensors, of which batches of rows are taken.

    Args:
      sample_weights: a weight for each sample, or a list for several outputs.
      batch_size, steps: one of them says how large batches are.
      epochs: how often the data is gone through.
      shuffle: whether in another order each time.
    """

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        return all(_is_dense(each) for each in _flat(x, y))

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        steps: int | None = None,
        shuffle: bool = False,
        **kwargs: Any,
    ):
        super().__init__(x, y, **kwargs)
        inputs = _joined(x, y, sample_weights)
        samples = int(flatten(inputs)[0].shape[0])
        size = self._count_batches(samples, batch_size, steps)
        order: Any = None
        for _ in range(epochs):
            epoch = _batches_of_rows(samples, size, shuffle)
            order = epoch if order is None else order.concatenate(epoch)
        rows = None if self._partial_batch_size and samples > size else min(size, samples)
        tensors = map_structure(tf.convert_to_tensor, inputs)
        self._dataset = order.map(
            lambda numbers: map_structure(lambda each: _rows(each, numbers, rows), tensors)
        )

    def should_recreate_iterator(self, steps_per_epoch: int | None) -> bool:
        return False


class CompositeTensorDataAdapter(DataAdapter):
    """Sparse and ragged tensors, and others beside them."""

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        flat = _flat(x, y)
        has_composite = any(_is_composite(each) for each in flat)
        return has_composite and all(_is_composite(each) or _is_dense(each) for each in flat)

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        shuffle: bool = False,
        **kwargs: Any,
    ):
        super().__init__(x, y, **kwargs)
        inputs = _joined(x, y, sample_weights)
        samples = int(flatten(inputs)[0].shape[0])
        dataset = tf.data.Dataset.from_tensor_slices(inputs)
        if shuffle:
            dataset = dataset.shuffle(samples)
        self._dataset = dataset.batch(self._count_batches(samples, batch_size, steps))


class ListsOfScalarsDataAdapter(DataAdapter):
    """Lists of numbers or strings, and lists of such lists."""

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        is_list = ListsOfScalarsDataAdapter._is_list_of_scalars
        return is_list(x) and (y is None or is_list(y))

    @staticmethod
    def _is_list_of_scalars(inp: Any) -> bool:
        if isinstance(inp, list | tuple):
            return ListsOfScalarsDataAdapter._is_list_of_scalars(inp[0])
        return isinstance(inp, _NUMBERS_OR_TEXT)

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        batch_size: int | None = None,
        shuffle: bool = False,
        **kwargs: Any,
    ):
        super().__init__(x, y, **kwargs)
        x, y, sample_weights = (
            None if each is None else np.asarray(each) for each in (x, y, sample_weights)
        )
        arrays = TensorLikeDataAdapter(
            x, y, sample_weights, batch_size=batch_size, shuffle=shuffle, **kwargs
        )
        self._dataset, self._size = arrays._dataset, arrays._size
        self._batch_size, self._partial_batch_size = arrays._batch_size, arrays._partial_batch_size


class DatasetAdapter(DataAdapter):
    """A dataset, as it is."""

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        return isinstance(x, tf.data.Dataset)

    def __init__(self, x: Any, y: Any = None, sample_weights: Any = None, **kwargs: Any):
        super().__init__(x, y, **kwargs)
        self._refuse_beside(y, sample_weights, "dataset")
        self._dataset = x


class GeneratorDataAdapter(DataAdapter):
    """A generator of batches, whose first one tells their types and shapes."""

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        return inspect.isgenerator(x)

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        workers: int = 1,
        use_multiprocessing: bool = False,
        max_queue_size: int = 10,
        **kwargs: Any,
    ):
        super().__init__(x, y, **kwargs)
        self._refuse_beside(y, sample_weights, "python generator")
        if workers > 0 and use_multiprocessing:
            logging.warning(
                "Using a generator with `use_multiprocessing=True` and multiple workers may "
                "duplicate your data. Please consider using the `tf.data.Dataset`."
            )
        first = next(x)

        def batches() -> Iterator[Any]:
            every = itertools.chain([first], x)
            if workers <= 0:
                return every
            ahead = GeneratorEnqueuer(every, use_multiprocessing=use_multiprocessing)
            ahead.start(workers=workers, max_queue_size=max_queue_size)
            return ahead.get()

        self._dataset, self._batch_size = _generated(batches, first)


class KerasSequenceAdapter(DataAdapter):
    """A `tf.keras.utils.Sequence`."""

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        return isinstance(x, Sequence)

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        shuffle: bool = False,
        workers: int = 1,
        use_multiprocessing: bool = False,
        max_queue_size: int = 10,
        **kwargs: Any,
    ):
        super().__init__(x, y, **kwargs)
        self._refuse_beside(y, sample_weights, "`keras.utils.Sequence`")

        def batches() -> Iterator[Any]:
            if workers <= 0:
                return (x[number] for number in range(len(x)))
            ahead = OrderedEnqueuer(x, use_multiprocessing=use_multiprocessing)
            ahead.start(workers=workers, max_queue_size=max_queue_size)
            return ahead.get()

        self._dataset, self._batch_size = _generated(batches, x[0])
        self._size = len(x)
        if shuffle:
            self._dataset = self._dataset.shuffle(len(x))


ALL_ADAPTER_CLS: list[type[DataAdapter]] = [
    ListsOfScalarsDataAdapter,
    TensorLikeDataAdapter,
    DatasetAdapter,
    GeneratorDataAdapter,
    KerasSequenceAdapter,
    CompositeTensorDataAdapter,
]


def select_data_adapter(x: Any, y: Any) -> type[DataAdapter]:
    """The class for such data."""
    fitting = [each for each in ALL_ADAPTER_CLS if each.can_handle(x, y)]
    if not fitting:
        raise ValueError(
            f"Failed to find data adapter that can handle input: {_type_name(x)}, {_type_name(y)}"
        )
    if len(fitting) > 1:
        raise RuntimeError(
            "Data adapters should be mutually exclusive for handling inputs. Found multiple "
            f"adapters {fitting} to handle input: {_type_name(x)}, {_type_name(y)}"
        )
    return fitting[0]


def is_none_or_empty(inputs: Any) -> bool:
    """Whether there is nothing in a structure."""
    return inputs is None or not flatten(inputs)


def convert_to_generator_like(
    data: Any,
    batch_size: int | None = None,
    steps_per_epoch: int | None = None,
    epochs: int = 1,
    shuffle: bool = False,
) -> tuple[Any, int | None]:
    """What gives the batches of data when it is iterated, and how many are in an epoch.

    Args:
      data: generator, `Sequence`, dataset, iterator; or arrays in a tuple `(x, y, weights)`.
    """
    if isinstance(data, tuple):
        data = tuple(each for each in data if any(leaf is not None for leaf in flatten(each)))
    if isinstance(data, Sequence):
        return data, len(data) if steps_per_epoch is None else steps_per_epoch
    if isinstance(data, tf.data.Dataset):
        return make_one_shot_iterator(data), steps_per_epoch
    if inspect.isgenerator(data) or hasattr(data, "__next__") or hasattr(data, "get_next"):
        return data, steps_per_epoch
    if batch_size is None:
        raise ValueError(STEPS_BESIDE_ARRAYS)
    samples = int(flatten(data)[0].shape[0])
    batches = _array_batches(data, samples, batch_size, epochs, shuffle)
    return batches, math.ceil(samples / batch_size)


def _array_batches(
    data: Any, samples: int, batch_size: int, epochs: int, shuffle: bool
) -> Iterator[Any]:
    order = np.arange(samples)
    for _ in range(epochs):
        if shuffle:
            np.random.shuffle(order)  # noqa: NPY002 the program seeds it
        for start in range(0, samples, batch_size):
            numbers = order[start : start + batch_size]
            rows = slice_arrays(flatten(data), numbers, contiguous=not shuffle)
            yield pack_sequence_as(data, rows)


def _batches_of_rows(samples: int, size: int, shuffle: bool) -> Any:
    """A dataset of the numbers of rows of each batch of an epoch."""
    order = np.arange(samples)
    if shuffle:
        np.random.shuffle(order)  # noqa: NPY002 the program seeds it
    whole = samples // size * size
    batches = tf.data.Dataset.from_tensor_slices(order[:whole].reshape(-1, size))
    if whole == samples:
        return batches
    rest = tf.data.Dataset.from_tensors(order[whole:])
    return batches.concatenate(rest) if whole else rest


def _rows(tensor: Any, numbers: Any, count: int | None) -> Any:
    taken = tf.gather(tensor, numbers)
    taken.set_shape([count, *tensor.shape.as_list()[1:]])
    return taken


def _generated(batches: Callable[[], Iterator[Any]], first: Any) -> tuple[Any, int]:
    """A dataset of batches like the first one, and the size of that."""
    dtypes = map_structure(lambda each: each.dtype, first)
    shapes = map_structure(lambda each: each.shape, first)
    dataset = tf.data.Dataset.from_generator(batches, dtypes, output_shapes=shapes)
    return dataset, int(flatten(first)[0].shape[0])


def _joined(x: Any, y: Any, sample_weights: Any) -> tuple[Any, ...]:
    """What is given of inputs, labels and weights, in forms that datasets take."""
    x, y, weights = (_process_numpy_inputs(each) for each in (x, y, sample_weights))
    if isinstance(weights, tuple) and any(each is None for each in weights):
        known = next(each for each in weights if each is not None)
        ones = tf.ones((known.shape[0],))
        weights = tuple(ones if each is None else each for each in weights)
    if y is None:
        return (x,)
    return (x, y) if weights is None else (x, y, weights)


def _process_numpy_inputs(inputs: Any) -> Any:
    """The only leaf of a structure, or the structure with tuples, which datasets do not stack."""
    if is_none_or_empty(inputs):
        return None
    flat = flatten(inputs)
    if len(flat) == 1:
        return flat[0]
    converted = map_structure(
        lambda each: tf.convert_to_tensor(each) if isinstance(each, np.ndarray) else each, inputs
    )
    return list_to_tuple(converted)


def _flat(x: Any, y: Any) -> list[Any]:
    return [*flatten(x), *([] if y is None else flatten(y))]


def _is_dense(value: Any) -> bool:
    return isinstance(value, tf.Tensor | np.ndarray)


def _is_composite(value: Any) -> bool:
    return isinstance(value, CompositeTensor) and not isinstance(value, tf.data.Dataset)


def _type_name(x: Any) -> str:
    if isinstance(x, dict):
        keys, values = ({_type_name(each) for each in part} for part in (x.keys(), x.values()))
        return f"({type(x)} containing {keys} keys and {values} values)"
    if isinstance(x, list | tuple):
        return f"({type(x)} containing values of types { {_type_name(each) for each in x} })"
    return str(type(x))
