"""Gradients of nodes that are marked to be compiled (`tf.xla.experimental.jit_scope`)."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation

_COMPILE, _APART, _SCOPE = "_XlaCompile", "_XlaSeparateCompiledGradients", "_XlaScope"


def compiled_like(op: Operation, gradients_scope: str) -> AbstractContextManager[Any]:
    """A block whose nodes are marked like `op`, or like the function that it calls.

    They are compiled with it, or, where it asks for that, with the other gradients of the scope
    that `tf.gradients` has opened.
    """
    called = op.__dict__.get("_called") or op.spec.function
    if called is None:
        if not op.attrs.get(_COMPILE) or _SCOPE not in op.attrs or _APART not in op.attrs:
            return nullcontext()
        is_apart, scope = bool(op.attrs[_APART]), _text(op.attrs[_SCOPE])
    else:
        attrs = called.definition.attr
        if _COMPILE not in attrs or not attrs[_COMPILE].b:
            return nullcontext()
        is_apart, scope = attrs[_APART].b, attrs[_SCOPE].s.decode()
    if is_apart:
        scope += "_grad_" + gradients_scope.rstrip("/").replace("/", "_")
    return get_default_graph()._attr_scope({_COMPILE: True, _SCOPE: scope.encode()})


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
