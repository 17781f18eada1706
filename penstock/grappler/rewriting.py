"""`tensorflow.python.grappler.tf_optimizer`: a MetaGraphDef's graph, rewritten.

Steps are optimised when a session compiles them, so what is left to do to a file is to leave out
nodes, to compute those that constants determine, and to compute cheap ones again for gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock import errors, graph_util
from penstock.grappler.items import fetched_names
from penstock.grappler.recomputed_nodes import recompute_by_hints, recompute_cheap_nodes
from penstock.ir import registry
from penstock.passes.recompute import SCOPE
from penstock.proto import GraphDef, RewriterConfig, VariableDef

__all__ = ["OptimizeGraph"]

_SMALL_GRAPH = 4  # nodes: of fewer, rewriting is not worth its time
_KEEP = "_grappler_do_not_remove"


def OptimizeGraph(
    config_proto: Any,
    metagraph: Any,
    verbose: bool = True,
    graph_id: bytes = b"graph_to_optimize",
    cluster: Any = None,
    strip_default_attributes: bool = False,
) -> Any:
    """The GraphDef of a MetaGraphDef as `config_proto.graph_options.rewrite_options` ask for.

    Kept are the nodes of the collection `train_op`, the outputs of signatures, the nodes that other
    collections name, and what these need. The arguments after `metagraph` have no effect.
    """
    if not isinstance(config_proto, tf.ConfigProto):
        raise TypeError(f"Expected config_proto to be a ConfigProto, saw type {type(config_proto)}")
    if not fetched_names(metagraph):
        raise errors.InvalidArgumentError(
            None, None, "Failed to import metagraph, check error log for more info."
        )
    graph_def = GraphDef()
    graph_def.CopyFrom(metagraph.graph_def)
    options = config_proto.graph_options.rewrite_options
    if options.disable_meta_optimizer or _is_small(graph_def, options):
        return graph_def
    return _rewritten(graph_def, _kept(metagraph), options)


def _is_small(graph_def: Any, options: Any) -> bool:
    least = options.min_graph_nodes or _SMALL_GRAPH
    return len(graph_def.node) < least


def _rewritten(graph_def: Any, kept: Sequence[str], options: Any) -> Any:
    folds = _wants(options, "constfold", options.constant_folding != RewriterConfig.OFF)
    prunes = not options.disable_model_pruning and _wants(options, "pruning", True)
    if prunes:
        graph_def = graph_util.extract_sub_graph(graph_def, kept)
    if folds:
        graph_def = _folded(graph_def)
        if not options.disable_model_pruning:
            graph_def = graph_util.extract_sub_graph(graph_def, kept)
    memory = options.memory_optimization
    scope = options.memory_optimizer_target_node_name_scope or SCOPE
    if memory == RewriterConfig.MANUAL:
        recompute_by_hints(graph_def, scope)
    elif memory in (RewriterConfig.RECOMPUTATION_HEURISTICS, RewriterConfig.HEURISTICS):
        recompute_cheap_nodes(graph_def, scope)
    return graph_def


def _wants(options: Any, optimizer: str, default: bool) -> bool:
    """Whether a rewriting is asked for: the list of optimizers, where there is one, is all."""
    return optimizer in options.optimizers if options.optimizers else default


def _kept(meta_graph: Any) -> list[str]:
    """The nodes that must stay: fetched ones, those that collections name, those marked so."""
    nodes = {node.name: node for node in meta_graph.graph_def.node}
    names = [*fetched_names(meta_graph)]
    for key, collection in meta_graph.collection_def.items():
        names += [text.partition(":")[0] for text in collection.node_list.value]
        if key in (tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.LOCAL_VARIABLES):
            for text in collection.bytes_list.value:
                variable = VariableDef.FromString(text)
                names += [variable.variable_name.partition(":")[0], variable.initializer_name]
    names += [node.name for node in nodes.values() if _KEEP in node.attr]
    return [name for name in dict.fromkeys(names) if name in nodes]


def _folded(graph_def: Any) -> Any:
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
    return folded


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
