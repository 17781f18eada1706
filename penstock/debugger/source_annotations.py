"""Which lines of a program made the nodes of a dump, and what these lines cost."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from penstock.debugger.profile_data import AggregateProfile

__all__ = [
    "annotate_source",
    "annotate_source_against_profile",
    "guess_is_tensorflow_py_library",
    "is_extension_compiled_python_source",
    "is_extension_uncompiled_python_source",
    "list_source_files_against_dump",
    "load_source",
]

#: The folder that the library's own files are below.
_TENSORFLOW_BASEDIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
UNCOMPILED_SOURCE_SUFFIXES = (".py",)
COMPILED_SOURCE_SUFFIXES = (".pyc", ".pyo")


def _norm_abs_path(file_path: str) -> str:
    return os.path.normpath(os.path.abspath(file_path))


def is_extension_uncompiled_python_source(file_path: str) -> bool:
    """Whether a file is named like Python source, or like a script: without an extension."""
    return os.path.splitext(file_path)[1].lower() in ("", *UNCOMPILED_SOURCE_SUFFIXES)


def is_extension_compiled_python_source(file_path: str) -> bool:
    """Whether a file is named like compiled Python."""
    return os.path.splitext(file_path)[1].lower() in COMPILED_SOURCE_SUFFIXES


def guess_is_tensorflow_py_library(py_file_path: str) -> bool:
    """Whether a file seems to be part of the library, and not a test or an example of it."""
    is_source = is_extension_uncompiled_python_source(py_file_path)
    if not is_source and not is_extension_compiled_python_source(py_file_path):
        raise ValueError(f"Input file path ({py_file_path}) is not a Python source file.")
    path = _norm_abs_path(py_file_path)
    is_below = path.startswith(_TENSORFLOW_BASEDIR + os.sep)
    return is_below and not path.endswith("_test.py") and f"{os.sep}examples{os.sep}" not in path


def load_source(source_file_path: str) -> tuple[list[str], int]:
    """The lines of a file, and the width of a column for their numbers."""
    with open(source_file_path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    return lines, len(str(len(lines) - 1)) + 3


def _graph_of(dump: Any, purpose: str) -> Any:
    if not dump.python_graph:
        raise ValueError(f"Cannot {purpose} due to a lack of set Python graph in the dump object")
    return dump.python_graph


def _is_between(number: int, first: int | None, behind: int | None) -> bool:
    return (first is None or number >= first) and (behind is None or number < behind)


def annotate_source(
    dump: Any,
    source_file_path: str,
    do_dumped_tensors: bool = False,
    file_stack_top: bool = False,
    min_line: int | None = None,
    max_line: int | None = None,
) -> dict[int, list[str]]:
    """The names of the nodes that each line of a file made, by line number.

    Args:
      dump: a `DebugDumpDir` with a Python graph.
      do_dumped_tensors: whether to name dumped tensors instead.
      file_stack_top: whether only the innermost line in the file counts.
      min_line, max_line: the first line, and the one behind the last.
    """
    graph = _graph_of(dump, "perform source annotation")
    wanted = _norm_abs_path(source_file_path)
    found: dict[int, list[str]] = {}
    for op in graph.get_operations():
        for path, line, *_ in reversed(dump.node_traceback(op.name)):
            if _norm_abs_path(path) != wanted or not _is_between(line, min_line, max_line):
                continue
            names = _dumped_tensors(dump, op.name) if do_dumped_tensors else [op.name]
            found.setdefault(line, []).extend(names)
            if file_stack_top:
                break
    return found


def _dumped_tensors(dump: Any, node_name: str) -> list[str]:
    keys = dump.debug_watch_keys(node_name)
    return list(dict.fromkeys(key.rpartition(":")[0] for key in keys))


def list_source_files_against_dump(
    dump: Any,
    path_regex_whitelist: str | None = None,
    node_name_regex_whitelist: str | None = None,
) -> list[tuple[str, bool, int, int, int, int]]:
    """The files that made nodes of a dump's graph, in the order of their paths.

    Each has its path, whether it is of the library, how many nodes and tensors it made, how many
    dumps there are of these, and the first line that made a node.

    Args:
      path_regex_whitelist: expression for files.
      node_name_regex_whitelist: expression for nodes.
    """
    graph = _graph_of(dump, "generate source list")
    nodes: dict[str, set[str]] = defaultdict(set)
    tensors: dict[str, set[str]] = defaultdict(set)
    first_lines: dict[str, int] = {}
    dumps: dict[str, int] = {}
    for op in _matching(graph.get_operations(), node_name_regex_whitelist):
        for path, line in _places(dump.node_traceback(op.name), path_regex_whitelist):
            nodes[path].add(op.name)
            tensors[path].update(tensor.name for tensor in op.outputs)
            first_lines[path] = min(line, first_lines.get(path, line))
        dumps.update(_numbers_of_dumps(dump, op.name))
    return [
        (
            path,
            guess_is_tensorflow_py_library(path),
            len(nodes[path]),
            len(tensors[path]),
            sum(dumps.get(tensor, 0) for tensor in tensors[path]),
            first_lines[path],
        )
        for path in sorted(nodes)
    ]


def _matching(operations: Iterable[Any], expression: str | None) -> Iterator[Any]:
    for op in operations:
        if expression is None or re.match(expression, op.name):
            yield op


def _places(traceback: Iterable[Any], expression: str | None) -> Iterator[tuple[str, int]]:
    for path, line, *_ in traceback:
        absolute = _norm_abs_path(path)
        if (expression is None or re.match(expression, absolute)) and os.path.isfile(absolute):
            yield absolute, line


def _numbers_of_dumps(dump: Any, node_name: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for key in dump.debug_watch_keys(node_name):
        node, output, debug_op = key.split(":")
        tensors = dump.get_tensors(node, int(output), debug_op)
        found.setdefault(f"{node}:{output}", len(tensors))
    return found


def annotate_source_against_profile(
    profile_data: Iterable[Any],
    source_file_path: str,
    node_name_filter: str | None = None,
    op_type_filter: str | None = None,
    min_line: int | None = None,
    max_line: int | None = None,
) -> dict[int, AggregateProfile]:
    """What the nodes cost that each line of a file made, by line number.

    Args:
      profile_data: `ProfileDatum` objects.
      node_name_filter, op_type_filter: expressions for nodes and op types.
      min_line, max_line: the first line, and the one behind the last.
    """
    wanted = _norm_abs_path(source_file_path)
    found: dict[int, AggregateProfile] = {}
    for datum in profile_data:
        if not datum.file_path or _norm_abs_path(datum.file_path) != wanted:
            continue
        if not _is_between(datum.line_number, min_line, max_line):
            continue
        if node_name_filter and not re.match(node_name_filter, datum.node_exec_stats.node_name):
            continue
        if op_type_filter and not re.match(op_type_filter, datum.op_type):
            continue
        if datum.line_number in found:
            found[datum.line_number].add(datum)
        else:
            found[datum.line_number] = AggregateProfile(datum)
    return found
