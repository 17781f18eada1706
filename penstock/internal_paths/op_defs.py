"""`tensorflow.python.framework.op_def_registry`: the signatures of the registered ops."""

from __future__ import annotations

from typing import Any

from penstock.ir import registry
from penstock.ir.op_def import op_def


def get_registered_ops() -> dict[str, Any]:
    """The OpDef of every op type, by its name."""
    return {name: op_def(spec) for name, spec in registry.specs().items()}


def get(name: str) -> Any:
    """The OpDef of an op type, or None."""
    spec = registry.find(name)
    return None if spec is None else op_def(spec)
