"""LSTM cells with peepholes and normalization: of the gates' layers, or of the weights."""

from __future__ import annotations

from typing import Any

from penstock.contrib.rnn.normalized_cells import normalized
from penstock.ir.defaults import get_default_graph
from penstock.nest import is_nested
from penstock.ops.activations import bias_add
from penstock.ops.clip import clip_by_value
from penstock.ops.elementwise import sigmoid, tanh
from penstock.ops.initializers import constant_initializer
from penstock.ops.joining import concat, split
from penstock.ops.matmul import matmul
from penstock.ops.normalization import l2_normalize
from penstock.ops.variable_scope import get_variable, get_variable_scope, variable_scope
from penstock.rnn.cell import RNNCell
from penstock.rnn.lstm_cells import LSTMStateTuple

__all__ = ["LayerNormLSTMCell", "WeightNormLSTMCell"]


class _PeepholeCell(RNNCell):
    """What the two have in common: peepholes, clipping and projection of an LSTM unit."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool,
        cell_clip: float | None,
        initializer: Any,
        num_proj: int | None,
        proj_clip: float | None,
        forget_bias: float,
        activation: Any,
        reuse: bool | None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._forget_bias = forget_bias
        self._activation = activation or tanh

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def _linear(self, args: Any, size: int, *, bias: bool) -> Any:
        raise NotImplementedError

    def _normal(self, value: Any, name: str) -> Any:
        """A gate or the memory, normalized where the cell does so."""
        return value

    def _steps(self, inputs: Any, state: Any) -> Any:
        """The unit itself, in the scope of its variables."""
        c, h = state
        if inputs.get_shape().with_rank(2).dims[1].value is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = self._linear([inputs, h], 4 * self._num_units, bias=True)
        parts = split(value=gates, num_or_size_splits=4, axis=1)
        names = ("input", "transform", "forget", "output")
        i, j, f, o = (self._normal(part, name) for part, name in zip(parts, names, strict=True))
        f = f + self._forget_bias
        of_forget, of_input, of_output = self._peepholes(inputs.dtype)
        if self._use_peepholes:
            f, i = f + of_forget * c, i + of_input * c
        c = self._normal(sigmoid(f) * c + sigmoid(i) * self._activation(j), "state")
        if self._cell_clip is not None:
            c = clip_by_value(c, -self._cell_clip, self._cell_clip)
        if self._use_peepholes:
            o = o + of_output * c
        h = self._projected(sigmoid(o) * self._activation(c))
        return h, LSTMStateTuple(c, h)

    def _peepholes(self, dtype: Any) -> list[Any]:
        if not self._use_peepholes:
            return [None] * 3
        names = ("w_f_diag", "w_i_diag", "w_o_diag")
        return [get_variable(name, shape=[self._num_units], dtype=dtype) for name in names]

    def _projected(self, h: Any) -> Any:
        if self._num_proj is None:
            return h
        with variable_scope("projection"):
            h = self._linear(h, self._num_proj, bias=False)
        if self._proj_clip is not None:
            h = clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h


def _as_list(args: Any) -> list[Any]:
    return list(args) if is_nested(args) else [args]


def _kernel(tensors: list[Any], size: int) -> Any:
    """The variable `kernel` of the scope, for inputs side by side."""
    depth = sum(tensor.get_shape().with_rank(2).dims[1].value for tensor in tensors)
    return get_variable("kernel", [depth, size], dtype=tensors[0].dtype)


def _bias(size: int, dtype: Any) -> Any:
    """The variable `bias` of the scope: it is never partitioned."""
    with variable_scope(get_variable_scope()) as scope:
        scope.set_partitioner(None)
        zeros = constant_initializer(0.0, dtype=dtype)
        return get_variable("bias", [size], dtype=dtype, initializer=zeros)


def _joined(tensors: list[Any]) -> Any:
    return tensors[0] if len(tensors) == 1 else concat(tensors, 1)


class LayerNormLSTMCell(_PeepholeCell):
    """The LSTM unit with peepholes whose gates and memory are normalized.

    The arguments are those of `tf.nn.rnn_cell.LSTMCell`, and of layer normalization.

    Args:
      layer_norm: Whether there is normalization; the bias is added only without it.
      norm_gain, norm_shift: The first values of the scale and shift of the normalization.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        forget_bias: float = 1.0,
        activation: Any = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        reuse: bool | None = None,
    ):
        super().__init__(
            num_units,
            use_peepholes,
            cell_clip,
            initializer,
            num_proj,
            proj_clip,
            forget_bias,
            activation,
            reuse,
        )
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    def _normal(self, value: Any, name: str) -> Any:
        if not self._layer_norm:
            return value
        return normalized(value, name, self._norm_gain, self._norm_shift, value.dtype)

    def _linear(self, args: Any, size: int, *, bias: bool) -> Any:
        tensors = _as_list(args)
        result = matmul(_joined(tensors), _kernel(tensors, size))
        if not bias:
            return result
        added = _bias(size, result.dtype)
        return result if self._layer_norm else bias_add(result, added)

    def call(self, inputs: Any, state: Any) -> Any:
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            return self._steps(inputs, state)


class WeightNormLSTMCell(_PeepholeCell):
    """The LSTM unit with peepholes whose weights have columns of a learnt length.

    The arguments are those of `tf.nn.rnn_cell.LSTMCell`.

    Args:
      norm: Whether the weights are normalized.
    """

    _SCOPE = "wn_lstm_cell"

    def __init__(
        self,
        num_units: int,
        norm: bool = True,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        forget_bias: float = 1,
        activation: Any = None,
        reuse: bool | None = None,
    ):
        super().__init__(
            num_units,
            use_peepholes,
            cell_clip,
            initializer,
            num_proj,
            proj_clip,
            forget_bias,
            activation,
            reuse,
        )
        self._norm = norm
        # In TensorFlow the cell's scope has this name, too, not the one of its class.
        self._scope: Any = self._SCOPE

    def _linear(self, args: Any, size: int, *, bias: bool) -> Any:
        tensors = _as_list(args)
        kernel = _kernel(tensors, size)
        if self._norm:
            kernel = self._with_learnt_lengths(kernel, tensors)
        result = matmul(_joined(tensors), kernel)
        return bias_add(result, _bias(size, result.dtype)) if bias else result

    @staticmethod
    def _with_learnt_lengths(kernel: Any, tensors: list[Any]) -> Any:
        """The kernel, in whose part for each input the columns have the lengths `norm_i`."""
        parts, start = [], 0
        # Outside of every loop: the normalized weights are the same in all its iterations.
        with get_default_graph().control_dependencies(None):
            for i, tensor in enumerate(tensors):
                end = start + tensor.get_shape().dims[1].value
                part = kernel[start:end, :]
                length = get_variable(
                    f"norm_{i}", [part.get_shape().as_list()[1]], dtype=part.dtype
                )
                parts.append(l2_normalize(part, axis=0) * length)
                start = end
            return concat(parts, axis=0)

    def call(self, inputs: Any, state: Any) -> Any:
        with variable_scope(self._SCOPE, initializer=self._initializer):
            return self._steps(inputs, state)
