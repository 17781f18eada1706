"""What `control_flow_ops` and `control_flow_util` have besides the public API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.ir.operation import Operation
from penstock.ops.composite_flow import enter as _Enter  # noqa: F401
from penstock.ops.composite_flow import identity as _Identity  # noqa: F401
from penstock.ops.composite_flow import merge as merge
from penstock.ops.composite_flow import next_iteration as _NextIteration  # noqa: F401
from penstock.ops.composite_flow import quit as exit  # noqa: F401
from penstock.ops.composite_flow import switch as switch
from penstock.ops.composite_flow import switch_ref_or_tensor as _SwitchRefOrTensor  # noqa: F401
from penstock.ops.conditionals import case_by as _case_helper  # noqa: F401
from penstock.ops.control_contexts import CondContext, output_context
from penstock.ops.control_flow import LoopCond as loop_cond  # noqa: F401
from penstock.ops.control_flow import NextIteration as next_iteration  # noqa: F401
from penstock.ops.control_flow import RefMerge as ref_merge  # noqa: F401
from penstock.ops.control_flow import RefNextIteration as ref_next_iteration  # noqa: F401
from penstock.ops.control_flow import RefSelect as ref_select  # noqa: F401
from penstock.ops.control_flow import RefSwitch as ref_switch  # noqa: F401
from penstock.ops.loops import while_loop
from penstock.ops.while_context import WhileContext

ENABLE_WHILE_V2 = False
ENABLE_COND_V2 = False


def IsSwitch(op: Operation) -> bool:
    return op.type in ("Switch", "RefSwitch")


def IsMerge(op: Operation) -> bool:
    return op.type in ("Merge", "RefMerge")


def IsLoopEnter(op: Operation) -> bool:
    return op.type in ("Enter", "RefEnter")


def IsLoopExit(op: Operation) -> bool:
    return op.type in ("Exit", "RefExit")


def IsLoopConstantEnter(op: Operation) -> bool:
    return IsLoopEnter(op) and bool(op.get_attr("is_constant"))


def GetOutputContext(op: Operation) -> Any:
    """The context that a node's results are in: for an Exit the one around its loop."""
    return output_context(op)


def _containing(context: Any, kind: type) -> Any:
    while context is not None and not isinstance(context, kind):
        context = context.outer_context
    return context


def GetContainingWhileContext(ctxt: Any, stop_ctxt: Any = None) -> Any:
    """The innermost loop around a context, itself included."""
    return _containing(ctxt, WhileContext)


def GetContainingCondContext(ctxt: Any) -> Any:
    """The innermost branch around a context, itself included."""
    return _containing(ctxt, CondContext)


def GetContainingXLAContext(ctxt: Any) -> Any:
    return None


def GetWhileContext(op: Operation) -> Any:
    """The innermost loop around a node."""
    return GetContainingWhileContext(op._get_control_flow_context())


def IsInWhileLoop(op: Operation) -> bool:
    return GetWhileContext(op) is not None


def IsInCond(op: Operation) -> bool:
    return GetContainingCondContext(op._get_control_flow_context()) is not None


def IsInXLAContext(op: Operation) -> bool:
    return False


def GraphOrParentsInXlaContext(graph: Any) -> bool:
    return False


def _is_loop_switch(op: Operation) -> bool:
    context = op._get_control_flow_context()
    return IsSwitch(op) and isinstance(context, WhileContext) and not _is_branch_switch(op)


def _is_branch_switch(op: Operation) -> bool:
    return any(
        isinstance(consumer._get_control_flow_context(), CondContext)
        for output in op.outputs
        for consumer in output.consumers()
    )


def IsLoopSwitch(op: Operation) -> bool:
    return _is_loop_switch(op)


def IsCondSwitch(op: Operation) -> bool:
    return IsSwitch(op) and not _is_loop_switch(op)


def IsLoopMerge(op: Operation) -> bool:
    return IsMerge(op) and any(IsLoopEnter(value.op) for value in op.inputs)


def IsCondMerge(op: Operation) -> bool:
    return IsMerge(op) and not IsLoopMerge(op)


def GetLoopConstantEnter(value: Any) -> Operation | None:
    """The Enter by which a loop got a value that it never changes."""
    op = value.op
    while op.type in ("Switch", "RefSwitch", "Identity", "RefIdentity"):
        op = op.inputs[0].op
    return op if IsLoopConstantEnter(op) else None


def IsContainingContext(ctxt: Any, maybe_containing_ctxt: Any) -> bool:
    """Whether a context is another, or inside of it."""
    while ctxt is not maybe_containing_ctxt:
        if ctxt is None:
            return False
        ctxt = ctxt.outer_context
    return True


def OpInContext(op: Operation, ctxt: Any) -> bool:
    return IsContainingContext(op._get_control_flow_context(), ctxt)


def TensorInContext(tensor: Any, ctxt: Any) -> bool:
    return OpInContext(tensor.op, ctxt)


def InXlaContext(graph: Any) -> bool:
    return False


def while_loop_v2(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """`tf.while_loop` of TensorFlow 2: what it gives has the structure of `loop_vars`, always."""
    return while_loop(
        cond,
        body,
        loop_vars,
        shape_invariants,
        parallel_iterations,
        back_prop,
        swap_memory,
        name,
        maximum_iterations,
        return_same_structure=True,
    )
