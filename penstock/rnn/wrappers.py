"""Cells around a cell: dropout, residual connections, devices."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from penstock.ir.constants import constant_value
from penstock.ir.convert import to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.layers.base import Layer
from penstock.nest import (
    assert_same_structure,
    get_traverse_shallow_structure,
    map_structure,
    map_structure_up_to,
)
from penstock.ops.binary import div
from penstock.ops.dropout import dropout
from penstock.ops.elementwise import floor
from penstock.ops.joining import concat
from penstock.ops.random import random_uniform
from penstock.ops.tensor_array import TensorArray
from penstock.rnn.cell import RNNCell, assert_like_rnncell
from penstock.rnn.lstm_cells import LSTMStateTuple
from penstock.shapes import TensorShape

__all__ = ["DeviceWrapper", "DropoutWrapper", "ResidualWrapper"]


class WrapperRules:
    """What a wrapper does with the cell in it, whether it is a cell of 1.x or a Keras layer."""

    cell: Any

    def __init__(self, cell: Any, **kwargs: Any):
        super().__init__(cell, **kwargs)  # type: ignore[call-arg]

    @property
    def state_size(self) -> Any:
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        return self.cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)

    def _wrapped(self, inputs: Any, state: Any, run: Callable[[Any, Any], Any]) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        config: dict[str, Any] = super().get_config()  # type: ignore[misc]
        return config


class _Wrapper(RNNCell):
    """A cell that calls another one, whose variables are its own, under the same names."""

    _wrapped: Callable[..., Any]

    def __init__(self, cell: Any, **kwargs: Any):
        super().__init__(**kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell
        if isinstance(cell, Layer):
            self._layers.append(cell)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Runs the wrapped cell; `scope` is its variable scope."""
        return self._wrapped(inputs, state, lambda i, s: self.cell(i, s, scope=scope))

    def get_config(self) -> dict[str, Any]:
        cell = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return {**super().get_config(), "cell": cell}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        cell = config.pop("cell")
        try:
            assert_like_rnncell("cell", cell)
        except TypeError:
            raise ValueError(
                "RNNCellWrapper cannot reconstruct the wrapped cell. Please overwrite the cell in "
                "the config with a RNNCell instance."
            ) from None
        return cls(cell, **config)


def _drop_all_but_memory(state: Any) -> Any:
    """Which parts of a state are dropped by default: all but the memory of an LSTM."""
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(state, TensorArray)


class DropoutRules(WrapperRules):
    """Dropout on the inputs, the outputs and the state of a cell.

    Args:
      cell: The cell.
      input_keep_prob, output_keep_prob, state_keep_prob: The probabilities to keep an entry;
        numbers or tensors.
      variational_recurrent: Whether one mask is used for all steps of a run.
      input_size: The size of the inputs; needed for such a mask of the inputs.
      dtype: The type of inputs, outputs and state; needed for `variational_recurrent`.
      seed: Makes the masks reproducible.
      dropout_state_filter_visitor: A function of a part of the state that says whether it is
        dropped; by default all parts are but the memory of an LSTM.
    """

    def __init__(
        self,
        cell: Any,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
        **kwargs: Any,
    ):
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._dropout_state_filter = dropout_state_filter_visitor or _drop_all_but_memory
        with name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _probability(input_keep_prob, "input_keep_prob")
            self._state_keep_prob = _probability(state_keep_prob, "state_keep_prob")
            self._output_keep_prob = _probability(output_keep_prob, "output_keep_prob")
        self._variational_recurrent = variational_recurrent
        self._input_size = input_size
        self._seed = seed
        self._noise: dict[str, Any] = {}
        if variational_recurrent:
            self._draw_masks(dtype)

    def _draw_masks(self, dtype: Any) -> None:
        """The noise that all steps of a run share."""
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        if _drops_some(self._input_keep_prob):
            if self._input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, "
                    "input_size must be provided"
                )
            self._noise["input"] = self._mask("input", self._input_size, dtype)
        self._noise["state"] = self._mask("state", self.cell.state_size, dtype)
        self._noise["output"] = self._mask("output", self.cell.output_size, dtype)

    def _mask(self, kind: str, sizes: Any, dtype: Any) -> Any:
        def noise(i: int, size: Any) -> Tensor:
            shape = concat(([1], TensorShape(size).as_list()), 0)
            return random_uniform(shape, seed=self._gen_seed(kind, i), dtype=dtype)

        return _numbered_map_up_to(sizes, noise, sizes)

    def _gen_seed(self, salt_prefix: str, index: int) -> int | None:
        """A seed of its own for each tensor that is dropped."""
        if self._seed is None:
            return None
        text = f"{self._seed}{salt_prefix}_{index}".encode()
        return int(hashlib.md5(text, usedforsecurity=False).hexdigest()[:8], 16) & 0x7FFFFFFF

    @property
    def wrapped_cell(self) -> Any:
        """The cell inside."""
        return self.cell

    def _wrapped(self, inputs: Any, state: Any, run: Callable[[Any, Any], Any]) -> Any:
        if _drops_some(self._input_keep_prob):
            inputs = self._dropout("input", inputs, inputs, self._input_keep_prob)
        output, state = run(inputs, state)
        if _drops_some(self._state_keep_prob):
            dropped = get_traverse_shallow_structure(self._dropout_state_filter, state)
            state = self._dropout("state", state, dropped, self._state_keep_prob)
        if _drops_some(self._output_keep_prob):
            output = self._dropout("output", output, output, self._output_keep_prob)
        return output, state

    def _dropout(self, kind: str, values: Any, dropped: Any, keep_prob: Any) -> Any:
        """Drops entries of the values; `dropped` says which of them (False keeps one)."""
        if not self._variational_recurrent:

            def drop(i: int, wanted: Any, value: Any) -> Any:
                if wanted is False:
                    return value
                return dropout(value, rate=1.0 - keep_prob, seed=self._gen_seed(kind, i))

            return _numbered_map_up_to(dropped, drop, dropped, values)

        def mask(i: int, wanted: Any, value: Any, noise: Any) -> Any:
            return value if wanted is False else _masked(value, noise, keep_prob)

        return _numbered_map_up_to(dropped, mask, dropped, values, self._noise[kind])

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "input_keep_prob": self._input_keep_prob,
            "output_keep_prob": self._output_keep_prob,
            "state_keep_prob": self._state_keep_prob,
            "variational_recurrent": self._variational_recurrent,
            "input_size": self._input_size,
            "seed": self._seed,
        }


def _probability(value: Any, name: str) -> Any:
    """A number between 0 and 1 if it is known, else the tensor."""
    tensor = to_tensor(value)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if known < 0 or known > 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {known}")
    return float(known)


def _drops_some(keep_prob: Any) -> bool:
    return not isinstance(keep_prob, float) or keep_prob < 1


def _masked(value: Any, noise: Any, keep_prob: Any) -> Any:
    kept = floor(keep_prob + noise)
    result = div(value, keep_prob) * kept
    result.set_shape(value.get_shape())
    return result


def _numbered_map_up_to(shallow: Any, function: Callable[..., Any], *structures: Any) -> Any:
    """Like `nest.map_structure_up_to`, with the number of the leaf as the first argument."""
    count = iter(range(1 << 30))
    return map_structure_up_to(shallow, lambda *leaves: function(next(count), *leaves), *structures)


class ResidualRules(WrapperRules):
    """A cell's inputs are added to its outputs, or joined with them by `residual_fn`."""

    def __init__(
        self, cell: Any, residual_fn: Callable[[Any, Any], Any] | None = None, **kwargs: Any
    ):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _wrapped(self, inputs: Any, state: Any, run: Callable[[Any, Any], Any]) -> Any:
        outputs, state = run(inputs, state)
        return (self._residual_fn or _added)(inputs, outputs), state


def _added(inputs: Any, outputs: Any) -> Any:
    def check(before: Any, after: Any) -> None:
        before.get_shape().assert_is_compatible_with(after.get_shape())

    assert_same_structure(inputs, outputs)
    map_structure(check, inputs, outputs)
    return map_structure(lambda before, after: before + after, inputs, outputs)


class DeviceRules(WrapperRules):
    """A cell runs on a device, given as for `tf.device`."""

    def __init__(self, cell: Any, device: Any, **kwargs: Any):
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with (
            name_scope(type(self).__name__ + "ZeroState", values=[batch_size]),
            get_default_graph().device(self._device),
        ):
            return self.cell.zero_state(batch_size, dtype)

    def _wrapped(self, inputs: Any, state: Any, run: Callable[[Any, Any], Any]) -> Any:
        with get_default_graph().device(self._device):
            return run(inputs, state)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "device": self._device}


class DropoutWrapper(DropoutRules, _Wrapper):
    __doc__ = DropoutRules.__doc__

    def get_config(self) -> dict[str, Any]:
        """The wrapper's arguments; a function of its own is one as it is."""
        config = super().get_config()
        if self._dropout_state_filter is not _drop_all_but_memory:
            config["dropout_state_filter_visitor"] = self._dropout_state_filter
        return config


class ResidualWrapper(ResidualRules, _Wrapper):
    __doc__ = ResidualRules.__doc__

    def get_config(self) -> dict[str, Any]:
        """The wrapper's arguments; a function of its own is one as it is."""
        config = super().get_config()
        if self._residual_fn is not None:
            config["residual_fn"] = self._residual_fn
        return config


class DeviceWrapper(DeviceRules, _Wrapper):
    __doc__ = DeviceRules.__doc__
