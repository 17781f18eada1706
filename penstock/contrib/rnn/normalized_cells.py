"""LSTM cells with layer normalization."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.contrib.rnn.sharded_variables import sharded_matrix
from penstock.ops.activations import bias_add
from penstock.ops.clip import clip_by_value
from penstock.ops.dropout import dropout
from penstock.ops.elementwise import sigmoid, tanh
from penstock.ops.initializers import constant_initializer, zeros_initializer
from penstock.ops.joining import concat, split
from penstock.ops.matmul import matmul
from penstock.ops.normalization import batch_normalization, moments
from penstock.ops.slicing import slice as slice_of
from penstock.ops.variable_scope import get_variable, variable_scope
from penstock.rnn.cell import RNNCell
from penstock.rnn.lstm_cells import LSTMStateTuple

__all__ = ["CoupledInputForgetGateLSTMCell", "LayerNormBasicLSTMCell"]


def normalized(inputs: Any, scope: str, gain: float, shift: float, dtype: Any) -> Any:
    """Each row of `inputs` with mean 0 and variance 1, then scaled and shifted by variables."""
    size = inputs.get_shape()[-1:]
    with variable_scope(scope):
        gamma = get_variable("gamma", size, dtype=dtype, initializer=constant_initializer(gain))
        beta = get_variable("beta", size, dtype=dtype, initializer=constant_initializer(shift))
        mean, variance = moments(inputs, [1], keep_dims=True)
        epsilon = 1e-3 if inputs.dtype is dtypes.float16 else 1e-12
        outputs = batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(inputs.get_shape())
        return outputs


class LayerNormBasicLSTMCell(RNNCell):
    """The LSTM unit with layer normalization and dropout of what is newly remembered.

    Args:
      num_units: The size of memory and output.
      forget_bias: Added to the forget gate, so that much is remembered at first.
      activation: In place of tanh.
      layer_norm: Whether the gates and the memory are normalized; else there is a bias.
      norm_gain, norm_shift: The first values of the scale and shift of the normalization.
      dropout_keep_prob: The probability to keep an entry of the new memory.
      dropout_prob_seed: Makes that reproducible.
      reuse: Whether the variables are those of an existing scope.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Any = tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._activation = activation
        self._forget_bias = forget_bias
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def _norm(self, value: Any, scope: str, dtype: Any) -> Any:
        if not self._layer_norm:
            return value
        return normalized(value, scope, self._norm_gain, self._norm_shift, dtype)

    def call(self, inputs: Any, state: Any) -> Any:
        c, h = state
        joined = concat([inputs, h], 1)
        dtype, size = joined.dtype, 4 * self._num_units
        kernel = get_variable("kernel", [joined.get_shape()[-1], size], dtype=dtype)
        gates = matmul(joined, kernel)
        if not self._layer_norm:
            gates = bias_add(gates, get_variable("bias", [size], dtype=dtype))
        parts = split(value=gates, num_or_size_splits=4, axis=1)
        names = ("input", "transform", "forget", "output")
        i, j, f, o = (self._norm(p, name, dtype) for p, name in zip(parts, names, strict=True))
        new = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            new = dropout(new, self._keep_prob, seed=self._seed)
        c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * new
        c = self._norm(c, "state", dtype)
        h = self._activation(c) * sigmoid(o)
        return h, LSTMStateTuple(c, h)


class CoupledInputForgetGateLSTMCell(RNNCell):
    """The LSTM unit that remembers as much as it forgets: one gate decides both.

    The arguments are those of `tf.nn.rnn_cell.LSTMCell`, and of layer normalization.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = tanh,
        reuse: bool | None = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._shards = {"W": num_unit_shards, "W_P": num_proj_shards}
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    @property
    def state_size(self) -> Any:
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def _norm(self, value: Any, scope: str, dtype: Any) -> Any:
        if not self._layer_norm:
            return value
        return normalized(value, scope, self._norm_gain, self._norm_shift, dtype)

    def _matrix(self, name: str, shape: list[int], dtype: Any) -> Any:
        return sharded_matrix(name, shape, dtype, self._shards[name])

    def call(self, inputs: Any, state: Any) -> Any:
        units, dtype = self._num_units, inputs.dtype
        fed_back = units if self._num_proj is None else self._num_proj
        if self._state_is_tuple:
            c, h = state
        else:
            c = slice_of(state, [0, 0], [-1, units])
            h = slice_of(state, [0, units], [-1, fed_back])
        depth = inputs.get_shape().with_rank(2).dims[1].value
        if depth is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = matmul(
            concat([inputs, h], 1), self._matrix("W", [depth + fed_back, 3 * units], dtype)
        )
        bias = get_variable("B", [3 * units], dtype=dtype, initializer=zeros_initializer())
        if not self._layer_norm:
            gates = bias_add(gates, bias)
        parts = split(value=gates, num_or_size_splits=3, axis=1)
        names = ("transform", "forget", "output")
        j, f, o = (self._norm(p, name, dtype) for p, name in zip(parts, names, strict=True))
        f = f + self._forget_bias
        if self._use_peepholes:
            diagonals = [get_variable(f"W_{g}_diag", [units], dtype=dtype) for g in "FO"]
            f = f + diagonals[0] * c
        kept = sigmoid(f)
        c = self._norm(kept * c + (1 - kept) * self._activation(j), "state", dtype)
        if self._use_peepholes:
            o = o + diagonals[1] * c
        h = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            h = matmul(h, self._matrix("W_P", [units, self._num_proj], dtype))
            if self._proj_clip is not None:
                h = clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else concat([c, h], 1)
