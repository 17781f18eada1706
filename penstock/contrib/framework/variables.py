"""Variables in collections: making them, and finding them by scope, suffix and name."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import add_arg_scope
from penstock.contrib.framework.assignment import (
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
    get_variable_full_name,
)

__all__ = [
    "VariableDeviceChooser",
    "add_model_variable",
    "assert_global_step",
    "assert_or_get_global_step",
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
    "create_global_step",
    "filter_variables",
    "get_global_step",
    "get_local_variables",
    "get_model_variables",
    "get_or_create_global_step",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variable_full_name",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "get_variables_to_restore",
    "global_variable",
    "local_variable",
    "model_variable",
    "variable",
    "zero_initializer",
]

assert_global_step = tf.train.assert_global_step
create_global_step = tf.train.create_global_step
get_global_step = tf.train.get_global_step
get_or_create_global_step = tf.train.get_or_create_global_step


def assert_or_get_global_step(graph: Any = None, global_step_tensor: Any = None) -> Any:
    """The global step of a graph, or the given one after a check of its type and shape."""
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


def zero_initializer(ref: Any, use_locking: bool = True, name: str = "zero_initializer") -> Any:
    """Sets a variable that has no value yet to zeros, without a constant of its size."""
    zeros = tf.zeros(ref.get_shape(), dtype=ref.dtype.base_dtype)
    return tf.assign(ref, zeros, use_locking=use_locking, name=name)


def _untrained(collection: str, initial_value: Any, **settings: Any) -> Any:
    return tf.Variable(initial_value, trainable=False, collections=[collection], **settings)


def local_variable(
    initial_value: Any, validate_shape: bool = True, name: Any = None, use_resource: Any = None
) -> Any:
    """A variable in the collection of local variables, which is not trained nor saved."""
    return _untrained(
        tf.GraphKeys.LOCAL_VARIABLES,
        initial_value,
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


def global_variable(
    initial_value: Any, validate_shape: bool = True, name: Any = None, use_resource: Any = None
) -> Any:
    """A variable in the collection of global variables, which is not trained."""
    return _untrained(
        tf.GraphKeys.GLOBAL_VARIABLES,
        initial_value,
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )


@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Iterable[str] | None = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE,
) -> Any:
    """Gets or makes a variable, as `tf.get_variable` does, on a device.

    Args:
      device: name or function of a device.
      custom_getter: called in place of `tf.get_variable`, with `reuse` of the current scope.
    """
    keys = [tf.GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    getter: Callable[..., Any] = tf.get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=tf.get_variable_scope().reuse)
    with tf.device(device or ""):
        return getter(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=list(dict.fromkeys(keys)),
            caching_device=caching_device,
            partitioner=partitioner,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )


@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = tf.float32,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Iterable[str] | None = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.VariableAggregation.NONE,
) -> Any:
    """Gets or makes a variable that is in the collection of the model's variables too."""
    return variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=[
            *(collections or ()),
            tf.GraphKeys.GLOBAL_VARIABLES,
            tf.GraphKeys.MODEL_VARIABLES,
        ],
        caching_device=caching_device,
        device=device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def add_model_variable(var: Any) -> None:
    """Adds a variable to the collection of the model's variables, once."""
    if not any(var is known for known in tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)):
        tf.add_to_collection(tf.GraphKeys.MODEL_VARIABLES, var)


def get_variables(
    scope: Any = None, suffix: str | None = None, collection: str = tf.GraphKeys.GLOBAL_VARIABLES
) -> list[Any]:
    """The variables of a collection whose names begin with a scope and end with a suffix."""
    if isinstance(scope, tf.VariableScope):
        scope = scope.name
    if suffix is not None:
        end = suffix if ":" in suffix else f"{suffix}:"
        scope = f"{scope or ''}.*{end}"
    return list(tf.get_collection(collection, scope))


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """The model's variables, by scope and suffix."""
    return get_variables(scope, suffix, tf.GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """The local variables, by scope and suffix."""
    return get_variables(scope, suffix, tf.GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """The variables that are trained, by scope and suffix."""
    return get_variables(scope, suffix, tf.GraphKeys.TRAINABLE_VARIABLES)


def _of_scopes(scopes: Any, argument: str) -> list[Any]:
    if not isinstance(scopes, (list, tuple)):
        raise TypeError(f"{argument} is provided but is not a list or a tuple.")
    return [each for scope in scopes for each in get_variables(scope)]


def get_variables_to_restore(
    include: Sequence[Any] | None = None, exclude: Sequence[Any] | None = None
) -> list[Any]:
    """The variables of the scopes in `include` (all if None), less those in `exclude`."""
    included = get_variables() if include is None else _of_scopes(include, "include")
    excluded = [] if exclude is None else _of_scopes(exclude, "exclude")
    left_out = {id(each) for each in excluded}
    return [each for each in included if id(each) not in left_out]


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """The variables whose names end with a suffix."""
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """The variables with a given last part of their names."""
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name: str) -> Any:
    """The variable whose operation has a given name."""
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


class VariableDeviceChooser:
    """A device function that deals variables to the parameter servers in turn.

    Args:
      num_tasks: how many tasks there are to deal to; 0 leaves job and task open.
    """

    def __init__(
        self,
        num_tasks: int = 0,
        job_name: str = "ps",
        device_type: str = "CPU",
        device_index: int = 0,
        replica: int | None = None,
    ):
        self._job_name = job_name
        self._device_type = device_type
        self._device_index = device_index
        self._replica = replica
        self._num_tasks = num_tasks
        self._next_task_id = 0

    def __call__(self, op: Any) -> str:
        task: dict[str, Any] = {}
        if self._num_tasks > 0:
            task = {"job": self._job_name, "task": self._next_task_id}
            self._next_task_id = (self._next_task_id + 1) % self._num_tasks
        spec = tf.DeviceSpec(
            replica=self._replica,
            device_type=self._device_type,
            device_index=self._device_index,
            **task,
        )
        return str(spec.to_string())


def filter_variables(
    var_list: Iterable[Any],
    include_patterns: Sequence[str] | None = None,
    exclude_patterns: Sequence[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """The variables whose names match one of the patterns to include and none to exclude.

    Args:
      reg_search: whether a pattern may match anywhere in a name, not only at its start.
    """
    matches = re.search if reg_search else re.match

    def any_matches(patterns: Sequence[str], name: str) -> bool:
        return any(matches(pattern, name) for pattern in patterns)

    return [
        each
        for each in var_list
        if (include_patterns is None or any_matches(include_patterns, each.name))
        and not (exclude_patterns is not None and any_matches(exclude_patterns, each.name))
    ]
