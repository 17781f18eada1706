"""`tf.name_scope`: the scope that a function which builds several nodes opens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.ir.convert import graph_of
from penstock.ir.defaults import get_default_graph


class name_scope:
    """Names the nodes made inside: `with tf.name_scope(name, "my_op", [a, b]) as scope:`.

    `default_name` is used where `name` is None; `values` are the tensors that the scope is about:
    they choose the graph, and must all be of one.
    """

    def __init__(self, name: Any, default_name: str | None = None, values: Any = None):
        if default_name is not None and not isinstance(default_name, (str, bytes)):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. "
                "You likely meant to pass this into the `values` kwarg."
            )
        if name is None and default_name is None and values is not None:
            raise ValueError(
                "At least one of name (None) and default_name (None) must be provided."
            )
        chosen = default_name if name is None else name
        self._name: Any = chosen.decode() if isinstance(chosen, bytes) else chosen
        self._values = values
        self._scope: Any = None

    @property
    def name(self) -> str | None:
        return self._name

    def __enter__(self) -> str:
        if self._name is not None and not isinstance(self._name, str):
            raise TypeError(f"'name' must be a string, got {self._name!r}")
        self._scope = _opened(self._name, self._values)
        return self._scope.__enter__()

    def __exit__(self, *error: Any) -> Any:
        return self._scope.__exit__(*error)


class name_scope_v2:
    """A scope of TensorFlow 2's form: it may be entered again, inside of itself, too."""

    def __init__(self, name: str):
        if name is None or not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name
        self._open: list[Any] = []

    @property
    def name(self) -> str:
        return self._name

    def __enter__(self) -> str:
        scope = get_default_graph().name_scope(self._name)
        entered = scope.__enter__()
        self._open.append(scope)
        return entered

    def __exit__(self, *error: Any) -> Any:
        return self._open.pop().__exit__(*error)


@contextmanager
def _opened(name: str | None, values: Any) -> Iterator[str]:
    default = get_default_graph()
    graph = (graph_of(values) if values is not None else None) or default
    if graph is default:
        with graph.name_scope(name) as scope:
            yield scope
    else:
        with graph.as_default(), graph.name_scope(name) as scope:
            yield scope
