"""Pruned models for use: masks multiplied into weights, once and for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock import graph_util, logging

_MARK = "masked_weight"


def _masked_weights(graph_def: Any) -> dict[str, Any]:
    names = [node.name for node in graph_def.node if _MARK in node.name]
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
    with tf.Session(graph=graph) as session:
        values = session.run({name: graph.get_tensor_by_name(f"{name}:0") for name in names})
    for name, value in values.items():
        zeros = 100 - 100 * np.count_nonzero(value) / np.size(value)
        logging.info("%s has %d values, %1.2f%% zeros", name, np.size(value), zeros)
    return dict(values)


def strip_pruning_vars_fn(input_graph_def: Any, output_node_names: Sequence[str]) -> Any:
    """A GraphDef without masks and thresholds; weights are constants.

    Args:
      input_graph_def: a graph without variables, for example by `graph_def_from_checkpoint`.
      output_node_names: what the graph is to compute.
    """
    values = _masked_weights(input_graph_def)
    stripped = tf.GraphDef()
    for node in input_graph_def.node:
        kept = stripped.node.add()
        if node.name not in values:
            kept.CopyFrom(node)
            continue
        kept.op = "Const"
        kept.name = node.name
        kept.attr["dtype"].CopyFrom(node.attr["T"])
        kept.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(values[node.name]))
    return graph_util.extract_sub_graph(stripped, output_node_names)


def graph_def_from_checkpoint(checkpoint_dir: str, output_node_names: Sequence[str]) -> Any:
    """The graph of the latest checkpoint of a folder, with constants for variables."""
    path = tf.train.latest_checkpoint(checkpoint_dir)
    if path is None:
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}.")
    saver = tf.train.import_meta_graph(f"{path}.meta", clear_devices=True)
    assert saver is not None
    with tf.Session() as session:
        saver.restore(session, path)
        graph_def = tf.get_default_graph().as_graph_def()
        return graph_util.convert_variables_to_constants(session, graph_def, output_node_names)
