"""`DebugDumpDir`: the tensors, graphs and notes that a watched run left in a folder."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from penstock import proto
from penstock.debugger.dumped_graph import DumpedGraph, node_and_slot
from penstock.debugger.dumped_tensors import (
    DebugTensorDatum,
    device_path_to_device_name,
    read_event,
)
from penstock.runtime.watching import METADATA_PREFIX

_LATER = ("Enter", "RefEnter", "NextIteration", "RefNextIteration")
_MERGE = ("Merge", "RefMerge")


class CoreMetadata(NamedTuple):
    """What a session notes about a watched run."""

    global_step: int
    session_run_index: int
    executor_step_index: int
    input_names: list[str]
    output_names: list[str]
    target_nodes: list[str]


def extract_core_metadata_from_event_proto(event: Any) -> CoreMetadata:
    """The notes about a run that an Event holds."""
    found = json.loads(event.log_message.message)
    return CoreMetadata(*(found[name] for name in CoreMetadata._fields))


class WatchKeyDoesNotExistInDebugDumpDirError(ValueError):
    """A dump has no tensor of the name, output and debug op that were asked for."""


def _only(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


class DebugDumpDir:
    """A dump.

    Args:
      dump_root: its folder.
      partition_graphs: the graphs that were run, for a folder that has none.
      validate: whether a tensor that was written before its inputs is an error.

    >>> dump = tfdbg.DebugDumpDir("/tmp/dump/run_1")
    >>> [datum.tensor_name for datum in dump.find(tfdbg.has_inf_or_nan)]
    """

    def __init__(self, dump_root: str, partition_graphs: Any = None, validate: bool = True):
        if not os.path.isdir(dump_root):
            raise OSError(f"Dump root directory {dump_root} does not exist")
        self._root = dump_root
        self._python_graph: Any = None
        self._core_metadata = [
            extract_core_metadata_from_event_proto(read_event(path))
            for path in self._notes("core_metadata_")
        ]
        self._fetches = [read_event(path).log_message.message for path in self._notes("fetches_")]
        self._feeds = [read_event(path).log_message.message for path in self._notes("feed_keys_")]
        self._data: dict[str, list[DebugTensorDatum]] = {}
        self._graphs: dict[str, DumpedGraph] = {}
        for folder in sorted(glob.glob(os.path.join(glob.escape(dump_root), "_tfdbg_device_*"))):
            self._load_device(folder, partition_graphs or ())
        times = [datum.timestamp for data in self._data.values() for datum in data]
        self._t0: Any = min(times, default=None)
        if validate:
            for device, graph in self._graphs.items():
                _check_order(graph, self._data[device])

    def _notes(self, kind: str) -> list[str]:
        pattern = os.path.join(glob.escape(self._root), f"{METADATA_PREFIX}{kind}*")
        return sorted(glob.glob(pattern))

    def _load_device(self, folder: str, partition_graphs: Iterable[Any]) -> None:
        device = device_path_to_device_name(folder)
        data, graph = [], None
        for parent, _, names in os.walk(folder):
            for name in names:
                if name.startswith(f"{METADATA_PREFIX}graph_"):
                    message = read_event(os.path.join(parent, name)).graph_def
                    graph = proto.GraphDef.FromString(message)
                    continue
                path = os.path.relpath(os.path.join(parent, name), self._root)
                data.append(DebugTensorDatum(self._root, path))
        self._data[device] = sorted(data, key=lambda datum: datum.extended_timestamp)
        if graph is None:
            matching = (each for each in partition_graphs if _is_of(each, device))
            graph = next(matching, None)
        if graph is not None:
            self._graphs[device] = DumpedGraph(graph, device)

    # About the run ----------------------------------------------------------------------------

    @property
    def core_metadata(self) -> Any:
        """The session's notes about the run; a list if there are several."""
        return _only(self._core_metadata)

    @property
    def run_fetches_info(self) -> Any:
        """What was fetched, as text."""
        return _only(self._fetches)

    @property
    def run_feed_keys_info(self) -> Any:
        """What was fed, as text."""
        return _only(self._feeds)

    def devices(self) -> list[str]:
        """The devices that tensors were written by."""
        return list(self._data)

    @property
    def t0(self) -> Any:
        """The time of the first tensor, in microseconds."""
        return self._t0

    @property
    def size(self) -> int:
        """How many tensors there are."""
        return sum(len(data) for data in self._data.values())

    # Tensors ----------------------------------------------------------------------------------

    @property
    def dumped_tensor_data(self) -> list[DebugTensorDatum]:
        """All tensors in the order of time."""
        data = [datum for each in self._data.values() for datum in each]
        return sorted(data, key=lambda datum: datum.extended_timestamp)

    def debug_watch_keys(self, node_name: str, device_name: str | None = None) -> list[str]:
        """What was written of a node, as "node:0:DebugIdentity"."""
        data = self._data.get(device_name, []) if device_name else self.dumped_tensor_data
        keys = (datum.watch_key for datum in data if datum.node_name == node_name)
        return list(dict.fromkeys(keys))

    def watch_key_to_data(
        self, debug_watch_key: str, device_name: str | None = None
    ) -> list[DebugTensorDatum]:
        """The tensors of a watch, in the order of time."""
        if device_name is not None and device_name not in self._data:
            raise ValueError(
                f"There is no device named '{device_name}' consisting of debug watch keys."
            )
        found = {
            device: [datum for datum in data if datum.watch_key == debug_watch_key]
            for device, data in self._data.items()
            if device_name in (None, device)
        }
        holding = [data for data in found.values() if data]
        if len(holding) > 1:
            raise ValueError(
                f"The debug watch key '{debug_watch_key}' exists on multiple ({len(holding)}) "
                "devices, but device name is not specified."
            )
        return holding[0] if holding else []

    def find(
        self,
        predicate: Callable[[DebugTensorDatum, Any], bool],
        first_n: int = 0,
        device_name: str | None = None,
        exclude_node_names: str | None = None,
    ) -> list[DebugTensorDatum]:
        """The tensors for which `predicate(datum, value)` holds, in the order of time.

        Args:
          predicate: such as `has_inf_or_nan`.
          first_n: how many at most; 0 for all.
          device_name: of one device only.
          exclude_node_names: a pattern of nodes to pass over.
        """
        found: list[DebugTensorDatum] = []
        data = self._data[device_name] if device_name else self.dumped_tensor_data
        for datum in data:
            if exclude_node_names and re.match(exclude_node_names, datum.node_name):
                continue
            if predicate(datum, datum.get_tensor()):
                found.append(datum)
                if 0 < first_n <= len(found):
                    break
        return found

    def _watched(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None
    ) -> list[DebugTensorDatum]:
        device = self._device_of(node_name, device_name)
        key = f"{node_name}:{output_slot}:{debug_op}"
        found = [datum for datum in self._data.get(device, []) if datum.watch_key == key]
        if not found:
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                f'Watch key "{key}" does not exist in the debug dump of device {device}'
            )
        return found

    def get_tensors(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[Any]:
        """The values that an output of a node had, one for each time that it ran."""
        data = self._watched(node_name, output_slot, debug_op, device_name)
        return [datum.get_tensor() for datum in data]

    def get_tensor_file_paths(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[str]:
        """The files of those values."""
        data = self._watched(node_name, output_slot, debug_op, device_name)
        return [datum.file_path for datum in data]

    def get_rel_timestamps(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[int]:
        """When they were written, in microseconds after the first tensor."""
        data = self._watched(node_name, output_slot, debug_op, device_name)
        return [datum.timestamp - self._t0 for datum in data]

    def get_dump_sizes_bytes(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[int | None]:
        """The sizes of their files."""
        data = self._watched(node_name, output_slot, debug_op, device_name)
        return [datum.dump_size_bytes for datum in data]

    # The graph --------------------------------------------------------------------------------

    def loaded_partition_graphs(self) -> bool:
        """Whether the graphs that were run are known."""
        return bool(self._graphs)

    def partition_graphs(self) -> list[Any]:
        """The graphs that were run, as GraphDefs."""
        return [graph.debug_graph_def for graph in self._known_graphs().values()]

    def reconstructed_non_debug_partition_graphs(self) -> dict[str, Any]:
        """The graphs by device, without a debugger's nodes."""
        return {device: graph.graph_def for device, graph in self._graphs.items()}

    def _known_graphs(self, what: str = "") -> dict[str, DumpedGraph]:
        if not self._graphs:
            raise LookupError(what or "No partition graphs have been loaded.")
        return self._graphs

    def _device_of(self, node_name: str, device_name: str | None) -> str:
        if device_name is not None:
            return device_name
        having = [device for device, graph in self._graphs.items() if node_name in graph.nodes]
        if not self._graphs:
            having = [
                device
                for device, data in self._data.items()
                if any(datum.node_name == node_name for datum in data)
            ]
        if not having:
            raise ValueError(
                f"None of the {len(self._data)} device(s) has a node named '{node_name}'."
            )
        if len(having) > 1:
            raise ValueError(
                f"There are multiple ({len(having)}) devices with nodes named '{node_name}' but "
                "device_name is not specified."
            )
        return having[0]

    def _graph_of(self, node_name: str, device_name: str | None, what: str) -> DumpedGraph:
        graphs = self._known_graphs(f"{what} are not loaded from partition graphs yet.")
        graph = graphs[self._device_of(node_name, device_name)]
        if node_name not in graph.nodes:
            raise ValueError(
                f"Node '{node_name}' does not exist in partition graph of device "
                f"{graph.device_name}."
            )
        return graph

    def nodes(self, device_name: str | None = None) -> list[str]:
        """The names of the nodes."""
        graphs = self._known_graphs()
        if device_name is not None and device_name not in graphs:
            raise ValueError(f"Invalid device name: {device_name}")
        chosen = graphs.values() if device_name is None else [graphs[device_name]]
        return [name for graph in chosen for name in graph.nodes]

    def node_exists(self, node_name: str, device_name: str | None = None) -> bool:
        graphs = self._known_graphs("Nodes have not been loaded from partition graphs yet.")
        if device_name is not None and device_name not in graphs:
            raise ValueError(
                f"The specified device_name '{device_name}' cannot be found in partition graphs."
            )
        chosen = graphs.values() if device_name is None else [graphs[device_name]]
        return any(node_name in graph.nodes for graph in chosen)

    def node_device(self, node_name: str) -> Any:
        """The device of a node; a list of them if there are several."""
        graphs = self._known_graphs("Node devices are not loaded from partition graphs yet.")
        found = [device for device, graph in graphs.items() if node_name in graph.nodes]
        if not found:
            raise ValueError(f"Node '{node_name}' does not exist in partition graphs.")
        return _only(found)

    def node_op_type(self, node_name: str, device_name: str | None = None) -> str:
        return str(self._graph_of(node_name, device_name, "Node op types").nodes[node_name].op)

    def node_attributes(self, node_name: str, device_name: str | None = None) -> Any:
        return self._graph_of(node_name, device_name, "Node attributes").nodes[node_name].attr

    def node_inputs(
        self, node_name: str, is_control: bool = False, device_name: str | None = None
    ) -> list[str]:
        graph = self._graph_of(node_name, device_name, "Node inputs")
        return (graph.controls if is_control else graph.inputs)[node_name]

    def node_recipients(
        self, node_name: str, is_control: bool = False, device_name: str | None = None
    ) -> list[str]:
        graph = self._graph_of(node_name, device_name, "Node recipients")
        return (graph.control_recipients if is_control else graph.recipients)[node_name]

    def transitive_inputs(
        self,
        node_name: str,
        include_control: bool = True,
        include_reversed_ref: bool = False,
        device_name: str | None = None,
    ) -> list[str]:
        """All nodes that a node depends on."""
        graph = self._graph_of(node_name, device_name, "Node inputs")
        return graph.transitive_inputs(node_name, include_control, include_reversed_ref)

    def find_some_path(
        self,
        src_node_name: str,
        dst_node_name: str,
        include_control: bool = True,
        include_reversed_ref: bool = False,
        device_name: str | None = None,
    ) -> list[str] | None:
        """Nodes along edges from one node to another; None if there is no path."""
        source = node_and_slot(src_node_name)[0]
        target = node_and_slot(dst_node_name)[0]
        devices = [self._device_of(name, device_name) for name in (source, target)]
        if devices[0] != devices[1]:
            raise ValueError(
                f"Source ({src_node_name}) and destination ({dst_node_name}) are not on the same "
                f"device: {devices[0]} vs. {devices[1]}"
            )
        graph = self._known_graphs()[devices[0]]
        return graph.some_path(source, target, include_control, include_reversed_ref)

    # The program ------------------------------------------------------------------------------

    def set_python_graph(self, python_graph: Any) -> None:
        """Gives the dump the `tf.Graph` that was run, for `node_traceback`."""
        self._python_graph = python_graph

    @property
    def python_graph(self) -> Any:
        return self._python_graph

    def node_traceback(self, element_name: str) -> tuple[Any, ...]:
        """The lines of the program that made a node."""
        if self._python_graph is None:
            raise LookupError("Python graph is not available for traceback lookup")
        name = node_and_slot(element_name)[0]
        try:
            trace = self._python_graph.get_operation_by_name(name).traceback
        except KeyError:
            raise KeyError(f'Cannot find node "{name}" in Python graph') from None
        return tuple((frame.filename, frame.lineno, frame.name, frame.line) for frame in trace)


def _is_of(graph_def: Any, device: str) -> bool:
    return any(node.device == device for node in graph_def.node)


def _check_order(graph: DumpedGraph, data: list[DebugTensorDatum]) -> None:
    """ValueError where a tensor was written before one that it is computed from."""
    first: dict[tuple[str, int], int] = {}
    for datum in data:
        first.setdefault((datum.node_name, datum.output_slot), datum.timestamp)
    for datum in data:
        if datum.node_name not in graph.nodes:
            raise ValueError(
                f"Node name '{datum.node_name}' is not found in partition graphs of device "
                f"{graph.device_name}."
            )
        if graph.nodes[datum.node_name].op in _MERGE:
            continue  # one of its inputs is enough
        late = [
            source
            for source in map(node_and_slot, graph.inputs[datum.node_name])
            if (source[0] not in graph.nodes or graph.nodes[source[0]].op not in _LATER)
            and first.get(source, datum.timestamp) > datum.timestamp
        ]
        if late:
            raise ValueError(
                "Causality violated in timing relations of debug dumps: "
                f"{datum.node_name} ({datum.timestamp}): these input(s) are not satisfied: {late}"
            )
