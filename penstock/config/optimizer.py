"""`tf.config.optimizer`: how new sessions change graphs before they run them."""

from __future__ import annotations

from typing import Any

from penstock import proto
from penstock.client.session_defaults import session_defaults

__all__ = ["get_experimental_options", "get_jit", "set_experimental_options", "set_jit"]

_TOGGLES = (
    "layout_optimizer",
    "constant_folding",
    "shape_optimization",
    "remapping",
    "arithmetic_optimization",
    "dependency_optimization",
    "loop_optimization",
    "function_optimization",
    "debug_stripper",
    "scoped_allocator_optimization",
    "pin_to_host_optimization",
    "implementation_selector",
    "auto_mixed_precision",
    "auto_mixed_precision_cpu",
    "auto_mixed_precision_mkl",
    "auto_mixed_precision_onednn_bfloat16",
)
_FLAGS = ("disable_model_pruning", "disable_meta_optimizer")


def get_jit() -> bool:
    """Whether just-in-time compilation is asked for."""
    level = session_defaults().graph_options.optimizer_options.global_jit_level
    return level in (proto.OptimizerOptions.ON_1, proto.OptimizerOptions.ON_2)


def set_jit(enabled: bool) -> None:
    """Asks for just-in-time compilation; plans are compiled in any case."""
    options = proto.OptimizerOptions
    session_defaults().graph_options.optimizer_options.global_jit_level = (
        options.ON_1 if enabled else options.OFF
    )


def get_experimental_options() -> dict[str, Any]:
    """The settings of single optimizations that were made, and the flags."""
    options = session_defaults().graph_options.rewrite_options
    on = proto.RewriterConfig.ON
    found: dict[str, Any] = {
        name: getattr(options, name) == on for name in _TOGGLES if getattr(options, name, 0)
    }
    found.update({name: getattr(options, name) for name in _FLAGS})
    if options.min_graph_nodes:
        found["min_graph_nodes"] = options.min_graph_nodes
    return found


def set_experimental_options(options: dict[str, Any]) -> None:
    """Sets single optimizations, by name, on or off; names it does not know have no effect."""
    target = session_defaults().graph_options.rewrite_options
    states = (proto.RewriterConfig.OFF, proto.RewriterConfig.ON)
    for name, value in options.items():
        if name in _TOGGLES:
            setattr(target, name, states[bool(value)])
        elif name in _FLAGS or name == "min_graph_nodes":
            setattr(target, name, value)
