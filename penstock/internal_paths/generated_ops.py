"""Functions of TensorFlow's generated modules: `gen_math_ops.mat_mul(a, b, transpose_a=False, …)`.

Each op type has one, named in snake case: inputs first, then the attrs without a default, then
those with one, then the node's name; all may be given by position, but for attrs that came after
TensorFlow 1.15, which would move the name: they are keywords.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from penstock import raw_ops
from penstock.ir import registry
from penstock.ir.apply import apply_op
from penstock.ir.later_attrs import LATER_ATTRS
from penstock.ir.registry import OpSpec
from penstock.raw_ops import public_names


def snake_case(op_type: str) -> str:
    """An op type as the name of its function: `MatMul` is `mat_mul`, `FFT2D` is `fft2d`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", op_type)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", spaced).lower()


def parameters(spec: OpSpec) -> inspect.Signature:
    """The arguments of an op's generated function."""
    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    public = public_names(spec)
    explicit = [attr for name, attr in spec.attrs.items() if name not in spec.implicit_attrs]
    required = [public.get(arg.name, arg.name) for arg in spec.inputs]
    required += [attr.name for attr in explicit if not attr.has_default]
    optional = {
        public.get(attr.name, attr.name): attr.default for attr in explicit if attr.has_default
    }
    later = [name for name in optional if (spec.name, name) in LATER_ATTRS]
    ordered = [name for name in optional if name not in later]
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature(
        [inspect.Parameter(name, either) for name in required]
        + [inspect.Parameter(name, either, default=optional[name]) for name in ordered]
        + [inspect.Parameter("name", either, default=None)]
        + [inspect.Parameter(name, keyword, default=optional[name]) for name in later]
    )


@cache
def _op_types() -> dict[str, str]:
    return {snake_case(name): name for name in registry.specs()}


@cache
def _function(op_type: str) -> Callable[..., Any]:
    spec = registry.find(op_type)
    assert spec is not None
    own = {new: old for old, new in public_names(spec).items()}
    inputs = [arg.name for arg in spec.inputs]
    signature = parameters(spec)

    def generated(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs).arguments
        given = {own.get(key, key): value for key, value in bound.items()}
        name = given.pop("name", None)
        return apply_op(spec, [given.pop(key) for key in inputs], given, name)

    generated.__name__ = generated.__qualname__ = snake_case(op_type)
    generated.__doc__ = f"Adds a {op_type} node."
    generated.__signature__ = signature  # type: ignore[attr-defined]
    return generated


def __getattr__(name: str) -> Callable[..., Any]:
    if registry.find(name) is not None:  # `gen_math_ops.MatMul` is `tf.raw_ops.MatMul`
        return getattr(raw_ops, name)
    # Old programs ask for `_mat_mul`, too: functions with a wrapper in the API were once private.
    op_type = _op_types().get(name.removeprefix("_"))
    if op_type is None or name.startswith("__"):
        raise AttributeError(f"penstock has no op type of which {name!r} is the function")
    return _function(op_type)


def __dir__() -> list[str]:
    return sorted(_op_types())
