"""Convolutions of one, two and three dimensions."""

from __future__ import annotations

from typing import Any

from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import executing_eagerly
from penstock.layers import identifiers, windows
from penstock.layers.core_layer import CoreLayer
from penstock.layers.identifiers import ZEROS
from penstock.layers.input_spec import InputSpec
from penstock.ops.activations import bias_add
from penstock.ops.dilated import convolve_by_rate, strides_and_rates
from penstock.ops.padding import pad
from penstock.ops.shaping import reshape
from penstock.shapes import TensorShape


class Convolution(CoreLayer):
    """Slides `filters` filters over the inputs, adds a bias, and applies an activation.

    A subclass says over how many dimensions (`rank`).

    Args:
      kernel_size: one number, or one per dimension; so are strides and dilation rates.
      padding: "valid" or "same"; "causal" looks at earlier steps only, in one dimension.
      dilation_rate: how far apart a filter's taps are.
      activation: function or name of one; None for none.
    """

    rank: int

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: Any = 1,
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
        super().__init__(
            trainable=trainable,
            name=name,
            activity_regularizer=identifiers.regularizer(activity_regularizer),
            **kwargs,
        )
        self.filters = filters
        self.kernel_size = windows.normalize_tuple(kernel_size, self.rank, "kernel_size")
        self.strides = windows.normalize_tuple(strides, self.rank, "strides")
        self.padding = windows.normalize_padding(padding)
        if self.padding == "causal" and self.rank != 1:
            raise ValueError("Causal padding is only supported for `Conv1D` and `SeparableConv1D`.")
        self.data_format = windows.normalize_data_format(data_format)
        self.dilation_rate = windows.normalize_tuple(dilation_rate, self.rank, "dilation_rate")
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
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def build(self, input_shape: Any) -> None:
        channels = self._fix_channels(input_shape)
        self._add_kernel((*self.kernel_size, channels, self.filters))
        self._add_bias()
        _, rates = strides_and_rates(self.strides, self.dilation_rate, self.rank)
        if all(rates == 1) and not executing_eagerly():
            # Nothing reads this node; without dilation it only stands in TensorFlow's graphs.
            convert_to_tensor(rates, name="dilation_rate")
        self.built = True

    def _fix_channels(self, input_shape: Any) -> int:
        """The number of input channels, which from now on is demanded of inputs."""
        axis = windows.channel_axis(self.data_format)
        channels = TensorShape(input_shape).as_list()[axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        return channels

    def _add_kernel(self, shape: tuple[int, ...]) -> None:
        self.kernel = self.add_weight(
            name="kernel",
            shape=shape,
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            trainable=True,
            dtype=self.dtype,
        )

    def _add_bias(self) -> None:
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias",
                shape=(self.filters,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                trainable=True,
                dtype=self.dtype,
            )

    def call(self, inputs: Any) -> Any:
        shape = inputs.shape
        if self.padding == "causal":
            inputs = pad(inputs, self._compute_causal_padding())
        outputs = convolve_by_rate(
            convert_to_tensor(inputs),
            self.kernel,
            strides=self.strides,
            padding=self._op_padding(),
            dilation_rate=self.dilation_rate,
            data_format=windows.convert_data_format(self.data_format, self.rank + 2),
            name="conv1d" if self.rank == 1 else f"Conv{self.rank}D",
        )
        if self.use_bias:
            outputs = self._with_bias(outputs)
        if isinstance(self.padding, str):
            outputs.set_shape(self.compute_output_shape(shape))
        return self.activation(outputs)

    def _op_padding(self) -> Any:
        if isinstance(self.padding, (list, tuple)):
            return self.padding
        return "VALID" if self.padding == "causal" else self.padding.upper()

    def _compute_causal_padding(self) -> list[list[int]]:
        before = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
        nothing = [0, 0]
        if self.data_format == "channels_last":
            return [nothing, before, nothing]
        return [nothing, nothing, before]

    def _with_bias(self, outputs: Any) -> Any:
        if self.data_format == "channels_last":
            return bias_add(outputs, self.bias, data_format="NHWC")
        if self.rank == 1:
            return outputs + reshape(self.bias, (1, self.filters, 1))
        return bias_add(outputs, self.bias, data_format="NCHW")

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shape = TensorShape(input_shape).as_list()
        space = windows.space_of(shape, self.data_format, self.rank)
        windows_of = zip(space, self.kernel_size, self.strides, self.dilation_rate, strict=True)
        lengths = [
            windows.conv_output_length(length, size, self.padding, stride, rate)
            for length, size, stride, rate in windows_of
        ]
        return TensorShape(windows.with_space(shape, self.data_format, lengths, self.filters))


class Conv1D(Convolution):
    rank = 1


class Conv2D(Convolution):
    rank = 2


class Conv3D(Convolution):
    rank = 3
