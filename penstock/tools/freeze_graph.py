"""A graph and a checkpoint as one file: variables become constants."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import gfile, graph_util
from penstock.proto import GraphDef

__all__ = ["freeze_graph", "freeze_graph_with_def_protos"]


def freeze_graph_with_def_protos(
    input_graph_def: Any,
    input_saver_def: Any,
    input_checkpoint: str,
    output_node_names: str,
    restore_op_name: str,
    filename_tensor_name: str,
    output_graph: str,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    **unused: Any,
) -> Any:
    """The frozen GraphDef; it is written to `output_graph` if that is given."""
    if not tf.train.checkpoint_exists(input_checkpoint):
        print(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
        return -1
    if not output_node_names:
        print("You need to supply the name of a node to --output_node_names.")
        return -1
    if clear_devices:
        for node in input_graph_def.node:
            node.device = ""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(input_graph_def, name="")
        if input_saver_def is not None:
            tf.train.Saver(saver_def=input_saver_def).restore(session, input_checkpoint)
        else:
            session.run([restore_op_name], {filename_tensor_name: input_checkpoint})
        if initializer_nodes:
            session.run(initializer_nodes.replace(" ", "").split(","))
        frozen = graph_util.convert_variables_to_constants(
            session,
            input_graph_def,
            output_node_names.replace(" ", "").split(","),
            variable_names_whitelist=_names(variable_names_whitelist),
            variable_names_blacklist=_names(variable_names_blacklist),
        )
    if output_graph:
        with gfile.GFile(output_graph, "wb") as file:
            file.write(frozen.SerializeToString())
    return frozen


def _names(text: str) -> list[str] | None:
    return text.replace(" ", "").split(",") if text else None


def freeze_graph(
    input_graph: str,
    input_saver: str,
    input_binary: bool,
    input_checkpoint: str,
    output_node_names: str,
    restore_op_name: str,
    filename_tensor_name: str,
    output_graph: str,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph: str = "",
    **unused: Any,
) -> Any:
    """Freezes a graph file, binary or text, with the values of a checkpoint.

    Args:
      output_node_names: names of the nodes to keep, and all that they need, with commas between.
      restore_op_name: the node that restores, where no `input_saver` (a SaverDef file) is given.
    """
    saver_def = None
    if input_meta_graph:
        meta_graph = _read(input_meta_graph, tf.MetaGraphDef(), input_binary)
        graph_def, saver_def = meta_graph.graph_def, meta_graph.saver_def
    else:
        graph_def = _read(input_graph, GraphDef(), input_binary)
    if input_saver:
        saver_def = _read(input_saver, tf.train.SaverDef(), input_binary)
    return freeze_graph_with_def_protos(
        graph_def,
        saver_def,
        input_checkpoint,
        output_node_names,
        restore_op_name,
        filename_tensor_name,
        output_graph,
        clear_devices,
        initializer_nodes,
        variable_names_whitelist,
        variable_names_blacklist,
    )


def _read(filename: str, message: Any, binary: bool) -> Any:
    from google.protobuf import text_format

    if not gfile.Exists(filename):
        raise tf.errors.NotFoundError(None, None, f"Input file '{filename}' does not exist!")
    with gfile.GFile(filename, "rb") as file:
        content = file.read()
    if binary:
        message.ParseFromString(content)
    else:
        text_format.Parse(content.decode(), message)
    return message
