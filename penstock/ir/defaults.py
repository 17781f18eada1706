"""The default graph and the default session: one stack of each per thread, as in TensorFlow."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.ir.graph import Graph


class _Stacks(threading.local):
    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.modes: set[int] = set()  # places of those graphs that a block of a mode has put there
        self.sessions: list[Any] = []
        self.outermost: Graph | None = None  # made when the thread first builds outside of blocks


_stacks = _Stacks()
_eager_graph: Graph | None = None  # in the place of every thread's outermost one, once enabled


def get_default_graph() -> Graph:
    """The innermost graph of `with graph.as_default()`, else the thread's own one."""
    graphs = _stacks.graphs
    if graphs:
        return graphs[-1]
    return _eager_graph or outermost_graph()


def executing_eagerly() -> bool:
    """Whether operations made here and now run at once."""
    return get_default_graph().is_eager


def innermost_plain_graph() -> Graph:
    """The innermost open graph that keeps its nodes, else the thread's own one."""
    for graph in reversed(_stacks.graphs):
        if not graph.is_eager:
            return graph
    return outermost_graph()


def open_graphs() -> list[Graph]:
    """The graphs of the open `with` blocks of this thread, innermost last."""
    return list(_stacks.graphs)


def run_eagerly_from_start(graph: Graph | None) -> None:
    """Lets `graph`, an eager one, be where every thread starts; None undoes it."""
    global _eager_graph
    _eager_graph = graph


def graph_at_start() -> Graph | None:
    """The eager graph in which every thread starts, if the program runs eagerly."""
    return _eager_graph


def starts_eagerly() -> bool:
    """Whether operations outside of all graphs run at once."""
    return _eager_graph is not None


def has_built() -> bool:
    """Whether this thread's own graph has nodes."""
    graph = _stacks.outermost
    return graph is not None and graph.version > 0


def outermost_graph() -> Graph:
    """This thread's own graph, where nodes are made outside of all blocks."""
    graph = _stacks.outermost
    if graph is None:
        from penstock.ir.graph import Graph

        graph = _stacks.outermost = Graph()
    return graph


def graph_around(graph: Graph) -> Graph | None:
    """The graph of the `with` block around that of an open one, or the thread's own graph."""
    outwards = [*reversed(_stacks.graphs), _eager_graph or outermost_graph()]
    if graph not in outwards[:-1]:
        return None
    return outwards[outwards.index(graph) + 1]


def reset_default_graph() -> None:
    """Replaces this thread's own graph by an empty one."""
    global _eager_graph
    graphs, modes = _stacks.graphs, _stacks.modes
    if len(graphs) > len(modes):
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared "
            "graph, exit the nesting and create a new graph."
        )
    old, _stacks.outermost = _stacks.outermost, None
    if _eager_graph is not None:
        _eager_graph = type(_eager_graph)()
    for place in modes:
        if graphs[place] is old:
            graphs[place] = outermost_graph()


def leave_all_graphs() -> None:
    """Leaves every `with graph.as_default()` block of this thread, for the start of a test.

    In a program that runs eagerly, a test that starts inside such a block goes on building a graph,
    this thread's own one, until the block ends.
    """
    builds_graph = not executing_eagerly()
    _stacks.graphs.clear()
    _stacks.modes.clear()
    if builds_graph and starts_eagerly():
        _stacks.graphs.append(outermost_graph())
        _stacks.modes.add(0)


@contextmanager
def mode_scope(graph: Graph) -> Iterator[None]:
    """A block of a mode, eager or not: the graph is the default one, but not a nested one."""
    graphs, modes = _stacks.graphs, _stacks.modes
    place = len(graphs)
    graphs.append(graph)
    modes.add(place)
    try:
        yield
    finally:
        if place in modes:  # else a test that began inside the block has left it already
            modes.discard(place)
            _leave(graphs, graphs[place], "graph")


@contextmanager
def graph_scope(graph: Graph) -> Iterator[Graph]:
    _stacks.graphs.append(graph)
    try:
        yield graph
    finally:
        if graph not in _stacks.graphs and _stacks.modes == {0}:
            _leave_mode()  # a test that began inside the block has left all but its mode
        else:
            _leave(_stacks.graphs, graph, "graph")


def _leave_mode() -> None:
    """Ends what `leave_all_graphs` has kept of a block."""
    _stacks.graphs.clear()
    _stacks.modes.clear()


@contextmanager
def session_scope(session: Any, *, nested: bool = True) -> Iterator[Any]:
    """Makes a session the default one; not `nested`, it may be left before those inside it."""
    _stacks.sessions.append(session)
    try:
        yield session
    finally:
        if nested:
            _leave(_stacks.sessions, session, "session")
        elif session in _stacks.sessions:
            _stacks.sessions.remove(session)


def _leave(stack: list[Any], entry: Any, what: str) -> None:
    if not stack:
        return  # a test that began inside the block has left it already
    if stack[-1] is not entry:
        if entry in stack:
            stack.remove(entry)
        raise AssertionError(
            f"Nesting violated for default stack of {type(entry)} objects: a {what} was left in "
            "another order than entered"
        )
    stack.pop()


def get_default_session() -> Any:
    """The innermost session of `with session:` or of an InteractiveSession; None if none."""
    sessions = _stacks.sessions
    return sessions[-1] if sessions else None


def session_for(graph: Graph, session: Any, action: str) -> Any:
    """The session that `Tensor.eval` and `Operation.run` use, checked to be of this graph.

    Args:
      action: what it is to do: "evaluate tensor" or "execute operation".
    """
    call, colon = ("eval", "") if action == "evaluate tensor" else ("run", ":")
    given = "given" if session is not None else "default"
    if session is None:
        session = get_default_session()
        if session is None:
            raise ValueError(
                f"Cannot {action} using `{call}()`: No default session is registered. Use `with "
                f"sess.as_default(){colon}` or pass an explicit session to `{call}(session=sess)`"
            )
    if session.graph is not graph:
        subject = action.split()[-1]
        raise ValueError(
            f"Cannot use the {given} session to {action}: the {subject}'s graph is different from "
            f"the session's graph. Pass an explicit session to `{call}(session=sess)`."
        )
    return session
