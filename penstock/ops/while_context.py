"""The context of a loop: how values enter it, go round, and leave it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import proto
from penstock.ir.defaults import get_default_graph
from penstock.ir.naming import within_scope, without_scope
from penstock.ir.operation import Operation
from penstock.ir.scopes import control_inputs_for
from penstock.ir.tensor import Tensor
from penstock.ops.control_contexts import ControlFlowContext, merge, output_context, switch
from penstock.ops.control_flow import (
    Enter,
    Exit,
    LoopCond,
    NextIteration,
    RefEnter,
    RefExit,
    RefNextIteration,
)

# The tensors of a loop that its message names.
_NAMED_TENSORS = ("pivot", "pivot_for_pred", "pivot_for_body", "maximum_iterations")
_SHAPE_OPS = ("Shape", "Size", "Rank")


def enter(
    data: Tensor,
    frame_name: str,
    *,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    keeps_shape: bool = True,
    name: str | None = None,
) -> Tensor:
    """`data` as a value of a loop; a constant of it where it is the same in all iterations."""
    spec = RefEnter if data.dtype.is_ref_dtype else Enter
    result: Tensor = spec(
        data,
        frame_name=frame_name,
        is_constant=is_constant,
        parallel_iterations=parallel_iterations,
        name=name,
    )
    if keeps_shape:
        result.set_shape(data.shape)
    return result


def leave(data: Tensor, name: str | None = None) -> Tensor:
    """`data` outside of the loop, when that ends."""
    return (RefExit if data.dtype.is_ref_dtype else Exit)(data, name=name)


def next_iteration(data: Tensor, name: str | None = None) -> Tensor:
    """`data` in the next iteration."""
    spec = RefNextIteration if data.dtype.is_ref_dtype else NextIteration
    return spec(data, name=name)


def is_loop_constant(op: Operation) -> bool:
    """Whether an op is the Enter of a value that all iterations share."""
    return op.type in ("Enter", "RefEnter") and bool(op.attrs["is_constant"])


class WhileContext(ControlFlowContext):
    """One loop.

    1. Outer tensors used inside are taken in by a constant Enter, once per tensor.
    2. A node with no inputs from the loop waits for the pivot of the iteration, so that it runs in
       each iteration, and only in those that are reached.
    """

    def __init__(
        self,
        maximum_iterations: Any = None,
        parallel_iterations: int = 10,
        back_prop: bool = True,
        swap_memory: bool = False,
        name: str = "while_context",
        grad_state: Any = None,
    ):
        if not isinstance(parallel_iterations, int) or parallel_iterations <= 0:
            raise ValueError(
                f"'parallel_iterations' must be a positive integer: {parallel_iterations}"
            )
        super().__init__(get_default_graph().unique_name(name))
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations = parallel_iterations
        self.back_prop = back_prop
        self.swap_memory = swap_memory
        self._grad_state = grad_state
        self.pivot_for_pred: Tensor | None = None
        self.pivot_for_body: Tensor | None = None
        self.pivot: Tensor | None = None
        self.loop_enters: list[Tensor] = []
        self.loop_exits: list[Tensor] = []

    @property
    def while_context(self) -> WhileContext:
        return self

    @property
    def grad_state(self) -> Any:
        return self._grad_state

    @property
    def control_pivot(self) -> Tensor:
        pivot = self.pivot_for_body if self.pivot_for_body is not None else self.pivot_for_pred
        assert pivot is not None, "the loop has no variables yet"
        return pivot

    # Values -----------------------------------------------------------------------------------

    def add_value(self, tensor: Tensor) -> Tensor:
        if tensor.name in self.values or tensor.op._control_flow_context is self:
            return self.external_values.get(tensor.name, tensor)
        self.values.add(tensor.name)
        remembered = self._from_forward_loop(tensor)
        if remembered is not None:
            self.external_values[tensor.name] = remembered
            return remembered
        outer = tensor
        if self.outer_context is not None:
            outer = self.outer_context.add_value(tensor)
        with self.graph.control_dependencies(None):
            entered = self.enter_value(outer, is_constant=True)
            self.graph.prevent_feeding(entered)
            if self.outer_context is not None:
                self.outer_context.add_inner_op(entered.op)
        self.adopt([entered])
        self.values.add(entered.name)
        self.external_values[tensor.name] = entered
        return entered

    def _from_forward_loop(self, tensor: Tensor) -> Tensor | None:
        """In a gradient loop: the value that `tensor` had in the matching forward iteration."""
        current = self.graph._get_control_flow_context()
        loop = None if current is None else current.while_context
        if loop is None or loop.grad_state is None:
            return None
        forward = output_context(tensor.op)
        forward = None if forward is None else forward.while_context
        if forward is not loop.grad_state.forward_context:
            return None
        return loop.grad_state.real_value(tensor)

    def enter_value(
        self,
        tensor: Tensor,
        *,
        is_constant: bool = False,
        keeps_shape: bool = True,
        name: str | None = None,
    ) -> Tensor:
        return enter(
            tensor,
            self.name,
            is_constant=is_constant,
            parallel_iterations=self.parallel_iterations,
            keeps_shape=keeps_shape,
            name=name,
        )

    def adopt(self, entered: Sequence[Tensor]) -> None:
        """Makes Enter nodes nodes of this context.

        They were made outside of all `control_dependencies` blocks: here they get the control
        inputs that lie between this loop and the next one around it.
        """
        controllers = self.graph._scopes.controllers
        for tensor in entered:
            op = tensor.op
            wanted = control_inputs_for(controllers, [op.inputs[0].op])
            op._add_control_inputs([c for c in wanted if self._reaches(output_context(c))])
            op._set_control_flow_context(self)
            for controller in controllers:
                controller.made_inside.add(op)

    def _reaches(self, context: ControlFlowContext | None) -> bool:
        """Whether a context lies around this loop, with no other loop's border in between."""
        outer = self.outer_context
        loop = None if outer is None else outer.while_context
        while outer is not context:
            if outer is None or outer is loop:
                return False
            outer = outer.outer_context
        return True

    # Nodes ------------------------------------------------------------------------------------

    def AddOp(self, op: Operation) -> None:
        if op.type in _SHAPE_OPS and self._moves_to_forward_loop(op):
            return
        self.add_op(op)

    def _moves_to_forward_loop(self, op: Operation) -> bool:
        """A shape that the gradient wants is taken in the forward loop: less to remember."""
        current = self.graph._get_control_flow_context()
        loop = None if current is None else current.while_context
        if loop is None or loop.grad_state is None:
            return False
        source = op.inputs[0].op._control_flow_context
        if source is None or source.while_context is not loop.grad_state.forward_context:
            return False
        op._set_control_flow_context(source)
        source.add_op(op) if isinstance(source, WhileContext) else source.AddOp(op)
        return True

    def add_op(self, op: Operation) -> None:
        if op.inputs:
            for index, tensor in enumerate(op.inputs):
                inside = self.add_value(tensor)
                if inside is not tensor:
                    op._update_input(index, inside)
            outside = self.drop_external_controls(op)
            if not op.control_inputs and all(is_loop_constant(t.op) for t in op.inputs):
                op._add_control_input(self.control_pivot.op)
        else:
            outside = self.drop_external_controls(op)
            if not op.control_inputs:
                op._add_control_input(self.control_pivot.op)
        self.values.update(tensor.name for tensor in op.outputs)
        self._wait_inside(op, outside)
        if self.outer_context is not None or op.type not in ("Exit", "RefExit"):
            self.keep_private(op)
        if self.outer_context is not None:
            self.outer_context.add_inner_op(op)

    def _wait_inside(self, op: Operation, outside: Sequence[Operation]) -> None:
        """Turns control inputs from outside into values of the loop, which may be waited for."""
        from penstock.ops.identity import identity

        sources = [control.outputs[0] for control in outside if control.outputs]
        if not sources:
            return
        with self.graph.control_dependencies(None), self.entered():
            op._add_control_inputs([identity(tensor).op for tensor in sources])

    # Building ---------------------------------------------------------------------------------

    def start(self, initial: Sequence[Tensor], *, keeps_shapes: bool) -> list[Tensor]:
        """Takes the loop variables in and returns them as the condition sees them."""
        outer = self.outer_context
        values = [outer.add_value(t) if outer is not None else t for t in initial]
        with self.graph.control_dependencies(None):
            entered = [self.enter_value(t, keeps_shape=keeps_shapes) for t in values]
            for tensor in entered:
                self.graph.prevent_feeding(tensor)
                self.graph.prevent_fetching(tensor.op)
        if outer is not None:
            for tensor in entered:
                outer.add_inner_op(tensor.op)
                if is_loop_constant(tensor.op.inputs[0].op):
                    tensor.op._add_control_input(outer.control_pivot.op)
        self.adopt(entered)
        self.values.update(tensor.name for tensor in entered)
        self.loop_enters = list(entered)
        return entered

    def go_round(self, entered: Sequence[Tensor]) -> list[Tensor]:
        """The loop variables of each iteration; their back edges are closed later."""
        merged = [merge([tensor, tensor])[0] for tensor in entered]
        self.pivot_for_pred = merged[0]
        return merged

    def decide(self, condition: Tensor, merged: Sequence[Tensor]) -> list[Any]:
        """Sends the loop variables on by the condition: into the body, or out."""
        self.pivot = LoopCond(condition, name="LoopCond")
        return [switch(tensor, self.pivot) for tensor in merged]

    def finish(self, sent: Sequence[Any]) -> list[Tensor]:
        """The loop variables after the loop."""
        exits = [leave(pair[0]) for pair in sent]
        self.loop_exits = list(exits)
        if self.outer_context is not None:
            self.outer_context.values.update(tensor.name for tensor in exits)
        return exits

    # Messages ---------------------------------------------------------------------------------

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The context as a WhileContextDef message; None if it is outside `export_scope`."""
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        message = proto.WhileContextDef(
            parallel_iterations=self.parallel_iterations,
            back_prop=self.back_prop,
            swap_memory=self.swap_memory,
            loop_exit_names=[without_scope(t.name, export_scope) for t in self.loop_exits],
            loop_enter_names=[without_scope(t.name, export_scope) for t in self.loop_enters],
        )
        for field in _NAMED_TENSORS:
            tensor = getattr(self, field)
            if tensor is not None:
                setattr(message, f"{field}_name", without_scope(tensor.name, export_scope))
        self.describe(message, export_scope)
        return message

    @staticmethod
    def from_proto(context_def: Any, import_scope: str | None = None) -> WhileContext:
        """The loop that a WhileContextDef message describes, of nodes that are in the graph."""
        graph = get_default_graph()
        context = WhileContext.__new__(WhileContext)
        ControlFlowContext.__init__(context, within_scope(context_def.context_name, import_scope))
        context.parallel_iterations = context_def.parallel_iterations
        context.back_prop = context_def.back_prop
        context.swap_memory = context_def.swap_memory
        context._grad_state = None

        def element(name: str) -> Any:
            return graph.as_graph_element(within_scope(name, import_scope)) if name else None

        for field in _NAMED_TENSORS:
            setattr(context, field, element(getattr(context_def, f"{field}_name")))
        context.loop_exits = [element(name) for name in context_def.loop_exit_names]
        context.loop_enters = [element(name) for name in context_def.loop_enter_names]
        context.recover(context_def, import_scope)
        if import_scope:
            context._rename_frame()
        return context

    def _rename_frame(self) -> None:
        """Gives the loop's Enter nodes the name that the context has now."""
        for name in self.values:
            op = self.graph.as_graph_element(name).op
            if op.type in ("Enter", "RefEnter") and op._control_flow_context is self:
                op.attrs["frame_name"] = self.name
        self.graph._changed()
