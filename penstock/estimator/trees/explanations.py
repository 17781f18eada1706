"""Which features matter to trees, on the whole and for an example."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
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
    serialized: bytes, names: Sequence[str], *, classification: bool
) -> tuple[Any, OrderedDict[str, Any]]:
    """The prediction without any feature, and what each column adds to it for an example."""
    path = proto.DebugOutput.FromString(serialized)
    predictions = np.array(path.logits_path)
    if classification:
        predictions = 1 / (1 + np.exp(-predictions))
    added = np.bincount(
        np.array(path.feature_ids, np.int64), np.diff(predictions), minlength=len(names)
    )
    return predictions[0], summed_by_name(names, added)


def feature_importances(ensemble: Any, count: int, *, normalize: bool) -> np.ndarray:
    """What the splits by each of `count` features gain in all trees."""
    importances = np.zeros(count)
    for tree, weight in zip(ensemble.trees, ensemble.tree_weights, strict=True):
        for node in tree.nodes:
            kind = node.WhichOneof("node")
            if kind == "bucketized_split":
                importances[node.bucketized_split.feature_id] += weight * node.metadata.gain
            elif kind != "leaf":
                raise ValueError(f"Unexpected split type {kind}")
    if normalize:
        assert np.all(importances >= 0), "feature_importances must be non-negative."
        total = np.sum(importances)
        assert total > 0, "Trees are all empty or contain only a root node."
        importances /= total
    return importances
