"""`tensorflow.python.framework.op_def_library`: nodes made by the name of their op type."""

from __future__ import annotations

from typing import Any

from penstock.ir import registry
from penstock.ir.apply import apply_op as _apply

__all__ = ["OpDefLibrary", "apply_op"]

#: Inputs whose names Python has a use for are given under another one.
_RENAMED = {"input": "input_"}


def apply_op(op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
    """Adds a node of an op type, its inputs and attrs given by their names."""
    spec = registry.find(op_type_name)
    if spec is None:
        raise RuntimeError(f"Unrecognized Op name {op_type_name}")
    inputs = []
    for arg in spec.inputs:
        key = arg.name if arg.name in keywords else _RENAMED.get(arg.name, f"{arg.name}_")
        if key not in keywords:
            raise TypeError(f"No argument for input {arg.name}")
        inputs.append(keywords.pop(key))
    attrs = {}
    for key, value in keywords.items():
        declared = key if key in spec.attrs else key.removesuffix("_")
        if declared not in spec.attrs:
            unknown = [key for key in keywords if key.removesuffix("_") not in spec.attrs]
            given = ", ".join(sorted(unknown))
            raise TypeError(f"apply_op() got unexpected keyword arguments: {given}")
        if declared in spec.implicit_attrs:
            raise TypeError(f"Should not specify value for inferred attr '{declared}'.")
        attrs[declared] = value
    return _apply(spec, inputs, attrs, name)


class OpDefLibrary:
    """The op types, as TensorFlow's generated modules ask for them."""

    def apply_op(self, op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
        """Adds a node of an op type, its inputs and attrs given by their names."""
        return apply_op(op_type_name, name, **keywords)
