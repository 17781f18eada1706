"""`tensorflow.python.framework.op_def_library`: nodes made by the name of their op type."""

from __future__ import annotations

from typing import Any

from penstock.ir import registry
from penstock.ir.apply import apply_op as _apply
from penstock.ir.function import spec_of

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

    def add_op(self, op_def: Any) -> None:
        """Makes the op type of an OpDef message known, if none has its name."""
        _check(op_def)
        if registry.find(op_def.name) is None:
            registry.register(spec_of(op_def))

    def add_op_list(self, op_list: Any) -> None:
        """Makes the op types of an OpList message known."""
        for each in op_list.op:
            self.add_op(each)

    def apply_op(self, op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
        """Adds a node of an op type, its inputs and attrs given by their names."""
        return apply_op(op_type_name, name, **keywords)


def _check(op_def: Any) -> None:
    """Refuses arguments without a type, or with one by an attr that is none of the kind."""
    kinds = {attr.name: attr.type for attr in op_def.attr}
    for arg in (*op_def.input_arg, *op_def.output_arg):
        given = sum(map(bool, (arg.type, arg.type_attr, arg.type_list_attr)))
        if given != 1:
            raise TypeError(
                f"Arg '{arg.name}' of '{op_def.name}' must have one type field not {given}"
            )
        for use, wanted in _ATTR_KINDS.items():
            key = getattr(arg, use)
            if key and key not in kinds:
                raise TypeError(f"Inconsistent OpDef for '{op_def.name}', missing attr '{key}'")
            if key and kinds[key] != wanted:
                raise TypeError(
                    f"Attr '{key}' of '{op_def.name}' used as a {use} but has type {kinds[key]}"
                )


#: The kind of the attr that an argument names as its type, its types or its length.
_ATTR_KINDS = {"type_attr": "type", "type_list_attr": "list(type)", "number_attr": "int"}
