"""`tensorflow.python.debug` (tfdbg): watch the tensors of runs, write them down, look at them.

`stepper` stops inside of a run; `penstock debug` is its command line.
"""

from penstock.debugger.dump_folder import (
    DebugDumpDir,
    WatchKeyDoesNotExistInDebugDumpDirError,
    extract_core_metadata_from_event_proto,
)
from penstock.debugger.dumped_graph import (
    get_node_name,
    get_output_slot,
    is_copy_node,
    is_debug_node,
    parse_debug_node_name,
    parse_node_or_tensor_name,
    reconstruct_non_debug_graph_def,
)
from penstock.debugger.dumped_tensors import (
    DebugTensorDatum,
    InconvertibleTensorProto,
    device_path_to_device_name,
    has_inf_or_nan,
    load_tensor_from_event,
    load_tensor_from_event_file,
)
from penstock.debugger.dumping import (
    DumpingDebugHook,
    DumpingDebugWrapperSession,
    NonInteractiveDebugWrapperSession,
)
from penstock.debugger.gradients import (
    GradientsDebugger,
    clear_gradient_debuggers,
    gradient_values_from_dump,
)
from penstock.debugger.local_session import LocalCLIDebugHook, LocalCLIDebugWrapperSession
from penstock.debugger.remote import (
    GrpcDebugHook,
    GrpcDebugWrapperSession,
    TensorBoardDebugHook,
    TensorBoardDebugWrapperSession,
)
from penstock.debugger.stepper import GraphDebugger
from penstock.debugger.watches import (
    add_debug_tensor_watch,
    watch_graph,
    watch_graph_with_blacklists,
)
from penstock.debugger.wrapper_session import (
    BaseDebugWrapperSession,
    OnRunEndRequest,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
    OnSessionInitAction,
    OnSessionInitRequest,
    OnSessionInitResponse,
    WatchOptions,
)
from penstock.runtime.watching import METADATA_PREFIX as METADATA_FILE_PREFIX
from penstock.runtime.watching import device_folder as device_name_to_device_path

CORE_METADATA_TAG = "core_metadata_"
GRAPH_FILE_TAG = "graph_"
DEVICE_TAG = "device_"
HASH_TAG = "hash"
FETCHES_INFO_FILE_TAG = "fetches_info_"
FEED_KEYS_INFO_FILE_TAG = "feed_keys_info_"

__all__ = [
    "METADATA_FILE_PREFIX",
    "BaseDebugWrapperSession",
    "DebugDumpDir",
    "DebugTensorDatum",
    "DumpingDebugHook",
    "DumpingDebugWrapperSession",
    "GradientsDebugger",
    "GraphDebugger",
    "GrpcDebugHook",
    "GrpcDebugWrapperSession",
    "InconvertibleTensorProto",
    "LocalCLIDebugHook",
    "LocalCLIDebugWrapperSession",
    "NonInteractiveDebugWrapperSession",
    "OnRunEndRequest",
    "OnRunEndResponse",
    "OnRunStartAction",
    "OnRunStartRequest",
    "OnRunStartResponse",
    "OnSessionInitAction",
    "OnSessionInitRequest",
    "OnSessionInitResponse",
    "TensorBoardDebugHook",
    "TensorBoardDebugWrapperSession",
    "WatchKeyDoesNotExistInDebugDumpDirError",
    "WatchOptions",
    "add_debug_tensor_watch",
    "clear_gradient_debuggers",
    "device_name_to_device_path",
    "device_path_to_device_name",
    "extract_core_metadata_from_event_proto",
    "get_node_name",
    "get_output_slot",
    "gradient_values_from_dump",
    "has_inf_or_nan",
    "is_copy_node",
    "is_debug_node",
    "load_tensor_from_event",
    "load_tensor_from_event_file",
    "parse_debug_node_name",
    "parse_node_or_tensor_name",
    "reconstruct_non_debug_graph_def",
    "watch_graph",
    "watch_graph_with_blacklists",
]
