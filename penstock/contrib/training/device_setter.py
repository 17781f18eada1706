"""Ways to spread variables over parameter servers, for `tf.train.replica_device_setter`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.shapes import TensorShape

__all__ = ["GreedyLoadBalancingStrategy", "RandomStrategy", "byte_size_load_fn"]


class RandomStrategy:
    """Spreads operations by a hash of their names: the same in every process."""

    def __init__(self, num_ps_tasks: int, seed: int = 0):
        self._num_tasks = num_ps_tasks
        self._seed = seed

    def __call__(self, op: Any) -> int:
        key = f"{op.name}_{self._seed}".encode()
        digest = hashlib.md5(key, usedforsecurity=False).hexdigest()
        return int(digest, 16) % self._num_tasks


class GreedyLoadBalancingStrategy:
    """Gives each operation to the task with the least load so far; `load_fn(op)` is its load."""

    def __init__(self, num_tasks: int, load_fn: Callable[[Any], float]):
        self._num_tasks = num_tasks
        self._load_fn = load_fn
        self._ps_loads = np.zeros(num_tasks)

    def __call__(self, op: Any) -> int:
        task = int(np.argmin(self._ps_loads))
        self._ps_loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: Any) -> int:
    """The bytes of a variable, as a load for `GreedyLoadBalancingStrategy`."""
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op} must have a single output")
    (output,) = op.outputs
    shape = output.get_shape()
    if not shape.is_fully_defined():
        # A variable that was made with validate_shape=False knows its shape all the same.
        shape = TensorShape(op.get_attr("shape"))
    shape.assert_is_fully_defined()
    return int(shape.num_elements() * output.dtype.size)
