"""`saved_model_cli`: shows what is in a SavedModel, and runs it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock.saved_model import loader
from penstock.tools.saved_functions import show_defined_functions
from penstock.tools.saved_model_inputs import (
    load_inputs_from_input_arg_string,
    preprocess_input_examples_arg_string,
    preprocess_input_exprs_arg_string,
    preprocess_inputs_arg_string,
)
from penstock.tools.saved_model_utils import (
    get_meta_graph_def,
    get_saved_model_tag_sets,
    read_saved_model,
)
from penstock.train.exported_nodes import ops_used_by_graph_def

__all__ = [
    "create_parser",
    "get_meta_graph_def",
    "get_signature_def_map",
    "load_inputs_from_input_arg_string",
    "main",
    "preprocess_input_examples_arg_string",
    "preprocess_input_exprs_arg_string",
    "preprocess_inputs_arg_string",
    "run",
    "run_saved_model_with_feed_dict",
    "scan",
    "scan_meta_graph_def",
    "show",
]

#: Ops that reach beyond the model: they read and write files.
_OP_BLACKLIST = frozenset(["WriteFile", "ReadFile"])


def get_signature_def_map(saved_model_dir: str, tag_set: str) -> Any:
    """The signatures of the graph with these tags, by name."""
    return get_meta_graph_def(saved_model_dir, tag_set).signature_def


# Showing --------------------------------------------------------------------------------------


def show(args: argparse.Namespace) -> None:
    """The command `show`: tags, signatures, or the inputs and outputs of one."""
    if args.all:
        _show_all(args.dir)
    elif args.tag_set is None:
        print("The given SavedModel contains the following tag-sets:")
        for tags in sorted(get_saved_model_tag_sets(args.dir)):
            print(", ".join(sorted(tags)))
    elif args.signature_def is None:
        print("The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:")
        for key in sorted(get_signature_def_map(args.dir, args.tag_set)):
            print(f'SignatureDef key: "{key}"')
    else:
        _show_signature(get_signature_def_map(args.dir, args.tag_set)[args.signature_def])


def _show_all(directory: str) -> None:
    for tags in sorted(get_saved_model_tag_sets(directory)):
        print(
            f"\nMetaGraphDef with tag-set: '{', '.join(tags)}' contains the following "
            "SignatureDefs:"
        )
        signatures = get_signature_def_map(directory, ",".join(tags))
        for key in sorted(signatures):
            print(f"\nsignature_def['{key}']:")
            _show_signature(signatures[key], indent="  ")
    show_defined_functions(directory)


def _show_signature(signature: Any, indent: str = "") -> None:
    for kind in ("input", "output"):
        print(f"{indent}The given SavedModel SignatureDef contains the following {kind}(s):")
        for key, info in sorted(getattr(signature, f"{kind}s").items()):
            print(f"{indent}  {kind}s['{key}'] tensor_info:")
            _show_tensor(info, f"{indent}      ")
    print(f"{indent}Method name is: {signature.method_name}")


def _show_tensor(info: Any, indent: str) -> None:
    shape = "unknown_rank"
    if not info.tensor_shape.unknown_rank:
        shape = f"({', '.join(str(dim.size) for dim in info.tensor_shape.dim)})"
    name = "DT_INVALID"
    if info.dtype:
        name = info.DESCRIPTOR.fields_by_name["dtype"].enum_type.values_by_number[info.dtype].name
    print(f"{indent}dtype: {name}")
    print(f"{indent}shape: {shape}")
    print(f"{indent}name: {info.name}")


# Running --------------------------------------------------------------------------------------


def run(args: argparse.Namespace) -> None:
    """The command `run`: feeds inputs, prints outputs and saves them as NumPy's files."""
    if not args.inputs and not args.input_exprs and not args.input_examples:
        raise AttributeError(
            "At least one of --inputs, --input_exprs or --input_examples must be required"
        )
    feeds = load_inputs_from_input_arg_string(args.inputs, args.input_exprs, args.input_examples)
    run_saved_model_with_feed_dict(
        args.dir, args.tag_set, args.signature_def, feeds, args.outdir, args.overwrite, args.worker
    )


def run_saved_model_with_feed_dict(
    saved_model_dir: str,
    tag_set: str,
    signature_def_key: str,
    input_tensor_key_feed_dict: dict[str, Any],
    outdir: str | None,
    overwrite_flag: bool,
    worker: str | None = None,
    init_tpu: bool = False,
    tf_debug: bool = False,
) -> None:
    """Runs a signature of a SavedModel on values by the names of its inputs.

    Args:
      outdir: a folder for the outputs, one file of NumPy's for each.
      overwrite_flag: whether such a file may be there already.
      worker: the target of the session; this process if None.
    """
    signature = get_signature_def_map(saved_model_dir, tag_set)[signature_def_key]
    for key in input_tensor_key_feed_dict:
        if key not in signature.inputs:
            choices = '", "'.join(signature.inputs)
            raise ValueError(
                f'"{key}" is not a valid input key. Please choose from "{choices}", or use --show '
                "option."
            )
    feeds = {signature.inputs[key].name: v for key, v in input_tensor_key_feed_dict.items()}
    keys = sorted(signature.outputs)
    with tf.Session(worker or "", graph=tf.Graph()) as session:
        loader.load(session, tag_set.split(","), saved_model_dir)
        outputs = session.run([signature.outputs[key].name for key in keys], feeds)
    for key, value in zip(keys, outputs, strict=True):
        print(f"Result for output key {key}:\n{value}")
        if outdir:
            _save(os.path.join(outdir, f"{key}.npy"), key, value, overwrite_flag)


def _save(path: str, key: str, value: Any, overwrite: bool) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path) and not overwrite:
        raise RuntimeError(
            f'Output file {path} already exists. Add "--overwrite" to overwrite the existing '
            "output files."
        )
    np.save(path, value)
    print(f"Output {key} is saved to {path}")


# Scanning -------------------------------------------------------------------------------------


def scan(args: argparse.Namespace) -> None:
    """The command `scan`: whether graphs have ops that read or write files."""
    if args.tag_set:
        scan_meta_graph_def(get_meta_graph_def(args.dir, args.tag_set))
    else:
        for message in read_saved_model(args.dir).meta_graphs:
            scan_meta_graph_def(message)


def scan_meta_graph_def(meta_graph_def: Any) -> None:
    """Prints which ops of a graph read or write files of their own choice."""
    tags = meta_graph_def.meta_info_def.tags
    found = _OP_BLACKLIST & set(ops_used_by_graph_def(meta_graph_def.graph_def))
    if found:
        print(f"MetaGraph with tag set {tags} contains the following blacklisted ops:", set(found))
    else:
        print(f"MetaGraph with tag set {tags} does not contain blacklisted ops.")


# The command line -----------------------------------------------------------------------------


def create_parser() -> argparse.ArgumentParser:
    """The parser of the commands show, run and scan."""
    parser = argparse.ArgumentParser(
        prog="saved_model_cli", description="Shows what is in a SavedModel, and runs it."
    )
    parser.add_argument("-v", "--version", action="version", version="0.1.0")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    shown = commands.add_parser("show", help="print tags, signatures, inputs and outputs")
    shown.add_argument("--dir", required=True, help="folder of the SavedModel")
    shown.add_argument("--all", action="store_true", help="print everything")
    shown.add_argument("--tag_set", help="tags of the graph, with commas between")
    shown.add_argument("--signature_def", metavar="SIGNATURE_DEF_KEY", help="name of a signature")
    shown.set_defaults(func=show)
    ran = commands.add_parser("run", help="run a signature on inputs")
    ran.add_argument("--dir", required=True, help="folder of the SavedModel")
    ran.add_argument("--tag_set", required=True, help="tags of the graph, with commas between")
    ran.add_argument("--signature_def", required=True, metavar="SIGNATURE_DEF_KEY")
    ran.add_argument("--inputs", default="", help="key=file or key=file[variable]; …")
    ran.add_argument("--input_exprs", default="", help="key=expression; …, such as np.ones((2, 3))")
    ran.add_argument("--input_examples", default="", help='key=[{"feature": [values]}]; …')
    ran.add_argument("--outdir", help="folder for the outputs, as files of NumPy's")
    ran.add_argument("--overwrite", action="store_true", help="replace outputs that are there")
    ran.add_argument("--worker", help="target of the session")
    ran.add_argument("--tf_debug", action="store_true", help=argparse.SUPPRESS)
    ran.add_argument("--init_tpu", action="store_true", help=argparse.SUPPRESS)
    ran.set_defaults(func=run)
    scanned = commands.add_parser("scan", help="look for ops that read or write files")
    scanned.add_argument("--dir", required=True, help="folder of the SavedModel")
    scanned.add_argument("--tag_set", help="tags of the graph, with commas between")
    scanned.set_defaults(func=scan)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the exit status."""
    options = create_parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    try:
        options.func(options)
    except (
        AttributeError,
        KeyError,
        OSError,
        RuntimeError,
        ValueError,
        tf.errors.OpError,
    ) as error:
        print(f"saved_model_cli: {error}", file=sys.stderr)
        return 1
    return 0
