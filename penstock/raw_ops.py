"""`tf.raw_ops`: every registered op as a function of keyword arguments only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.ir import registry
from penstock.ir.apply import apply_op
from penstock.ir.registry import OpSpec

_REDUCTIONS = ("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum")
#: What functions call arguments that have other names in the op's definition.
_PUBLIC_NAMES = {
    **{op_type: {"reduction_indices": "axis"} for op_type in _REDUCTIONS},
    "ExpandDims": {"dim": "axis"},
    "Select": {"t": "x", "e": "y"},
    "Split": {"split_dim": "axis"},
    "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Where": {"input": "condition"},
}


def public_names(spec: OpSpec) -> dict[str, str]:
    """From arguments of an op's definition to what its functions call them, where that differs."""
    return _PUBLIC_NAMES.get(spec.name, {})


def _function(spec: OpSpec) -> Callable[..., Any]:
    public = public_names(spec)
    own = {new: old for old, new in public.items()}
    names = [public.get(arg.name, arg.name) for arg in spec.inputs]

    def raw_op(*args: Any, name: str | None = None, **kwargs: Any) -> Any:
        if args:
            raise TypeError(f"{spec.name} only takes keyword args (possible keys: {possible})")
        missing = [key for key in names if key not in kwargs]
        if missing:
            raise TypeError(f"{spec.name} missing required keyword arguments: {missing}")
        inputs = [kwargs.pop(key) for key in names]
        attrs = {own.get(key, key): value for key, value in kwargs.items()}
        return apply_op(spec, inputs, attrs, name)

    explicit = [public.get(key, key) for key in spec.attrs if key not in spec.implicit_attrs]
    possible = [*names, *explicit, "name"]
    raw_op.__name__ = raw_op.__qualname__ = spec.name
    raw_op.__doc__ = f"Adds a {spec.name} node; keyword arguments: {', '.join(possible)}."
    return raw_op


_functions: dict[str, Callable[..., Any]] = {}


def __getattr__(name: str) -> Callable[..., Any]:
    spec = registry.find(name)
    if spec is None or name.startswith("_"):
        raise AttributeError(f"tf.raw_ops has no op {name!r}: penstock does not have that op type")
    if name not in _functions:
        _functions[name] = _function(spec)
    return _functions[name]


def __dir__() -> list[str]:
    return sorted(name for name in registry.specs() if not name.startswith("_"))
