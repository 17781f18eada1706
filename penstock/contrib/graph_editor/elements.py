"""Operations and tensors of a graph: lists of them, their control outputs, stand-ins for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import penstock as tf
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor

__all__ = [
    "ControlOutputs",
    "get_consuming_ops",
    "get_generating_ops",
    "get_tensors",
    "make_list_of_op",
    "make_list_of_t",
    "make_placeholder_from_dtype_and_shape",
    "make_placeholder_from_tensor",
    "placeholder_name",
]

_PREFIX = "geph"  # of placeholders that the graph editor makes


def concatenate_unique(la: list[Any], lb: Iterable[Any]) -> list[Any]:
    """The first list, to which what is new in the second is added in place."""
    known = set(la)
    for element in lb:
        if element not in known:
            la.append(element)
            known.add(element)
    return la


class ListView:
    """A list that can't be changed."""

    def __init__(self, list_: list[Any]):
        if not isinstance(list_, list):
            raise TypeError(f"Expected a list, got: {type(list_)}.")
        self._list = list_

    def __iter__(self) -> Iterator[Any]:
        return iter(self._list)

    def __len__(self) -> int:
        return len(self._list)

    def __bool__(self) -> bool:
        return bool(self._list)

    def __getitem__(self, index: Any) -> Any:
        return self._list[index]

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return [*self._list, *other]


def is_iterable(obj: Any) -> bool:
    """Whether an object can be iterated over; a tensor can't."""
    if isinstance(obj, Tensor):
        return False
    try:
        iter(obj)
    except TypeError:
        return False
    return True


def flatten_tree(tree: Any, leaves: list[Any] | None = None) -> list[Any]:
    """What is in nested iterables and the values of dictionaries, one after the other."""
    leaves = [] if leaves is None else leaves
    if isinstance(tree, dict):
        tree = list(tree.values())
    if not is_iterable(tree):
        leaves.append(tree)
        return leaves
    for child in tree:
        flatten_tree(child, leaves)
    return leaves


def transform_tree(tree: Any, fn: Callable[[Any], Any], iterable_type: Any = tuple) -> Any:
    """Nested iterables with each leaf changed; what is no known kind becomes `iterable_type`."""
    if not is_iterable(tree):
        return fn(tree)
    if isinstance(tree, dict):
        return type(tree)((key, transform_tree(child, fn)) for key, child in tree.items())
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(transform_tree(child, fn) for child in tree))
    kind: Any = type(tree) if isinstance(tree, Sequence) else iterable_type
    return kind(transform_tree(child, fn) for child in tree)


def check_graphs(*args: Any) -> None:
    """Checks that all are of one graph."""
    graph = None
    for index, element in enumerate(args):
        if element.graph is None:
            continue
        if graph is not None and element.graph is not graph:
            raise ValueError(f"Argument[{index}]: Wrong graph!")
        graph = element.graph


def get_unique_graph(tops: Any, check_types: Any = None, none_if_empty: bool = False) -> Any:
    """The graph that all elements are of.

    Args:
      tops: operations and tensors, or a graph.
      check_types: of which types they must be; operations or tensors if None.
      none_if_empty: whether no elements are no error.
    """
    if isinstance(tops, Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError(f"{type(tops)} is not iterable")
    if check_types is None:
        check_types = (Operation, Tensor)
    elif not is_iterable(check_types):
        check_types = (check_types,)
    graph: Any = None
    for element in tops:
        if not any(isinstance(element, kind) for kind in check_types):
            expected = ", ".join(str(each) for each in check_types)
            raise TypeError(f"Expected a type in ({expected}), got: {type(element)}")
        if graph is None:
            graph = element.graph
        elif graph is not element.graph:
            raise ValueError(f"Operation {element!r} does not belong to given graph")
    if graph is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graph


def _as_list(
    elements: Any,
    kind: type,
    of_graph: Callable[[Graph], list[Any]],
    check_graph: bool,
    allow_graph: bool,
    ignore_others: bool,
) -> list[Any]:
    if isinstance(elements, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return of_graph(elements)
    elements = list(elements) if is_iterable(elements) else [elements]
    if elements and check_graph:
        get_unique_graph(elements, check_types=None if ignore_others else kind)
    return [element for element in elements if isinstance(element, kind)]


def make_list_of_op(
    ops: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False
) -> list[Operation]:
    """An operation, several, or all of a graph, as a list.

    Args:
      ops: the operations.
      check_graph: whether they must be of one graph.
      allow_graph: whether a graph may stand for its operations.
      ignore_ts: whether tensors are left out, instead of being an error.
    """
    every = Graph.get_operations
    return _as_list(ops, Operation, every, check_graph, allow_graph, ignore_ts)


def get_tensors(graph: Graph) -> list[Tensor]:
    """All tensors of a graph."""
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [tensor for op in graph.get_operations() for tensor in op.outputs]


def make_list_of_t(
    ts: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False
) -> list[Tensor]:
    """A tensor, several, or all of a graph, as a list; see `make_list_of_op`."""
    return _as_list(ts, Tensor, get_tensors, check_graph, allow_graph, ignore_ops)


def get_generating_ops(ts: Any) -> list[Operation]:
    """The operations that tensors come from."""
    return [tensor.op for tensor in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts: Any) -> list[Operation]:
    """The operations that take tensors, each once."""
    tensors = make_list_of_t(ts, allow_graph=False)
    return list(dict.fromkeys(op for tensor in tensors for op in tensor.consumers()))


class ControlOutputs:
    """Which operations wait for which, the other way round than `control_inputs`."""

    def __init__(self, graph: Graph):
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph = graph
        self._control_outputs: dict[Operation, list[Operation]] = {}
        self._seen: tuple[int, int] | None = None
        self.update()

    def update(self) -> ControlOutputs:
        """Looks again, if the graph has changed."""
        now = (self._graph.version, self._graph.mutations)
        if self._seen != now:
            self._control_outputs.clear()
            for op in self._graph.get_operations():
                for control_input in dict.fromkeys(op.control_inputs):
                    self._control_outputs.setdefault(control_input, []).append(op)
            self._seen = now
        return self

    def get_all(self) -> dict[Operation, list[Operation]]:
        return self._control_outputs

    def get(self, op: Operation) -> Sequence[Operation]:
        """The operations that wait for one."""
        return self._control_outputs.get(op, ())

    @property
    def graph(self) -> Graph:
        return self._graph


def scope_finalize(scope: str) -> str:
    """A scope with a slash at its end."""
    return f"{scope}/" if scope and not scope.endswith("/") else scope


def scope_dirname(scope: str) -> str:
    """What is before the last slash of a name, with it."""
    return scope[: scope.rfind("/") + 1]


def scope_basename(scope: str) -> str:
    """What is after the last slash of a name."""
    return scope[scope.rfind("/") + 1 :]


def placeholder_name(t: Any = None, scope: str | None = None, prefix: str = _PREFIX) -> str:
    """A name for the placeholder of a tensor.

    Args:
      t: the tensor; None for a name that depends on no tensor.
      scope: of the name; the tensor's own if None, the root if empty.
      prefix: of the name.
    """
    scope = None if scope is None else scope_finalize(scope)
    if t is None:
        return f"{scope or ''}{prefix}"
    if not isinstance(t, Tensor):
        raise TypeError(f"Expected a tf.Tensor, got: {type(t)}")
    base = scope_basename(t.op.name)
    if not base.startswith(f"{prefix}__"):
        base = f"{prefix}__{base}_{t.value_index}"
    return (scope_dirname(t.op.name) if scope is None else scope) + base


def make_placeholder_from_tensor(t: Any, scope: str | None = None, prefix: str = _PREFIX) -> Tensor:
    """A placeholder of a tensor's type and shape, named after it."""
    return tf.placeholder(
        dtype=t.dtype, shape=t.get_shape(), name=placeholder_name(t, scope=scope, prefix=prefix)
    )


def make_placeholder_from_dtype_and_shape(
    dtype: Any, shape: Any = None, scope: str | None = None, prefix: str = _PREFIX
) -> Tensor:
    """A placeholder with a name of the graph editor."""
    return tf.placeholder(
        dtype=dtype, shape=shape, name=placeholder_name(scope=scope, prefix=prefix)
    )


def get_predefined_collection_names() -> list[str]:
    """The names of collections that `tf.GraphKeys` has."""
    keys = tf.GraphKeys
    return [getattr(keys, key) for key in dir(keys) if not key.startswith("_")]


def find_corresponding_elem(
    target: Any, dst_graph: Graph, dst_scope: str = "", src_scope: str = ""
) -> Any:
    """The operation or tensor that has the same name in another graph, or in another scope."""
    source, name = scope_finalize(src_scope), target.name
    if not name.startswith(source):
        raise ValueError(f"{name} does not start with {source}")
    name = scope_finalize(dst_scope) + name.removeprefix(source)
    if isinstance(target, Tensor):
        return dst_graph.get_tensor_by_name(name)
    if isinstance(target, Operation):
        return dst_graph.get_operation_by_name(name)
    raise TypeError(f"Expected tf.Tensor or tf.Operation, got: {type(target)}")


def find_corresponding(
    targets: Any, dst_graph: Graph, dst_scope: str = "", src_scope: str = ""
) -> Any:
    """`find_corresponding_elem` of each element of nested iterables."""
    return transform_tree(
        targets, lambda target: find_corresponding_elem(target, dst_graph, dst_scope, src_scope)
    )
