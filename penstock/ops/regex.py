"""Regular expressions, in the syntax of RE2."""

from __future__ import annotations

from typing import Any

from penstock.ir.dispatch import dispatched
from penstock.ir.operation import Operation
from penstock.ir.registry import attr, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

__all__ = ["regex_replace"]

RegexReplace = op(
    "RegexReplace(input: string, pattern: string, rewrite: string) -> output: string",
    replace_global=True,
)
StaticRegexReplace = op(
    "StaticRegexReplace(input: string) -> output: string",
    pattern=attr("string"),
    rewrite=attr("string"),
    replace_global=True,
)
RegexFullMatch = op("RegexFullMatch(input: string, pattern: string) -> output: bool")
StaticRegexFullMatch = op(
    "StaticRegexFullMatch(input: string) -> output: bool", pattern=attr("string")
)
not_differentiable(RegexReplace)


@RegexReplace.shape
@RegexFullMatch.shape
def _(op: Operation, input: Shape, *expressions: Shape) -> Shape:
    for shape in expressions:
        with_rank(shape, 0)
    return input


@StaticRegexReplace.shape
@StaticRegexFullMatch.shape
def _(op: Operation, input: Shape) -> Shape:
    return input


@dispatched
def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Tensor:
    r"""Replaces what matches `pattern` by `rewrite`, in which `\1` is the first group, `\0` all.

    `replace_global=False` replaces only the first match in each string.
    """
    if _is_text(pattern) and _is_text(rewrite):
        return StaticRegexReplace(
            input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name
        )
    return RegexReplace(input, pattern, rewrite, replace_global=replace_global, name=name)


@dispatched
def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Whether each string as a whole matches `pattern`."""
    if _is_text(pattern):
        return StaticRegexFullMatch(input, pattern=pattern, name=name)
    return RegexFullMatch(input, pattern, name=name)


def _is_text(value: Any) -> bool:
    return isinstance(value, (str, bytes))
