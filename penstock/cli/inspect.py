"""`penstock inspect`: what is in a checkpoint, graph, SavedModel, event file or TFRecord file.

What kind of file it is, is told by its contents, not by its name. The answer is a row for each
thing in it, as text or, with --json, as one JSON object per line.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.message import DecodeError

from penstock import errors
from penstock.cli import inspect_graph, inspect_records, inspect_tensors
from penstock.cli.file_kinds import Found, Unreadable, find
from penstock.cli.rows import Row, Wanted

_INSPECTORS: dict[str, Callable[[Found, Wanted], Iterator[Row]]] = {
    "checkpoint": inspect_tensors.rows,
    "checkpoint state": inspect_tensors.state_rows,
    "GraphDef": inspect_graph.graph_rows,
    "MetaGraphDef": inspect_graph.meta_graph_rows,
    "SavedModel": inspect_graph.saved_model_rows,
    "event file": inspect_records.event_rows,
    "TFRecord file": inspect_records.record_rows,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("file", help="a file, a checkpoint's prefix, or a SavedModel's folder")
    parser.add_argument(
        "--grep", metavar="REGEX", help="only rows in which the regular expression is found"
    )
    parser.add_argument(
        "--tensor",
        metavar="NAME",
        help="print the values of one tensor (a part of it: NAME[0,:5]), node, tag or feature",
    )
    parser.add_argument("--stats", action="store_true", help="add statistics of the values")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="at most N rows")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")


def inspect(options: argparse.Namespace) -> int:
    """Prints what is in a file; the exit status: 0, or 1 where it can't be read."""
    try:
        pattern = re.compile(options.grep) if options.grep else None
    except re.error as error:
        return _fail(f"--grep {options.grep!r}: {error}")
    wanted = Wanted(pattern, options.tensor, options.stats, options.limit)
    try:
        found = find(options.file)
        for row in _INSPECTORS[found.kind](found, wanted):
            print(json.dumps(row.data, ensure_ascii=False) if options.json else row.text)
    except (errors.OpError, Unreadable, LookupError, ValueError, DecodeError) as error:
        sys.stdout.flush()
        return _fail(getattr(error, "message", None) or _text(error))
    except OSError as error:
        if isinstance(error, BrokenPipeError):  # `| head` has seen enough
            _close_stdout()
            return 0
        return _fail(str(error))
    return 0


def _text(error: Any) -> str:
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)


def _close_stdout() -> None:
    """Lets the interpreter end without a second complaint about the pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> int:
    print(f"penstock inspect: {message}", file=sys.stderr)
    return 1
