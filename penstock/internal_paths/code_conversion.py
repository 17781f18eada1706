"""Names of autograph's compiler, which Penstock does not have.

Libraries import them for a part of theirs that few programs use, and build classes on them while
they are loaded. So each name is a class that can be named and subclassed; what makes an object of
it is refused.
"""

from __future__ import annotations

from functools import cache
from typing import Any

LIVE_NAMES: tuple[str, ...] = ()  # see `modules`: each name stays what it is


class _Refused:
    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(
            f"Python code is not converted to graphs: {type(self).__name__} of TensorFlow's "
            "autograph is not there. Use tf.cond and tf.while_loop."
        )


@cache
def _refused(name: str) -> type[_Refused]:
    return type(name, (_Refused,), {})


def __getattr__(name: str) -> type[_Refused]:
    if name.startswith("_"):
        raise AttributeError(name)
    return _refused(name)
