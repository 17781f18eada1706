"""Giving variables the values of a dict or a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import penstock as tf
from penstock import logging

Initializer = Callable[[Any], Any]


def _named_variable(name: str) -> Any:
    found = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, name)
    if not found:
        raise ValueError(f"Variable {name} wasn't found")
    if len(found) == 1:
        return found[0]
    for candidate in found:
        if candidate.op.name == name:
            return candidate
    raise ValueError(f"Variable {name} doesn't uniquely identify a variable")


class _Assignments:
    """Assignments of fed values, collected into one operation."""

    def __init__(self) -> None:
        self._operations: list[Any] = []
        self._feeds: dict[Any, Any] = {}

    def add(self, var: Any, value: Any) -> None:
        fed = tf.placeholder(
            dtype=var.dtype.base_dtype,
            shape=var.get_shape(),
            name=f"placeholder/{var.op.name}",
        )
        self._operations.append(var.assign(fed))
        self._feeds[fed] = value

    def grouped(self) -> tuple[Any, dict[Any, Any]]:
        return tf.group(*self._operations), self._feeds


def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """An operation that sets variables to arrays, by name, and what to feed to it."""
    assignments = _Assignments()
    for name, value in var_names_to_values.items():
        var = _named_variable(name)
        assignments.add(var, value.reshape(var.get_shape().as_list()))
    return assignments.grouped()


def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Initializer:
    """A function of a session that sets variables to arrays, by name."""
    assign_op, feed_dict = assign_from_values(var_names_to_values)
    return lambda session: session.run(assign_op, feed_dict)


def get_variable_full_name(var: Any) -> str:
    """The name of a variable in a checkpoint; for a part, that of the whole."""
    part = var._save_slice_info
    return str(part.full_name if part else var.op.name)


def _by_stored_name(var_list: Any) -> Iterator[tuple[str, Any]]:
    """The variables with their names in the checkpoint."""
    if isinstance(var_list, (list, tuple)):
        for var in var_list:
            yield get_variable_full_name(var), var
        return
    for name, value in var_list.items():
        for var in value if isinstance(value, (list, tuple)) else [value]:
            yield name, var


def _value_for(var: Any, name: str, stored: Any) -> Any:
    part = var._save_slice_info
    if part:
        bounds = zip(part.var_offset, part.var_shape, strict=True)
        cut = tuple(slice(start, start + size) for start, size in bounds)
        return stored[cut].reshape(part.var_shape)
    if var.get_shape() != tf.TensorShape(stored.shape):
        raise ValueError(
            f"Total size of new array must be unchanged for {name} "
            f"lh_shape: [{stored.shape}], rh_shape: [{var.get_shape()}]"
        )
    return stored


def assign_from_checkpoint(
    model_path: Any, var_list: Any, ignore_missing_vars: bool = False
) -> tuple[Any, dict[Any, Any]]:
    """An operation that sets variables to the values of a checkpoint, and what to feed to it.

    Args:
      var_list: variables, or a dict from names in the checkpoint to variables or lists of parts.
      ignore_missing_vars: whether variables that the checkpoint lacks are left alone.
    """
    reader = tf.train.NewCheckpointReader(model_path)
    assignments = _Assignments()
    for name, var in _by_stored_name(var_list):
        if reader.has_tensor(name):
            assignments.add(var, _value_for(var, name, reader.get_tensor(name)))
        elif ignore_missing_vars:
            logging.warning("Checkpoint is missing variable [%s]", name)
        else:
            raise ValueError(f"Checkpoint is missing variable [{name}]")
    return assignments.grouped()


def assign_from_checkpoint_fn(
    model_path: Any,
    var_list: Any,
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Initializer | None:
    """A function of a session that restores variables from a checkpoint.

    Args:
      var_list: variables, or a dict from names in the checkpoint to variables.
      ignore_missing_vars: whether variables that the checkpoint lacks are left alone; if it has
        none of them, the result is None.
      reshape_variables: whether a stored value may have another shape.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        var_list = _available(model_path, var_list)
    if not var_list:
        logging.warning("No Variables to restore")
        return None
    saver = tf.train.Saver(var_list, reshape=reshape_variables, write_version=tf.train.SaverDef.V1)
    return lambda session: saver.restore(session, model_path)


def _available(model_path: Any, var_list: Any) -> dict[str, Any]:
    reader = tf.train.NewCheckpointReader(model_path)
    wanted = var_list if isinstance(var_list, dict) else {var.op.name: var for var in var_list}
    found = {name: var for name, var in wanted.items() if reader.has_tensor(name)}
    for name in wanted.keys() - found.keys():
        logging.warning("Variable %s missing in checkpoint %s", name, model_path)
    return found
