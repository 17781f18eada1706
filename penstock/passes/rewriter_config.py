"""Which passes run, as a ConfigProto says: `graph_options` with TensorFlow's own switches."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from penstock import proto
from penstock.passes.pipeline import AS_WRITTEN, PassOptions
from penstock.passes.recompute import SCOPE

#: The passes that a switch of RewriterConfig turns off.
_SWITCHES = {
    "constant_folding": ("fold",),
    "common_subgraph_elimination": ("merge",),
    "arithmetic_optimization": ("simplify",),
    "dependency_optimization": ("dead_ends",),
    "loop_optimization": ("branches",),
    "remapping": (
        "fuse",
        "pooled_gradients",
        "bias",
        "conv_epilogue",
        "relu_sums",
        "conv_gradients",
        "descent",
        "together",
    ),
}


def pass_options(config: Any, *, has_gpu: bool = False) -> PassOptions:
    """The passes that a session with this ConfigProto runs; `has_gpu` of the session."""
    given = config.graph_options.rewrite_options
    level = config.graph_options.optimizer_options.opt_level
    # Loops and conditionals as parts of plans are no other graph: they only take less time.
    plain = dataclasses.replace(AS_WRITTEN, structure=True)
    options = plain if level == proto.OptimizerOptions.L0 else PassOptions()
    off = {
        field: False
        for switch, fields in _SWITCHES.items()
        if getattr(given, switch) == proto.RewriterConfig.OFF
        for field in fields
    }
    # On a GPU convolutions round more coarsely (TF32) than what this pass changes.
    pools_first = options.fuse and given.remapping == proto.RewriterConfig.ON
    if has_gpu and given.remapping == proto.RewriterConfig.DEFAULT:
        pools_first = options.fuse
    return dataclasses.replace(
        options,
        **off,
        pool_first=pools_first,
        recompute=_recomputed_scope(given),
        precision=_precision(given, has_gpu),
        narrow_edges=config.graph_options.enable_bfloat16_sendrecv,
        fusion=_fusion(config.graph_options.optimizer_options, options),
    )


def _fusion(given: Any, options: PassOptions) -> str:
    """When regions of a step are compiled: TensorFlow's switch of its own compiler says it."""
    jit = given.global_jit_level
    if jit == proto.OptimizerOptions.OFF or os.environ.get("PENSTOCK_FUSION") == "0":
        return "never"
    return options.fusion if jit == proto.OptimizerOptions.DEFAULT else "soon"


def _recomputed_scope(given: Any) -> str | None:
    """The name scope whose inputs are recomputed, if that is asked for."""
    asks = given.memory_optimization in (
        proto.RewriterConfig.RECOMPUTATION_HEURISTICS,
        proto.RewriterConfig.HEURISTICS,
    )
    return (given.memory_optimizer_target_node_name_scope or SCOPE) if asks else None


def _precision(given: Any, has_gpu: bool) -> str | None:
    """The 16-bit type of mixed precision, if that is asked for.

    `auto_mixed_precision` means float16 on GPUs, as in TensorFlow; the other switches ask for
    float16 on a CPU, or for bfloat16, which needs no loss scaling, on any device.
    """
    on = proto.RewriterConfig.ON
    if on in (given.auto_mixed_precision_mkl, given.auto_mixed_precision_onednn_bfloat16):
        return "bfloat16"
    on_gpu = given.auto_mixed_precision == on and has_gpu
    return "float16" if on_gpu or given.auto_mixed_precision_cpu == on else None
