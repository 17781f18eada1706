"""`tf.contrib.tfprof.model_analyzer`: what `tf.profiler.profile` was called first."""

from __future__ import annotations

from typing import Any

from penstock.profiler.model_analyzer import _DEFAULT_PROFILE_OPTIONS, profile
from penstock.profiler.option_builder import ProfileOptionBuilder

# Programs copy these and change them: `dump_to_file` is an older way to name an output.

#: The parameters of trainable variables.
TRAINABLE_VARS_PARAMS_STAT_OPTIONS = {
    **ProfileOptionBuilder.trainable_variables_parameter(),
    "dump_to_file": "",
}
#: Floating point operations.
FLOAT_OPS_OPTIONS = {**ProfileOptionBuilder.float_operation(), "dump_to_file": ""}
#: The time and memory of a traced step.
PRINT_ALL_TIMING_MEMORY = {
    **ProfileOptionBuilder.time_and_memory(),
    "order_by": "name",
    "dump_to_file": "",
}


def print_model_analysis(
    graph: Any,
    run_meta: Any = None,
    op_log: Any = None,
    tfprof_cmd: str = "scope",
    tfprof_options: Any = _DEFAULT_PROFILE_OPTIONS,
) -> Any:
    """Prints and returns what a graph consists of; see `tf.profiler.profile`."""
    return profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)
