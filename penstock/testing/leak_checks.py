"""Decorators that fail a test which leaves objects behind."""

from __future__ import annotations

import functools
import gc
import types
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from penstock.internal_paths.graph_mode import eager_mode
from penstock.ir.defaults import executing_eagerly
from penstock.ir.graph import Graph
from penstock.ir.tensor import Tensor
from penstock.ops.variables import Variable
from penstock.platform import logging
from penstock.shapes import Dimension, TensorShape

Test = Callable[..., Any]


def _is_graph_object(obj: Any) -> bool:
    # Not isinstance: it asks the object for its class, and proxies answer with surprises.
    return issubclass(type(obj), (Tensor, Variable, Dimension, TensorShape))


def assert_no_new_tensors(f: Test) -> Test:
    """Fails a test if tensors, variables or shapes that it made live on after it."""

    @functools.wraps(f)
    def checked(self: Any, **kwargs: Any) -> Any:
        before = {id(obj) for obj in gc.get_objects() if _is_graph_object(obj)}
        mode = eager_mode() if executing_eagerly() else nullcontext()
        with Graph().as_default(), mode:
            result = f(self, **kwargs)
        if getattr(self, "_cached_session", None) is not None:
            self._ClearCachedSession()
        gc.collect()
        left = [obj for obj in gc.get_objects() if _is_graph_object(obj) and id(obj) not in before]
        if left:
            raise AssertionError(f"{len(left)} Tensors not deallocated after test: {left}")
        return result

    return checked


def assert_no_garbage_created(f: Test) -> Test:
    """Fails a test if it makes cycles of objects, which only the garbage collector can free."""

    @functools.wraps(f)
    def checked(self: Any, **kwargs: Any) -> Any:
        flags = gc.get_debug()
        gc.collect()
        gc.disable()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            before = len(gc.garbage)
            result = f(self, **kwargs)
            gc.collect()
            made = _without_those_of_libraries(gc.garbage[before:])
            for obj in made:
                logging.error("in a reference cycle: <%s %d>", type(obj).__name__, id(obj))
            self.assertEqual(0, len(made), "the test made reference cycles")
            return result
        finally:
            del gc.garbage[before:]
            gc.set_debug(flags)
            gc.enable()

    return checked


def _without_those_of_libraries(garbage: list[Any]) -> list[Any]:
    """Garbage but for cycles that Python's own libraries and protobuf make, and all in them."""
    by_id = {id(obj): obj for obj in garbage}
    found = [obj for obj in garbage if _is_of_library(obj)]
    for obj in found:
        by_id.pop(id(obj), None)
        found += [part for part in gc.get_referents(obj) if id(part) in by_id]
    return list(by_id.values())


def _is_of_library(obj: Any) -> bool:
    if isinstance(obj, types.FunctionType):
        return obj.__module__ in (None, "ast", "inspect", "functools")  # None: generated code
    return type(obj).__module__.partition(".")[0] == "google" or _is_message_class(obj)


def _is_message_class(obj: Any) -> bool:
    return isinstance(obj, type) and hasattr(obj, "DESCRIPTOR")


def assert_no_new_pyobjects_executing_eagerly(f: Test) -> Test:
    """Fails a test if there are more objects after each of its runs, in eager mode."""

    @functools.wraps(f)
    def checked(self: Any, *args: Any, **kwargs: Any) -> None:
        with eager_mode():
            for _ in range(2):  # fills what is kept anyway
                f(self, *args, **kwargs)
            gc.collect()
            before = len(gc.get_objects())
            for _ in range(3):
                f(self, *args, **kwargs)
            gc.collect()
            after = len(gc.get_objects())
        if after > before:
            raise AssertionError(
                f"new_count({after}) is not less than or equal to previous_count({before})"
            )

    return checked
