"""Separable convolutions: each channel on its own, then a mix of the channels."""

from __future__ import annotations

from typing import Any

from penstock.layers import identifiers, windows
from penstock.layers.identifiers import ZEROS
from penstock.layers.kinds.convolution import Convolution
from penstock.ops.activations import bias_add
from penstock.ops.depthwise import separable_conv2d
from penstock.ops.padding import pad
from penstock.ops.shaping import expand_dims, squeeze


class SeparableConvolution(Convolution):
    """Convolves each channel with `depth_multiplier` filters, then mixes the results.

    Args:
      depth_multiplier: how many filters each input channel has.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = ZEROS,
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: Any = None,
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
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = identifiers.initializer(depthwise_initializer)
        self.pointwise_initializer = identifiers.initializer(pointwise_initializer)
        self.depthwise_regularizer = identifiers.regularizer(depthwise_regularizer)
        self.pointwise_regularizer = identifiers.regularizer(pointwise_regularizer)
        self.depthwise_constraint = identifiers.constraint(depthwise_constraint)
        self.pointwise_constraint = identifiers.constraint(pointwise_constraint)
        self.depthwise_kernel: Any = None
        self.pointwise_kernel: Any = None

    def build(self, input_shape: Any) -> None:
        channels = self._fix_channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            name="depthwise_kernel",
            shape=(*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
            trainable=True,
            dtype=self.dtype,
        )
        self.pointwise_kernel = self.add_weight(
            name="pointwise_kernel",
            shape=(*(1,) * self.rank, self.depth_multiplier * channels, self.filters),
            initializer=self.pointwise_initializer,
            regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint,
            trainable=True,
            dtype=self.dtype,
        )
        self._add_bias()
        self.built = True

    def _image_outputs(
        self, images: Any, depthwise: Any, pointwise: Any, strides: Any, rate: Any
    ) -> Any:
        """The convolution of images with the bias, before the activation."""
        data_format = windows.convert_data_format(self.data_format, 4)
        outputs = separable_conv2d(
            images,
            depthwise,
            pointwise,
            strides=[1, 1, *strides] if data_format == "NCHW" else [1, *strides, 1],
            padding=self._op_padding(),
            rate=rate,
            data_format=data_format,
        )
        if self.use_bias:
            outputs = bias_add(outputs, self.bias, data_format=data_format)
        return outputs


class SeparableConv1D(SeparableConvolution):
    """A separable convolution over sequences, as images that are one pixel high."""

    rank = 1

    def call(self, inputs: Any) -> Any:
        if self.padding == "causal":
            inputs = pad(inputs, self._compute_causal_padding())
        axis = 2 if self.data_format == "channels_first" else 1
        outputs = self._image_outputs(
            expand_dims(inputs, axis),
            expand_dims(self.depthwise_kernel, 0),
            expand_dims(self.pointwise_kernel, 0),
            self.strides * 2,
            (1, *self.dilation_rate),
        )
        return self.activation(squeeze(outputs, [axis]))


class SeparableConv2D(SeparableConvolution):
    rank = 2

    def call(self, inputs: Any) -> Any:
        outputs = self._image_outputs(
            inputs, self.depthwise_kernel, self.pointwise_kernel, self.strides, self.dilation_rate
        )
        return self.activation(outputs)
