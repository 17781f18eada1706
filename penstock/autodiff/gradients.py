"""`tf.gradients`: adds the nodes that compute derivatives, walking the graph backwards.

1. A node is differentiated once, after all its consumers between xs and ys have been.
2. Gradients that meet at a tensor are summed where they meet: rows of a gather stay rows
   (IndexedSlices) as long as only rows meet.
3. The new nodes live in the scope `gradients/<op name>_grad`, as TensorFlow names them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import Enum
from typing import Any

import penstock.autodiff.call_gradients
import penstock.autodiff.cond_gradients
import penstock.autodiff.control_flow_gradients
import penstock.autodiff.function_gradients
import penstock.autodiff.while_gradients  # noqa: F401 - they register gradients
from penstock import dtypes
from penstock.autodiff.aggregation import aggregate
from penstock.autodiff.captured_values import CapturedValues
from penstock.autodiff.compiled_gradients import compiled_like
from penstock.autodiff.lists import as_list
from penstock.autodiff.loop_gradients import (
    LoopGradients,
    is_loop_exit,
    is_loop_switch,
    refuse_initial_value,
)
from penstock.autodiff.zeros import zeros_for, zeros_like_x
from penstock.ir import registry
from penstock.ir.composite import IndexedSlices
from penstock.ir.convert import to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.function import FunctionGraph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation, describe
from penstock.ir.tensor import Tensor

Gradient = Any  # Tensor | IndexedSlices | None


class UnconnectedGradients(Enum):
    """What `tf.gradients` returns for an x that the ys do not depend on."""

    NONE = "none"
    ZERO = "zero"


TRAINABLE = frozenset(
    dtype
    for dtype in dtypes.BY_NAME.values()
    if dtype.is_floating or dtype.is_complex or dtype in (dtypes.resource, dtypes.variant)
)


def is_trainable(tensor: Tensor) -> bool:
    """Whether gradients flow through tensors of this type."""
    return tensor._dtype.base_dtype in TRAINABLE


def _IsBackpropagatable(tensor: Tensor) -> bool:
    """Whether what uses a tensor lies between xs and ys; explainers of models replace it."""
    return is_trainable(tensor)


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Gradient]:
    """The derivatives of the sum of `ys` with respect to each of `xs`, as new tensors.

    `grad_ys` weighs the ys (ones if None); `stop_gradients` are taken as constants. An x that no y
    depends on has the gradient None.
    """
    if executing_eagerly():
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape "
            "instead."
        )
    ys, xs, stops = (
        as_list(ys),
        as_list(xs),
        as_list([] if stop_gradients is None else stop_gradients),
    )
    grad_ys = [None] * len(ys) if grad_ys is None else as_list(grad_ys)
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {unconnected_gradients!r}"
        ) from None
    with name_scope(name, "gradients", [*ys, *xs, *stops, *grad_ys]) as scope:
        y_tensors = [_tensor(y, f"y_{i}") for i, y in enumerate(ys)]
        x_tensors = [_x_tensor(x) for x in xs]
        stop_tensors = [_x_tensor(_nearest(x)) for x in stops]
        weights = _initial_gradients(grad_ys, y_tensors, colocate_gradients_with_ops)
        walk = _BackwardWalk(
            y_tensors,
            x_tensors,
            stop_tensors,
            colocate=colocate_gradients_with_ops,
            gate=gate_gradients,
            method=aggregation_method,
            scope=scope,
        )
        walk.start(y_tensors, weights)
        walk.run()
        found = [walk.result(x) for x in x_tensors]
    if unconnected is UnconnectedGradients.ZERO:
        return [zeros_like_x(x) if g is None else g for x, g in zip(x_tensors, found, strict=True)]
    return found


def _tensor(value: Any, name: str) -> Any:
    if isinstance(value, (Tensor, IndexedSlices)):
        return value
    return to_tensor(value, name=name)


def _nearest(x: Any) -> Any:
    """A variable, or of one with a copy for each replica the copy of this place."""
    return x._closest() if getattr(x, "_is_distributed", False) else x


def _x_tensor(x: Any) -> Tensor:
    """What to differentiate by: a resource variable stands for its handle, a ref for itself."""
    handle = getattr(x, "handle", None)
    if isinstance(handle, Tensor):
        return within_body(handle)
    if isinstance(x, Tensor):
        return within_body(x)
    return to_tensor(x, name="x", as_ref=True)


def within_body(tensor: Tensor) -> Tensor:
    """A tensor; one of eager mode as the body that is being built has captured it."""
    graph = get_default_graph()
    if tensor._op.graph.is_eager and isinstance(graph, FunctionGraph):
        return graph.capture(tensor)
    return tensor


def _initial_gradients(
    grad_ys: Sequence[Any], ys: Sequence[Tensor], colocate: bool
) -> list[Gradient]:
    if len(grad_ys) != len(ys):
        raise ValueError(f"Length mismatch. Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
    found: list[Gradient] = []
    for i, (grad_y, y) in enumerate(zip(grad_ys, ys, strict=True)):
        with _colocated(y.op, colocate):
            found.append(_initial_gradient(i, grad_y, y))
    return found


def _initial_gradient(i: int, grad_y: Any, y: Tensor) -> Gradient:
    from penstock.ops.array import fill, identity, shape
    from penstock.ops.constants import constant

    if grad_y is None:
        if y.dtype.is_complex:
            raise TypeError(
                f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r}): {y}"
            )
        return fill(shape(y), constant(1, y.dtype.base_dtype, name=f"grad_ys_{i}"))
    if isinstance(grad_y, IndexedSlices):
        return grad_y
    tensor = to_tensor(grad_y, name=f"grad_y_{i}")
    if y.dtype.is_complex != tensor.dtype.is_complex and y.dtype.base_dtype in TRAINABLE:
        raise TypeError(
            f"Gradient type {tensor.dtype.name} generated for tensor {y} with type "
            f"{y.dtype.name} must be {'complex' if y.dtype.is_complex else 'real'}"
        )
    if (y.dtype.is_floating or y.dtype.is_integer) and not (
        tensor.dtype.is_floating or tensor.dtype.is_integer
    ):
        raise TypeError(
            f"Gradient type {tensor.dtype.name} generated for real or integer-valued tensor {y} "
            f"with type {y.dtype.name} must be real or integer"
        )
    return identity(tensor, name=f"grad_ys_{i}")


@contextmanager
def _colocated(op: Operation, enabled: bool) -> Iterator[None]:
    if not enabled:
        yield
        return
    with get_default_graph().colocate_with(op, ignore_existing=True):
        yield


class _BackwardWalk:
    """The state of one call: which nodes lie between xs and ys, and the gradients found so far."""

    def __init__(
        self,
        ys: Sequence[Tensor],
        xs: Sequence[Tensor],
        stops: Sequence[Tensor],
        *,
        colocate: bool,
        gate: bool,
        method: int | None,
        scope: str,
    ):
        self.scope = scope
        self.colocate = colocate
        self.gate = gate
        self.method = method
        self.found: dict[Operation, list[list[Gradient]]] = {}
        to_ops = [y.op for y in ys]
        from_ops = [x.op for x in xs]
        self.sources = set(from_ops)
        self.captured = CapturedValues(ys, set(xs))
        between, self.reachable = _between(to_ops, from_ops, self.captured)
        self.loops = LoopGradients.for_nodes(between)
        self.pending = _pending_counts(between, self.captured)
        self.stop_ops = {op for op in from_ops if self._is_source(op)} | {t.op for t in stops}
        self.ready: deque[Operation] = deque()

    def _is_source(self, op: Operation) -> bool:
        """Whether no x lies further up: then its own inputs' gradients aren't wanted."""
        return not any(self.pending.get(tensor._op, 0) > 0 for tensor in self.captured.inputs(op))

    def start(self, ys: Sequence[Tensor], weights: Sequence[Gradient]) -> None:
        for y, weight in zip(ys, weights, strict=True):
            self._add(y, weight)
        y_ops = dict.fromkeys(y.op for y in ys)
        started = {op for op in y_ops if self.pending.get(op, 0) == 0 and op in self.reachable}
        self.ready.extend(op for op in y_ops if op in started)
        if self.loops is not None:
            for tensor in self.loops.unused_exits(self.pending, started):
                if is_trainable(tensor):
                    self._add(tensor, self.loops.zeros_for_exit(tensor))
                    self.ready.append(tensor.op)

    def _add(self, tensor: Tensor, gradient: Gradient) -> None:
        op = tensor._op
        lists = self.found.get(op)
        if lists is None:
            lists = self.found[op] = [[] for _ in op._outputs]
        lists[tensor._value_index].append(gradient)

    def run(self) -> None:
        while self.ready:
            op = self.ready.popleft()
            with _colocated(op, self.colocate):
                with self._in_loop_of(op, before=True):
                    outputs = self._output_gradients(op)
                with self._in_loop_of(op):
                    inputs = self._differentiate(op, outputs)
                    for tensor, gradient in zip(self.captured.inputs(op), inputs, strict=True):
                        if gradient is not None:
                            self._add(tensor, _checked_shape(op, tensor, gradient))
            for tensor in self.captured.inputs(op):
                self._arrived(tensor)
        if self.loops is not None:
            self.loops.close_back_edges()

    def _in_loop_of(self, op: Operation, *, before: bool = False) -> AbstractContextManager[None]:
        return nullcontext() if self.loops is None else self.loops.building(op, before=before)

    def _arrived(self, tensor: Tensor) -> None:
        """Counts a gradient that a tensor's node waits for; the last one makes it ready."""
        op = tensor._op
        if op not in self.pending:
            return
        self.pending[op] -= 1
        is_ready = self.pending[op] == 0
        if self.loops is not None and not is_ready:
            # The gradient from outside of a loop opens the gradient loop; the body's come later.
            is_ready = self.pending[op] > 0 and is_loop_switch(op)
        if not is_ready:
            return
        if self.loops is not None and is_loop_exit(op):
            self._defer_exit(self.loops, tensor)
        else:
            self.ready.append(op)

    def _defer_exit(self, loops: LoopGradients, tensor: Tensor) -> None:
        """The exits of a loop are differentiated together: unused ones get zeros."""
        loop = loops.of(tensor._op)
        assert loop is not None
        loop.deferred_exits.append(tensor)
        loop.pending_exits -= 1
        if loop.pending_exits > 0:
            return
        used = [t for t in loop.deferred_exits if any(self.found.get(t._op, ()))]
        unused = [t for t in loop.deferred_exits if t not in used] + loop.unused_exits
        self.ready.extend(t._op for t in used)
        for unused_exit in unused:
            if used and is_trainable(unused_exit):
                self._add(unused_exit, loops.zeros_for_exit(unused_exit))
            self.ready.append(unused_exit._op)

    def _differentiate(self, op: Operation, outputs: list[Gradient]) -> Sequence[Gradient]:
        nothing: list[Gradient] = [None] * len(op._inputs)
        if op in self.stop_ops or all(gradient is None for gradient in outputs):
            return nothing
        function = gradient_function(op)
        if function is None:
            return nothing
        graph = get_default_graph()
        if is_loop_switch(op) and op._control_flow_context is graph._get_control_flow_context():
            refuse_initial_value(op, self.sources)
        if not getattr(function, "takes_missing", False):
            zeros = zeros_for if self.loops is None else self.loops.zeros_for
            outputs = [
                zeros(op._outputs[i]) if grad is None and is_trainable(op._outputs[i]) else grad
                for i, grad in enumerate(outputs)
            ]
        with name_scope(f"{op.name}_grad"):
            with graph._original_op(op), compiled_like(op, self.scope):
                inputs = as_list(function(op, *outputs))
            verify(op, inputs)
            if self.gate and sum(gradient is not None for gradient in inputs) > 1:
                from penstock.ops.control import tuple as gated

                with graph.device(None), graph.colocate_with(None, ignore_existing=True):
                    inputs = gated(inputs)
        return inputs

    def _output_gradients(self, op: Operation) -> list[Gradient]:
        lists = self.found.get(op)
        if lists is None:
            return [None] * len(op._outputs)
        summed = [aggregate(op, entries, self.method) for entries in lists]
        # An x may be asked for after its op was passed: keep the sum, so that it is made once.
        self.found[op] = [[] if entry is None else [entry] for entry in summed]
        return summed

    def result(self, x: Tensor) -> Gradient:
        lists = self.found.get(x._op)
        return aggregate(x._op, lists[x._value_index], self.method) if lists else None


def gradient_function(op: Operation) -> Any:
    """The gradient function of a node: its op type's, or the one an override map chose."""
    name = op.attrs.get("_gradient_op_type", op.spec.name)
    own = op.graph._gradient_functions.get(name)
    if own is not None:
        return own
    if op.spec.function is not None:
        from penstock.ops.functions import symbolic_gradient_of_call

        return symbolic_gradient_of_call
    try:
        return registry.gradient_of(name)
    except LookupError:
        raise LookupError(
            f"No gradient defined for operation '{op.name}' (op type: {name}): {describe(op)}. "
            "Register one with @tf.RegisterGradient, or cut the path with tf.stop_gradient"
        ) from None


def _between(
    to_ops: Iterable[Operation], from_ops: Iterable[Operation], captured: CapturedValues
) -> tuple[dict[Operation, None], set[Operation]]:
    """The nodes between xs and ys, and which ys depend on an x."""
    reached: set[Operation] = set()
    pending = list(from_ops)
    while pending:
        op = pending.pop()
        if op not in reached:
            reached.add(op)
            for tensor in op._outputs:
                if _IsBackpropagatable(tensor):
                    pending.extend(captured.consumers(tensor))
    reachable = {op for op in to_ops if op in reached}
    between: dict[Operation, None] = {}
    queue = deque(to_ops)
    while queue:
        op = queue.popleft()
        if op in reached and op not in between:
            between[op] = None
            queue.extend(tensor._op for tensor in captured.inputs(op))
    return between, reachable


def _pending_counts(
    between: dict[Operation, None], captured: CapturedValues
) -> dict[Operation, int]:
    """How many gradients each of the nodes waits for: one for each use among them."""
    counts = dict.fromkeys(between, 0)
    for op in between:
        for tensor in captured.inputs(op):
            if tensor._op in counts:
                counts[tensor._op] += 1
    return counts


def verify(op: Operation, inputs: Sequence[Gradient]) -> None:
    """Raises where a gradient function has returned what can't be its node's gradients."""
    if len(inputs) != len(op._inputs):
        raise ValueError(
            f"Num gradients {len(inputs)} generated for op {op.node_def} do not match num inputs "
            f"{len(op._inputs)}"
        )
    for gradient, tensor in zip(inputs, op._inputs, strict=True):
        if gradient is None:
            continue
        if tensor.dtype.is_complex and not gradient.dtype.is_complex:
            raise TypeError(
                f"Gradient type {gradient.dtype.name} generated for complex tensor {tensor} must "
                "be complex"
            )
        if tensor.dtype.is_floating and not gradient.dtype.is_floating:
            raise TypeError(
                f"Gradient type {gradient.dtype.name} generated for real tensor {tensor} must be "
                "real"
            )


def _checked_shape(op: Operation, tensor: Tensor, gradient: Gradient) -> Gradient:
    if isinstance(gradient, Tensor) and tensor.dtype is not dtypes.resource:
        try:
            gradient.set_shape(tensor._shape)
        except ValueError:
            raise ValueError(
                "Incompatible shapes between op input and calculated input gradient.  Forward "
                f"operation: {op.name}.  Input: {tensor.name}.  Original input shape: "
                f"{tensor.shape}.  Calculated input gradient shape: {gradient.shape}"
            ) from None
    return gradient
