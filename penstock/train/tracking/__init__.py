"""Object-based checkpoints: `tf.train.Checkpoint`, and what takes part in it."""

from penstock.ir.trackable import (
    OBJECT_CONFIG_JSON_KEY,
    OBJECT_GRAPH_PROTO_KEY,
    VARIABLE_VALUE_KEY,
    NoDependency,
    Trackable,
    TrackableReference,
    no_automatic_dependency_tracking,
    no_automatic_dependency_tracking_scope,
)
from penstock.train.tracking.attributes import AutoTrackable, NotTrackable, delete_tracking
from penstock.train.tracking.checkpoint import (
    Checkpoint,
    TrackableSaver,
    add_variable,
    frozen_saver,
    gather_initializers,
    list_objects,
    object_metadata,
    saver_with_op_caching,
)
from penstock.train.tracking.data_structures import (
    List,
    ListWrapper,
    Mapping,
    TrackableDataStructure,
    _DictWrapper,
    sticky_attribute_assignment,
    wrap_or_unwrap,
)
from penstock.train.tracking.graph_view import ObjectGraphView
from penstock.train.tracking.load_status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    NameBasedSaverStatus,
    get_session,
    streaming_restore,
)
from penstock.train.tracking.manager import CheckpointManager
from penstock.train.tracking.python_state import NumpyState, PythonState
from penstock.train.tracking.restoration import CheckpointPosition
from penstock.train.tracking.saveables import (
    NoRestoreSaveable,
    PythonStateSaveable,
    PythonStringStateSaveable,
)

# Their names before TensorFlow 1.14.
Checkpointable = AutoTrackable
CheckpointableBase = Trackable
CheckpointableDataStructure = TrackableDataStructure
CheckpointableReference = TrackableReference
CheckpointableSaver = TrackableSaver
CheckpointV1 = Checkpoint

__all__ = [
    "OBJECT_CONFIG_JSON_KEY",
    "OBJECT_GRAPH_PROTO_KEY",
    "VARIABLE_VALUE_KEY",
    "AutoTrackable",
    "Checkpoint",
    "CheckpointLoadStatus",
    "CheckpointManager",
    "CheckpointPosition",
    "CheckpointV1",
    "Checkpointable",
    "CheckpointableBase",
    "CheckpointableDataStructure",
    "CheckpointableReference",
    "CheckpointableSaver",
    "InitializationOnlyStatus",
    "List",
    "ListWrapper",
    "Mapping",
    "NameBasedSaverStatus",
    "NoDependency",
    "NoRestoreSaveable",
    "NotTrackable",
    "NumpyState",
    "ObjectGraphView",
    "PythonState",
    "PythonStateSaveable",
    "PythonStringStateSaveable",
    "Trackable",
    "TrackableDataStructure",
    "TrackableReference",
    "TrackableSaver",
    "_DictWrapper",
    "add_variable",
    "delete_tracking",
    "frozen_saver",
    "gather_initializers",
    "get_session",
    "list_objects",
    "no_automatic_dependency_tracking",
    "no_automatic_dependency_tracking_scope",
    "object_metadata",
    "saver_with_op_caching",
    "sticky_attribute_assignment",
    "streaming_restore",
    "wrap_or_unwrap",
]
