"""Generators, sequences and datasets as sources of batches."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

import penstock as tf
from penstock import logging
from penstock.keras import backend as K
from penstock.keras.utils.data_sequence import Sequence


def _is_dataset(value: Any) -> bool:
    return hasattr(value, "make_one_shot_iterator") or (
        hasattr(value, "get_next") and hasattr(value, "initializer")
    )


def is_source(value: Any) -> bool:
    """Whether this gives batches, instead of being data."""
    return (
        isinstance(value, Sequence)
        or inspect.isgenerator(value)
        or _is_dataset(value)
        or (
            hasattr(value, "__next__")
            and not isinstance(value, (tf.Tensor, tf.Variable, np.ndarray))
        )
    )


def refuse_labels(source: Any, labels: Any) -> None:
    """ValueError for labels beside a source, which gives them itself."""
    if labels is None:
        return
    if _is_dataset(source):
        raise ValueError(
            f"You passed a dataset or dataset iterator ({source}) as input `x` to your model. In "
            "that case, you should not specify a target (`y`) argument, since the dataset or "
            f"dataset iterator generates both input data and target data. Received: {labels}"
        )
    raise ValueError("`y` argument is not supported when using a generator or a Sequence as input.")


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
    if _is_dataset(source):
        return _DatasetBatches(model, source, steps, class_weight, shuffle, only_inputs)
    if steps is None and not inspect.isgenerator(source) and not hasattr(source, "__next__"):
        raise ValueError("steps must be given for a generator without a length")
    return _GeneratorBatches(model, source, steps, class_weight, shuffle, only_inputs)


class BatchSource:
    """Batches whose number of samples is not known; a subclass gives their raw values."""

    samples: int | None = None

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
            yield arrays, arrays[0].shape[0]
            done += 1
            if self.steps is not None and done >= self.steps:
                return
        if self.steps is not None and done < self.steps:
            logging.warning(
                "Your input ran out of data; interrupting training. Make sure that it gives at "
                "least steps_per_epoch * epochs batches."
            )
            self.model.stop_training = True
        self._raw = None

    def on_epoch_end(self) -> None:
        """Nothing for most sources."""

    def _arrays(self, value: Any) -> list[Any]:
        parts = value if isinstance(value, tuple) else (value,)
        if self.only_inputs:
            return self.model._standardized_inputs(parts[0])
        if len(parts) not in (2, 3) and self.model._feed_inputs and self.model.targets:
            raise ValueError(
                "Output of generator should be a tuple `(x, y, sample_weight)` or `(x, y)`. Found: "
                f"{value}"
            )
        weights = parts[2] if len(parts) > 2 else None
        labels = parts[1] if len(parts) > 1 else None
        arrays = self.model._standardized(parts[0], labels, weights, self.class_weight)
        return [array for each in arrays for array in each]


class _GeneratorBatches(BatchSource):
    def _values(self) -> Iterator[Any]:
        return iter(self.source)


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
                yield self.source[index]

    def on_epoch_end(self) -> None:
        self.source.on_epoch_end()
        self._raw = None


class _DatasetBatches(BatchSource):
    """A dataset is iterated in Keras' session; its values are fed to the model."""

    def prepare(self) -> None:
        if self.steps is None and hasattr(self.source, "make_one_shot_iterator"):
            from penstock.data.experimental import INFINITE_CARDINALITY, cardinality

            if K.get_session().run(cardinality(self.source)) == INFINITE_CARDINALITY:
                raise ValueError(
                    "When passing an infinitely repeating dataset, you must specify the "
                    f"`{'steps' if self.only_inputs else 'steps_per_epoch'}` argument."
                )
        super().prepare()

    def _values(self) -> Iterator[Any]:
        source = self.source
        if hasattr(source, "make_one_shot_iterator"):
            iterator = source.make_initializable_iterator()
            K.get_session().run(iterator.initializer)
        else:
            iterator = source
        following = iterator.get_next()
        while True:
            try:
                yield K.get_session().run(following)
            except tf.errors.OutOfRangeError:
                return
