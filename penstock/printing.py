"""`tf.print`: a node that prints a line in each step."""

from __future__ import annotations

import logging
import os
import pprint
import sys
from typing import Any

from penstock.ir.composite import SparseTensor
from penstock.ir.tensor import Tensor
from penstock.nest import flatten, map_structure, pack_sequence_as
from penstock.ops.printing import PrintV2
from penstock.ops.string_numbers import string_format
from penstock.platform import logging as own_logging

__all__ = ["print"]


def _stream_name(stream: Any) -> str:
    """The stream as PrintV2 names it."""
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    for name, known in (
        ("stdout", (sys.stdout,)),
        ("stderr", (sys.stderr,)),
        ("log(info)", (own_logging.INFO, own_logging.info, logging.info)),
        ("log(warning)", (own_logging.WARN, own_logging.warn, own_logging.warning)),
        ("log(warning)", (logging.warning,)),
        ("log(error)", (own_logging.ERROR, own_logging.error, logging.error)),
    ):
        if any(stream is each or (isinstance(each, int) and stream == each) for each in known):
            return name
    raise ValueError(
        f"Unsupported output stream, logging level, or file.{stream}. Supported streams are "
        "sys.stdout, sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. File "
        "needs to be in the form of 'file://<filepath>'."
    )


def print(*inputs: Any, **kwargs: Any) -> Any:
    """Prints tensors, and what else is given, whenever the returned operation runs.

    Args:
      output_stream: `sys.stderr` (the default), `sys.stdout`, a function or level of `tf.logging`,
        or "file://" and a path.
      summarize: How many elements of a dimension to show at its beginning and its end: 3; -1
        for all.
      sep, end: What stands between inputs, and at the end of the line.
      name: The name of the node.
    """
    stream = kwargs.pop("output_stream", sys.stderr)
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    sep, end = kwargs.pop("sep", " "), kwargs.pop("end", os.linesep)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    target = _stream_name(stream)
    only = inputs[0] if len(inputs) == 1 else None
    if isinstance(only, Tensor) and only.shape.ndims == 0 and only.dtype.name == "string":
        line: Any = only
    else:
        template, tensors, mark = _template(inputs, sep)
        format_name = f"{name}_format" if name else None
        line = string_format(template, tensors, mark, summarize, name=format_name)
    return PrintV2(line, output_stream=target, end=end, name=name)


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor) or hasattr(x, "_as_graph_element")


def _template(inputs: Any, sep: str) -> tuple[str, list[Any], str]:
    """The text with marks where tensors are, the tensors, and the mark, which the text has not."""
    without = map_structure(lambda x: "" if _is_tensor(x) or _is_sparse(x) else x, inputs)
    text = " ".join(pprint.pformat(x) for x in without)
    mark = "{}"
    while mark in text:
        mark += "0"
    tensors: list[Any] = []

    def marked(x: Any) -> Any:
        if _is_sparse(x):
            tensors.extend([x.indices, x.values, x.dense_shape])
            return f"SparseTensor(indices={mark}, values={mark}, shape={mark})"
        if _is_tensor(x):
            tensors.append(x)
            return mark
        return x

    parts = []
    for given in inputs:
        if isinstance(given, str):
            parts.append(given)
        else:
            shown = pack_sequence_as(given, [marked(x) for x in flatten(given)])
            parts.append(pprint.pformat(shown))
    return sep.join(parts).replace(f"'{mark}'", mark), tensors, mark


def _is_sparse(x: Any) -> bool:
    return isinstance(x, SparseTensor)
