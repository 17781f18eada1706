"""Decorators that fail a test which leaves objects behind."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import Any

from penstock.ir.graph import Graph
from penstock.ir.tensor import Tensor
from penstock.ops.variables import Variable
from penstock.platform import logging
from penstock.shapes import Dimension, TensorShape
from penstock.testing.decorators import run_v2_only

Test = Callable[..., Any]


def _is_graph_object(obj: Any) -> bool:
    # Not isinstance: it asks the object for its class, and proxies answer with surprises.
    return issubclass(type(obj), (Tensor, Variable, Dimension, TensorShape))


def assert_no_new_tensors(f: Test) -> Test:
    """Fails a test if tensors, variables or shapes that it made live on after it."""

    @functools.wraps(f)
    def checked(self: Any, **kwargs: Any) -> Any:
        before = {id(obj) for obj in gc.get_objects() if _is_graph_object(obj)}
        with Graph().as_default():
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
            made = gc.garbage[before:]
            for obj in made:
                logging.error("in a reference cycle: <%s %d>", type(obj).__name__, id(obj))
            self.assertEqual(0, len(made), "the test made reference cycles")
            return result
        finally:
            del gc.garbage[before:]
            gc.set_debug(flags)
            gc.enable()

    return checked


def assert_no_new_pyobjects_executing_eagerly(f: Test) -> Test:
    """Skips a test, which is for eager execution alone."""
    return run_v2_only(f)
