"""Contexts of control flow: what happens to a node that is made inside of a branch.

A context sees every node made inside it. Inputs from outside are taken in through a Switch, so that
they are dead where the branch is not taken; a node without inputs waits for the branch's pivot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock import dtypes, proto
from penstock.ir.composite import IndexedSlices
from penstock.ir.convert import CompositeTensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.naming import within_scope, without_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.control_flow import Merge, RefMerge, RefSwitch, Switch


class ControlFlowContext:
    """A region of the graph that runs conditionally.

    1. `values` holds the names of the tensors that may be used inside as they are.
    2. `external_values` maps the name of an outer tensor to what stands for it inside.
    3. Whatever is known to a context is known to the contexts around it.
    """

    def __init__(self, name: str = "", values_def: Any = None, import_scope: str | None = None):
        self.graph = get_default_graph()
        self.name = name
        self.outer_context: ControlFlowContext | None = self.graph._get_control_flow_context()
        self.values: set[str] = set()
        self.external_values: dict[str, Tensor] = {}
        self.nested_contexts: list[ControlFlowContext] = []
        self._entered_from: list[ControlFlowContext | None] = []
        if self.outer_context is not None:
            self.outer_context.nested_contexts.append(self)
        if values_def is not None:
            self._recover_values(values_def, import_scope)

    @property
    def _values(self) -> set[str]:
        return self.values

    @_values.setter
    def _values(self, names: Iterable[str]) -> None:
        self.values = set(names)

    @property
    def _external_values(self) -> dict[str, Tensor]:
        return self.external_values

    @_external_values.setter
    def _external_values(self, tensors: dict[str, Tensor]) -> None:
        self.external_values = tensors

    @property
    def while_context(self) -> Any:
        """The innermost loop around, or this context if it is one."""
        return None if self.outer_context is None else self.outer_context.while_context

    @property
    def control_pivot(self) -> Tensor:
        """The tensor that a node without inputs waits for."""
        raise NotImplementedError

    @property
    def grad_state(self) -> Any:
        """The state of the gradient loop that this context belongs to; None outside of one."""
        return None if self.outer_context is None else self.outer_context.grad_state

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Makes this the context of the nodes made inside a `with` block."""
        self.Enter()
        try:
            yield
        finally:
            self.Exit()

    def Enter(self) -> None:
        """Makes this the context of the nodes made until `Exit`."""
        self._entered_from.append(self.graph._get_control_flow_context())
        self.graph._set_control_flow_context(self)

    def Exit(self) -> None:
        """Goes back to the context from which this one was entered."""
        self.graph._set_control_flow_context(self._entered_from.pop())

    @contextmanager
    def left(self) -> Iterator[None]:
        """Goes back, within a `with` block, to the context from which this one was entered."""
        current = self.graph._get_control_flow_context()
        self.graph._set_control_flow_context(self._entered_from[-1])
        try:
            yield
        finally:
            self.graph._set_control_flow_context(current)

    def AddOp(self, op: Operation) -> None:
        """Takes a new node into the context."""
        raise NotImplementedError

    def add_value(self, tensor: Tensor) -> Tensor:
        """What stands for `tensor` inside the context."""
        raise NotImplementedError

    def add_inner_op(self, op: Operation) -> None:
        """Tells the contexts around that a node was made inside."""
        self.see_outputs(op)
        if self.outer_context is not None:
            self.outer_context.add_inner_op(op)

    def see_outputs(self, op: Operation) -> None:
        context: ControlFlowContext | None = self
        while context is not None:
            context.values.update(tensor.name for tensor in op.outputs)
            context = context.outer_context

    def check_use(self, user: Operation, source: Operation) -> None:
        """Raises ValueError where `user` may not take the result of `source`, a node in here.

        What a loop computes is used in it, in loops inside of it, and in its gradient; outside
        only what left it. A value of a branch may be used outside, where the branch was taken.
        """
        inside = output_context(source)
        produced = None if inside is None else inside.while_context
        context = user._control_flow_context
        consumed = None if context is None else context.while_context
        if produced is None or _contains(produced, consumed):
            return
        if consumed is None:
            if user.type in ("Enter", "RefEnter", "Switch", "RefSwitch"):
                return  # on its way into a loop or branch: its context is told later
            where = f"{source.name!r} is in a while loop."
        elif _is_of_gradient(consumed, produced):
            return
        else:
            where = "they are in different while loops."
        raise ValueError(
            f"Cannot use {source.name!r} as input to {user.name!r} because {where} See info log "
            "for more details."
        )

    def drop_external_controls(self, op: Operation) -> list[Operation]:
        """Removes control inputs from outside of the loop around: no edge crosses its border.

        Returns what was removed.
        """
        loop = self.while_context
        if loop is None:
            return []
        inside: list[Operation] = []
        outside: list[Operation] = []
        for control in op.control_inputs:
            context = output_context(control)
            same = context is not None and context.while_context is loop
            (inside if same else outside).append(control)
        if outside:
            op._remove_all_control_inputs()
            op._add_control_inputs(inside)
        return outside

    def keep_private(self, op: Operation) -> None:
        """A value that may be dead can't be fetched or fed."""
        self.graph.prevent_fetching(op)
        for tensor in op.outputs:
            self.graph.prevent_feeding(tensor)

    # Messages ---------------------------------------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The context as a message; None if it is outside `export_scope`."""
        raise NotImplementedError

    def describe(self, message: Any, export_scope: str | None) -> None:
        """Fills the fields that the messages of all contexts have."""
        message.context_name = without_scope(self.name, export_scope)
        message.values_def.CopyFrom(self._to_values_def(export_scope))
        for nested in self.nested_contexts:
            described = nested.to_proto(export_scope)
            if described is not None:
                entry = message.nested_contexts.add()
                field = "while_ctxt" if nested.while_context is nested else "cond_ctxt"
                getattr(entry, field).CopyFrom(described)

    def _to_values_def(self, export_scope: str | None = None) -> Any:
        """The message of the tensors that are known here."""
        values = proto.ValuesDef()
        values.values.extend(without_scope(name, export_scope) for name in sorted(self.values))
        for key, tensor in self.external_values.items():
            values.external_values[without_scope(key, export_scope)] = without_scope(
                tensor.name, export_scope
            )
        return values

    def _recover_values(self, values_def: Any, import_scope: str | None) -> None:
        self.values = {within_scope(name, import_scope) for name in values_def.values}
        for key, name in values_def.external_values.items():
            tensor = self.graph.as_graph_element(within_scope(name, import_scope))
            self.external_values[within_scope(key, import_scope)] = tensor

    def recover(self, message: Any, import_scope: str | None) -> None:
        """Takes over the nodes that a message names, and the contexts nested in it."""
        self._recover_values(message.values_def, import_scope)
        for name in self.values - self.external_values.keys():
            self.graph.as_graph_element(name).op._set_control_flow_context(self)
        with self.entered():
            for nested in message.nested_contexts:
                context_from_proto(nested, import_scope)


def context_from_proto(message: Any, import_scope: str | None = None) -> ControlFlowContext:
    """The context that a ControlFlowContextDef message describes."""
    if message.HasField("cond_ctxt"):
        return CondContext.from_proto(message.cond_ctxt, import_scope)
    from penstock.ops.while_context import WhileContext

    return WhileContext.from_proto(message.while_ctxt, import_scope)


def output_context(op: Operation) -> ControlFlowContext | None:
    """The context that a node's outputs belong to: an Exit's belong to the one around its loop."""
    context: ControlFlowContext | None = op._control_flow_context
    if op.type in ("Exit", "RefExit") and context is not None:
        return context.outer_context
    return context


def _contains(loop: ControlFlowContext | None, inner: ControlFlowContext | None) -> bool:
    """Whether `inner` is the loop itself or lies inside of it."""
    while inner is not None and inner is not loop:
        inner = inner.outer_context
    return inner is loop


def _is_of_gradient(consumed: Any, produced: Any) -> bool:
    """Whether one of two loops is the other's gradient, so that their values meet."""
    if consumed.grad_state is not None:
        forward = consumed.grad_state.forward_context
        if _contains(produced, forward) or produced.outer_context is forward:
            return True
    for _ in range(2):  # the gradient of a loop, and of that one
        if produced.grad_state is None:
            return False
        produced = produced.grad_state.forward_context
        if produced is consumed:
            return True
    return False


def switch(data: Any, pred: Any, name: str | None = None) -> Any:
    """Sends `data` to output 1 if `pred` is true, else to output 0; the other is dead.

    A reference stays one. The Switch is placed with its data.
    """
    spec = RefSwitch if data.dtype.is_ref_dtype else Switch
    with get_default_graph().colocate_with(data.op, ignore_existing=True):
        return spec(data, pred, name=name or "Switch")


def merge(inputs: Sequence[Any], name: str | None = None) -> Any:
    """The first of `inputs` that is alive, and its number; IndexedSlices if one of them is."""
    if not any(isinstance(each, CompositeTensor) for each in inputs):
        spec = RefMerge if all(each.dtype.is_ref_dtype for each in inputs) else Merge
        return spec(inputs, name=name or "Merge")
    with name_scope(name, "Merge", [part for each in inputs for part in _parts(each)]):
        slices = inputs if _of_other_parts(inputs) else as_indexed_slices(inputs)
        merged = [Merge(list(parts)) for parts in zip(*map(_parts, slices), strict=True)]
    return slices[0]._with_parts([pair[0] for pair in merged]), merged[0][1]


def _parts(value: Any) -> list[Tensor]:
    return value._parts() if isinstance(value, CompositeTensor) else [value]


def _of_other_parts(values: Sequence[Any]) -> bool:
    """Whether all are values of several tensors that no dense tensor can be made part of."""
    return all(
        isinstance(value, CompositeTensor) and not isinstance(value, IndexedSlices)
        for value in values
    )


def as_indexed_slices(values: Sequence[Any]) -> list[IndexedSlices]:
    """Tensors and IndexedSlices as IndexedSlices, whose indices have one type."""
    from penstock.ops.casts import cast
    from penstock.ops.filling import range as range_of
    from penstock.ops.shaping import shape_of

    found = []
    for value in values:
        if isinstance(value, IndexedSlices):
            found.append(value)
        elif isinstance(value, Tensor):
            sizes = shape_of(value, optimize=False)
            found.append(IndexedSlices(value, range_of(0, sizes[0]), sizes))
        else:
            raise TypeError(f"Not a Tensor or IndexedSlices: {type(value)}")
    if len({each.indices.dtype for each in found}) == 1:
        return found
    return [
        IndexedSlices(each.values, cast(each.indices, dtypes.int64), each.dense_shape)
        for each in found
    ]


class CondContext(ControlFlowContext):
    """One branch of a conditional."""

    def __init__(self, pred: Tensor, pivot: Tensor, branch: int, name: str = "cond_text"):
        super().__init__(get_default_graph().unique_name(name))
        self.pred = pred
        self.pivot = pivot
        self.branch = branch
        # The predicate and the pivot are values of the branch itself.
        self.values.add(pred.name)
        self.external_values[pred.name] = pred
        self.values.add(pivot.name)
        pivot.op._control_flow_context = self

    @property
    def control_pivot(self) -> Tensor:
        return self.pivot

    def add_value(self, tensor: Tensor) -> Tensor:
        if tensor.name in self.values:
            return self.external_values.get(tensor.name, tensor)
        self.values.add(tensor.name)
        result = tensor
        if self.outer_context is not None:
            result = self.outer_context.add_value(tensor)
            self.values.add(result.name)
            self.external_values[result.name] = result
        with self.graph.control_dependencies(None):
            result = switch(result, self.pred)[self.branch]
            # The blocks outside hide the context while the Switch is made: it belongs here.
            result.op._control_flow_context = self
            if self.outer_context is not None:
                self.outer_context.add_inner_op(result.op)
        self.keep_private(result.op)
        context: ControlFlowContext | None = self
        while context is not None:
            context.values.add(result.name)
            context = context.outer_context
        self.external_values[tensor.name] = result
        return result

    def AddOp(self, op: Operation) -> None:
        if op.inputs:
            for index, tensor in enumerate(op.inputs):
                is_back_edge = op.type == "Merge" and tensor.op.type == "NextIteration"
                inside = tensor if is_back_edge else self.add_value(tensor)
                if inside is not tensor:
                    op._update_input(index, inside)
            self.drop_external_controls(op)
        else:
            self.drop_external_controls(op)
            if not any(c._control_flow_context is self for c in op.control_inputs):
                op._add_control_input(self.pivot.op)
        self.see_outputs(op)
        self.keep_private(op)
        if self.outer_context is not None:
            self.outer_context.add_inner_op(op)

    def output(self, tensor: Tensor) -> Tensor:
        """A tensor that the branch returns, made to be dead where the branch is not taken."""
        if tensor.name in self.values:
            return self.external_values.get(tensor.name, tensor)
        self.values.add(tensor.name)
        result = tensor
        if self.outer_context is not None:
            result = self.outer_context.add_value(tensor)
            self.values.add(result.name)
        result = switch(result, self.pred)[self.branch]
        self.external_values[tensor.name] = result
        return result

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The context as a CondContextDef message; None if it is outside `export_scope`."""
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        message = proto.CondContextDef(
            pred_name=without_scope(self.pred.name, export_scope),
            pivot_name=without_scope(self.pivot.name, export_scope),
            branch=self.branch,
        )
        self.describe(message, export_scope)
        return message

    @staticmethod
    def from_proto(context_def: Any, import_scope: str | None = None) -> CondContext:
        """The branch that a CondContextDef message describes, of nodes that are in the graph."""
        graph = get_default_graph()
        context = CondContext.__new__(CondContext)
        ControlFlowContext.__init__(context, within_scope(context_def.context_name, import_scope))
        context.pred = graph.as_graph_element(within_scope(context_def.pred_name, import_scope))
        context.pivot = graph.as_graph_element(within_scope(context_def.pivot_name, import_scope))
        context.branch = context_def.branch
        context.recover(context_def, import_scope)
        return context
