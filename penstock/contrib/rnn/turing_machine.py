"""Neural Turing machines: a recurrent controller that reads and writes a memory."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import penstock as tf
from penstock.rnn.cell import LayerRNNCell, assert_like_rnncell, input_depth

__all__ = ["NTMCell", "NTMControllerState"]


class NTMControllerState(NamedTuple):
    """The controller's state, what the heads read and where they stood, the memory, the step."""

    controller_state: Any
    read_vector_list: Any
    w_list: Any
    M: Any
    time: Any


class NTMCell(LayerRNNCell):
    """A Neural Turing machine (Graves et al., 2014) as stabilised by Collier and Beel (2018).

    Args:
      controller: The cell that moves the heads.
      memory_size: The number of places in the memory.
      memory_vector_dim: The size of a place.
      read_head_num: The number of heads that read.
      write_head_num: The number of heads that write.
      shift_range: How far a head moves in one step, to either side.
      output_dim: The size of the output; that of the inputs if None.
      clip_value: The bound of the controller's parameters and of the output.
      dtype: The type of the variables.
      name: The name of the scope.
    """

    def __init__(
        self,
        controller: Any,
        memory_size: int,
        memory_vector_dim: int,
        read_head_num: int,
        write_head_num: int,
        shift_range: int = 1,
        output_dim: int | None = None,
        clip_value: float = 20,
        dtype: Any = tf.float32,
        name: str | None = None,
    ):
        super().__init__(dtype=dtype, name=name)
        assert_like_rnncell("NTM RNN controller cell", controller)
        self.controller = controller
        self.memory_size = memory_size
        self.memory_vector_dim = memory_vector_dim
        self.read_head_num = read_head_num
        self.write_head_num = write_head_num
        self.clip_value = clip_value
        self.output_dim = output_dim
        self.shift_range = shift_range
        self.num_parameters_per_head = memory_vector_dim + 2 * shift_range + 4
        self.num_heads = read_head_num + write_head_num
        self.total_parameter_num = (
            self.num_parameters_per_head * self.num_heads + memory_vector_dim * 2 * write_head_num
        )

    @property
    def state_size(self) -> NTMControllerState:
        return NTMControllerState(
            controller_state=self.controller.state_size,
            read_vector_list=[self.memory_vector_dim] * self.read_head_num,
            w_list=[self.memory_size] * self.num_heads,
            M=tf.TensorShape([self.memory_size * self.memory_vector_dim]),
            time=tf.TensorShape([]),
        )

    @property
    def output_size(self) -> int | None:
        return self.output_dim

    def build(self, inputs_shape: Any) -> None:
        if self.output_dim is None:
            self.output_dim = input_depth(inputs_shape)
        width = self.controller.output_size
        self._params_kernel = self._linear_kernel(
            "parameters_kernel", width, self.total_parameter_num
        )
        self._params_bias = self._filled("parameters_bias", [self.total_parameter_num], 0.0)
        self._output_kernel = self._linear_kernel(
            "output_kernel", width + self.memory_vector_dim * self.read_head_num, self.output_dim
        )
        self._output_bias = self._filled("output_bias", [self.output_dim], 0.0)
        self._init_read_vectors = [
            self._start(f"initial_read_vector_{i}", self.memory_vector_dim)
            for i in range(self.read_head_num)
        ]
        self._init_address_weights = [
            self._start(f"initial_address_weights_{i}", self.memory_size)
            for i in range(self.num_heads)
        ]
        self._M = self._filled("memory", [self.memory_size, self.memory_vector_dim], 1e-6)
        self.built = True

    def _linear_kernel(self, name: str, rows: int, columns: int) -> Any:
        initializer = tf.truncated_normal_initializer(stddev=1.0 / math.sqrt(rows))
        return self.add_variable(name, shape=[rows, columns], initializer=initializer)

    def _filled(self, name: str, shape: list[int], value: float) -> Any:
        initializer = tf.constant_initializer(value, dtype=self.dtype)
        return self.add_variable(name, shape=shape, initializer=initializer)

    def _start(self, name: str, size: int) -> Any:
        initializer = tf.glorot_uniform_initializer()
        return self.add_variable(name, shape=[1, size], initializer=initializer)

    def call(self, x: Any, prev_state: Any) -> tuple[Any, NTMControllerState]:
        read_vectors, weights, memory = self._before_step(x, prev_state)
        controller_output, controller_state = self.controller(
            tf.concat([x, *read_vectors], axis=1), prev_state.controller_state
        )
        heads, writes = self._parameters(controller_output)
        weights = [
            self._address(head, memory, before) for head, before in zip(heads, weights, strict=True)
        ]
        read_vectors = [
            tf.reduce_sum(tf.expand_dims(w, 2) * memory, axis=1)
            for w in weights[: self.read_head_num]
        ]
        memory = self._written(memory, weights[self.read_head_num :], writes)
        seen = tf.concat([controller_output, *read_vectors], axis=1)
        output = self._clipped(seen, self._output_kernel, self._output_bias)
        return output, NTMControllerState(
            controller_state, read_vectors, weights, memory, prev_state.time + 1
        )

    def _clipped(self, inputs: Any, kernel: Any, bias: Any) -> Any:
        return tf.clip_by_value(
            tf.nn.bias_add(tf.matmul(inputs, kernel), bias), -self.clip_value, self.clip_value
        )

    def _before_step(self, x: Any, state: Any) -> tuple[list[Any], list[Any], Any]:
        """What the heads read, where they stood, and the memory: at time 0 the learned ones."""
        batch = tf.dimension_value(x.shape[0]) or tf.shape(x)[0]

        def learned() -> list[Any]:
            read = [tf.tile(tf.tanh(vector), [batch, 1]) for vector in self._init_read_vectors]
            stood = [tf.tile(tf.nn.softmax(w), [batch, 1]) for w in self._init_address_weights]
            return [*read, *stood, tf.tile(tf.expand_dims(self._M, 0), [batch, 1, 1])]

        *vectors, memory = tf.cond(
            tf.equal(state.time, 0),
            learned,
            lambda: [*state.read_vector_list, *state.w_list, state.M],
            strict=True,
        )
        return vectors[: self.read_head_num], vectors[self.read_head_num :], memory

    def _parameters(self, controller_output: Any) -> tuple[list[Any], list[Any]]:
        """Of each head, and what each writing head erases and adds."""
        parameters = self._clipped(controller_output, self._params_kernel, self._params_bias)
        of_heads = self.num_parameters_per_head * self.num_heads
        heads = tf.split(parameters[:, :of_heads], self.num_heads, axis=1)
        if not self.write_head_num:
            return heads, []
        return heads, tf.split(parameters[:, of_heads:], 2 * self.write_head_num, axis=1)

    def _written(self, memory: Any, weights: list[Any], writes: list[Any]) -> Any:
        for w, erase, add in zip(weights, writes[::2], writes[1::2], strict=True):
            place = tf.expand_dims(w, 2)
            erased = tf.matmul(place, tf.expand_dims(tf.sigmoid(erase), 1))
            added = tf.matmul(place, tf.expand_dims(tf.tanh(add), 1))
            memory = memory * (tf.ones_like(memory) - erased) + added
        return memory

    def _address(self, head: Any, memory: Any, before: Any) -> Any:
        """The weights of the places: by content, by where the head stood, shifted, sharpened."""
        size = self.memory_vector_dim
        key, strength, gate = tf.tanh(head[:, :size]), head[:, size : size + 1], head[:, size + 1]
        shift = tf.nn.softmax(head[:, size + 2 : size + 3 + 2 * self.shift_range])
        sharpness = tf.nn.softplus(head[:, -1:]) + 1
        likeness = tf.exp(tf.nn.softplus(strength) * _cosines(memory, key))
        by_content = likeness / tf.reduce_sum(likeness, axis=1, keepdims=True)
        gate = tf.expand_dims(tf.sigmoid(gate), 1)
        gated = gate * by_content + (1 - gate) * before
        sharpened = tf.pow(self._shifted(gated, shift), sharpness)
        return sharpened / tf.reduce_sum(sharpened, axis=1, keepdims=True)

    def _shifted(self, weights: Any, shift: Any) -> Any:
        """The circular convolution of the weights with the probabilities of shifts."""
        places, reach = self.memory_size, self.shift_range
        gap = tf.zeros([tf.shape(shift)[0], places - (2 * reach + 1)], shift.dtype)
        around = tf.concat([shift[:, : reach + 1], gap, shift[:, -reach:]], axis=1)
        backwards = tf.reverse(around, axis=[1])
        twice = tf.concat([backwards, backwards], axis=1)
        rows = [twice[:, places - i - 1 : 2 * places - i - 1] for i in range(places)]
        return tf.reduce_sum(tf.expand_dims(weights, 1) * tf.stack(rows, axis=1), axis=2)

    def zero_state(self, batch_size: Any, dtype: Any) -> NTMControllerState:
        """Zeros; the first step starts from the learned values in their place."""
        size, places = self.memory_vector_dim, self.memory_size
        return NTMControllerState(
            controller_state=self.controller.zero_state(batch_size, dtype),
            read_vector_list=[tf.zeros([batch_size, size]) for _ in range(self.read_head_num)],
            w_list=[tf.zeros([batch_size, places]) for _ in range(self.num_heads)],
            M=tf.zeros([batch_size, places, size]),
            time=0,
        )


def _cosines(memory: Any, key: Any) -> Any:
    key = tf.expand_dims(key, 2)
    key_norm = tf.sqrt(tf.reduce_sum(tf.square(key), axis=1, keepdims=True))
    place_norms = tf.sqrt(tf.reduce_sum(tf.square(memory), axis=2, keepdims=True))
    return tf.squeeze(tf.matmul(memory, key) / (place_norms * key_norm + 1e-8), axis=2)
