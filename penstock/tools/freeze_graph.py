"""A graph and a checkpoint as one file: variables become constants."""

from __future__ import annotations

import re
from typing import Any

import penstock as tf
from penstock import graph_util
from penstock.proto import GraphDef, SaverDef
from penstock.saved_model import loader
from penstock.tools.command_flags import FlagParser
from penstock.tools.graph_files import read_message, write_message

__all__ = ["freeze_graph", "freeze_graph_with_def_protos", "main", "run_main"]


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
    input_meta_graph_def: Any = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: Any = None,
    checkpoint_version: int = SaverDef.V2,
) -> Any:
    """The frozen GraphDef; it is written to `output_graph` if that is given.

    The variables' values are those of a checkpoint or of a SavedModel. `restore_op_name` and
    `filename_tensor_name` are not used.
    """
    if not input_saved_model_dir and not tf.train.checkpoint_exists(input_checkpoint):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    graph_def = input_graph_def
    if graph_def is None and input_meta_graph_def is not None:
        graph_def = input_meta_graph_def.graph_def
    if clear_devices and graph_def is not None:
        for node in graph_def.node:
            node.device = ""
    # A graph of its own, and no more nodes in the caller's.
    with tf.Graph().as_default(), tf.Session() as session:
        if input_graph_def is not None:
            tf.import_graph_def(input_graph_def, name="")
        if input_saver_def is not None:
            saver = tf.train.Saver(saver_def=input_saver_def, write_version=checkpoint_version)
            saver.restore(session, input_checkpoint)
        elif input_meta_graph_def is not None:
            restorer = tf.train.import_meta_graph(input_meta_graph_def, clear_devices=True)
            if restorer is not None:
                restorer.restore(session, input_checkpoint)
        elif input_saved_model_dir:
            loader.load(session, saved_model_tags or [], input_saved_model_dir)
        else:
            _restore_by_name(session, input_checkpoint, checkpoint_version)
        if initializer_nodes and input_saved_model_dir is None:
            session.run(_names(initializer_nodes))
        frozen = graph_util.convert_variables_to_constants(
            session,
            session.graph.as_graph_def() if graph_def is None else graph_def,
            _names(output_node_names) or [],
            variable_names_whitelist=_names(variable_names_whitelist),
            variable_names_blacklist=_names(variable_names_blacklist),
        )
    if output_graph:
        write_message(output_graph, frozen, binary=True)
    return frozen


def _names(text: str) -> list[str] | None:
    return text.replace(" ", "").split(",") if text else None


def _restore_by_name(session: Any, checkpoint: str, version: int) -> None:
    """Gives each node of the graph that has the name of a tensor of the checkpoint its value."""
    graph = session.graph
    names = tf.train.NewCheckpointReader(checkpoint).get_variable_to_shape_map()
    known = {name: graph.get_tensor_by_name(f"{name}:0") for name in names if _is_in(graph, name)}
    try:
        saver = tf.train.Saver(var_list=known, write_version=version)
    except TypeError as error:
        if any(re.search(r"/part_\d+/", op.name) for op in graph.get_operations()):
            raise ValueError(
                "Models containing partition variables cannot be converted from checkpoint files. "
                "Please pass in a SavedModel using the flag --input_saved_model_dir."
            ) from error
        if not any(tensor.op.type in ("Variable", "VariableV2") for tensor in known.values()):
            print(
                "No variables were found in this model. It is likely the model was frozen "
                "previously. You cannot freeze a graph twice."
            )
        raise
    saver.restore(session, checkpoint)


def _is_in(graph: Any, name: str) -> bool:
    try:
        graph.get_tensor_by_name(f"{name}:0")
    except (KeyError, ValueError):
        return False
    return True


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
    input_meta_graph: str | None = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: str = "serve",
    checkpoint_version: int = SaverDef.V2,
) -> Any:
    """Freezes a graph file, binary or text, with the values of a checkpoint.

    Args:
      input_graph: the GraphDef; or give `input_meta_graph` or `input_saved_model_dir`.
      input_saver: a SaverDef file; without one, variables are found by their names.
      output_node_names: names of the nodes to keep, and all that they need, with commas between.
      output_graph: the file to write.
      clear_devices: whether to forget where nodes are placed.
      initializer_nodes: nodes to run before freezing.
    """
    graph_def = meta_graph = saver_def = None
    if input_graph:
        graph_def = read_message(input_graph, GraphDef(), binary=input_binary)
    if input_meta_graph:
        meta_graph = read_message(input_meta_graph, tf.MetaGraphDef(), binary=input_binary)
    if input_saver:
        saver_def = read_message(input_saver, SaverDef(), binary=input_binary)
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
        meta_graph,
        input_saved_model_dir,
        _names(saved_model_tags),
        checkpoint_version,
    )


def main(unused_args: Any, flags: Any) -> None:
    """Freezes what flags of the command line name."""
    if flags.checkpoint_version not in (1, 2):
        raise ValueError(
            f"Invalid checkpoint version (must be '1' or '2'): {flags.checkpoint_version}"
        )
    given = dict(vars(flags))
    given["checkpoint_version"] = SaverDef.V1 if given["checkpoint_version"] == 1 else SaverDef.V2
    freeze_graph(**given)


def run_main() -> None:
    """Runs the command: `python -m penstock.tools.freeze_graph --input_graph=…`."""
    parser = FlagParser(description=__doc__)
    parser.text("input_graph", "GraphDef file to read")
    parser.text("input_saver", "SaverDef file to read")
    parser.text("input_checkpoint", "prefix of the checkpoint with the values")
    parser.number("checkpoint_version", 2, "the checkpoint's format: 1 or 2")
    parser.text("output_graph", "file to write the frozen GraphDef to")
    parser.switch("input_binary", False, "whether input files are binary")
    parser.text("output_node_names", "the nodes to keep, with commas between")
    parser.text("restore_op_name", "not used", "save/restore_all")
    parser.text("filename_tensor_name", "not used", "save/Const:0")
    parser.switch("clear_devices", True, "whether to forget where nodes are placed")
    parser.text("initializer_nodes", "nodes to run before freezing, with commas between")
    parser.text("variable_names_whitelist", "the only variables to freeze, with commas between")
    parser.text("variable_names_blacklist", "variables to leave as they are")
    parser.text("input_meta_graph", "MetaGraphDef file to read")
    parser.text("input_saved_model_dir", "folder of the SavedModel to read")
    parser.text("saved_model_tags", "tags of its MetaGraphDef, with commas between", "serve")
    parser.run(main)


if __name__ == "__main__":
    run_main()
