"""Errors as statuses on the wire, and back."""

from __future__ import annotations

import re
from typing import Any

from penstock import errors
from penstock.ir.graph import Graph

# A real TensorFlow client takes seconds to format an error of some ten thousand characters.
_LONGEST_MESSAGE = 3000

_NODE = re.compile(r"\[\[\{\{node ([^}\s]+)\}\}")


def status_of(error: Exception, task_name: str = "") -> tuple[int, str]:
    """The code and the message of an error; that of a node says in which task it was raised."""
    if isinstance(error, errors.OpError):
        code, message = error.error_code, error.message
        if error.op is not None and task_name and not message.startswith("From /job:"):
            message = f"From {task_name}:\n{message}"
    elif isinstance(error, (ValueError, TypeError)):
        code, message = errors.INVALID_ARGUMENT, str(error)
    else:
        code, message = errors.INTERNAL, f"{type(error).__name__}: {error}"
    return code, _shortened(message)


def _shortened(message: str) -> str:
    """A message with its middle left out: the end names the node."""
    if len(message) <= _LONGEST_MESSAGE:
        return message
    half = _LONGEST_MESSAGE // 2
    left_out = f"... [{len(message) - 2 * half} characters left out] ..."
    return f"{message[:half]}\n{left_out}\n{message[-half:]}"


def located(error: errors.OpError, graph: Graph) -> errors.OpError:
    """An error of a task, which has a copy of a step's nodes, with the operation of the graph."""
    found = error_of(error.error_code, error.message, graph)
    return error if found.op is None else found


def error_of(code: int, message: str, graph: Graph | None = None) -> errors.OpError:
    """The error that a status stands for; its node is looked up in the graph."""
    try:
        kind: Any = errors.exception_type_from_error_code(code)
    except KeyError:
        return errors.UnknownError(None, None, message, code)
    named = _NODE.search(message)
    op = graph._nodes_by_name.get(named.group(1)) if graph is not None and named else None
    return kind(op.node_def if op is not None else None, op, message)
