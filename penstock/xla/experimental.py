"""`tf.xla.experimental`: functions and scopes that TensorFlow hands to its compiler.

Nodes get the attrs that TensorFlow gives them, so that graphs written here are compiled there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import penstock as tf
from penstock import nest

__all__ = ["compile", "jit_scope"]

_SCOPES = ("__xla_scope",)


class _ScopeCounter:
    """How many scopes a graph has had, and how deep the present one is."""

    def __init__(self) -> None:
        self.count = 0
        self.depth = 0


def _counter() -> _ScopeCounter:
    found = tf.get_collection(_SCOPES)
    if not found:
        tf.add_to_collection(_SCOPES, _ScopeCounter())
        found = tf.get_collection(_SCOPES)
    return found[0]


@contextlib.contextmanager
def jit_scope(
    compile_ops: bool | Callable[[Any], bool] = True, separate_compiled_gradients: bool = False
) -> Iterator[None]:
    """Marks the nodes made inside to be compiled together.

    Args:
      compile_ops: Whether they are, or a function of a node's definition that tells.
      separate_compiled_gradients: Whether their gradients are compiled apart from them.
    """
    if tf.executing_eagerly():
        raise RuntimeError(
            "xla.experimental.jit_scope is not supported when eager execution is enabled. Try use "
            "it inside tf.function."
        )
    attrs: dict[str, Any] = {
        "_XlaCompile": compile_ops if callable(compile_ops) else bool(compile_ops),
        "_XlaSeparateCompiledGradients": bool(separate_compiled_gradients),
    }
    counter = _counter()
    if counter.depth == 0:  # a scope inside another is compiled with it
        attrs["_XlaScope"] = f"jit_scope_{counter.count}".encode()
        counter.count += 1
    counter.depth += 1
    try:
        with tf.get_default_graph()._attr_scope(attrs):
            yield
    finally:
        counter.depth -= 1


def compile(computation: Callable[..., Any], inputs: Sequence[Any] | None = None) -> Any:
    """The results of `computation(*inputs)`, which variables are resource variables for.

    Returns:
      A list of tensors where the computation gives one value or a flat list; all operations that it
      gives run before any of them is there. Without tensors: an operation. Else the same structure.
    """
    given = [] if inputs is None else inputs
    if not isinstance(given, Sequence):
        raise TypeError("inputs must be a list")
    flat = [tf.convert_to_tensor(each) for each in nest.flatten(given)]
    taken = [tf.identity(each, name=f"input_{i}") for i, each in enumerate(flat)]
    scope = tf.get_variable_scope()
    use_resource = scope.use_resource
    scope.set_use_resource(True)
    try:
        outputs = computation(*nest.pack_sequence_as(given, taken))
    finally:
        scope.set_use_resource(use_resource)
    tensors, operations = _flat_outputs(outputs) if _is_flat(outputs) else _tensors(outputs)
    if not tensors:
        return tf.group(operations, name="output_0")
    with tf.control_dependencies(operations):
        tensors = [tf.identity(each, name=f"output_{i}") for i, each in enumerate(tensors)]
    return tensors if _is_flat(outputs) else nest.pack_sequence_as(outputs, tensors)


def _is_flat(outputs: Any) -> bool:
    if isinstance(outputs, Sequence) and not isinstance(outputs, str):
        return not any(nest.is_nested(each) for each in outputs)
    return not nest.is_nested(outputs)


def _as_tensor(value: Any) -> Any:
    try:
        return tf.convert_to_tensor(value)
    except Exception as error:
        raise ValueError(
            "XLA computation function return values must all either be Operations or convertible "
            f'to Tensors. Got error: "{error}"'
        ) from error


def _flat_outputs(outputs: Any) -> tuple[list[Any], list[Any]]:
    """Tensors, then operations."""
    if outputs is None:
        outputs = ()
    if not isinstance(outputs, Sequence):
        outputs = (outputs,)
    is_operation = [isinstance(each, tf.Operation) for each in outputs]
    if is_operation != sorted(is_operation):
        raise ValueError(
            "XLA computation function must return zero or more Tensor values followed by zero or "
            "more Operations."
        )
    tensors = [_as_tensor(each) for each in outputs if not isinstance(each, tf.Operation)]
    return tensors, [each for each in outputs if isinstance(each, tf.Operation)]


def _tensors(outputs: Any) -> tuple[list[Any], list[Any]]:
    flat = nest.flatten(outputs)
    for each in flat:
        if isinstance(each, tf.Operation):
            raise ValueError(
                "xla.compile does not support Operation as return value in non-flat output "
                "structure. You can set returned Operations as control dependencies of returned "
                "Tensors so Operations are triggered when Tensors are evaluated. Operation found: "
                f'"{each.name}"'
            )
    return [_as_tensor(each) for each in flat], []
