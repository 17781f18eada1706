"""What Python's operators do to ragged tensors: the functions of the same meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import penstock as tf
from penstock.ragged.indexing import ragged_tensor_getitem
from penstock.ragged.tensor import RaggedTensor

_OF_TWO: dict[str, Callable[..., Any]] = {
    "add": tf.add,
    "sub": tf.subtract,
    "mul": tf.multiply,
    "div": tf.div,
    "truediv": tf.truediv,
    "floordiv": tf.floordiv,
    "mod": tf.floormod,
    "pow": tf.pow,
    "and": tf.logical_and,
    "or": tf.logical_or,
    "xor": tf.logical_xor,
}

# Python mirrors comparisons itself.
_OF_ITS_OWN: dict[str, Callable[..., Any]] = {
    "ge": tf.greater_equal,
    "gt": tf.greater,
    "le": tf.less_equal,
    "lt": tf.less,
    "abs": tf.abs,
    "neg": tf.negative,
    "invert": tf.logical_not,
    "getitem": ragged_tensor_getitem,
}


def _mirrored(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda y, x: function(x, y)


def _no_truth(value: RaggedTensor) -> NoReturn:
    raise TypeError("RaggedTensor may not be used as a boolean.")


for _symbol, _function in _OF_TWO.items():
    setattr(RaggedTensor, f"__{_symbol}__", _function)
    setattr(RaggedTensor, f"__r{_symbol}__", _mirrored(_function))
for _symbol, _function in _OF_ITS_OWN.items():
    setattr(RaggedTensor, f"__{_symbol}__", _function)
RaggedTensor.__bool__ = _no_truth  # type: ignore[attr-defined]
RaggedTensor.__nonzero__ = _no_truth  # type: ignore[attr-defined]
