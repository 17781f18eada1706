"""`tf.flags`: absl's command-line flags, read from `sys.argv` when a flag is first asked for."""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from absl import flags as _absl_flags
from absl.flags import *  # noqa: F403

# absl lists a flag under the module that defines it: the one that calls the functions of this one.
_absl_flags.disclaim_key_flags()

_OLD_ARGUMENTS = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _with_old_arguments(define: Callable[..., Any]) -> Callable[..., Any]:
    """A DEFINE function that also knows the argument names of TensorFlow's first versions."""

    @functools.wraps(define)
    def with_old_arguments(*args: Any, **kwargs: Any) -> Any:
        old = _OLD_ARGUMENTS.keys() & kwargs.keys()
        if old:
            logging.warning(
                "Use of the keyword argument names (flag_name, default_value, docstring) is "
                "deprecated, please use (name, default, help) instead."
            )
        return define(*args, **{_OLD_ARGUMENTS.get(key, key): kwargs[key] for key in kwargs})

    return with_old_arguments


DEFINE_string = _with_old_arguments(_absl_flags.DEFINE_string)
DEFINE_boolean = DEFINE_bool = _with_old_arguments(_absl_flags.DEFINE_boolean)
DEFINE_float = _with_old_arguments(_absl_flags.DEFINE_float)
DEFINE_integer = _with_old_arguments(_absl_flags.DEFINE_integer)


class _FlagValues:
    """absl's flags, except that the first look at a flag's value parses `sys.argv`.

    Whatever else is asked of it, absl's object answers, even for its class.
    """

    def __init__(self, wrapped: Any):
        object.__setattr__(self, "_wrapped", wrapped)

    def __getattribute__(self, name: str) -> Any:
        wrapped = object.__getattribute__(self, "_wrapped")
        if name == "_parse_flags":
            return functools.partial(_parse_flags, wrapped)
        try:
            return object.__getattribute__(wrapped, name)
        except AttributeError:  # not an attribute of absl's object: a flag
            if not wrapped.is_parsed():
                wrapped(sys.argv)
            return getattr(wrapped, name)

    # Python looks these up on the class.

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_absl_flags.FLAGS, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_absl_flags.FLAGS, name)

    def __dir__(self) -> list[str]:
        return dir(_absl_flags.FLAGS)

    def __getitem__(self, name: str) -> Any:
        return _absl_flags.FLAGS[name]

    def __setitem__(self, name: str, flag: Any) -> None:
        _absl_flags.FLAGS[name] = flag

    def __contains__(self, name: str) -> bool:
        return name in _absl_flags.FLAGS

    def __len__(self) -> int:
        return len(_absl_flags.FLAGS)

    def __iter__(self) -> Iterator[str]:
        return iter(_absl_flags.FLAGS)

    def __str__(self) -> str:
        return str(_absl_flags.FLAGS)

    def __call__(self, *args: Any, **kwargs: Any) -> list[str]:
        return _absl_flags.FLAGS(*args, **kwargs)


def _parse_flags(wrapped: Any, args: Sequence[str] | None = None) -> list[str]:
    """Parses arguments (without the program's name) as TensorFlow's first versions did."""
    return wrapped(sys.argv if args is None else [sys.argv[0], *args], known_only=True)[1:]


FLAGS = _FlagValues(_absl_flags.FLAGS)  # type: ignore[assignment]

__all__ = [*_absl_flags.__all__]
