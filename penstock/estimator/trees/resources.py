"""Ensembles of trees and quantiles of features, as resources that checkpoints save."""

from __future__ import annotations

from typing import Any, ClassVar

import penstock as tf
from penstock.ops import boosted_trees as ops
from penstock.ops import quantile_streams as quantile_ops
from penstock.ops.resources import register_resource
from penstock.train.saveables import SaveableObject, SaveSpec
from penstock.train.tracking.attributes import AutoTrackable


class PruningMode:
    """Whether splits that gain nothing are left out, or taken out of finished trees."""

    NO_PRUNING, PRE_PRUNING, POST_PRUNING = range(3)
    _map: ClassVar[dict[str, int]] = {"none": NO_PRUNING, "pre": PRE_PRUNING, "post": POST_PRUNING}

    @classmethod
    def from_str(cls, mode: str) -> int:
        """The number of a mode: "none", "pre" or "post"."""
        if mode not in cls._map:
            raise ValueError(f"pruning_mode mode must be one of: {', '.join(sorted(cls._map))}")
        return cls._map[mode]


class _Resource(AutoTrackable):
    """What a handle stands for, how to create it, and whether it exists."""

    _resource_handle: Any
    _init_op: Any

    @property
    def resource_handle(self) -> Any:
        """The tensor that ops take it by."""
        return self._resource_handle

    @property
    def initializer(self) -> Any:
        """The operation that creates it."""
        return self._init_op


class QuantileAccumulatorSaveable(SaveableObject):
    """The boundaries that a QuantileAccumulator came to, in a checkpoint."""

    def __init__(self, resource_handle: Any, create_op: Any, num_streams: int, name: str):
        self._handle, self._create_op = resource_handle, create_op
        boundaries = _boundaries(resource_handle, num_streams)
        specs = [
            SaveSpec(tensor, "", f"{name}_bucket_boundaries_{i}")
            for i, tensor in enumerate(boundaries)
        ]
        super().__init__(resource_handle, specs, name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        with tf.control_dependencies([self._create_op]):
            return quantile_ops.BoostedTreesQuantileStreamResourceDeserialize(
                self._handle, restored_tensors
            )


def _boundaries(handle: Any, count: int) -> list[Any]:
    made = quantile_ops.BoostedTreesQuantileStreamResourceGetBucketBoundaries(
        handle, num_features=count
    )
    return list(made)


class QuantileAccumulator(_Resource):
    """Numbers of several features, of which boundaries of buckets are made.

    Args:
      epsilon: how far from the truth the rank of a boundary may be, as a part of all.
      num_streams: how many features there are.
      num_quantiles: how many boundaries to make of each.
    """

    def __init__(
        self,
        epsilon: float,
        num_streams: int,
        num_quantiles: int,
        name: str | None = None,
        max_elements: Any = None,
    ):
        self._eps = epsilon
        self._num_streams = num_streams
        self._num_quantiles = num_quantiles
        with tf.name_scope(name, "QuantileAccumulator") as scope:
            self._resource_handle = quantile_ops.BoostedTreesQuantileStreamResourceHandleOp(
                container="", shared_name=scope, name=scope
            )
            self._init_op = quantile_ops.BoostedTreesCreateQuantileStreamResource(
                self._resource_handle, epsilon, num_streams
            )
            is_initialized = self.is_initialized()
        register_resource(self._resource_handle, self._init_op, is_initialized)
        self._saveable = QuantileAccumulatorSaveable(
            self._resource_handle, self._init_op, num_streams, self._resource_handle.name
        )
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    def is_initialized(self) -> Any:
        """Whether it exists."""
        return quantile_ops.IsBoostedTreesQuantileStreamResourceInitialized(self._resource_handle)

    @property
    def saveable(self) -> QuantileAccumulatorSaveable:
        """What a saver takes."""
        return self._saveable

    def add_summaries(self, float_columns: Any, example_weights: Any) -> Any:
        """An operation that adds a batch: a vector for each feature, and the examples' weights."""
        summaries = quantile_ops.BoostedTreesMakeQuantileSummaries(
            float_columns, example_weights, self._eps
        )
        return quantile_ops.BoostedTreesQuantileStreamResourceAddSummaries(
            self._resource_handle, summaries
        )

    def flush(self) -> Any:
        """An operation that makes boundaries of what was added, and starts anew."""
        return quantile_ops.BoostedTreesQuantileStreamResourceFlush(
            self._resource_handle, self._num_quantiles
        )

    def get_bucket_boundaries(self) -> list[Any]:
        """The boundaries of each feature."""
        return _boundaries(self._resource_handle, self._num_streams)


class _TreeEnsembleSavable(SaveableObject):
    """An ensemble in a checkpoint: its message, and the number of its version."""

    def __init__(self, resource_handle: Any, create_op: Any, name: str):
        self._handle, self._create_op = resource_handle, create_op
        stamp, serialized = ops.BoostedTreesSerializeEnsemble(resource_handle)
        specs = [
            SaveSpec(stamp, "", f"{name}_stamp"),
            SaveSpec(serialized, "", f"{name}_serialized"),
        ]
        super().__init__(resource_handle, specs, name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        stamp, serialized = restored_tensors
        with tf.control_dependencies([self._create_op]):
            return ops.BoostedTreesDeserializeEnsemble(self._handle, stamp, serialized)


class TreeEnsemble(_Resource):
    """An ensemble of decision trees.

    Args:
      stamp_token: the number of its first version.
      is_local: whether it is a copy that is not saved.
      serialized_proto: the message of an ensemble to start from.
    """

    def __init__(
        self, name: str, stamp_token: int = 0, is_local: bool = False, serialized_proto: Any = ""
    ):
        with tf.name_scope(name, "TreeEnsemble") as scope:
            self._resource_handle = ops.BoostedTreesEnsembleResourceHandleOp(
                container="", shared_name=scope, name=scope
            )
            self._init_op = ops.BoostedTreesCreateEnsemble(
                self._resource_handle, stamp_token, serialized_proto
            )
            is_initialized = self.is_initialized()
            if not is_local:
                self._saveable = _TreeEnsembleSavable(
                    self._resource_handle, self._init_op, self._resource_handle.name
                )
                tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, self._saveable)
            register_resource(
                self._resource_handle, self._init_op, is_initialized, is_shared=not is_local
            )

    def is_initialized(self) -> Any:
        """Whether it exists."""
        return ops.IsBoostedTreesEnsembleInitialized(self._resource_handle)

    def get_stamp_token(self) -> Any:
        """The number of the current version."""
        return ops.BoostedTreesGetEnsembleStates(self._resource_handle)[0]

    def get_states(self) -> tuple[Any, ...]:
        """Version, trees, finished trees, attempted layers, and the nodes of the last layer."""
        names = (
            *("stamp_token", "num_trees", "num_finalized_trees", "num_attempted_layers"),
            "last_layer_nodes_range",
        )
        states = ops.BoostedTreesGetEnsembleStates(self._resource_handle)
        return tuple(
            tf.identity(state, name=name) for state, name in zip(states, names, strict=True)
        )

    def serialize(self) -> Any:
        """Version and message of the ensemble."""
        return ops.BoostedTreesSerializeEnsemble(self._resource_handle)

    def deserialize(self, stamp_token: Any, serialized_proto: Any) -> Any:
        """An operation that makes it the ensemble of a message."""
        return ops.BoostedTreesDeserializeEnsemble(
            self._resource_handle, stamp_token, serialized_proto
        )
