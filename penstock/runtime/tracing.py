"""What a traced step did: which node ran when, and what it made, as TensorFlow's StepStats."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock import proto
from penstock.ir.attr_codec import encode
from penstock.ir.step_graph import Node, StepGraph

if TYPE_CHECKING:
    from penstock.runtime.binding import BoundNode

clock = time.perf_counter_ns

#: Lines beyond these are counted, not kept: a loop of a million iterations is traced in part.
MOST_EVENTS = 1 << 20


class Output(NamedTuple):
    """What a line made: type, shape, bytes, and how many of them are newly allocated."""

    dtype: Any
    shape: tuple[int, ...]
    size: int
    allocated: int


class Event(NamedTuple):
    """One line of a plan, or one node of the executor, from `begin` to `end` in nanoseconds."""

    node: Node
    begin: int
    end: int
    waited: int  # at the beginning, for a queue or the like
    outputs: tuple[Output, ...]
    in_use: int  # bytes that values of the step take when the line ends
    thread: int
    kept: int = 0  # bytes of a variable: they outlive the step


class Trace:
    """One traced run: its lines in the order in which they ended."""

    #: Whether it wants to be told of each iteration of a loop of numbers alone.
    sees_numbers = True

    def __init__(self) -> None:
        self._since_epoch = time.time_ns() - clock()
        self.events: list[Event] = []
        self.left_out = 0
        self._waited: dict[int, int] = {}
        self._memory = _Memory()

    def record(self, node: Node, begin: int, end: int, *outputs: Any) -> None:
        """Takes down a line that ran, with the values that it made."""
        if len(self.events) >= MOST_EVENTS:
            self.left_out += 1
            return
        thread = threading.get_ident()
        made = tuple(_described(each, self._memory.take(each)) for each in outputs)
        waited = self._waited.pop(thread, 0)
        self.events.append(Event(node, begin, end, waited, made, self._memory.in_use, thread))

    def enter(self, graph: StepGraph, feeds: Sequence[Any]) -> None:
        """Is told that a loop's body begins, with these values; its lines say the rest."""

    def wait(self, nanoseconds: int) -> None:
        """Takes down that the line under way has waited for others."""
        thread = threading.get_ident()
        self._waited[thread] = self._waited.get(thread, 0) + nanoseconds

    def add_silent(self, step: StepGraph, bound: Sequence[BoundNode], feeds: Sequence[Any]) -> None:
        """Adds the nodes that have no line of their own: what is fed, constants, variables, reads.

        They took no time; they are put before the first line, one after the other.
        """
        # By name: the parts of a step on several devices have nodes of their own.
        known = {event.node.name for event in self.events}
        values = {feed.name: value for feed, value in zip(step.feeds, feeds, strict=True)}
        values |= {entry.node.name: entry.constant for entry in bound if entry.is_constant}
        for entry in bound:
            if entry.same and entry.node.inputs and entry.node.inputs[0].node.name in values:
                values[entry.node.name] = values[entry.node.inputs[0].node.name]
        nodes = {node.name: node for node in (*step.feeds, *(entry.node for entry in bound))}
        silent = [name for name in nodes if name in values and name not in known]
        begin = min((event.begin for event in self.events), default=clock())
        begin -= 2000 * len(silent)
        thread = threading.get_ident()
        for index, name in enumerate(silent):
            state = getattr(values[name], "value", None)
            output = _described(values[name] if state is None else state, 0)
            kept = output.size if state is not None and not nodes[name].inputs else 0
            at = begin + 2000 * index
            self.events.append(Event(nodes[name], at, at, 0, (output,), 0, thread, kept))

    @property
    def peak_bytes(self) -> int:
        """The most that values of the step took at one time."""
        return self._memory.peak

    def step_stats(self, step: StepGraph | None = None) -> Any:
        """The StepStats message: nodes by device, in the order in which they began.

        The devices of `step` have an entry even if no node of theirs was worth a line.
        """
        message = proto.StepStats()
        nodes = [] if step is None else step.nodes
        shown = {} if step is None else names_in_files(step)
        names = {node.name: name for node, name in shown.items()}
        used = dict.fromkeys(node.device for node in nodes if node.device)
        devices = {device: message.dev_stats.add(device=device) for device in used}
        for event in sorted(self.events, key=lambda event: event.begin):
            device = event.node.device or next(iter(devices), "")
            if device not in devices:
                devices[device] = message.dev_stats.add(device=device)
            self._add(devices[device].node_stats.add(), event, names)
        return message

    def _add(self, stats: Any, event: Event, names: dict[str, str]) -> None:
        node = event.node
        stats.node_name = names.get(node.name, node.name)
        sources = ", ".join(names.get(edge.node.name, edge.node.name) for edge in node.inputs)
        kind = "_Arg" if node.type == "_Feed" else node.type
        stats.timeline_label = f"{stats.node_name} = {kind}({sources})"
        stats.thread_id = event.thread & 0x7FFFFFFF
        started, took = event.begin + self._since_epoch, event.end - event.begin
        stats.all_start_nanos = stats.scheduled_nanos = started
        stats.all_start_micros = stats.scheduled_micros = started // 1000
        stats.op_start_rel_nanos = event.waited
        stats.op_start_rel_micros = event.waited // 1000
        stats.op_end_rel_nanos = stats.all_end_rel_nanos = took
        stats.op_end_rel_micros = stats.all_end_rel_micros = max(1, took // 1000)
        # What one device receives from another is a tensor of the other's, as in TensorFlow.
        outputs = () if node.type == "_Recv" else event.outputs
        for slot, output in enumerate(outputs):
            if output.dtype is not None:
                _describe(stats.output.add(slot=slot).tensor_description, output)
        stats.memory_stats.persistent_memory_size = event.kept
        if allocated := sum(output.allocated for output in event.outputs):
            memory = stats.memory.add(
                allocator_name="cpu",
                total_bytes=allocated,
                peak_bytes=allocated,
                live_bytes=allocated,
                allocator_bytes_in_use=event.in_use,
            )
            at = stats.all_start_micros + stats.all_end_rel_micros
            memory.allocation_records.add(alloc_micros=at, alloc_bytes=allocated)


class _Memory:
    """The bytes that the values of a step take.

    Memory is counted once, however many views there are of it, from the first value that a line
    made in it until no value that was seen is left. What kernels use inside is not seen.
    """

    def __init__(self) -> None:
        self.in_use = 0
        self.peak = 0
        self._viewers: dict[int, int] = {}
        # Values may be freed by another thread, and in the middle of taking one down.
        self._lock = threading.RLock()

    def take(self, value: Any) -> int:
        """Sees a value; the bytes of its memory if that is new."""
        storage = getattr(value, "untyped_storage", None)
        if storage is None:
            return 0
        memory = storage()
        place, size = memory.data_ptr(), memory.nbytes()
        with self._lock:
            seen = self._viewers.get(place, 0)
            self._viewers[place] = seen + 1
            if not seen:
                self.in_use += size
                self.peak = max(self.peak, self.in_use)
        # The values, not the trace, decide how long they live: at exit nothing is due.
        weakref.finalize(value, self._leave, place, size).atexit = False
        return 0 if seen else size

    def _leave(self, place: int, size: int) -> None:
        with self._lock:
            self._viewers[place] -= 1
            if not self._viewers[place]:
                del self._viewers[place]
                self.in_use -= size


def _described(value: Any, allocated: int) -> Output:
    """Type, shape and bytes of a value; no type for what is no tensor."""
    from penstock.dtypes import as_dtype
    from penstock.kernels.values import to_array

    if not hasattr(value, "reshape"):  # a reference, a handle, a number of a loop
        return Output(None, (), 0, allocated)
    size = value.nbytes if hasattr(value, "nbytes") else 0
    kind = to_array(value.reshape(-1)[:0]).dtype
    dtype = as_dtype("string" if kind.hasobject else kind)
    return Output(dtype.as_datatype_enum, tuple(value.shape), int(size), allocated)


def _describe(message: Any, output: Output) -> None:
    message.dtype = output.dtype
    message.shape.SetInParent()  # a scalar has a shape, too: TensorBoard looks into it
    for length in output.shape:
        message.shape.dim.add(size=length)
    allocation = message.allocation_description
    allocation.requested_bytes = output.size
    allocation.allocated_bytes = output.size
    allocation.allocator_name = "cpu"


def names_in_files(step: StepGraph) -> dict[Node, str]:
    """The names of nodes in TensorFlow's messages: what is fed is an argument of the step there."""
    names = {node: node.name for node in step.nodes}
    for index, feed in enumerate(step.feeds):
        fed, _, slot = feed.name.removeprefix("_feed/").partition(":")
        names[feed] = f"_arg_{fed}_{slot}_{index}"
    return names


def graph_def_of(step: StepGraph) -> Any:
    """A compiled step as a GraphDef: what is left of the graph after all passes, with devices."""
    message = proto.GraphDef()
    names = names_in_files(step)
    for index, feed in enumerate(step.feeds):
        made = message.node.add(name=names[feed], op="_Arg", device=feed.device)
        made.attr["T"].CopyFrom(encode(feed.dtypes[0], "type"))
        made.attr["index"].i = index
    for node in step.nodes:
        if node.type == "_Feed":
            continue
        made = message.node.add(name=node.name, op=node.type, device=node.device)
        made.input.extend(
            names[edge.node] if edge.index == 0 else f"{names[edge.node]}:{edge.index}"
            for edge in node.inputs
        )
        made.input.extend(f"^{names[control]}" for control in node.controls)
        for key, value, kind in _attrs(node):
            made.attr[key].CopyFrom(encode(value, kind))
    return message


def _attrs(node: Node) -> Iterator[tuple[str, Any, str | None]]:
    """The attrs that the op declares; what passes attach to a node has no form in files."""
    from penstock.kernels.values import to_array

    for key, declared in node.spec.attrs.items():
        if key not in node.attrs:
            continue
        value = node.attrs[key]
        # A constant that was folded is a runtime value.
        yield key, to_array(value) if declared.kind == "tensor" else value, declared.kind
