"""`GradientsDebugger`: which tensor of a graph is the gradient by which other one."""

from __future__ import annotations

import re
import uuid
from typing import Any

from penstock.debugger.dump_folder import DebugDumpDir, WatchKeyDoesNotExistInDebugDumpDirError
from penstock.debugger.dumped_graph import node_and_slot
from penstock.ir.tensor import Tensor
from penstock.ops.references import (
    DebugGradientIdentity,
    DebugGradientRefIdentity,
    gradient_listeners,
)
from penstock.ops.variables import Variable

_MARK = re.compile(r"(.*)_(\d+)/gradient_debug_([0-9a-f]+)(?:_\d+)?$")

_debuggers: dict[str, GradientsDebugger] = {}


class GradientsDebugger:
    """Marks tensors of a graph and learns their gradients when `tf.gradients` makes them.

    >>> debugger = tf_debug.GradientsDebugger()
    >>> marked = debugger.identify_gradient(x)
    >>> tf.gradients(f(marked), w)
    >>> debugger.gradient_tensor(x)
    """

    def __init__(self, y_tensor: Any = None):
        self._uuid = uuid.uuid4().hex
        _debuggers[self._uuid] = self
        self._gradients: dict[str, Any] = {}
        self._y_tensor = y_tensor
        self._graph = None if y_tensor is None else y_tensor.graph
        self._is_active = False

    @property
    def y_tensor(self) -> Any:
        return self._y_tensor

    @property
    def graph(self) -> Any:
        return self._graph

    def __enter__(self) -> None:
        self._is_active = True

    def __exit__(self, error_type: Any, error: Any, trace: Any) -> None:
        self._is_active = False

    def identify_gradient(self, input_tensor: Any) -> Any:
        """The tensor behind a mark: compute with it, and its gradient will be known."""
        node, slot = node_and_slot(input_tensor.name)
        name = f"{node}_{slot}/gradient_debug_{self._uuid}"
        is_ref = input_tensor.dtype.is_ref_dtype if isinstance(input_tensor, Tensor) else False
        mark = DebugGradientRefIdentity if is_ref else DebugGradientIdentity
        marked = mark(input_tensor, name=name)
        if marked.op.name != name:
            raise ValueError(f"The graph already contains an op named {name}")
        return marked

    def watch_gradients_by_tensors(self, graph: Any, tensors: Any) -> GradientsDebugger:
        """Puts marks behind tensors of a graph, for all that use them already."""
        given = tensors if isinstance(tensors, list) else [tensors]
        names = "|".join(re.escape(tensor.name) + "$" for tensor in given)
        return self.watch_gradients_by_tensor_names(graph, f"({names})")

    def watch_gradients_by_tensor_names(
        self, graph: Any, tensor_name_regex: str
    ) -> GradientsDebugger:
        """Puts marks behind the tensors whose names a pattern matches."""
        with graph.as_default():
            for op in list(graph.get_operations()):
                for output in op.outputs:
                    if re.match(tensor_name_regex, output.name):
                        self._mark(output)
        return self

    def _mark(self, output: Any) -> None:
        users = list(dict.fromkeys(output.consumers()))
        marked = self.identify_gradient(output)
        for user in users:
            for index, source in enumerate(user.inputs):
                if source is output:
                    user._update_input(index, marked)

    def register_gradient_tensor(self, x_tensor_name: str, gradient_tensor: Any) -> None:
        """Takes down a gradient, unless several debuggers are there and this one is not in use."""
        if len(_debuggers) > 1 and not self._is_active:
            return
        if self._graph is None:
            self._graph = gradient_tensor.graph
        elif self._graph is not gradient_tensor.graph:
            raise ValueError(
                f"The graph of the value ({gradient_tensor.graph}) is not the same as the graph "
                f"{self._graph}"
            )
        self._gradients[x_tensor_name] = gradient_tensor

    def gradient_tensor(self, x_tensor: Any) -> Any:
        """The gradient by a tensor, a variable, or what has that name; LookupError if unknown."""
        if not isinstance(x_tensor, (str, Tensor, Variable)):
            raise TypeError(
                "x_tensor must be a str or tf.Tensor or tf.Variable, but instead has type "
                f"{type(x_tensor)}"
            )
        name = x_tensor if isinstance(x_tensor, str) else x_tensor.name
        if name not in self._gradients:
            raise LookupError(
                f"This GradientsDebugger has not received any gradient tensor for x-tensor {name}"
            )
        return self._gradients[name]

    def gradient_tensors(self) -> dict[str, Any]:
        """All gradients by the names of the tensors that they belong to."""
        return self._gradients


def _learn(op: Any, gradient: Any) -> None:
    match = _MARK.match(op.name)
    if match is not None and match[3] in _debuggers:
        _debuggers[match[3]].register_gradient_tensor(f"{match[1]}:{match[2]}", gradient)


gradient_listeners.append(_learn)


def clear_gradient_debuggers() -> None:
    """Forgets all debuggers of gradients."""
    _debuggers.clear()


def gradient_values_from_dump(
    grad_debugger: GradientsDebugger, x_tensor: Any, dump: DebugDumpDir
) -> list[Any]:
    """The values that the gradient by a tensor had in a watched run."""
    if dump.python_graph and grad_debugger.graph and dump.python_graph is not grad_debugger.graph:
        raise ValueError(
            f"This GradientsDebugger instance has a graph ({grad_debugger.graph}) that differs "
            f"from the graph of the DebugDumpDir object ({dump.python_graph})."
        )
    node, slot = node_and_slot(grad_debugger.gradient_tensor(x_tensor).name)
    try:
        return dump.get_tensors(node, slot, "DebugIdentity")
    except WatchKeyDoesNotExistInDebugDumpDirError:
        return []
