"""Transposed convolutions: the gradients of convolutions, as layers."""

from __future__ import annotations

from typing import Any

from penstock.ir.defaults import executing_eagerly
from penstock.layers import windows
from penstock.layers.identifiers import ZEROS
from penstock.layers.kinds.convolution import Convolution
from penstock.ops.activations import bias_add
from penstock.ops.convolution import conv2d_transpose, conv3d_transpose
from penstock.ops.dilated import atrous_conv2d_transpose
from penstock.ops.joining import stack
from penstock.ops.permuting import transpose
from penstock.ops.shaping import shape as shape_of
from penstock.shapes import TensorShape


class TransposedConvolution(Convolution):
    """Spreads each input value over a window of outputs.

    Args:
      output_padding: how much longer than the shortest possible the outputs are, one number or one
        per dimension; None lets the padding decide.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
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
        output_padding: Any = None,
        dilation_rate: Any = 1,
        **kwargs: Any,
    ):
        super().__init__(
            filters,
            kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilation_rate=dilation_rate,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )
        self.output_padding: Any = output_padding
        if output_padding is not None:
            given = windows.normalize_tuple(output_padding, self.rank, "output_padding")
            self.output_padding = given
            if any(more >= stride for more, stride in zip(given, self.strides, strict=True)):
                raise ValueError(
                    f"Stride {self.strides} must be greater than output padding {given}"
                )

    def build(self, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        if shape.ndims != self.rank + 2:
            raise ValueError(
                f"Inputs should have rank {self.rank + 2}. Received input shape: {shape}"
            )
        channels = self._fix_channels(shape)
        self._add_kernel((*self.kernel_size, self.filters, channels))
        self._add_bias()
        self.built = True

    def call(self, inputs: Any) -> Any:
        sizes = shape_of(inputs)
        batch = sizes[0]
        lengths = self._lengths(windows.space_of(sizes, self.data_format, self.rank))
        wanted = windows.with_space([batch], self.data_format, lengths, self.filters)
        outputs = self._transposed(inputs, stack(wanted))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        if self.use_bias:
            data_format = windows.convert_data_format(self.data_format, 4)
            outputs = bias_add(outputs, self.bias, data_format=data_format)
        return self.activation(outputs)

    def _transposed(self, inputs: Any, output_shape: Any) -> Any:
        raise NotImplementedError

    def _all_strides(self) -> list[int]:
        if self.data_format == "channels_first":
            return [1, 1, *self.strides]
        return [1, *self.strides, 1]

    def _lengths(self, space: list[Any]) -> list[Any]:
        more = self.output_padding or (None,) * self.rank
        settings = zip(space, self.kernel_size, more, self.strides, self.dilation_rate, strict=True)
        return [
            windows.deconv_output_length(length, size, self.padding, extra, stride, rate)
            for length, size, extra, stride, rate in settings
        ]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shape = TensorShape(input_shape).as_list()
        lengths = self._lengths(windows.space_of(shape, self.data_format, self.rank))
        return TensorShape(windows.with_space(shape, self.data_format, lengths, self.filters))


class Conv2DTranspose(TransposedConvolution):
    rank = 2

    def _transposed(self, inputs: Any, output_shape: Any) -> Any:
        if not executing_eagerly():
            output_shape[0]  # a node of TensorFlow's graph, on which numbering and seeds depend
        if self.dilation_rate != (1, 1):
            return self._dilated(inputs, output_shape)
        return conv2d_transpose(
            inputs,
            self.kernel,
            output_shape,
            self._all_strides(),
            padding=self.padding.upper(),
            data_format=windows.convert_data_format(self.data_format, 4),
        )

    def _dilated(self, inputs: Any, output_shape: Any) -> Any:
        if self.dilation_rate[0] != self.dilation_rate[1]:
            raise ValueError(f"`dilation_rate` must be the same twice, got {self.dilation_rate}")
        is_channels_first = self.data_format == "channels_first"
        if is_channels_first:
            inputs = transpose(inputs, (0, 2, 3, 1))
            output_shape = stack([output_shape[axis] for axis in (0, 2, 3, 1)])
        outputs = atrous_conv2d_transpose(
            inputs,
            self.kernel,
            output_shape,
            rate=self.dilation_rate[0],
            padding=self.padding.upper(),
        )
        return transpose(outputs, (0, 3, 1, 2)) if is_channels_first else outputs


class Conv3DTranspose(TransposedConvolution):
    rank = 3

    def _transposed(self, inputs: Any, output_shape: Any) -> Any:
        return conv3d_transpose(
            inputs,
            self.kernel,
            output_shape,
            self._all_strides(),
            padding=self.padding.upper(),
            data_format=windows.convert_data_format(self.data_format, 5),
        )
