"""Layers that learn how to prepare data from the data itself, before a model is trained."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import penstock as tf
from penstock.data.dataset import make_one_shot_iterator
from penstock.keras import backend as K
from penstock.keras.engine.layer import Layer

_COUNT_NAME, _MEAN_NAME, _VARIANCE_NAME = "count", "mean", "variance"


class PreprocessingLayer(Layer):
    """The base of layers with `adapt`."""

    def adapt(self, data: Any, reset_state: bool = True) -> None:
        """Fits the layer's state to data.

        Args:
          data: dataset or array.
          reset_state: whether to forget what was learned before.
        """
        raise NotImplementedError


class Combiner:
    """A computation whose parts, accumulators, can be made of parts of data and merged."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def compute(self, batch_values: Any, accumulator: Any = None) -> Any:
        """An accumulator of a batch, merged with another one if it is given."""
        raise NotImplementedError

    def merge(self, accumulators: Any) -> Any:
        """One accumulator of several, in whatever order."""
        raise NotImplementedError

    def extract(self, accumulator: Any) -> dict[str, Any]:
        """The results of an accumulator by name."""
        raise NotImplementedError

    def restore(self, output: dict[str, Any]) -> Any:
        """The accumulator whose results were extracted."""
        raise NotImplementedError

    def serialize(self, accumulator: Any) -> bytes:
        """An accumulator as bytes."""
        raise NotImplementedError

    def deserialize(self, encoded_accumulator: bytes) -> Any:
        """The accumulator of these bytes."""
        raise NotImplementedError


class CombinerPreprocessingLayer(PreprocessingLayer):
    """A layer whose state is what a combiner extracts; a subclass adds the variables for it."""

    def __init__(self, combiner: Combiner, **kwargs: Any):
        super().__init__(**kwargs)
        self._combiner = combiner
        self._previously_updated = False
        self.state_variables: OrderedDict[str, Any] = OrderedDict()

    def _add_state_variable(
        self,
        name: str,
        shape: Any,
        dtype: Any,
        initializer: Any = None,
        partitioner: Any = None,
        use_resource: bool | None = None,
        **kwargs: Any,
    ) -> Any:
        """A variable for the extracted result of this name."""
        self.state_variables[name] = self.add_weight(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=False,
            partitioner=partitioner,
            use_resource=use_resource,
            **kwargs,
        )
        return self.state_variables[name]

    def adapt(self, data: Any, reset_state: bool = True) -> None:
        accumulator = None
        if not reset_state:
            known = {name: K.get_value(v) for name, v in self.state_variables.items()}
            accumulator = self._combiner.restore(known)
        if not isinstance(data, tf.data.Dataset | np.ndarray):
            raise ValueError(
                f"adapt() requires a Dataset or a Numpy array as input, got {type(data)}"
            )
        for values in _elements(data):
            if not self.built:
                self.build(getattr(values, "shape", None))
                self.built = True
            accumulator = self._combiner.compute(values, accumulator)
        self._set_state_variables(self._combiner.extract(accumulator))

    def _set_state_variables(self, updates: dict[str, Any]) -> None:
        if not self.built:
            raise RuntimeError("_set_state_variables() must be called after build().")
        with tf.init_scope():
            K.batch_set_value([(self.state_variables[name], v) for name, v in updates.items()])


def _elements(data: Any) -> Iterator[Any]:
    """The elements of a dataset with an end, or an array as the only one."""
    if isinstance(data, np.ndarray):
        yield data
        return
    size = K.get_value(tf.data.experimental.cardinality(data))
    if size == tf.data.experimental.INFINITE_CARDINALITY:
        raise ValueError(
            'The dataset passed to "adapt()" has an infinite number of elements. Please use '
            "dataset.take(...) to make the number of elements finite."
        )
    if tf.executing_eagerly():
        for element in data:
            yield tf.nest.map_structure(lambda each: each.numpy(), element)
        return
    following = make_one_shot_iterator(data).get_next()
    session = K.get_session()
    while True:
        try:
            element = session.run(following)
        except tf.errors.OutOfRangeError:
            return
        yield element


class _Moments(NamedTuple):
    count: Any
    mean: Any
    variance: Any


def _moments(count: Any, mean: Any, variance: Any) -> _Moments:
    """An accumulator of arrays, with zeros in the place of NaN."""
    return _Moments(np.array(count), np.nan_to_num(mean), np.nan_to_num(variance))


class _NormalizingCombiner(Combiner):
    """Means and variances along all axes but some."""

    def __init__(self, axis: Any):
        self.axis = axis

    def compute(self, values: Any, accumulator: Any = None) -> _Moments:
        count = np.prod(np.delete(values.shape, self.axis), dtype=np.int32)
        axes = tuple(np.delete(range(values.ndim), self.axis))
        mean = np.mean(values, axis=axes, dtype=np.float64)
        found = _moments(count, mean, np.var(values, axis=axes, dtype=np.float64))
        return found if accumulator is None else self.merge([accumulator, found])

    def merge(self, accumulators: Any) -> _Moments:
        count = np.sum([each.count for each in accumulators])
        mean = sum(each.mean * each.count for each in accumulators) / count
        # Of each part its own variance, and how far its mean is from that of all.
        spread = sum(
            each.count * (each.variance + np.square(each.mean - mean)) for each in accumulators
        )
        return _moments(count, mean, spread / count)

    def extract(self, accumulator: Any) -> dict[str, Any]:
        values: dict[str, Any] = accumulator._asdict()
        return values

    def restore(self, output: dict[str, Any]) -> _Moments:
        count, mean, variance = (output[name] for name in (_COUNT_NAME, _MEAN_NAME, _VARIANCE_NAME))
        if count == 0 and (np.any(mean) or np.any(variance)):
            raise RuntimeError(
                "The mean and/or variance of a Normalization preprocessing layer were set without "
                "also setting 'count'. If 'count' is not also set, 'adapt' cannot be called unless "
                "the 'reset_state' arg is True."
            )
        return _moments(count, mean, variance)

    def serialize(self, accumulator: Any) -> bytes:
        lists = {name: value.tolist() for name, value in accumulator._asdict().items()}
        return json.dumps(lists).encode()

    def deserialize(self, encoded_accumulator: bytes) -> _Moments:
        lists = json.loads(encoded_accumulator)
        return _moments(**{name: np.array(value) for name, value in lists.items()})


class Normalization(CombinerPreprocessingLayer):
    """Takes the mean away from each feature, and divides by the variance (as 1.15 does).

    Args:
      axis: the axis or axes whose elements are normalized each by its own mean; not the first one.
    """

    _NormalizingCombiner = _NormalizingCombiner

    def __init__(self, axis: Any = -1, dtype: Any = None, **kwargs: Any):
        super().__init__(_NormalizingCombiner(axis), dtype=dtype or K.floatx(), **kwargs)
        if axis == 0:
            raise ValueError("The argument 'axis' may not be 0.")
        self.axis = axis

    def build(self, input_shape: Any) -> None:
        sizes = [size if isinstance(size, int | None) else size.value for size in input_shape]
        axes = list(self.axis) if isinstance(self.axis, list | tuple) else [self.axis]
        self._broadcast_shape = [1] * len(sizes)
        for axis in axes:
            self._broadcast_shape[axis] = sizes[axis]
        shape = [sizes[axis] for axis in axes]
        zeros = tf.zeros_initializer
        self.mean = self._add_state_variable(_MEAN_NAME, shape, K.floatx(), zeros)
        self.variance = self._add_state_variable(_VARIANCE_NAME, shape, K.floatx(), zeros)
        self.count = self._add_state_variable(_COUNT_NAME, (), tf.int32, zeros)
        super().build(input_shape)

    def call(self, inputs: Any) -> Any:
        mean = tf.reshape(self.mean, self._broadcast_shape)
        return (inputs - mean) / tf.reshape(self.variance, self._broadcast_shape)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def compute_output_signature(self, input_spec: Any) -> Any:
        return input_spec

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "axis": self.axis}

    def set_weights(self, weights: Any) -> None:
        """Takes mean and variance, or these and the count of samples."""
        if len(weights) == 2:
            weights = [*weights, np.array(0)]
        super().set_weights(weights)
