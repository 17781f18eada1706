"""Recurrence over images: LSTMs whose products are convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.layers.recurrent import RNN
from penstock.keras.layers.recurrent_cells import LSTMCell
from penstock.keras.layers.recurrent_layers import _CellLayer
from penstock.layers import windows
from penstock.layers.input_spec import InputSpec

__all__ = ["ConvLSTM2D"]

_WINDOW = ("filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate")


class ConvLSTM2DCell(LSTMCell):
    """An LSTM's step on images.

    Args:
      filters: channels of the output and of the states.
      kernel_size, strides, padding, data_format, dilation_rate: of the inputs' convolution; the
        states' keeps their size.
    """

    _CONFIG = (
        *_WINDOW,
        *(key for key in LSTMCell._CONFIG if key not in ("units", "implementation")),
    )

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        *args: Any,
        **kwargs: Any,
    ):
        super().__init__(filters, activation, recurrent_activation, *args, **kwargs)
        self.filters = filters
        self.kernel_size = windows.normalize_tuple(kernel_size, 2, "kernel_size")
        self.strides = windows.normalize_tuple(strides, 2, "strides")
        self.padding = windows.normalize_padding(padding)
        self.data_format = windows.normalize_data_format(data_format or K.image_data_format())
        self.dilation_rate = windows.normalize_tuple(dilation_rate, 2, "dilation_rate")
        self.state_size = (filters, filters)

    def build(self, input_shape: Any) -> None:
        channels = tf.TensorShape(input_shape).as_list()[windows.channel_axis(self.data_format)]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        width = self.filters * self.gates
        self.kernel_shape = (*self.kernel_size, channels, width)
        self.kernel = self.add_weight(
            shape=self.kernel_shape,
            initializer=self.kernel_initializer,
            name="kernel",
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.recurrent_kernel = self.add_weight(
            shape=(*self.kernel_size, self.filters, width),
            initializer=self.recurrent_initializer,
            name="recurrent_kernel",
            regularizer=self.recurrent_regularizer,
            constraint=self.recurrent_constraint,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(width,),
                name="bias",
                initializer=self._initial_bias(),
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def input_conv(self, x: Any, w: Any, b: Any = None, padding: str = "valid") -> Any:
        """The convolution of the inputs."""
        result = K.conv2d(
            x,
            w,
            strides=self.strides,
            padding=padding,
            data_format=self.data_format,
            dilation_rate=self.dilation_rate,
        )
        return result if b is None else K.bias_add(result, b, data_format=self.data_format)

    def recurrent_conv(self, x: Any, w: Any) -> Any:
        """The convolution of the last output, which keeps its size."""
        return K.conv2d(x, w, strides=(1, 1), padding="same", data_format=self.data_format)

    def call(self, inputs: Any, states: Any, training: Any = None) -> tuple[Any, list[Any]]:
        output, carry = states
        masks = self.get_dropout_mask_for_cell(inputs, training, 4)
        recurrent_masks = self.get_recurrent_dropout_mask_for_cell(output, training, 4)
        kernels = tf.split(self.kernel, 4, axis=3)
        recurrent_kernels = tf.split(self.recurrent_kernel, 4, axis=3)
        biases = tf.split(self.bias, 4) if self.use_bias else [None] * 4

        def gate(index: int) -> Any:
            x = inputs if masks is None else inputs * masks[index]
            h = output if recurrent_masks is None else output * recurrent_masks[index]
            from_inputs = self.input_conv(x, kernels[index], biases[index], self.padding)
            return from_inputs + self.recurrent_conv(h, recurrent_kernels[index])

        let_in, keep, new, let_out = (gate(index) for index in range(4))
        carry = self.recurrent_activation(keep) * carry + self.recurrent_activation(
            let_in
        ) * self.activation(new)
        output = self.recurrent_activation(let_out) * self.activation(carry)
        return output, [output, carry]


class ConvRNN2D(RNN):
    """Runs a convolutional cell along axis 1 of its inputs, which are images at each step."""

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ):
        if unroll:
            raise TypeError("Unrolling isn't possible with convolutional RNNs.")
        if isinstance(cell, (list, tuple)):
            raise TypeError("It is not possible at the moment tostack convolutional cells.")
        super().__init__(
            cell, return_sequences, return_state, go_backwards, stateful, unroll, **kwargs
        )
        self.input_spec = [InputSpec(ndim=5)]

    def _image_shape(self, input_shape: Any, channels: Any) -> list[Any]:
        """The shape of a state: that of one step's output, with these channels."""
        sizes = tf.TensorShape(input_shape).as_list()
        step = [sizes[0], *sizes[2:]]
        cell = self.cell
        before = windows.space_of(step, cell.data_format, 2)
        settings = zip(before, cell.kernel_size, cell.strides, cell.dilation_rate, strict=True)
        space = [
            windows.conv_output_length(size, kernel, cell.padding, stride, dilation)
            for size, kernel, stride, dilation in settings
        ]
        return windows.with_space(step, cell.data_format, space, channels)

    def compute_output_shape(self, input_shape: Any) -> Any:
        if isinstance(input_shape, list) and not isinstance(input_shape[0], (int, type(None))):
            input_shape = input_shape[0]
        image = self._image_shape(input_shape, self.cell.filters)
        steps = tf.TensorShape(input_shape).as_list()[1]
        output = tf.TensorShape([image[0], steps, *image[1:]] if self.return_sequences else image)
        if not self.return_state:
            return output
        return [output, *(tf.TensorShape(image) for _ in self._state_sizes())]

    def _check_states(self) -> None:
        """The channels of given states are the cell's; their sizes are seen when it runs."""
        sizes = self._state_sizes()
        axis = windows.channel_axis(self.cell.data_format)
        if self.state_spec is None:
            shapes: list[list[Any]] = [[None] * 4 for _ in sizes]
            for shape, channels in zip(shapes, sizes, strict=True):
                shape[axis] = channels
            self.state_spec = [InputSpec(shape=shape) for shape in shapes]
        elif [spec.shape[axis] for spec in self.state_spec] != sizes:
            raise ValueError(
                "An initial_state was passed that is not compatible with `cell.state_size`. "
                f"Received `state_spec`={[spec.shape for spec in self.state_spec]}; However "
                f"`cell.state_size` is {self.cell.state_size}"
            )

    def get_initial_state(self, inputs: Any) -> list[Any]:
        """Zeros of the shape of a step's output."""
        step = tf.reduce_sum(tf.zeros_like(inputs), axis=1)
        kernel = tf.zeros([*self.cell.kernel_shape[:-1], self.cell.filters], step.dtype)
        zeros = self.cell.input_conv(step, kernel, padding=self.cell.padding)
        return [zeros for _ in self._state_sizes()]

    def reset_states(self, states: Any = None) -> None:
        """Sets the states to zero, or to arrays."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        shape = self.input_spec[0].shape
        shapes = [tuple(self._image_shape(shape, size)) for size in self._state_sizes()]
        if any(None in each for each in shapes):
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of "
                "your input tensors: \n- If using a Sequential model, specify the batch size by "
                "passing a `batch_input_shape` argument to your first layer.\n- If using the "
                "functional API, specify the time dimension by passing a `batch_shape` argument "
                "to your Input layer.\nThe same thing goes for the number of rows and columns."
            )
        if self.__dict__["_states"] is None:
            self.states = [K.zeros(each) for each in shapes]
        values = [np.zeros(each) for each in shapes] if states is None else states
        values = list(values) if isinstance(values, (list, tuple)) else [values]
        if len(values) != len(shapes):
            raise ValueError(
                f"Layer {self.name} expects {len(shapes)} states, but it received {len(values)} "
                f"state values. Input received: {states}"
            )
        for index, (value, wanted) in enumerate(zip(values, shapes, strict=True)):
            if np.shape(value) != wanted:
                raise ValueError(
                    f"State {index} is incompatible with layer {self.name}: expected "
                    f"shape={wanted}, found shape={np.shape(value)}"
                )
        K.batch_set_value(zip(self.states, values, strict=True))


class ConvLSTM2D(_CellLayer, ConvRNN2D):
    """A layer of long short-term memories over sequences of images."""

    _cell_class = ConvLSTM2DCell

    def __init__(self, filters: int, kernel_size: Any, *args: Any, **kwargs: Any):
        super().__init__(filters, kernel_size, *args, **kwargs)
        self.input_spec = [InputSpec(ndim=5)]
