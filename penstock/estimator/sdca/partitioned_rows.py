"""Rows of a variable that is in several parts along its first axis, each but a few of one size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.ir.tensor import Tensor


class PartitionedRows:
    """Reads and adds to rows `ids` of a variable in parts."""

    def __init__(self, parts: Sequence[Any], ids: Tensor):
        self._parts = parts
        number = len(parts)
        total = sum(int(part.get_shape()[0]) for part in parts)
        each, extras = divmod(total, number)  # the first `extras` parts have a row more
        owners = tf.maximum(ids // (each + 1), (ids - extras) // each)
        rows = tf.where(owners < extras, ids % (each + 1), (ids - extras) % each)
        self._owners = tf.cast(owners, tf.int32)
        self._rows = tf.dynamic_partition(rows, self._owners, number)
        places = tf.range(tf.shape(rows)[0])
        self._places = tf.dynamic_partition(places, self._owners, number)

    def read(self) -> Tensor:
        """The values of the rows, in the order of the ids."""
        found = []
        for part, rows in zip(self._parts, self._rows, strict=True):
            with tf.colocate_with(part):
                found.append(tf.gather(part, rows))
        values: Tensor = tf.dynamic_stitch(self._places, found)
        return values

    def add(self, values: Tensor) -> list[Any]:
        """Operations that add values to the rows."""
        updates = tf.dynamic_partition(values, self._owners, len(self._parts))
        made = []
        for part, rows, update in zip(self._parts, self._rows, updates, strict=True):
            with tf.colocate_with(part):
                made.append(tf.scatter_add(part, rows, update))
        return made
