"""An ensemble of decision trees behind a handle: how it grows, and what its trees say.

The message `TreeEnsemble` is the ensemble; checkpoints have it, so all that matters is in it.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from penstock import errors, proto

_INEQUALITY, _EQUALITY = "bucketized_split", "categorical_split"


class Split(NamedTuple):
    """A way to split a node, and what its children add to its value."""

    node: int
    feature: int
    dimension: int
    threshold: int
    gain: float
    left: np.ndarray
    right: np.ndarray
    kind: str


class TreeArrays:
    """The nodes of a tree as columns, for many examples to walk through it at once."""

    def __init__(self, tree: Any, width: int):
        splits = [_split_of(node) for node in tree.nodes]
        self.is_leaf = np.array([split is None for split in splits])
        self.is_equality = np.array([node.WhichOneof("node") == _EQUALITY for node in tree.nodes])
        self.feature = np.array([split.feature_id if split else 0 for split in splits])
        self.threshold = np.array([_bound(split) for split in splits])
        self.left = np.array([split.left_id if split else 0 for split in splits])
        self.right = np.array([split.right_id if split else 0 for split in splits])
        self.values = np.zeros((len(splits), width), np.float32)
        for number, node in enumerate(tree.nodes):
            value = node_value(node)
            if value.size:
                self.values[number] = value

    def children(self, nodes: np.ndarray, features: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Where examples (`rows` of the columns `features`) go from split nodes."""
        given = features[self.feature[nodes], rows]
        bounds = self.threshold[nodes]
        left = np.where(self.is_equality[nodes], given == bounds, given <= bounds)
        return np.where(left, self.left[nodes], self.right[nodes])

    def leaves(self, nodes: np.ndarray, features: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The leaves that examples come to from the given nodes."""
        nodes = nodes.copy()
        walking = np.flatnonzero(~self.is_leaf[nodes])
        while walking.size:
            nodes[walking] = self.children(nodes[walking], features, rows[walking])
            walking = walking[~self.is_leaf[nodes[walking]]]
        return nodes


def _split_of(node: Any) -> Any:
    kind = node.WhichOneof("node")
    if kind == "leaf":
        return None
    if kind not in (_INEQUALITY, _EQUALITY):
        raise errors.InvalidArgumentError(None, None, f"Node type {kind} not supported.")
    return getattr(node, kind)


def _bound(split: Any) -> int:
    if split is None:
        return 0
    return int(split.value if hasattr(split, "value") else split.threshold)


def _leaf_value(leaf: Any) -> np.ndarray:
    values = leaf.vector.value if leaf.HasField("vector") else [leaf.scalar]
    return np.array(values, np.float32)


def node_value(node: Any) -> np.ndarray:
    """The value of a leaf, or the one that a split node had; nothing for a split root without."""
    if node.WhichOneof("node") == "leaf":
        return _leaf_value(node.leaf)
    if node.metadata.HasField("original_leaf"):
        return _leaf_value(node.metadata.original_leaf)
    return np.empty(0, np.float32)


def _set_leaf(leaf: Any, value: np.ndarray) -> None:
    if value.size == 1:
        leaf.scalar = value[0]
    else:
        del leaf.vector.value[:]
        leaf.vector.value.extend(value.tolist())


class TreeEnsemble:
    """A growing ensemble.

    1. Before `create` there is nothing behind the handle but its name.
    2. The last tree is the one that grows; the others are finished.
    3. `lock` is held by whoever reads or changes it.
    """

    def __init__(self, name: str):
        self.name = name
        self.lock = threading.RLock()
        self.stamp = -1
        self._message: Any = None
        self._arrays: dict[tuple[int, int], TreeArrays] = {}

    @property
    def is_created(self) -> bool:
        return self._message is not None

    @property
    def message(self) -> Any:
        """The message; NotFoundError where nothing has been created."""
        if self._message is None:
            raise errors.NotFoundError(
                None,
                None,
                f"Resource localhost/{self.name}/BoostedTreesEnsembleResource does not exist.",
            )
        return self._message

    def load(self, serialized: bytes, stamp: int) -> None:
        """Becomes the ensemble of a serialized message."""
        try:
            message = proto.TreeEnsemble.FromString(serialized)
        except DecodeError as error:
            raise errors.InvalidArgumentError(
                None, None, "Unable to parse tree ensemble proto."
            ) from error
        self._message, self.stamp = message, stamp
        self._arrays.clear()

    def create(self, serialized: bytes, stamp: int) -> None:
        """As `load`, where there is nothing yet."""
        if not self.is_created:
            self.load(serialized, stamp)

    # What it is ---------------------------------------------------------------------------------

    @property
    def tree_count(self) -> int:
        return len(self.message.trees)

    @property
    def finished_count(self) -> int:
        count = self.tree_count
        return count if not count or self.message.tree_metadata[-1].is_finalized else count - 1

    @property
    def attempted_layers(self) -> int:
        return int(self.message.growing_metadata.num_layers_attempted)

    @property
    def last_layer(self) -> tuple[int, int]:
        """The first node of the layer that grows next, and the one behind its last."""
        growing = self.message.growing_metadata
        return growing.last_layer_node_start, max(1, growing.last_layer_node_end)

    def arrays(self, tree: int, width: int) -> TreeArrays:
        """The columns of a tree's nodes, with values of `width` numbers."""
        key = tree, width
        if key not in self._arrays:
            self._arrays[key] = TreeArrays(self.message.trees[tree], width)
        return self._arrays[key]

    def _changed(self, tree: int) -> None:
        for key in [key for key in self._arrays if key[0] == tree]:
            del self._arrays[key]

    # Growing ------------------------------------------------------------------------------------

    def add_tree(self, value: np.ndarray) -> None:
        """A new tree, of a leaf alone."""
        _set_leaf(self.message.trees.add().nodes.add().leaf, value)
        self.message.tree_weights.append(1.0)
        self.message.tree_metadata.add()

    def set_bias(self, value: np.ndarray) -> None:
        """Gives the root of the first tree a value."""
        _set_leaf(self.message.trees[0].nodes[0].leaf, value)
        self._changed(0)

    def count_attempt(self) -> None:
        """Counts a layer that is tried, and with the first one of a tree the tree."""
        growing = self.message.growing_metadata
        growing.num_layers_attempted += 1
        count = self.tree_count
        earlier_done = count <= 1 or self.message.tree_metadata[count - 2].is_finalized
        if not count or (earlier_done and len(self.message.trees[-1].nodes) == 1):
            growing.num_trees_attempted += 1

    def grow(self, splits: list[Split], depth: int, *, prunes: bool) -> None:
        """Adds a layer to the last tree; at the given depth the tree is finished."""
        last = self.tree_count - 1
        tree, metadata = self.message.trees[last], self.message.tree_metadata[last]
        first = len(tree.nodes)
        for split in splits:
            _add_split(tree, split)
        metadata.num_layers_grown += 1
        width = splits[0].left.size
        start, end = first, len(tree.nodes)
        if metadata.num_layers_grown >= depth:
            start, end = 0, 1
            metadata.is_finalized = True
            if prunes:
                _Pruning(tree, metadata, width).run()
            self.add_tree(np.zeros(width, np.float32))
        growing = self.message.growing_metadata
        growing.last_layer_node_start, growing.last_layer_node_end = start, end
        self._changed(last)


def _add_split(tree: Any, split: Split) -> None:
    node = tree.nodes[split.node]
    before = _leaf_value(node.leaf)
    if before.size != split.left.size:  # the leaf of a new tree is a scalar
        before = np.zeros_like(split.left)
    left = len(tree.nodes)
    for change in (split.left, split.right):
        _set_leaf(tree.nodes.add().leaf, before + change)
    if split.node != 0 or before.any():
        node.metadata.original_leaf.CopyFrom(node.leaf)
    node.metadata.gain = split.gain
    if split.kind == "EQUALITY_DEFAULT_RIGHT":
        made = node.categorical_split
        made.value = split.threshold
    else:
        made = node.bucketized_split
        made.threshold = split.threshold
        made.default_direction = proto.DefaultDirection.Value(
            "DEFAULT_RIGHT" if split.kind == "INEQUALITY_DEFAULT_RIGHT" else "DEFAULT_LEFT"
        )
    made.feature_id, made.dimension_id = split.feature, split.dimension
    made.left_id, made.right_id = left, left + 1


class _Pruning:
    """Takes splits that gain nothing out of a finished tree, from its leaves upwards.

    What became of each node, and how its value changed, is written down: predictions that were
    kept for a node go on from there.
    """

    def __init__(self, tree: Any, metadata: Any, width: int):
        self._tree, self._metadata, self._width = tree, metadata, width
        self._parents: dict[int, int] = {}
        self._changes: dict[int, np.ndarray] = {}

    def run(self) -> None:
        self._visit(0)
        if not self._parents:
            return
        kept = [number for number in range(len(self._tree.nodes)) if number not in self._parents]
        numbers = {old: new for new, old in enumerate(kept)}
        for old in range(len(self._tree.nodes)):
            self._note(old, numbers)
        nodes = [self._tree.nodes[old] for old in kept]
        for node in nodes:
            split = _split_of(node)
            if split is not None:
                split.left_id, split.right_id = numbers[split.left_id], numbers[split.right_id]
        copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
        del self._tree.nodes[:]
        self._tree.nodes.extend(copies)

    def _visit(self, number: int) -> None:
        node = self._tree.nodes[number]
        split = _split_of(node)
        if split is None:
            return
        children = split.left_id, split.right_id
        for child in children:
            self._visit(child)
        leaves = all(_split_of(self._tree.nodes[child]) is None for child in children)
        if node.metadata.gain >= 0 or not leaves:
            return
        value = np.zeros(self._width, np.float32)
        if node.metadata.HasField("original_leaf"):
            value = _leaf_value(node.metadata.original_leaf)
        for child in children:
            self._parents[child] = number
            self._changes[child] = value - node_value(self._tree.nodes[child])
        leaf = type(node)()
        if node.metadata.HasField("original_leaf"):
            leaf.leaf.CopyFrom(node.metadata.original_leaf)
        else:
            leaf.leaf.SetInParent()
        node.CopyFrom(leaf)

    def _note(self, number: int, numbers: dict[int, int]) -> None:
        change = np.zeros(self._width, np.float32)
        while number in self._parents:
            change = change + self._changes[number]
            number = self._parents[number]
        update = self._metadata.post_pruned_nodes_meta.add()
        update.new_node_id = numbers[number]
        update.logit_change.extend(change.tolist())
