"""What training keeps of each example: how far it has come in which tree, and its logits."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ops import lookup_tables

NO_NODE = -1


class NoCache:
    """Nothing is kept: each batch goes through all trees."""

    def __init__(self, batch_size: Any, logits_dimension: int):
        self._size, self._logits = batch_size, logits_dimension

    def lookup(self) -> tuple[Any, Any, Any]:
        """The trees, the nodes and the logits of the examples."""
        return (
            tf.zeros([self._size], tf.int32),
            NO_NODE * tf.ones([self._size], tf.int32),
            tf.zeros([self._size, self._logits], tf.float32),
        )

    def insert(self, tree_ids: Any, node_ids: Any, logits: Any) -> Any:
        """An operation that keeps them."""
        return tf.no_op()


class VariablesCache:
    """Kept in variables, for a batch that is always the same."""

    def __init__(self, batch_size: Any, logits_dimension: int):
        first = NoCache(batch_size, logits_dimension).lookup()
        names = "tree_ids_cache", "node_ids_cache", "logits_cache"
        self._variables = [
            training_variable(value, name) for value, name in zip(first, names, strict=True)
        ]

    def lookup(self) -> tuple[Any, Any, Any]:
        """The trees, the nodes and the logits of the examples."""
        trees, nodes, logits = (variable.read_value() for variable in self._variables)
        return trees, nodes, logits

    def insert(self, tree_ids: Any, node_ids: Any, logits: Any) -> Any:
        """An operation that keeps them."""
        pairs = zip(self._variables, (tree_ids, node_ids, logits), strict=True)
        return tf.group(*[variable.assign(value) for variable, value in pairs], name="cache_insert")


class TableCache:
    """Kept in a table, by the ids of examples. Numbers of trees and nodes are bits of floats."""

    def __init__(self, example_ids: Any, logits_dimension: int):
        keys = tf.convert_to_tensor(example_ids)
        reserved = {
            tf.int64: (-1 << 62, -1 << 61),
            tf.string: ("", "NEVER_USED_DELETED_KEY"),
        }.get(keys.dtype)
        if reserved is None:
            raise ValueError(f"Unsupported example_id_feature dtype {keys.dtype}.")
        if keys.shape.ndims not in (None, 1):
            raise ValueError(f"example_id should have rank 1, but got {keys}")
        self._keys, self._logits = keys, logits_dimension
        empty, deleted = (tf.constant(key, keys.dtype) for key in reserved)
        self._table = lookup_tables.MutableDenseHashTableV2(
            empty, deleted, value_dtype=tf.float32, value_shape=[2 + logits_dimension]
        )

    def lookup(self) -> tuple[Any, Any, Any]:
        """The trees, the nodes and the logits of the examples."""
        # The bits of any negative float, such as this one, are a negative number: no node.
        default = [0.0, float(NO_NODE), *[0.0] * self._logits]
        found = lookup_tables.LookupTableFindV2(self._table, self._keys, default)
        trees, nodes, logits = tf.split(found, [1, 1, self._logits], axis=1)
        logits.set_shape([self._keys.shape[0], self._logits])
        return (*(tf.squeeze(tf.bitcast(ids, tf.int32), 1) for ids in (trees, nodes)), logits)

    def insert(self, tree_ids: Any, node_ids: Any, logits: Any) -> Any:
        """An operation that keeps them."""
        ids = [tf.expand_dims(tf.bitcast(each, tf.float32), 1) for each in (tree_ids, node_ids)]
        values = tf.concat([*ids, logits], axis=1, name="value_concat_for_cache_insert")
        return lookup_tables.LookupTableInsertV2(self._table, self._keys, values)


def training_variable(value: Any, name: str) -> Any:
    """A variable of the training state, whose shape may change."""
    return tf.Variable(value, trainable=False, validate_shape=False, name=name, use_resource=True)
