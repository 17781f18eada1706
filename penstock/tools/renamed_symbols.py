"""`tensorflow.tools.compatibility.all_renames_v2`: what TensorFlow 2 calls names of TensorFlow 1.

Listed are the names directly in `tf` which TensorFlow 2 has no more: they are in `tf.compat.v1`.
"""

from __future__ import annotations

import types
from typing import Any


def _left_behind() -> dict[str, str]:
    from penstock import compat

    kept = set(dir(compat.v2))
    names = [name for name in dir(compat.v1) if name not in kept and not name.startswith("_")]
    return {
        f"tf.{name}": f"tf.compat.v1.{name}"
        for name in names
        if not isinstance(getattr(compat.v1, name, None), types.ModuleType)
    }


def __getattr__(name: str) -> Any:
    """Makes `symbol_renames`, which tools may add to, when it is first asked for."""
    if name != "symbol_renames":
        raise AttributeError(name)
    found = globals()[name] = _left_behind()
    return found
