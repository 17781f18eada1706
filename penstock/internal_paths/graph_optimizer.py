"""`tensorflow.python.grappler.tf_optimizer`: a MetaGraphDef's graph, without what is not needed.

Steps are optimised when a session compiles them, so pruning is all that is left to do to a file.
"""

from __future__ import annotations

from typing import Any

from penstock import graph_util
from penstock.ir.collections import GraphKeys
from penstock.proto import GraphDef

__all__ = ["OptimizeGraph"]


def _wanted(meta_graph: Any) -> list[str]:
    """The nodes that a MetaGraphDef marks as fetched: by its train op and its signatures."""
    collection = meta_graph.collection_def.get(GraphKeys.TRAIN_OP)
    names = [] if collection is None else list(collection.node_list.value)
    for signature in meta_graph.signature_def.values():
        names += [info.name for info in signature.outputs.values()]
    return [name.partition(":")[0] for name in names]


def OptimizeGraph(
    config_proto: Any,
    metagraph: Any,
    verbose: bool = True,
    graph_id: bytes = b"graph_to_optimize",
    cluster: Any = None,
    strip_default_attributes: bool = False,
) -> Any:
    """The GraphDef of the nodes that the fetched nodes of a MetaGraphDef need.

    The fetched nodes are those of the collection `train_op` and the outputs of signatures; without
    any, all nodes are kept. The other arguments have no effect.
    """
    wanted = _wanted(metagraph)
    if not wanted:
        whole = GraphDef()
        whole.CopyFrom(metagraph.graph_def)
        return whole
    return graph_util.extract_sub_graph(metagraph.graph_def, wanted)
