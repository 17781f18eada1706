"""Dense layers, dropout, changes of shape, and functions as layers."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

import penstock as tf
from penstock.keras import activations, regularizers
from penstock.keras import backend as K
from penstock.keras.engine.layer import Layer
from penstock.keras.engine.shapes import first_shape, is_shape
from penstock.keras.layers.argument_defaults import WithKerasDefaults
from penstock.keras.layers.function_code import FunctionName, function_from_config, kind_of
from penstock.layers.input_spec import InputSpec
from penstock.layers.kinds import dense as dense_kind
from penstock.layers.kinds import dropout as dropout_kind

__all__ = [
    "Activation",
    "ActivityRegularization",
    "Dense",
    "Dropout",
    "Flatten",
    "Lambda",
    "Masking",
    "Permute",
    "RepeatVector",
    "Reshape",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
]


class Dense(WithKerasDefaults, dense_kind.Dense, Layer):
    """`activation(inputs x kernel + bias)`, along the last axis."""

    _CONFIG = (
        "units",
        "activation",
        "use_bias",
        "kernel_initializer",
        "bias_initializer",
        "kernel_regularizer",
        "bias_regularizer",
        "activity_regularizer",
        "kernel_constraint",
        "bias_constraint",
    )


class Flatten(dense_kind.Flatten, Layer):
    """Makes one axis of all but the batch axis."""

    _CONFIG = ("data_format",)

    def __init__(self, data_format: str | None = None, **kwargs: Any):
        super().__init__(data_format=data_format or K.image_data_format(), **kwargs)


class Dropout(dropout_kind.Dropout, Layer):
    """Sets a part of the inputs to zero and scales up the others, while training."""

    _CONFIG = ("rate", "noise_shape", "seed")

    def __init__(self, rate: Any, noise_shape: Any = None, seed: int | None = None, **kwargs: Any):
        super().__init__(rate, noise_shape=noise_shape, seed=seed, **kwargs)

    def call(self, inputs: Any, training: Any = None) -> Any:
        return super().call(inputs, training)


class _SpatialDropout(Dropout):
    """Drops whole features of sequences, images or volumes.

    A subclass says of how many dimensions (`rank`).
    """

    rank: int
    _CONFIG = ("rate", "noise_shape", "seed")

    def __init__(self, rate: Any, data_format: str | None = None, **kwargs: Any):
        super().__init__(rate, **kwargs)
        self.data_format = data_format or K.image_data_format()
        if self.data_format not in ("channels_last", "channels_first"):
            raise ValueError(
                'data_format must be in {"channels_last", "channels_first"}, '
                f"got {self.data_format!r}"
            )
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _get_noise_shape(self, inputs: Any) -> Any:
        sizes = tf.shape(inputs)
        ones = (1,) * self.rank
        if self.data_format == "channels_first" and self.rank > 1:
            return (sizes[0], sizes[1], *ones)
        return (sizes[0], *ones, sizes[self.rank + 1])


class SpatialDropout1D(_SpatialDropout):
    """Drops whole features of sequences, while training."""

    rank = 1

    def __init__(self, rate: Any, **kwargs: Any):
        super().__init__(rate, **kwargs)


class SpatialDropout2D(_SpatialDropout):
    """Drops whole channels of images, while training."""

    rank = 2


class SpatialDropout3D(_SpatialDropout):
    """Drops whole channels of volumes, while training."""

    rank = 3


class Activation(Layer):
    """An activation function, given by name or as a function."""

    _CONFIG = ("activation",)

    def __init__(self, activation: Any, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:
        return self.activation(inputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


class ActivityRegularization(Layer):
    """Adds the norms of its inputs to the loss, and lets them through."""

    _CONFIG = ("l1", "l2")

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any):
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.supports_masking = True
        self.l1 = l1
        self.l2 = l2

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


class Masking(Layer):
    """Masks steps whose features all equal a value."""

    _CONFIG = ("mask_value",)
    _joint_output_and_mask = True

    def __init__(self, mask_value: float = 0.0, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.mask_value = mask_value

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return K.any(tf.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs: Any) -> Any:
        is_step = K.any(tf.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        outputs = inputs * tf.cast(is_step, inputs.dtype)
        outputs._keras_mask = tf.squeeze(is_step, axis=-1)
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


class Reshape(Layer):
    """Gives each batch item another shape; one size may be -1."""

    _CONFIG = ("target_shape",)

    def __init__(self, target_shape: Any, **kwargs: Any):
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def _filled(self, sizes: list[int]) -> tuple[int, ...]:
        """The target shape with its unknown size computed."""
        known = int(np.prod([size for size in self.target_shape if size >= 0]))
        total = int(np.prod(sizes))
        fault = ValueError(
            f"total size of new array must be unchanged, input_shape = {sizes}, output_shape = "
            f"{list(self.target_shape)}"
        )
        if list(self.target_shape).count(-1) > 1:
            raise ValueError("Can only specify one unknown dimension.")
        if -1 not in self.target_shape:
            if known != total:
                raise fault
            return self.target_shape
        if known == 0 or total % known:
            raise fault
        return tuple(total // known if size == -1 else size for size in self.target_shape)

    def compute_output_shape(self, input_shape: Any) -> Any:
        batch, *sizes = tf.TensorShape(input_shape).as_list()
        known: Any = sizes
        if None in sizes:
            return tf.TensorShape(
                [batch, *(None if size == -1 else size for size in self.target_shape)]
            )
        return tf.TensorShape([batch, *self._filled(known)])

    def call(self, inputs: Any) -> Any:
        outputs = tf.reshape(inputs, (tf.shape(inputs)[0], *self.target_shape))
        sizes = inputs.shape.as_list()[1:] if inputs.shape.ndims else [None]
        if -1 in self.target_shape and None not in sizes:
            outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs


class Permute(Layer):
    """Puts the axes of each batch item, counted from 1, into another order."""

    _CONFIG = ("dims",)

    def __init__(self, dims: Any, **kwargs: Any):
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError(
                f"Invalid permutation `dims` for Permute Layer: {dims}. The set of indices in "
                "`dims` must be consecutive and start from 1."
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = tf.TensorShape(input_shape).as_list()
        return tf.TensorShape([sizes[0], *(sizes[axis] for axis in self.dims)])

    def call(self, inputs: Any) -> Any:
        return tf.transpose(inputs, perm=(0, *self.dims))


class RepeatVector(Layer):
    """Each input vector `n` times, along a new axis 1."""

    _CONFIG = ("n",)

    def __init__(self, n: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def compute_output_shape(self, input_shape: Any) -> Any:
        batch, size = tf.TensorShape(input_shape).as_list()
        return tf.TensorShape([batch, self.n, size])

    def call(self, inputs: Any) -> Any:
        return K.repeat(inputs, self.n)


class Lambda(Layer):
    """A function as a layer.

    Args:
      function: of the inputs; it may take `mask` and `training`.
      output_shape: static shape of the outputs without the batch, or a function of the input shape.
      mask: the outputs' mask, or a function of inputs and mask.
      arguments: further arguments of the function.
    """

    def __init__(
        self,
        function: Any,
        output_shape: Any = None,
        mask: Any = None,
        arguments: dict[str, Any] | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.function = function
        self.arguments = dict(arguments or {})
        # Variables among the arguments are not the layer's own.
        self._trainable_weights = []
        self._non_trainable_weights = []
        self._output_shape = output_shape
        self.mask = mask
        if mask is not None:
            self.supports_masking = True
        parameters = inspect.signature(function).parameters
        self._takes = [name for name in ("mask", "training") if name in parameters]

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        arguments = dict(self.arguments)
        if "mask" in self._takes:
            arguments["mask"] = mask
        if "training" in self._takes:
            arguments["training"] = K.learning_phase() if training is None else training
        return self.function(inputs, **arguments)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape: Any) -> Any:
        if self._output_shape is None:
            return super().compute_output_shape(input_shape)
        if callable(self._output_shape):
            return self._output_shape(input_shape)
        batch = tf.TensorShape(first_shape(input_shape)).as_list()[0]
        if is_shape(self._output_shape):
            return tf.TensorShape([batch, *self._output_shape])
        return [tf.TensorShape([batch, *sizes]) for sizes in self._output_shape]

    def get_config(self) -> dict[str, Any]:
        config = {**super().get_config(), **_function_entries("function", self.function)}
        if self._output_shape is not None:
            config.update(_function_entries("output_shape", self._output_shape))
        else:
            config.update(output_shape=None, output_shape_type="raw", output_shape_module=None)
        if self.mask is not None:
            config.update(_function_entries("mask", self.mask))
        config["arguments"] = self.arguments
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        for key in ("function", "output_shape", "mask"):
            kind = config.pop(f"{key}_type", "function" if key == "function" else "raw")
            config.pop("module" if key == "function" else f"{key}_module", None)
            if kind in ("function", "lambda"):
                config[key] = function_from_config(config[key], custom_objects)
        return cls(**config)


def _function_entries(key: str, value: Any) -> dict[str, Any]:
    """The entries of a configuration for a function, or for a value that stands for its result."""
    module_key = "module" if key == "function" else f"{key}_module"
    if not callable(value):
        return {key: value, f"{key}_type": "raw", module_key: None}
    return {
        key: FunctionName.of(value),
        f"{key}_type": kind_of(value),
        module_key: getattr(value, "__module__", None),
    }
