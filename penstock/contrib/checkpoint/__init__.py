"""`tf.contrib.checkpoint`: tools for the checkpoints of `tf.train.Checkpoint`."""

from penstock.contrib.checkpoint.containers import UniqueNameTracker, capture_dependencies
from penstock.contrib.checkpoint.drawing import dot_graph_from_checkpoint
from penstock.contrib.checkpoint.split_dependency import split_dependency
from penstock.ir.trackable import Trackable as CheckpointableBase
from penstock.proto import TrackableObjectGraph as CheckpointableObjectGraph
from penstock.train.tracking import AutoTrackable as Checkpointable
from penstock.train.tracking import (
    CheckpointManager,
    List,
    Mapping,
    NoDependency,
    NumpyState,
    list_objects,
    object_metadata,
)
from penstock.train.tracking import PythonState as PythonStateWrapper

__all__ = [
    "CheckpointManager",
    "Checkpointable",
    "CheckpointableBase",
    "CheckpointableObjectGraph",
    "List",
    "Mapping",
    "NoDependency",
    "NumpyState",
    "PythonStateWrapper",
    "UniqueNameTracker",
    "capture_dependencies",
    "dot_graph_from_checkpoint",
    "list_objects",
    "object_metadata",
    "split_dependency",
]
