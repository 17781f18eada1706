"""The two seeds of random datasets, as tensors."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.comparison import equal, logical_and
from penstock.ops.constants import constant
from penstock.ops.masking import where
from penstock.ops.seeds import get_seed

_LARGEST = 2**31 - 1


def dataset_seeds(seed: Any) -> tuple[Tensor, Tensor]:
    """The graph's and the dataset's seed; two zeros, which ask for others each time, if none."""
    first: Any
    second: Any
    if isinstance(seed, Tensor):
        first, second = get_seed(0)[0], seed % _LARGEST
    else:
        first, second = get_seed(seed)
    graph_seed = convert_to_tensor(0 if first is None else first, dtypes.int64, name="seed")
    if second is None:
        return graph_seed, constant(0, dtype=dtypes.int64, name="seed2")
    with name_scope("seed2") as scope:
        own = convert_to_tensor(second, dtypes.int64)
        both_zero = logical_and(equal(graph_seed, 0), equal(own, 0))
        largest = constant(_LARGEST, dtype=dtypes.int64)
        return graph_seed, where(both_zero, largest, own, name=scope)
