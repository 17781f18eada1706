"""`tensorflow.python.kernel_tests.signal.test_util`: what is left of a graph that is optimised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.grappler.rewriting import OptimizeGraph


def grappler_optimize(
    graph: tf.Graph, fetches: Sequence[Any] | None = None, config_proto: Any = None
) -> Any:
    """The GraphDef for `fetches`, which join the collection `train_op`, with constants computed."""
    for fetch in fetches or ():
        graph.add_to_collection(tf.GraphKeys.TRAIN_OP, fetch)
    config = tf.ConfigProto() if config_proto is None else config_proto
    return OptimizeGraph(config, tf.train.export_meta_graph(graph=graph))
