"""What `tensorflow.python.ops.template` has besides the public API."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

__all__ = ["_skip_common_stack_elements"]


def _skip_common_stack_elements(
    stacktrace: Sequence[str], base_case: Sequence[str]
) -> Sequence[str]:
    """The frames of a stack behind those that it shares with another; never none at all."""
    pairs = zip(stacktrace, base_case, strict=False)
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    return stacktrace[min(shared, len(stacktrace) - 1) :]
