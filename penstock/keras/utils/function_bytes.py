"""`generic_utils.func_dump` and `func_load`: the byte code of a function as text, and back.

Models' files never bring such text along (see `layers/function_code.py`): it is a program's own
doing to load one, and it only works in the version of Python that wrote it.
"""

from __future__ import annotations

import base64
import binascii
import marshal
import types
from collections.abc import Callable
from typing import Any

__all__ = ["func_dump", "func_load"]

Dump = tuple[str, tuple[Any, ...] | None, tuple[Any, ...] | None]


def func_dump(func: Callable[..., Any]) -> Dump:
    """The code of a function in base 64, its arguments' defaults, and the values it closes over."""
    code = base64.encodebytes(marshal.dumps(func.__code__)).decode("ascii")
    cells = func.__closure__
    closure = tuple(cell.cell_contents for cell in cells) if cells else None
    return code, func.__defaults__, closure


def func_load(
    code: Any, defaults: Any = None, closure: Any = None, globs: dict[str, Any] | None = None
) -> Callable[..., Any]:
    """The function that `func_dump` wrote.

    Args:
      code: the text, or all three results of `func_dump`.
      globs: the global names that the function sees.
    """
    if isinstance(code, (tuple, list)):
        code, defaults, closure = code
    try:
        raw = base64.decodebytes(code.encode("ascii"))
    except (UnicodeEncodeError, binascii.Error):
        raw = code.encode("raw_unicode_escape")
    loaded = marshal.loads(raw)  # noqa: S302 what the caller passes is the caller's own
    return types.FunctionType(
        loaded,
        globals() if globs is None else globs,
        name=loaded.co_name,
        argdefs=None if defaults is None else tuple(defaults),
        closure=None if closure is None else tuple(map(_cell, closure)),
    )


def _cell(value: Any) -> types.CellType:
    return value if isinstance(value, types.CellType) else types.CellType(value)
