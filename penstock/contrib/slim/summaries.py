"""Summaries named after their tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import penstock as tf

__all__ = [
    "add_histogram_summaries",
    "add_histogram_summary",
    "add_image_summaries",
    "add_image_summary",
    "add_scalar_summaries",
    "add_scalar_summary",
    "add_zero_fraction_summaries",
    "add_zero_fraction_summary",
]


def _summary_name(
    tensor: Any, name: str | None, prefix: str | None, postfix: str | None = None
) -> str:
    return "/".join(part for part in (prefix, name or tensor.op.name, postfix) if part)


def _printed(summarize: Callable[..., Any], tensor: Any, name: str, print_summary: bool) -> Any:
    """A summary that is printed when it is made, if so wished."""
    if not print_summary:
        return summarize(name=name, tensor=tensor)
    made = tf.Print(summarize(name=name, tensor=tensor, collections=[]), [tensor], name)
    tf.add_to_collection(tf.GraphKeys.SUMMARIES, made)
    return made


def add_histogram_summary(tensor: Any, name: str | None = None, prefix: str | None = None) -> Any:
    """A histogram of a tensor."""
    return tf.summary.histogram(_summary_name(tensor, name, prefix), tensor)


def add_image_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """The images of a tensor."""
    return _printed(tf.summary.image, tensor, _summary_name(tensor, name, prefix), print_summary)


def add_scalar_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """The value of a scalar."""
    return _printed(tf.summary.scalar, tensor, _summary_name(tensor, name, prefix), print_summary)


def add_zero_fraction_summary(
    tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False
) -> Any:
    """The share of a tensor's elements that are zero."""
    full_name = _summary_name(tensor, name, prefix, "Fraction_of_Zero_Values")
    return add_scalar_summary(tf.nn.zero_fraction(tensor), full_name, print_summary=print_summary)


def add_histogram_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """A histogram of each tensor."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


def add_image_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """The images of each tensor."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


def add_scalar_summaries(
    tensors: Iterable[Any], prefix: str | None = None, print_summary: bool = False
) -> list[Any]:
    """The value of each scalar."""
    return [
        add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary) for tensor in tensors
    ]


def add_zero_fraction_summaries(tensors: Iterable[Any], prefix: str | None = None) -> list[Any]:
    """The share of zeros of each tensor."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
