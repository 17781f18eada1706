"""Convolutions."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine.layer import Layer
from penstock.keras.layers.argument_defaults import WithKerasDefaults
from penstock.layers import identifiers, windows
from penstock.layers.input_spec import InputSpec
from penstock.layers.kinds import convolution, separable, transposed

__all__ = [
    "Conv1D",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "Convolution1D",
    "Convolution2D",
    "Convolution2DTranspose",
    "Convolution3D",
    "Convolution3DTranspose",
    "DepthwiseConv2D",
    "SeparableConv1D",
    "SeparableConv2D",
    "SeparableConvolution1D",
    "SeparableConvolution2D",
]

_WINDOW = ("filters", "kernel_size", "strides", "padding", "data_format")
_KERNEL = (
    "dilation_rate",
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
_SEPARABLE = (
    "dilation_rate",
    "depth_multiplier",
    "activation",
    "use_bias",
    "depthwise_initializer",
    "pointwise_initializer",
    "bias_initializer",
    "depthwise_regularizer",
    "pointwise_regularizer",
    "bias_regularizer",
    "activity_regularizer",
    "depthwise_constraint",
    "pointwise_constraint",
    "bias_constraint",
)


class Conv1D(WithKerasDefaults, convolution.Conv1D, Layer):
    """A convolution over sequences."""

    _CONFIG: tuple[str, ...] = _WINDOW + _KERNEL

    def __init__(self, *args: Any, **kwargs: Any):
        if len(args) < 5 and kwargs.get("data_format") is None:
            kwargs["data_format"] = "channels_last"
        super().__init__(*args, **kwargs)


class Conv2D(WithKerasDefaults, convolution.Conv2D, Layer):
    """A convolution over images."""

    _CONFIG: tuple[str, ...] = _WINDOW + _KERNEL


class Conv3D(WithKerasDefaults, convolution.Conv3D, Layer):
    """A convolution over volumes."""

    _CONFIG: tuple[str, ...] = _WINDOW + _KERNEL


class _KerasTransposed(WithKerasDefaults):
    """Transposed convolutions take `output_padding` before the data format."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        **kwargs: Any,
    ):
        super().__init__(
            filters,
            kernel_size,
            strides=strides,
            padding=padding,
            output_padding=output_padding,
            data_format=data_format,
            dilation_rate=dilation_rate,
            activation=activation,
            use_bias=use_bias,
            **kwargs,
        )


class Conv2DTranspose(_KerasTransposed, transposed.Conv2DTranspose, Layer):
    """A transposed convolution over images."""

    _CONFIG: tuple[str, ...] = (*_WINDOW, *_KERNEL, "output_padding")


class Conv3DTranspose(_KerasTransposed, transposed.Conv3DTranspose, Layer):
    """A transposed convolution over volumes."""

    _CONFIG: tuple[str, ...] = (*_WINDOW, *_KERNEL[1:], "output_padding")


class SeparableConv1D(WithKerasDefaults, separable.SeparableConv1D, Layer):
    """A convolution over sequences, of each channel, then a mix of the channels."""

    _CONFIG: tuple[str, ...] = _WINDOW + _SEPARABLE


class SeparableConv2D(WithKerasDefaults, separable.SeparableConv2D, Layer):
    """A convolution over images, of each channel, then a mix of the channels."""

    _CONFIG: tuple[str, ...] = _WINDOW + _SEPARABLE


class DepthwiseConv2D(Conv2D):
    """A convolution over images, of each channel on its own.

    Args:
      depth_multiplier: how many filters each channel has.
    """

    _CONFIG: tuple[str, ...] = (
        "kernel_size",
        "strides",
        "padding",
        "data_format",
        "dilation_rate",
        "depth_multiplier",
        "activation",
        "use_bias",
        "depthwise_initializer",
        "bias_initializer",
        "depthwise_regularizer",
        "bias_regularizer",
        "activity_regularizer",
        "depthwise_constraint",
        "bias_constraint",
    )

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ):
        super().__init__(
            0,
            kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            activation=activation,
            use_bias=use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = identifiers.initializer(depthwise_initializer)
        self.depthwise_regularizer = identifiers.regularizer(depthwise_regularizer)
        self.depthwise_constraint = identifiers.constraint(depthwise_constraint)

    def build(self, input_shape: Any) -> None:
        shape = tf.TensorShape(input_shape)
        if shape.ndims is None or shape.ndims < 4:
            raise ValueError(
                "Inputs to `DepthwiseConv2D` should have rank 4. Received input shape:",
                str(input_shape),
            )
        channels = shape.as_list()[windows.channel_axis(self.data_format)]
        if channels is None:
            raise ValueError(
                "The channel dimension of the inputs to `DepthwiseConv2D` should be defined. "
                "Found `None`."
            )
        self.filters = channels * self.depth_multiplier
        self.depthwise_kernel = self.add_weight(
            shape=(*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer,
            name="depthwise_kernel",
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
        )
        self._add_bias()
        axis = windows.channel_axis(self.data_format)
        self.input_spec = InputSpec(ndim=4, axes={axis: channels})
        self.built = True

    def compute_output_shape(self, input_shape: Any) -> tf.TensorShape:
        axis = windows.channel_axis(self.data_format)
        channels = tf.TensorShape(input_shape).as_list()[axis]
        output = super().compute_output_shape(input_shape).as_list()
        output[axis] = None if channels is None else channels * self.depth_multiplier
        return tf.TensorShape(output)

    def call(self, inputs: Any) -> Any:
        outputs = K.depthwise_conv2d(
            inputs,
            self.depthwise_kernel,
            strides=self.strides,
            padding=self.padding,
            dilation_rate=self.dilation_rate,
            data_format=self.data_format,
        )
        if self.use_bias:
            outputs = K.bias_add(outputs, self.bias, data_format=self.data_format)
        return self.activation(outputs)


Convolution1D = Conv1D
Convolution2D = Conv2D
Convolution3D = Conv3D
Convolution2DTranspose = Deconvolution2D = Deconv2D = Conv2DTranspose
Convolution3DTranspose = Deconvolution3D = Deconv3D = Conv3DTranspose
SeparableConvolution1D = SeparableConv1D
SeparableConvolution2D = SeparableConv2D
