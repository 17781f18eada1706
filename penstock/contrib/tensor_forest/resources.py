"""Trees and their statistics as resources that sessions initialize and savers keep."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ops import resources
from penstock.ops import tensor_forest as ops
from penstock.train.saveables import SaveableObject, SaveSpec


class TreeVariableSavable(SaveableObject):
    """A tree in a checkpoint: one string."""

    def __init__(self, params: Any, tree_handle: Any, stats_handle: Any, create_op: Any, name: str):
        del stats_handle
        super().__init__(tree_handle, [SaveSpec(ops.TreeSerialize(tree_handle), "", name)], name)
        self._params, self._handle, self._create_op = params, tree_handle, create_op

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Puts a saved tree in the place of the one that is there."""
        with tf.control_dependencies([self._create_op]):
            return ops.TreeDeserialize(
                self._handle, restored_tensors[0], params=self._params.serialized_params_proto
            )


class FertileStatsVariableSavable(SaveableObject):
    """Statistics in a checkpoint: one string."""

    def __init__(self, params: Any, stats_handle: Any, create_op: Any, name: str):
        saved = ops.FertileStatsSerialize(stats_handle, params=params.serialized_params_proto)
        super().__init__(stats_handle, [SaveSpec(saved, "", name)], name)
        self._params, self._handle, self._create_op = params, stats_handle, create_op

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Puts saved statistics in the place of those that are there."""
        with tf.control_dependencies([self._create_op]):
            return ops.FertileStatsDeserialize(
                self._handle, restored_tensors[0], params=self._params.serialized_params_proto
            )


def tree_variable(
    params: Any, tree_config: Any, stats_handle: Any, name: str, container: str | None = None
) -> Any:
    """The handle of a tree, which begins as a leaf or as `tree_config` says."""
    with tf.name_scope(name, "TreeVariable") as scope:
        handle = ops.DecisionTreeResourceHandleOp(
            container=container or "", shared_name=scope, name=scope
        )
        create = ops.CreateTreeVariable(handle, tree_config, params=params.serialized_params_proto)
        is_initialized = ops.TreeIsInitializedOp(handle)
        saveable = TreeVariableSavable(params, handle, stats_handle, create, handle.name)
        return _registered(handle, create, is_initialized, saveable)


def fertile_stats_variable(
    params: Any, stats_config: Any, name: str, container: str | None = None
) -> Any:
    """The handle of the statistics that a tree grows by."""
    with tf.name_scope(name, "FertileStatsVariable") as scope:
        handle = ops.FertileStatsResourceHandleOp(
            container=container or "", shared_name=scope, name=scope
        )
        create = ops.CreateFertileStatsVariable(
            handle, stats_config, params=params.serialized_params_proto
        )
        is_initialized = ops.FertileStatsIsInitializedOp(handle)
        saveable = FertileStatsVariableSavable(params, handle, create, handle.name)
        return _registered(handle, create, is_initialized, saveable)


def _registered(handle: Any, create: Any, is_initialized: Any, saveable: Any) -> Any:
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable)
    resources.register_resource(handle, create, is_initialized)
    return handle
