"""Which nodes conditionals and loops become: primitives, or nodes that call functions.

Inside `tf.function` they always call functions.
"""

from __future__ import annotations

from typing import Any

from penstock.ir.defaults import get_default_graph

#: What `tf.enable_control_flow_v2` sets; programs also set it here themselves.
ENABLE_CONTROL_FLOW_V2 = False

#: Names whose value is asked for anew whenever a program reads them.
LIVE_NAMES = ("ENABLE_CONTROL_FLOW_V2",)


def EnableControlFlowV2(graph: Any) -> bool:
    """Whether conditionals and loops of a graph are nodes that call functions."""
    return ENABLE_CONTROL_FLOW_V2 or getattr(graph, "functional_flow", False)


def enable_control_flow_v2() -> None:
    """Makes `tf.cond`, `tf.while_loop` and `tf.TensorArray` build functional nodes from now on."""
    global ENABLE_CONTROL_FLOW_V2
    ENABLE_CONTROL_FLOW_V2 = True


def disable_control_flow_v2() -> None:
    """Makes them build Switch, Merge, Enter, Exit again."""
    global ENABLE_CONTROL_FLOW_V2
    ENABLE_CONTROL_FLOW_V2 = False


def control_flow_v2_enabled() -> bool:
    """Whether conditionals and loops built now are nodes that call functions."""
    return EnableControlFlowV2(get_default_graph())
