"""The arguments of the commands about a dump."""

from __future__ import annotations

import argparse
from typing import Any

from penstock.debugger import command_words

SORT_TENSORS_BY_TIMESTAMP = "timestamp"
SORT_TENSORS_BY_DUMP_SIZE = "dump_size"
SORT_TENSORS_BY_OP_TYPE = "op_type"
SORT_TENSORS_BY_TENSOR_NAME = "tensor_name"

SORT_KEYS = (
    SORT_TENSORS_BY_TIMESTAMP,
    SORT_TENSORS_BY_DUMP_SIZE,
    SORT_TENSORS_BY_OP_TYPE,
    SORT_TENSORS_BY_TENSOR_NAME,
)

_ELEMENT = "a node or one of its tensors: hidden/MatMul, hidden/MatMul:0"
_EXPRESSION = """a Python expression over NumPy (np) and dumped tensors, whose names stand in
backticks: np.sum(`Softmax:0`, axis=1). A tensor may be named more closely:
`[DEVICE:]NODE:SLOT[:DEBUG_OP][[NUMBER_OF_ITS_DUMP]]`."""


def parsers(recursion_depth: int) -> dict[str, argparse.ArgumentParser]:
    """A parser for each command; `recursion_depth` is the default of trees of nodes."""
    return {
        "list_tensors": _list_tensors(),
        "node_info": _node_info(),
        "list_inputs": _tree("inputs of a node", recursion_depth),
        "list_outputs": _tree("nodes that use a node's outputs", recursion_depth),
        "print_tensor": command_words.get_print_tensor_argparser("Shows a dumped tensor."),
        "print_source": _print_source(),
        "list_source": _list_source(),
        "eval": _eval(),
    }


def _parser(description: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(description=description, usage=argparse.SUPPRESS)


def _add_flag(parser: argparse.ArgumentParser, *names: str, help: str) -> None:
    parser.add_argument(*names, action="store_true", help=help)


def _add_text(parser: argparse.ArgumentParser, *names: str, **settings: Any) -> None:
    parser.add_argument(*names, type=str, default=settings.pop("default", ""), **settings)


def _list_tensors() -> argparse.ArgumentParser:
    parser = _parser("Lists dumped tensors.")
    _add_text(parser, "-f", "--tensor_filter", help="only those that pass this filter")
    _add_text(
        parser,
        "-fenn",
        "--filter_exclude_node_names",
        help="with -f: a regular expression of nodes to leave out",
    )
    _add_text(parser, "-n", "--node_name_filter", help="a regular expression of node names")
    _add_text(parser, "-t", "--op_type_filter", help="a regular expression of op types")
    _add_text(
        parser,
        "-s",
        "--sort_by",
        default=SORT_TENSORS_BY_TIMESTAMP,
        help="by what to sort: " + " | ".join(SORT_KEYS),
    )
    _add_flag(parser, "-r", "--reverse", help="sort downwards")
    return parser


def _node_info() -> argparse.ArgumentParser:
    parser = _parser("Tells what is known of a node.")
    parser.add_argument("node_name", type=str, help=_ELEMENT)
    _add_flag(parser, "-a", "--attributes", help="its attributes, too")
    _add_flag(parser, "-d", "--dumps", help="its dumps, too")
    _add_flag(parser, "-t", "--traceback", help="where it was made, too, if that is known")
    return parser


def _tree(what: str, recursion_depth: int) -> argparse.ArgumentParser:
    parser = _parser(f"Lists the {what}.")
    parser.add_argument("node_name", type=str, help=_ELEMENT)
    _add_flag(parser, "-c", "--control", help="control edges, too")
    parser.add_argument("-d", "--depth", type=int, default=recursion_depth, help="how deep to go")
    _add_flag(parser, "-r", "--recursive", help="those of the listed nodes, too")
    _add_flag(parser, "-t", "--op_type", help="op types, too")
    return parser


def _print_source() -> argparse.ArgumentParser:
    parser = _parser("Shows a source file with the nodes or tensors that its lines made.")
    parser.add_argument("source_file_path", type=str, help="path of the file")
    _add_flag(parser, "-t", "--tensors", help="dumped tensors instead of nodes")
    parser.add_argument(
        "-m", "--max_elements_per_line", type=int, default=10, help="how many for a line"
    )
    parser.add_argument("-b", "--line_begin", type=int, default=1, help="the line to begin at")
    return parser


def _list_source() -> argparse.ArgumentParser:
    parser = _parser("Lists the source files that made nodes and tensors of the run.")
    _add_text(parser, "-p", "--path_filter", help="a regular expression of paths")
    _add_text(parser, "-n", "--node_name_filter", help="a regular expression of node names")
    return parser


def _eval() -> argparse.ArgumentParser:
    parser = _parser("Computes an expression of dumped tensors.")
    parser.add_argument("expression", type=str, help=_EXPRESSION)
    parser.add_argument(
        "-a", "--all", dest="print_all", action="store_true", help="all of it, however large"
    )
    _add_text(parser, "-w", "--write_path", help="a file to write the result to (numpy.save)")
    return parser
