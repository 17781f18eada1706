"""`tf.contrib.framework.py_func`: Python functions of structures of tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock import nest
from penstock.ops import script
from penstock.shapes import as_shape

__all__ = ["py_func"]


def py_func(
    func: Callable[..., Any],
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """As `tf.py_func`, for functions of nested structures that return such.

    Args:
      output_types: the structure of types of what `func` returns, or a function that gives it for
        the same arguments.
      output_shapes: the same structure of shapes, or a function.
    """
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be list and not {type(args)}. args: {args}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be dict and not {type(kwargs)}. args: {kwargs}")
    if callable(output_types):
        output_types = output_types(*args, **kwargs)
    if callable(output_shapes):
        output_shapes = output_shapes(*args, **kwargs)
    structure = (args, kwargs)

    def call_flat(*leaves: Any) -> list[Any]:
        by_position, by_name = nest.pack_sequence_as(structure, leaves)
        result = func(*by_position, **by_name)
        nest.assert_shallow_structure(output_types, result)
        return nest.flatten(result)

    results = script.py_func(
        call_flat, nest.flatten(structure), nest.flatten(output_types), stateful=stateful, name=name
    )
    if output_shapes is not None:
        shapes = nest.map_structure_up_to(output_types, as_shape, output_shapes)
        for result, shape in zip(results, nest.flatten(shapes), strict=True):
            result.set_shape(shape)
    return nest.pack_sequence_as(output_types, results)
