"""What `tensorflow.python.ops.template` has besides the public API."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile
from typing import Any

from penstock.ops.graph_functions import defun
from penstock.ops.templates import Template, make_template

__all__ = ["_skip_common_stack_elements", "make_template_internal"]


def make_template_internal(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Any = None,
    create_graph_function_: bool = False,
    **kwargs: Any,
) -> Template:
    """`make_template`, of which each call may be one node that calls a function of the graph."""
    function = partial(func_, **kwargs) if kwargs else func_
    if create_graph_function_:
        function = defun(function)
    return make_template(name_, function, create_scope_now_, unique_name_, custom_getter_)


def _skip_common_stack_elements(
    stacktrace: Sequence[str], base_case: Sequence[str]
) -> Sequence[str]:
    """The frames of a stack behind those that it shares with another; never none at all."""
    pairs = zip(stacktrace, base_case, strict=False)
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    return stacktrace[min(shared, len(stacktrace) - 1) :]
