"""`tf.nn.rnn_cell.RNNCell`: what all cells have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.layers import identifiers
from penstock.layers.base import Layer
from penstock.nest import flatten
from penstock.ops.elementwise import tanh
from penstock.ops.partitioned_variables import PartitionedVariable
from penstock.ops.shaping import shape as shape_of
from penstock.ops.variable_collections import trainable_variables
from penstock.ops.variable_scope import VariableScope, get_variable_scope, variable_scope
from penstock.rnn.sizes import zero_state_tensors
from penstock.shapes import TensorShape

__all__ = ["LayerRNNCell", "RNNCell", "assert_like_rnncell"]


def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """Raises TypeError unless `cell`, the argument `cell_name`, can be used as an RNN cell."""
    has_start = hasattr(cell, "get_initial_state") or hasattr(cell, "zero_state")
    missing = [
        complaint
        for holds, complaint in (
            (hasattr(cell, "output_size"), "'output_size' property is missing"),
            (hasattr(cell, "state_size"), "'state_size' property is missing"),
            (has_start, "either 'zero_state' or 'get_initial_state' method is required"),
            (callable(cell), "is not callable"),
        )
        if not holds
    ]
    if missing:
        raise TypeError(
            f"The argument {cell_name!r} ({cell}) is not an RNNCell: {', '.join(missing)}."
        )


class RNNCell(Layer):
    """One step of a recurrent network: `output, new_state = cell(inputs, state)`.

    A subclass says `state_size` and `output_size` and defines `call(inputs, state)`, which may
    make its variables with `tf.get_variable`: they become the cell's.
    """

    def __init__(self, trainable: bool = True, name: Any = None, dtype: Any = None, **kwargs: Any):
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._is_tf_rnn_cell = True
        self._first_scope: VariableScope | None = None

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Runs the cell on inputs [batch, depth] and a state; returns the output and new state."""
        if scope is not None:
            with variable_scope(scope, custom_getter=self._rnn_get_variable) as opened:
                return super().__call__(inputs, state, scope=opened)
        if self._first_scope is None:
            self._first_scope = get_variable_scope()
        with variable_scope(self._first_scope, custom_getter=self._rnn_get_variable):
            return super().__call__(inputs, state)

    def _rnn_get_variable(self, getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        variable = getter(*args, **kwargs)
        first = next(iter(variable)) if isinstance(variable, PartitionedVariable) else variable
        trained = any(first is other for other in trainable_variables())
        own = self._trainable_weights if trained else self._non_trainable_weights
        if all(variable is not known for known in own):
            own.append(variable)
        return variable

    @property
    def state_size(self) -> Any:
        """The size of the state: an integer, a TensorShape, or a structure of them."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of the output: an integer or a TensorShape."""
        raise NotImplementedError("Abstract method")

    def build(self, input_shape: Any) -> None:
        """Nothing to make ahead: `call` gets its variables."""

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """The zero state for a batch like `inputs`, or of a given size and type."""
        if inputs is not None:
            inputs = to_tensor(inputs, name="inputs")
            size = inputs.shape.dims[0].value
            _check_like_inputs(inputs, size, batch_size, dtype)
            batch_size, dtype = size or shape_of(inputs)[0], inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Zeros in the structure of `state_size`, for a batch."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return zero_state_tensors(self.state_size, batch_size, dtype)


def _check_like_inputs(inputs: Tensor, size: int | None, batch_size: Any, dtype: Any) -> None:
    if batch_size is not None:
        known = constant_value(batch_size) if isinstance(batch_size, Tensor) else batch_size
        if size != known:
            raise ValueError(
                "batch size from input tensor is different from the input param. Input tensor "
                f"batch: {size}, batch_size: {batch_size}"
            )
    if dtype is not None and inputs.dtype != dtype:
        raise ValueError(
            "dtype from input tensor is different from the input param. Input tensor dtype: "
            f"{inputs.dtype}, dtype: {dtype}"
        )


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `build`, as other layers do."""

    def __call__(
        self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Runs the cell on inputs [batch, depth] and a state; returns the output and new state."""
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)


def input_depth(input_shape: Any) -> int:
    """The size of the last dimension of a cell's inputs, which must be known."""
    depth = TensorShape(input_shape).as_list()[-1]
    if depth is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {input_shape}")
    return depth


def activation_or_tanh(activation: Any) -> Callable[..., Any]:
    return identifiers.activation(activation) if activation else tanh


def check_types(*values: Any) -> None:
    """Raises ValueError unless all tensors are of floating-point or complex types."""
    for value in flatten(list(values)):
        check_type(value.dtype)


def check_type(dtype: Any) -> None:
    if dtype is None:
        return
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_complex):
        raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {dtype}")


def serialized(thing: Any) -> Any:
    """An activation or initializer as configurations name it."""
    if thing is None or isinstance(thing, str):
        return thing
    if hasattr(thing, "get_config"):
        return {"class_name": type(thing).__name__, "config": thing.get_config()}
    return getattr(thing, "__name__", thing)
