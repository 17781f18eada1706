"""`tensorflow.python.grappler.tf_optimizer`: a MetaGraphDef's graph, without what is not needed.

Steps are optimised when a session compiles them, so what is left to do to a file is to leave out
nodes, and to compute those that constants determine.
"""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import graph_util
from penstock.ir import registry
from penstock.proto import GraphDef

__all__ = ["OptimizeGraph"]


def _wanted(meta_graph: Any) -> list[str]:
    """The nodes that a MetaGraphDef marks as fetched: by its train op and its signatures."""
    collection = meta_graph.collection_def.get(tf.GraphKeys.TRAIN_OP)
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
    """The GraphDef of the nodes that the fetched nodes of a MetaGraphDef need, constants folded.

    The fetched nodes are those of the collection `train_op` and the outputs of signatures; without
    any, all nodes are kept. The other arguments have no effect.
    """
    wanted = _wanted(metagraph)
    if not wanted:
        whole = GraphDef()
        whole.CopyFrom(metagraph.graph_def)
        return whole
    return _folded(graph_util.extract_sub_graph(metagraph.graph_def, wanted), wanted)


def _folded(graph_def: Any, wanted: list[str]) -> Any:
    """A GraphDef in which nodes whose value is known are constants of the same name."""
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
    known = _known(graph)
    if not known:
        return graph_def
    with tf.Session(graph=graph) as sess:
        values = sess.run({op.name: op.outputs[0] for op in known})
    folded = GraphDef()
    folded.CopyFrom(graph_def)
    del folded.node[:]
    for node in graph_def.node:
        if node.name in values:
            folded.node.append(_constant(node, graph, values[node.name]))
        else:
            folded.node.append(node)
    return graph_util.extract_sub_graph(folded, wanted)


def _known(graph: tf.Graph) -> list[tf.Operation]:
    """The operations of one result that constants determine, but for constants themselves."""
    known: dict[tf.Operation, None] = {}
    for op in graph.get_operations():
        spec = registry.find(op.type)
        if op.type == "Const" or (
            spec is not None
            and not spec.is_stateful
            and registry.CONTROL_FLOW not in spec.traits
            and op.inputs
            and not op.control_inputs
            and all(tensor.op in known for tensor in op.inputs)
            and all(tensor.dtype.is_numpy_compatible for tensor in op.outputs)
        ):
            known[op] = None
    return [op for op in known if op.type != "Const" and len(op.outputs) == 1]


def _constant(node: Any, graph: tf.Graph, value: Any) -> Any:
    dtype = graph.get_operation_by_name(node.name).outputs[0].dtype
    constant = type(node)(name=node.name, op="Const", device=node.device)
    constant.attr["dtype"].type = dtype.as_datatype_enum
    constant.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value, dtype))
    return constant
