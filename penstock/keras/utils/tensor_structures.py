"""`keras.utils.tf_utils`: structures of shapes and tensors, and what depends on what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import penstock as tf
from penstock import nest
from penstock.internal_paths.python_util import ObjectIdentitySet
from penstock.ir.convert import CompositeTensor
from penstock.keras.backend import get_graph
from penstock.ops.tensor_values import is_tensor

#: Classes of a program that stand for tensors (`register_symbolic_tensor_type`).
_user_convertible_tensor_types: set[type] = set()


def is_tensor_or_tensor_list(v: Any) -> bool:
    """Whether this is a tensor, or a structure that begins with one."""
    flat = nest.flatten(v)
    return bool(flat) and isinstance(flat[0], tf.Tensor)


def is_tensor_or_variable(x: Any) -> bool:
    return is_tensor(x) or isinstance(x, tf.Variable)


def get_reachable_from_inputs(inputs: Any, targets: Any = None) -> ObjectIdentitySet:
    """The tensors and operations that depend on the inputs, and the inputs themselves.

    Args:
      targets: the search ends when all of these are found.
    """
    found = nest.flatten(inputs, expand_composites=True)
    reachable = ObjectIdentitySet(found)
    wanted = ObjectIdentitySet(nest.flatten(targets) if targets else ())
    next_ones = list(found)
    while next_ones:
        for each in _dependents(next_ones.pop()):
            if each not in reachable:
                reachable.add(each)
                wanted.discard(each)
                next_ones.insert(0, each)
        if targets and not len(wanted):
            break
    return reachable


def _dependents(x: Any) -> list[Any]:
    """What depends on a tensor, operation or variable directly."""
    if isinstance(x, tuple(_user_convertible_tensor_types)):
        return []
    if isinstance(x, tf.Operation):
        return [*x.outputs, *x._control_outputs]
    if isinstance(x, tf.Variable):
        return [x.op]
    if is_tensor(x):
        return list(x.consumers())
    raise TypeError(f"Expected Operation, Variable, or Tensor, got {x}")


def map_structure_with_atomic(
    is_atomic_fn: Callable[[Any], bool], map_fn: Callable[[Any], Any], nested: Any
) -> Any:
    """A structure in which a function was applied to what counts as one element.

    Args:
      is_atomic_fn: whether a part is an element, which then may be a list itself.
    """
    if is_atomic_fn(nested):
        return map_fn(nested)
    if not nest.is_nested(nested):
        raise ValueError(f"Received non-atomic and non-sequence element: {nested}")
    parts = [nested[key] for key in sorted(nested)] if isinstance(nested, dict) else nested
    mapped = [map_structure_with_atomic(is_atomic_fn, map_fn, part) for part in parts]
    return nest._sequence_like(nested, mapped)


def convert_shapes(input_shape: Any, to_tuples: bool = True) -> Any:
    """The shapes of a structure as tuples, or as `TensorShape`s.

    Args:
      input_shape: a structure of shapes: `TensorShape`s, tuples or lists of sizes, None.
    """

    def is_size(value: Any) -> bool:
        return value is None or isinstance(value, (int, tf.Dimension))

    def is_shape(value: Any) -> bool:
        if is_size(value) or isinstance(value, tf.TensorShape):
            return True
        return isinstance(value, (tuple, list)) and all(is_size(each) for each in value)

    def converted(value: Any) -> Any:
        shape = tf.TensorShape(value)
        return tuple(shape.as_list()) if to_tuples else shape

    return map_structure_with_atomic(is_shape, converted, input_shape)


class ListWrapper:
    """A list that structures take for one element."""

    def __init__(self, list_to_wrap: list[Any]):
        self._list = list_to_wrap

    def as_list(self) -> list[Any]:
        return self._list


def convert_inner_node_data(nested: Any, wrap: bool = False) -> Any:
    """Puts the lists that describe calls (layer, node, tensor[, arguments]) into `ListWrapper`s.

    Args:
      wrap: False to take them out again.
    """

    def is_call(value: Any) -> bool:
        return isinstance(value, list) and len(value) in (3, 4) and isinstance(value[0], str)

    def is_atomic(value: Any) -> bool:
        return isinstance(value, ListWrapper) or is_call(value) or not nest.is_nested(value)

    def converted(value: Any) -> Any:
        if wrap:
            return ListWrapper(value) if is_call(value) else value
        return value.as_list() if isinstance(value, ListWrapper) else value

    return map_structure_with_atomic(is_atomic, converted, nested)


def shape_type_conversion(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A method that gets shapes as tuples, and whose shapes become `TensorShape`s."""

    def wrapper(instance: Any, input_shape: Any) -> Any:
        if input_shape is not None:
            input_shape = convert_shapes(input_shape, to_tuples=True)
        output_shape = fn(instance, input_shape)
        return None if output_shape is None else convert_shapes(output_shape, to_tuples=False)

    return wrapper


def register_symbolic_tensor_type(cls: type) -> None:
    """Lets layers take a class, which is converted to tensors, for one of tensors."""
    _user_convertible_tensor_types.add(cls)


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether this is a tensor of a graph, or made of such; a variable is one in graph mode."""
    if isinstance(tensor, tuple(_user_convertible_tensor_types)):
        tensor = tf.convert_to_tensor(tensor)
    if isinstance(tensor, tf.Variable):
        return hasattr(tensor, "_keras_history") or not tf.executing_eagerly()
    if isinstance(tensor, CompositeTensor):
        return tensor._is_graph_tensor
    return isinstance(tensor, tf.Tensor) and hasattr(tensor, "graph")


def are_all_symbolic_tensors(tensors: Sequence[Any]) -> bool:
    return all(is_symbolic_tensor(tensor) for tensor in tensors)


def assert_no_legacy_layers(layers: Sequence[Any]) -> None:
    """Refuses layers of `tf.layers`, which a Keras model cannot hold."""
    from penstock.layers.base import Layer

    old = [layer for layer in layers if isinstance(layer, Layer)]
    if old:
        names = "\n".join(f"  {layer}" for layer in old)
        raise TypeError(
            f"The following are legacy tf.layers.Layers:\n{names}\nTo use keras as a framework "
            "(for instance using the Network, Model, or Sequential classes), please use the "
            "tf.keras.layers implementation instead."
        )


@contextmanager
def maybe_init_scope(layer: Any) -> Iterator[None]:
    """A scope for making a layer's variables: in a graph, the current one."""
    yield


@contextmanager
def graph_context_for_symbolic_tensors(*args: Any, **kwargs: Any) -> Iterator[None]:
    """A `with` block in Keras' graph, if tensors are among the arguments."""
    if any(is_symbolic_tensor(value) for value in (*args, *kwargs.values())):
        with get_graph().as_default():
            yield
    else:
        yield
