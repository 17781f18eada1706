"""Fully connected layers, and flattening what goes into them."""

from __future__ import annotations

import math
from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.defaults import executing_eagerly
from penstock.layers import identifiers, windows
from penstock.layers.core_layer import CoreLayer
from penstock.layers.identifiers import ZEROS
from penstock.layers.input_spec import InputSpec
from penstock.ops.activations import bias_add
from penstock.ops.casts import cast
from penstock.ops.matmul import MatMul
from penstock.ops.permuting import transpose
from penstock.ops.shaping import reshape
from penstock.ops.shaping import shape as shape_of
from penstock.ops.sparse_matmul import sparse_tensor_dense_matmul
from penstock.ops.tensordot import tensordot
from penstock.shapes import TensorShape


class Dense(CoreLayer):
    """`activation(inputs x kernel + bias)`, along the last axis.

    Args:
      units: size of the last axis of the outputs.
      activation: function or name of one; None for none.
      kernel_constraint: projection that optimizers apply after an update.
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = ZEROS,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: Any = None,
        **kwargs: Any,
    ):
        if "input_shape" not in kwargs and "input_dim" in kwargs:
            kwargs["input_shape"] = (kwargs.pop("input_dim"),)
        super().__init__(
            trainable=trainable,
            name=name,
            activity_regularizer=identifiers.regularizer(activity_regularizer),
            **kwargs,
        )
        self.units = int(units)
        self.activation = identifiers.activation(activation)
        self.use_bias = use_bias
        self.kernel_initializer = identifiers.initializer(kernel_initializer)
        self.bias_initializer = identifiers.initializer(bias_initializer)
        self.kernel_regularizer = identifiers.regularizer(kernel_regularizer)
        self.bias_regularizer = identifiers.regularizer(bias_regularizer)
        self.kernel_constraint = identifiers.constraint(kernel_constraint)
        self.bias_constraint = identifiers.constraint(bias_constraint)
        self.kernel: Any = None
        self.bias: Any = None
        self.supports_masking = True
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        dtype = dtypes.as_dtype(self.dtype or dtypes.float32)
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {dtype}")
        last = TensorShape(input_shape).as_list()[-1]
        if last is None:
            raise ValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found `None`."
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: last})
        self.kernel = self.add_weight(
            "kernel",
            shape=[last, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            dtype=self.dtype,
            trainable=True,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=[self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                dtype=self.dtype,
                trainable=True,
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        outputs = self._product(inputs)
        if self.use_bias:
            outputs = bias_add(outputs, self.bias)
        return self.activation(outputs)

    def _product(self, inputs: Any) -> Any:
        shape = inputs.shape.as_list()
        if len(shape) > 2:
            outputs = tensordot(inputs, self.kernel, [[len(shape) - 1], [0]])
            outputs.set_shape([*shape[:-1], self.units])
            return outputs
        inputs = cast(inputs, self._compute_dtype)
        if isinstance(inputs, SparseTensor):
            return sparse_tensor_dense_matmul(inputs, self.kernel)
        return MatMul(inputs, self.kernel)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shape = TensorShape(input_shape).with_rank_at_least(2)
        if shape.as_list()[-1] is None:
            raise ValueError(
                f"The innermost dimension of input_shape must be defined, but saw: {shape}"
            )
        return shape[:-1].concatenate(self.units)


class Flatten(CoreLayer):
    """Makes one axis of all but the batch axis.

    Args:
      data_format: with "channels_first" the channels are moved last before flattening.
    """

    def __init__(self, data_format: str | None = "channels_last", **kwargs: Any):
        super().__init__(**kwargs)
        self.data_format = windows.normalize_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        rank = inputs.shape.ndims
        if self.data_format == "channels_first" and rank > 1:
            inputs = transpose(inputs, perm=[0, *range(2, rank), 1])
        outputs = reshape(inputs, (inputs.shape.as_list()[0] or shape_of(inputs)[0], -1))
        if not executing_eagerly():
            outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        batch, *sizes = TensorShape(input_shape).as_list()
        return TensorShape([batch, math.prod(sizes) if all(sizes) else None])
