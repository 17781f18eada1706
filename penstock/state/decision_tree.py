"""A decision tree that grows from streams of examples, and the statistics that it grows by.

What always holds:
1. A node is a leaf or has two children; children come after their parent in the order of nodes.
2. Statistics are kept for leaves only; a leaf without any begins with none.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from penstock import proto

_LEAF = -1


def at_depth(param: Any, depth: int) -> float:
    """The value of a parameter that may depend on the depth of a node."""
    kind = param.WhichOneof("ParamType")
    if kind == "linear":
        linear = param.linear
        value = linear.slope * depth + linear.y_intercept
        return float(min(max(value, linear.min_val), linear.max_val))
    if kind == "exponential":
        given = param.exponential
        power = given.base ** (given.depth_multiplier * depth)
        return float(given.bias + given.multiplier * power)
    if kind == "threshold":
        threshold = param.threshold
        is_on = depth >= threshold.threshold
        return float(threshold.on_value if is_on else threshold.off_value)
    return float(param.constant_value)


class DecisionTree:
    """A tree behind a handle: where examples come to, and what its leaves have seen."""

    def __init__(self, name: str):
        self.name = name
        self.lock = threading.RLock()
        self.is_created = False
        self.feature: list[int] = []
        self.threshold: list[float] = []
        self.is_strict: list[bool] = []
        self.children: list[tuple[int, int]] = []
        self.depth: list[int] = []
        self.values: list[np.ndarray] = []

    def __len__(self) -> int:
        return len(self.feature)

    def close(self) -> None:
        """Forgets the tree; it may be created again."""
        self.is_created = False

    def create(self, serialized: bytes, outputs: int) -> None:
        """Begins with a saved tree, or with a single leaf."""
        self.feature, self.threshold, self.is_strict = [], [], []
        self.children, self.depth, self.values = [], [], []
        self.is_created = True
        model = proto.Model.FromString(serialized)
        if not model.decision_tree.nodes:
            self._add_leaf(np.zeros(outputs, np.float32), 0)
            return
        places = {node.node_id.value: i for i, node in enumerate(model.decision_tree.nodes)}
        for node in model.decision_tree.nodes:
            self._add_leaf(_leaf_values(node.leaf, outputs), node.depth.value)
            if node.WhichOneof("node_type") == "binary_node":
                self._restore_split(node.binary_node, places)

    def _restore_split(self, node: Any, places: dict[int, int]) -> None:
        test = node.inequality_left_child_test
        self.feature[-1] = int(test.feature_id.id.value or 0)
        self.threshold[-1] = test.threshold.float_value
        self.is_strict[-1] = test.type == proto.InequalityTest.LESS_THAN
        self.children[-1] = places[node.left_child_id.value], places[node.right_child_id.value]

    def _add_leaf(self, values: np.ndarray, depth: int) -> int:
        self.feature.append(_LEAF)
        self.threshold.append(0.0)
        self.is_strict.append(False)
        self.children.append((0, 0))
        self.depth.append(depth)
        self.values.append(values)
        return len(self) - 1

    def split(
        self, node: int, feature: int, threshold: float, is_strict: bool, values: Any
    ) -> tuple[int, int]:
        """Makes a leaf a split; returns its two new leaves, which begin with `values`."""
        left, right = (self._add_leaf(each, self.depth[node] + 1) for each in values)
        self.feature[node], self.threshold[node] = feature, threshold
        self.is_strict[node] = is_strict
        self.children[node] = left, right
        return left, right

    def leaves(self, examples: np.ndarray) -> np.ndarray:
        """The leaf that each row of features comes to."""
        feature, threshold = np.array(self.feature), np.array(self.threshold, np.float32)
        strict, children = np.array(self.is_strict), np.array(self.children)
        nodes = np.zeros(len(examples), np.int32)
        walking = np.arange(len(examples))[feature[nodes] != _LEAF]
        while walking.size:
            here = nodes[walking]
            given = examples[walking, feature[here]]
            is_left = np.where(strict[here], given < threshold[here], given <= threshold[here])
            is_left |= np.isnan(given)
            nodes[walking] = np.where(is_left, children[here, 0], children[here, 1])
            walking = walking[feature[nodes[walking]] != _LEAF]
        return nodes

    def count(self, leaves: np.ndarray, classes: np.ndarray, weights: np.ndarray) -> None:
        """Adds the weights of examples to the counts of their classes at their leaves."""
        for leaf in np.unique(leaves):
            at_leaf = leaves == leaf
            np.add.at(self.values[leaf], classes[at_leaf], weights[at_leaf])

    def path_to(self, leaf: int) -> bytes:
        """The nodes from the root to a leaf, as a message."""
        parents = {child: i for i, pair in enumerate(self.children) for child in pair if child}
        path = [leaf]
        while path[-1] in parents:
            path.append(parents[path[-1]])
        nodes = [self._message_of(node) for node in reversed(path)]
        return bytes(proto.TreePath(nodes_visited=nodes).SerializeToString())

    def serialized(self) -> bytes:
        """The whole tree as a message."""
        model = proto.Model()
        model.decision_tree.nodes.extend(self._message_of(node) for node in range(len(self)))
        return bytes(model.SerializeToString())

    def _message_of(self, node: int) -> Any:
        message = proto.TreeNode()
        message.node_id.value = node
        message.depth.value = self.depth[node]
        if self.feature[node] == _LEAF:
            vector = message.leaf.vector
            for value in self.values[node]:
                vector.value.add().float_value = value
            return message
        binary = message.binary_node
        binary.left_child_id.value, binary.right_child_id.value = self.children[node]
        fill_test(
            binary.inequality_left_child_test,
            self.feature[node],
            self.threshold[node],
            self.is_strict[node],
        )
        return message


def fill_test(test: Any, feature: int, threshold: float, is_strict: bool) -> None:
    """Writes which examples go to the left into a message."""
    test.feature_id.id.value = str(feature)
    test.threshold.float_value = threshold
    test.type = proto.InequalityTest.LESS_THAN if is_strict else proto.InequalityTest.LESS_OR_EQUAL


def _leaf_values(leaf: Any, outputs: int) -> np.ndarray:
    values = np.zeros(outputs, np.float32)
    if leaf.WhichOneof("leaf") == "sparse_vector":
        for place, value in leaf.sparse_vector.sparse_value.items():
            values[place] = value.float_value
    else:
        for place, value in enumerate(leaf.vector.value):
            values[place] = value.float_value
    return values


@dataclass
class LeafStatistics:
    """What a leaf needs to know to split: candidates, and sums of examples for each of them.

    A row of sums is, for classes, the weight of each; for numbers, the weight, then the sums and
    the sums of squares of all outputs.
    """

    features: list[int] = field(default_factory=list)
    thresholds: list[float] = field(default_factory=list)
    left: np.ndarray | None = None
    total: np.ndarray | None = None

    def add(self, examples: np.ndarray, sums: np.ndarray, is_strict: bool) -> None:
        """Adds examples, as rows of features and rows of sums."""
        columns = examples[:, self.features]
        thresholds = np.array(self.thresholds, np.float32)
        is_left = columns < thresholds if is_strict else columns <= thresholds
        left = is_left.T.astype(np.float64) @ sums
        self.left = left if self.left is None else self.left + left
        self.total = sums.sum(0) if self.total is None else self.total + sums.sum(0)

    def best(self, is_regression: bool) -> int | None:
        """The candidate with the purest sides, neither of them empty; None if there is none."""
        if self.left is None or self.total is None:
            return None
        sides = [self.left, self.total - self.left]
        weights = [side[:, 0] if is_regression else side.sum(1) for side in sides]
        usable = (weights[0] > 0) & (weights[1] > 0)
        if not usable.any():
            return None
        spread = sum(
            _spread(side, np.maximum(weight, 1e-12), is_regression)
            for side, weight in zip(sides, weights, strict=True)
        )
        return int(np.argmin(np.where(usable, spread, np.inf)))


def _spread(sums: np.ndarray, weights: np.ndarray, is_regression: bool) -> np.ndarray:
    """The impurity of classes, or the squared distance from the mean, of each row of sums."""
    if not is_regression:
        return np.asarray(weights - (sums**2).sum(1) / weights)
    outputs = (sums.shape[1] - 1) // 2
    means, squares = sums[:, 1 : 1 + outputs], sums[:, 1 + outputs :]
    return np.asarray((squares - means**2 / weights[:, None]).sum(1))


class FertileStatistics:
    """The statistics of all leaves of a tree, behind a handle."""

    def __init__(self, name: str):
        self.name = name
        self.lock = threading.RLock()
        self.is_created = False
        self.of_leaf: dict[int, LeafStatistics] = {}

    def close(self) -> None:
        """Forgets the statistics; they may be created again."""
        self.is_created = False

    def create(self, serialized: bytes) -> None:
        """Begins anew, with saved candidates if there are any."""
        self.is_created = True
        self.of_leaf = {}
        for slot in proto.FertileStats.FromString(serialized).node_to_slot:
            kept = LeafStatistics()
            for candidate in slot.candidates:
                test = candidate.split.inequality_left_child_test
                kept.features.append(int(test.feature_id.id.value))
                kept.thresholds.append(test.threshold.float_value)
            self.of_leaf[slot.node_id] = kept

    def serialized(self, is_strict: bool) -> bytes:
        """The candidates of all leaves as a message."""
        message = proto.FertileStats()
        for leaf, kept in sorted(self.of_leaf.items()):
            slot = message.node_to_slot.add()
            slot.node_id = leaf
            for feature, threshold in zip(kept.features, kept.thresholds, strict=True):
                test = slot.candidates.add().split.inequality_left_child_test
                fill_test(test, feature, threshold, is_strict)
        return bytes(message.SerializeToString())
