"""Which features matter to trees, on the whole and for an example."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock import proto

DEBUG_PROTO_KEY = "_serialized_debug_outputs_proto"


def summed_by_name(names: Sequence[str], values: Any) -> OrderedDict[str, Any]:
    """Values of features added up by the names of their columns, the largest first."""
    sums: dict[str, Any] = {}
    for name, value in zip(names, values, strict=True):
        sums[name] = sums.get(name, 0) + value
    return OrderedDict(sorted(sums.items(), key=lambda item: abs(item[1]), reverse=True))


def contributions(
    serialized: bytes, names: Sequence[str], classification: bool = False
) -> tuple[Any, OrderedDict[str, Any]]:
    """The prediction without any feature, and what each column adds to it for an example."""
    feature_ids, logits = path_of(serialized)
    activation = sigmoid if classification else identity
    return contributions_along(feature_ids, logits, activation, names)


def path_of(serialized: bytes) -> tuple[Sequence[int], Sequence[float]]:
    """The features that an example was split by, and the logits before, between and behind."""
    path = proto.DebugOutput.FromString(serialized)
    return path.feature_ids, path.logits_path


def contributions_along(
    feature_ids: Sequence[int],
    logits: Sequence[float],
    activation: Callable[[Any], Any],
    names: Sequence[str],
) -> tuple[Any, OrderedDict[str, Any]]:
    """See `contributions`; from an example's path."""
    predictions = np.array(activation(logits))
    added = np.bincount(np.array(feature_ids, np.int64), np.diff(predictions), minlength=len(names))
    return predictions[0], summed_by_name(names, added)


def identity(logits: Any) -> Any:
    return logits


def sigmoid(logits: Any) -> Any:
    return 1 / (1 + np.exp(-np.array(logits)))


def importances_in_tree(tree: Any, num_features: int) -> np.ndarray:
    """What the splits by each feature gain in a tree."""
    importances = np.zeros(num_features)
    for node in tree.nodes:
        kind = node.WhichOneof("node")
        if kind == "bucketized_split":
            importances[node.bucketized_split.feature_id] += node.metadata.gain
        elif kind != "leaf":
            raise ValueError(f"Unexpected split type {kind}")
        elif node.metadata.gain != 0:
            raise AssertionError(f"a leaf gains nothing, not {node.metadata.gain}")
    return importances


def feature_importances(tree_ensemble: Any, num_features: int, normalize: bool) -> np.ndarray:
    """What the splits by each feature gain in all trees."""
    importances = np.zeros(num_features)
    for tree, weight in zip(tree_ensemble.trees, tree_ensemble.tree_weights, strict=True):
        importances += weight * importances_in_tree(tree, num_features)
    if normalize:
        assert np.all(importances >= 0), "feature_importances must be non-negative."
        total = np.sum(importances)
        assert total > 0, "Trees are all empty or contain only a root node."
        importances /= total
    return importances
