"""Generators, sequences and datasets as sources of batches."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import penstock as tf
from penstock.data.eager_iterator import EagerIterator
from penstock.data.iterator import Iterator as DatasetIterator
from penstock.keras import backend as K
from penstock.keras.engine.composite_data import run_values
from penstock.keras.engine.layer_graph import as_array, is_eager_outside, outside_layer_graph
from penstock.keras.engine.static_batches import batches_of_a_step
from penstock.keras.engine.worker_tasks import iterator_here
from penstock.keras.utils.data_sequence import Sequence
from penstock.ops.tensor_values import is_tensor
from penstock.platform import logging


def is_dataset(value: Any) -> bool:
    """Whether this is a dataset, or an iterator of one."""
    return hasattr(value, "make_one_shot_iterator") or isinstance(
        value, (DatasetIterator, EagerIterator)
    )


def is_source(value: Any) -> bool:
    """Whether this gives batches, instead of being data."""
    return (
        isinstance(value, Sequence)
        or inspect.isgenerator(value)
        or is_dataset(value)
        or (
            hasattr(value, "__next__")
            and not isinstance(value, (tf.Tensor, tf.Variable, np.ndarray))
        )
    )


def is_endless(value: Any) -> bool:
    """Whether a source of batches doesn't say how many it has."""
    return is_source(value) and not isinstance(value, Sequence) and not is_dataset(value)


def refuse_beside(
    source: Any,
    labels: Any = None,
    sample_weight: Any = None,
    validation_split: float | None = None,
    batch_size: int | None = None,
) -> None:
    """ValueError for what a source of batches gives itself, or what can't be done with one."""
    if batch_size is not None:
        raise ValueError(
            "The `batch_size` argument must not be specified for the given input type. Received "
            f"input: {source}, batch_size: {batch_size}"
        )
    if is_dataset(source):
        _refuse_beside_dataset(source, labels, sample_weight, validation_split)
        return
    of_source = "argument is not supported when data is a generator or Sequence instance. Instead"
    if labels is not None:
        raise ValueError(f"`y` {of_source} pass targets as the second element of the generator.")
    if sample_weight is not None:
        raise ValueError(
            f"`sample_weight` {of_source} pass sample weights as the third element of the "
            "generator."
        )
    if validation_split:
        raise ValueError(
            "If your data is in the form of a Python generator, you cannot use `validation_split`."
        )


def _refuse_beside_dataset(
    source: Any, labels: Any, sample_weight: Any, validation_split: float | None
) -> None:
    if labels is not None:
        raise ValueError(
            f"You passed a dataset or dataset iterator ({source}) as input `x` to your model. In "
            "that case, you should not specify a target (`y`) argument, since the dataset or "
            f"dataset iterator generates both input data and target data. Received: {labels}"
        )
    of_dataset = "argument is not supported when input `x` is a dataset or a dataset iterator."
    if sample_weight is not None:
        raise ValueError(
            f"`sample_weight` {of_dataset} Instead, you can provide sample_weight as the third "
            "element of your dataset, i.e. (inputs, targets, sample_weight). Received: "
            f"x={source}, sample_weight={sample_weight}"
        )
    if validation_split:
        raise ValueError(
            f"`validation_split` {of_dataset} Received: x={source}, "
            f"validation_split={validation_split:f}"
        )


def batch_source(
    model: Any,
    source: Any,
    steps: int | None,
    class_weight: Any = None,
    shuffle: bool = False,
    only_inputs: bool = False,
) -> BatchSource:
    """The batches of a generator, `Sequence` or dataset, in the model's order of arrays."""
    if isinstance(source, Sequence):
        return _SequenceBatches(model, source, steps, class_weight, shuffle, only_inputs)
    if is_dataset(source):
        return _DatasetBatches(model, source, steps, class_weight, shuffle, only_inputs)
    if steps is None and not inspect.isgenerator(source) and not hasattr(source, "__next__"):
        raise ValueError("steps must be given for a generator without a length")
    return _GeneratorBatches(model, source, steps, class_weight, shuffle, only_inputs)


def tensor_source(
    model: Any,
    data: tuple[Any, ...],
    steps: int | None,
    steps_name: str,
    class_weight: Any = None,
    only_inputs: bool = False,
) -> BatchSource | None:
    """The batches of tensors, or of a model that has its data in it; None for data in arrays.

    Args:
      data: inputs, and perhaps labels and weights; tensors and arrays in structures.
      steps: how often tensors are evaluated; ValueError if they need to be told.
      steps_name: the argument that says so.
    """
    has_tensors = any(is_tensor(each) for each in tf.nest.flatten(data))
    if not has_tensors and data[0] is not None:
        return None
    if steps is None:
        raise ValueError(
            "When using data tensors as input to a model, you should specify the "
            f"`{steps_name}` argument."
        )
    given = data[:1] if only_inputs else tuple(data)
    return _TensorBatches(model, given, steps, class_weight, False, only_inputs)


def evaluated(data: Any) -> Any:
    """A structure with the values of its tensors, of one run, in their places."""
    flat = tf.nest.flatten(data)
    tensors = [each for each in flat if is_tensor(each)]
    if not tensors:
        return data
    values = iter(run_values(K.get_session(tensors), tensors))
    filled = [next(values) if is_tensor(each) else each for each in flat]
    return tf.nest.pack_sequence_as(data, filled)


class BatchSource:
    """Batches whose number of samples is not known; a subclass gives their raw values."""

    samples: int | None = None
    #: The argument that says how many batches there are.
    steps_name = "steps_per_epoch"
    #: How often the batches will be gone through.
    epochs = 1
    #: Whether labels of another shape than the outputs' are refused, where losses don't broadcast.
    checks_labels = True

    def __init__(
        self,
        model: Any,
        source: Any,
        steps: int | None,
        class_weight: Any,
        shuffle: bool,
        only_inputs: bool,
    ):
        self.model = model
        self.source = source
        self.steps = steps
        self.class_weight = class_weight
        self.shuffle = shuffle
        self.only_inputs = only_inputs
        self._first: Any = None
        self._raw: Iterator[Any] | None = None

    @property
    def shown_steps(self) -> int | None:
        """The number of batches, where it is known before they are counted."""
        return self.steps

    def _values(self) -> Iterator[Any]:
        """The values of an epoch or, for an endless source, of all epochs."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Lets the model see the first batch: it may have no inputs or weights yet."""
        if self._first is None:
            self._raw = self._values()
            self._first = next(self._raw, None)
            if self._first is None:
                raise ValueError("The generator or dataset gave no batch")
            self._arrays(self._first)

    def _next_values(self) -> Iterator[Any]:
        if self._first is not None:
            first, self._first = self._first, None
            yield first
        # Not `yield from`: leaving an epoch early would close the program's generator.
        while self._raw is not None:
            try:
                value = next(self._raw)
            except StopIteration:
                return
            yield value

    def batches(self) -> Iterator[tuple[list[Any], int]]:
        """The arrays of each batch and its number of samples."""
        if self._raw is None:
            self._raw = self._values()
        done = 0
        for value in self._next_values():
            arrays = self._arrays(value)
            yield arrays, arrays[0].shape[0] if arrays else 1
            done += 1
            if self.steps is not None and done >= self.steps:
                return
        if self.steps is not None and done < self.steps:
            logging.warning(
                "Your input ran out of data; interrupting training. Make sure that your dataset "
                f"or generator can generate at least `{self.steps_name} * epochs` batches (in this "
                f"case, {self.steps * self.epochs} batches). You may need to use the repeat() "
                "function when building your dataset."
            )
            self.model.stop_training = True
        self._raw = None

    def on_epoch_end(self) -> None:
        """Nothing for most sources."""

    def _arrays(self, value: Any) -> list[Any]:
        parts = value if isinstance(value, tuple) else (value,)
        if len(parts) not in (1, 2, 3):
            raise ValueError(
                "Output of generator should be a tuple of 1 or 2 or 3 elements: (input,) or "
                "(input, target) or (input, target, sample_weights). Received " + str(value)
            )
        if self.only_inputs:
            return self.model._standardized_inputs(parts[0])
        weights = self._weights(parts[2]) if len(parts) > 2 else None
        labels = parts[1] if len(parts) > 1 else None
        arrays = self.model._standardized(
            parts[0], labels, weights, self.class_weight, checks_labels=self.checks_labels
        )
        return [array for each in arrays for array in each]

    def _weights(self, weights: Any) -> Any:
        return weights


class _TensorBatches(BatchSource):
    """Tensors are evaluated in Keras' session; their values are fed to the model."""

    checks_labels = False

    def _values(self) -> Iterator[Any]:
        while True:
            yield evaluated(self.source)


class _GeneratorBatches(BatchSource):
    def _values(self) -> Iterator[Any]:
        source = iter(self.source)
        while True:
            with outside_layer_graph():
                try:
                    value = tf.nest.map_structure(as_array, next(source))
                except StopIteration:
                    return
            yield value


class _SequenceBatches(BatchSource):
    """A `Sequence` has an end, so each epoch goes through it."""

    def __init__(self, *args: Any):
        super().__init__(*args)
        if self.steps is None:
            self.steps = len(self.source)

    def _values(self) -> Iterator[Any]:
        order = list(range(len(self.source)))
        if self.shuffle:
            np.random.shuffle(order)  # noqa: NPY002 the program seeds it
        while True:
            for index in order:
                with outside_layer_graph():
                    value = self.source[index]
                yield value

    def on_epoch_end(self) -> None:
        self.source.on_epoch_end()
        self._raw = None


class _DatasetBatches(BatchSource):
    """A dataset is iterated in Keras' session; its values are fed to the model."""

    checks_labels = False

    def prepare(self) -> None:
        from penstock.data.experimental import INFINITE_CARDINALITY

        if self.steps is None and _size_of(self.source) == INFINITE_CARDINALITY:
            raise ValueError(
                "When passing an infinitely repeating dataset, you must specify the "
                f"`{self.steps_name}` argument."
            )
        super().prepare()

    @property
    def shown_steps(self) -> int | None:
        if self.steps is not None:
            return self.steps
        known = known_steps(self.source)
        return None if known is None else math.ceil(known / batches_of_a_step(self.model))

    def _weights(self, weights: Any) -> Any:
        """Eager mode's loops take columns of weights from datasets, too."""
        if not self.model._has_loop_of_eager_mode():
            return weights
        return tf.nest.map_structure(
            lambda each: each[:, 0] if np.ndim(each) == 2 and each.shape[1] == 1 else each, weights
        )

    def _values(self) -> Iterator[Any]:
        count = batches_of_a_step(self.model)
        values = self._single_values()
        if count == 1:
            yield from values
            return
        while parts := list(itertools.islice(values, count)):
            yield tf.nest.map_structure(lambda *each: np.concatenate(each), *parts)

    def _single_values(self) -> Iterator[Any]:
        source = self.source
        if _gives_values(source):
            yield from _values_of(source)
            return
        if hasattr(source, "make_one_shot_iterator"):
            iterator = iterator_here(self.model, source)
            K.get_session().run(iterator.initializer)
        else:
            iterator = source
        following = iterator.get_next()
        while True:
            try:
                yield run_values(K.get_session(), following)
            except tf.errors.OutOfRangeError:
                return


def known_steps(source: Any) -> int | None:
    """The number of a dataset's batches, where a graph is run and the dataset tells it."""
    size = None if is_eager_outside() else _size_of(source)
    return size if size is not None and size >= 0 else None


def _size_of(source: Any) -> int | None:
    from penstock.data.experimental import cardinality

    if not hasattr(source, "make_one_shot_iterator"):
        return None
    return int(_computed(lambda: cardinality(source)))


def first_batch(model: Any, x: Any, *beside: Any) -> tuple[Any, ...]:
    """The first elements of a dataset in the place of what stands for one batch's inputs.

    Args:
      beside: labels and weights; other inputs than datasets are given back with them.
    """
    if not is_dataset(x):
        return (x, *beside)
    element = next(_DatasetBatches(model, x, 1, None, False, False)._single_values())
    parts = element if isinstance(element, tuple) else (element,)
    return (*parts, *beside[len(parts) - 1 :])


def _computed(make: Callable[[], Any]) -> Any:
    """The value of a tensor that a function makes outside of all functions' bodies."""
    with tf.init_scope():
        tensor = make()
        return tensor.numpy() if tf.executing_eagerly() else K.get_session().run(tensor)


def _gives_values(source: Any) -> bool:
    """Whether a dataset, or an iterator of one, is of eager mode."""
    if isinstance(source, EagerIterator):
        return True
    variant = getattr(source, "_variant_tensor", None)
    return variant is not None and variant._op.graph.is_eager


def _values_of(source: Any) -> Iterator[Any]:
    """The elements of a dataset of eager mode, as arrays."""
    with tf.init_scope():
        iterator = iter(source)
    while True:
        with tf.init_scope():
            try:
                element = next(iterator)
            except StopIteration:
                return
            element = tf.nest.map_structure(as_array, element)
        yield element
