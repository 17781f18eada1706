"""Watches: which tensors of a run a debugger wants to see, noted in `RunOptions`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any


def add_debug_tensor_watch(
    run_options: Any,
    node_name: str,
    output_slot: int = 0,
    debug_ops: str | Sequence[str] = "DebugIdentity",
    debug_urls: str | Sequence[str] | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
) -> None:
    """Has one output of a node written when `Session.run` is called with these options.

    Args:
      run_options: a `tf.RunOptions`, which is changed.
      node_name: the node; "*" stands for all.
      output_slot: which of its outputs; -1 stands for all.
      debug_ops: what is written: DebugIdentity, DebugNanCount or DebugNumericSummary.
      debug_urls: the folders, as "file:///tmp/dump".
      tolerate_debug_op_creation_failures: whether tensors that an op doesn't fit are left out.
      global_step: a number for the run.
    """
    run_options.debug_options.global_step = global_step
    watch = run_options.debug_options.debug_tensor_watch_opts.add(
        node_name=node_name,
        output_slot=output_slot,
        tolerate_debug_op_creation_failures=tolerate_debug_op_creation_failures,
    )
    watch.debug_ops.extend([debug_ops] if isinstance(debug_ops, str) else debug_ops)
    watch.debug_urls.extend([debug_urls] if isinstance(debug_urls, str) else debug_urls or ())


def _matcher(pattern: str | None) -> Callable[[str], Any]:
    """Whether a text begins as a pattern says; without a pattern the answer is None."""
    if not pattern:
        return lambda text: None
    return lambda text: bool(re.match(pattern, text))


def watch_graph(
    run_options: Any,
    graph: Any,
    debug_ops: str | Sequence[str] = "DebugIdentity",
    debug_urls: str | Sequence[str] | None = None,
    node_name_regex_whitelist: str | None = None,
    op_type_regex_whitelist: str | None = None,
    tensor_dtype_regex_whitelist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Watches the tensors of a graph whose node, op type and type match all given patterns.

    The other arguments are those of `add_debug_tensor_watch`.
    """
    if not debug_ops:
        raise ValueError("debug_ops must not be empty or None.")
    if not debug_urls:
        raise ValueError("debug_urls must not be empty or None.")
    more: dict[str, Any] = {
        "debug_ops": debug_ops,
        "debug_urls": debug_urls,
        "tolerate_debug_op_creation_failures": tolerate_debug_op_creation_failures,
        "global_step": global_step,
    }
    patterns = (node_name_regex_whitelist, op_type_regex_whitelist, tensor_dtype_regex_whitelist)
    name, op_type, dtype = map(_matcher, patterns)
    for op in graph.get_operations():
        if name(op.name) is False or op_type(op.type) is False:
            continue
        for slot, tensor in enumerate(op.outputs):
            if dtype(tensor.dtype.name) is not False:
                add_debug_tensor_watch(run_options, op.name, slot, **more)
    if not any(patterns):
        # Nodes that are not in the graph but in what is run.
        add_debug_tensor_watch(run_options, "*", -1, **more)
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


def watch_graph_with_blacklists(
    run_options: Any,
    graph: Any,
    debug_ops: str | Sequence[str] = "DebugIdentity",
    debug_urls: str | Sequence[str] | None = None,
    node_name_regex_blacklist: str | None = None,
    op_type_regex_blacklist: str | None = None,
    tensor_dtype_regex_blacklist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Watches the tensors of a graph that none of the patterns matches; see `watch_graph`."""
    patterns = (node_name_regex_blacklist, op_type_regex_blacklist, tensor_dtype_regex_blacklist)
    name, op_type, dtype = map(_matcher, patterns)
    for op in graph.get_operations():
        if name(op.name) or op_type(op.type):
            continue
        for slot, tensor in enumerate(op.outputs):
            if dtype(tensor.dtype.name):
                continue
            add_debug_tensor_watch(
                run_options,
                op.name,
                slot,
                debug_ops,
                debug_urls,
                tolerate_debug_op_creation_failures,
                global_step,
            )
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage
