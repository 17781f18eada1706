"""`tf.keras.optimizers.Optimizer`: hyperparameters and slots as variables."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import numpy as np

import penstock as tf
from penstock.ir.trackable import Trackable
from penstock.keras import backend as K
from penstock.keras import initializers
from penstock.keras.optimizers.replicated_updates import (
    apply_in_replica,
    is_in_replica,
    slots_beside,
    whole,
)
from penstock.keras.optimizers.schedules import LearningRateSchedule
from penstock.layers.core_layer import make_variable
from penstock.layers.object_names import to_snake_case
from penstock.ops.variable_creation import creators_of
from penstock.platform import logging

__all__ = ["Optimizer", "OptimizerV2"]

_ALLOWED = ("clipnorm", "clipvalue", "lr", "decay")


class OptimizerV2(Trackable):
    """Changes variables by their gradients.

    A subclass registers hyperparameters with `_set_hyper`, makes slots in `_create_slots`, and
    applies gradients in `_resource_apply_dense` and `_resource_apply_sparse`.

    Args:
      name: scope of the optimizer's variables and operations.
      clipnorm: largest norm of a gradient; longer ones are shortened.
      clipvalue: largest size of a gradient's values.
      decay: how fast the learning rate falls: it is divided by `1 + decay * iterations`.
      lr: old name of the learning rate.
    """

    def __init__(self, name: str, **kwargs: Any):
        for key, value in kwargs.items():
            if key not in _ALLOWED:
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {key}")
            if value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        self._use_locking = True
        self._name = name or K.unique_object_name(
            to_snake_case(type(self).__name__), zero_based=True
        )
        self._hyper: dict[str, Any] = {}
        self._slots: dict[str, dict[str, Any]] = {}
        self._slot_names: list[str] = []
        self._waiting_slots: dict[tuple[str, str], list[Any]] = {}
        self._weights: list[Any] = []
        self._iterations: Any = None
        self._hypers_created = False
        self._initial_decay = kwargs.pop("decay", 0.0)
        for key in ("clipnorm", "clipvalue"):
            if key in kwargs:
                setattr(self, key, kwargs[key])

    # Hyperparameters ----------------------------------------------------------------------------

    def _set_hyper(self, name: str, value: Any) -> None:
        """Sets a hyperparameter: a number, tensor, schedule, or function that makes one."""
        known = self._hyper.get(name)
        if (
            isinstance(known, tf.Variable)
            and not isinstance(value, (tf.Tensor, tf.Variable, LearningRateSchedule))
            and not callable(value)
        ):
            K.set_value(known, value)
        else:
            self._hyper[name] = value

    def _get_hyper(self, name: str, dtype: Any = None) -> Any:
        if not self._hypers_created:
            self._create_hypers()
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return value
        if callable(value):
            value = value()
        return tf.cast(value, dtype) if dtype else value

    def __getattr__(self, name: str) -> Any:
        hyper = self.__dict__.get("_hyper", {})
        key = "learning_rate" if name == "lr" else name
        if key in hyper:
            return self._get_hyper(key)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        key = "learning_rate" if name == "lr" else name
        if key in self.__dict__.get("_hyper", {}):
            self._set_hyper(key, value)
        else:
            super().__setattr__(key, value)

    def _create_hypers(self) -> None:
        if self._hypers_created:
            return
        for name, value in sorted(self._hyper.items()):
            if not isinstance(value, (tf.Tensor, tf.Variable)) and not callable(value):
                self._hyper[name] = self.add_weight(
                    name,
                    shape=[],
                    trainable=False,
                    initializer=value,
                    aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
                )
        self._hypers_created = True

    def _serialize_hyperparameter(self, name: str) -> Any:
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return {"class_name": type(value).__name__, "config": value.get_config()}
        if callable(value):
            return value()
        if isinstance(value, (tf.Tensor, tf.Variable)):
            return K.get_value(value).item()
        return value

    def _decayed_lr(self, var_dtype: Any) -> Any:
        """The learning rate of this step."""
        rate = self._get_hyper("learning_rate", var_dtype)
        if isinstance(rate, LearningRateSchedule):
            rate = tf.cast(rate(tf.cast(self.iterations, var_dtype)), var_dtype)
        if self._initial_decay > 0.0:
            step = tf.cast(self.iterations, var_dtype)
            rate = rate / (1.0 + self._get_hyper("decay", var_dtype) * step)
        return rate

    # Variables ----------------------------------------------------------------------------------

    def add_weight(
        self,
        name: str,
        shape: Any,
        dtype: Any = None,
        initializer: Any = "zeros",
        trainable: bool | None = None,
        synchronization: Any = tf.VariableSynchronization.AUTO,
        aggregation: Any = tf.VariableAggregation.NONE,
    ) -> Any:
        """Makes a variable of the optimizer."""
        if isinstance(initializer, str) or callable(initializer):
            initializer = initializers.get(initializer)
        elif not isinstance(initializer, tf.Tensor):
            initializer = tf.constant_initializer(initializer)
        variable = make_variable(
            name,
            shape,
            tf.as_dtype(dtype or tf.float32),
            initializer,
            trainable=trainable is not False,
            use_resource=True,
            synchronization=synchronization,
            aggregation=aggregation,
        )
        K.track_variable(variable)
        self._track_trackable(variable, name=name, overwrite=True)
        return variable

    @property
    def iterations(self) -> Any:
        """The variable that counts steps."""
        if self._iterations is None:
            self._iterations = self.add_weight(
                "iter",
                shape=[],
                dtype=tf.int64,
                trainable=False,
                aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
            )
            self._weights.append(self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        if self._iterations is not None:
            raise RuntimeError(
                "Cannot set `iterations` to a new Variable after the Optimizer weights have been "
                "created"
            )
        self._iterations = variable
        self._weights.append(variable)

    def add_slot(self, var: Any, slot_name: str, initializer: Any = "zeros") -> Any:
        """Makes, or gets, a variable that belongs to another one."""
        if slot_name not in self._slot_names:
            self._slot_names.append(slot_name)
        slots = self._slots.setdefault(_var_key(var), {})
        if slot_name in slots:
            return slots[slot_name]
        initial_value = initializer
        if isinstance(initializer, str) or callable(initializer):
            make = initializers.get(initializer)
            initial_value = partial(make, shape=var.shape, dtype=var.dtype.base_dtype)
        with slots_beside(var):
            slot = tf.Variable(
                name=f"{var._shared_name}/{slot_name}",
                dtype=var.dtype.base_dtype,
                trainable=False,
                initial_value=initial_value,
                use_resource=True,
            )
        K.track_variable(slot)
        slots[slot_name] = slot
        self._weights.append(slot)
        for position in self._waiting_slots.pop((_var_key(var), slot_name), []):
            position.restore(slot)
        return slot

    def _create_or_restore_slot_variable(
        self, slot_variable_position: Any, slot_name: str, variable: Any
    ) -> None:
        """Restores a slot from an object-based checkpoint, at once or when it is made."""
        key = _var_key(variable)
        slot = self._slots.get(key, {}).get(slot_name)
        # A creator that is meant for the variable must not see its slot.
        makes_slots = tf.executing_eagerly() and not creators_of(tf.get_default_graph())
        if slot is None and makes_slots and slot_variable_position.is_simple_variable():
            slot = self.add_slot(variable, slot_name, slot_variable_position.value())
        if slot is not None:
            slot_variable_position.restore(slot)
        else:
            self._waiting_slots.setdefault((key, slot_name), []).insert(0, slot_variable_position)

    def get_slot(self, var: Any, slot_name: str) -> Any:
        """The variable `slot_name` that belongs to another one."""
        return self._slots[_var_key(var)][slot_name]

    def get_slot_names(self) -> list[str]:
        """The names of the slots."""
        return self._slot_names

    def variables(self) -> list[Any]:
        """The variables in the order in which they were made."""
        return self._weights

    @property
    def weights(self) -> list[Any]:
        """The variables in the order in which they were made."""
        return self._weights

    def get_weights(self) -> list[Any]:
        """The variables' values."""
        return K.batch_get_value(self.weights)

    def set_weights(self, weights: Any) -> None:
        """Sets the variables, in the order of `weights`, from arrays."""
        variables = self.weights
        if len(variables) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a  weight list "
                f"of length {len(weights)}, but the optimizer was expecting {len(variables)} "
                f"weights. Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(variables, weights, strict=True):
            if tuple(variable.shape.as_list()) != np.shape(value):
                raise ValueError(
                    f"Optimizer weight shape {variable.shape} not compatible with provided weight "
                    f"shape {np.shape(value)}"
                )
        K.batch_set_value(zip(variables, weights, strict=True))

    # Applying -----------------------------------------------------------------------------------

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """The gradients of a loss, clipped if the optimizer says so."""
        params = tf.nest.flatten(params)
        with tf.name_scope(f"{self._name}/gradients"):
            gradients = tf.gradients(loss, params)
            for gradient, param in zip(gradients, params, strict=True):
                if gradient is None:
                    raise ValueError(
                        f"Variable {param} has `None` for gradient. Please make sure that all of "
                        "your ops have a gradient defined (i.e. are differentiable). Common ops "
                        "without gradient: K.argmax, K.round, K.eval."
                    )
            return self._clipped(gradients)

    def _clipped(self, gradients: list[Any]) -> list[Any]:
        if "clipnorm" in self.__dict__:
            gradients = [_apply(tf.clip_by_norm, g, self.clipnorm) for g in gradients]
        if "clipvalue" in self.__dict__:
            limit = self.clipvalue
            gradients = [_apply(tf.clip_by_value, g, -limit, limit) for g in gradients]
        return gradients

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """The operations of a training step."""
        gradients = self.get_gradients(loss, params)
        return [self.apply_gradients(list(zip(gradients, params, strict=True)))]

    def minimize(
        self, loss: Any, var_list: Any, grad_loss: Any = None, name: str | None = None
    ) -> Any:
        """The operation of a training step.

        Args:
          loss: a tensor, or a function that makes it.
          var_list: the variables to change, or a function that gives them.
        """
        return self.apply_gradients(self._compute_gradients(loss, var_list, grad_loss), name=name)

    def _compute_gradients(
        self, loss: Any, var_list: Any, grad_loss: Any = None
    ) -> list[tuple[Any, Any]]:
        """Pairs of gradients, clipped if the optimizer says so, and variables."""
        if tf.executing_eagerly():
            gradients, variables = self._gradients_now(loss, var_list, grad_loss)
            return list(zip(gradients, variables, strict=True))
        value = loss() if callable(loss) and not isinstance(loss, tf.Tensor) else loss
        variables = tf.nest.flatten(var_list() if callable(var_list) else var_list)
        with tf.name_scope(f"{self._name}/gradients"):
            gradients = tf.gradients(value, variables, grad_ys=grad_loss)
            gradients = self._clipped(list(gradients))
        return list(zip(gradients, variables, strict=True))

    def _gradients_now(self, loss: Any, var_list: Any, grad_loss: Any) -> tuple[Any, Any]:
        """Gradients and variables, in eager mode: the loss is a function."""
        with tf.GradientTape() as tape:
            if not callable(var_list):
                tape.watch(var_list)
            value = loss()
        variables = tf.nest.flatten(var_list() if callable(var_list) else var_list)
        gradients = tape.gradient(value, variables, grad_loss)
        return self._clipped(list(gradients)), variables

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None) -> Any:
        """The operation that changes variables by gradients, given as pairs."""
        pairs = _with_gradients(grads_and_vars)
        if is_in_replica():
            return apply_in_replica(self, pairs, name)
        variables = [variable for _, variable in pairs]
        with tf.name_scope(self._name):
            with tf.init_scope():
                _ = self.iterations
                self._create_hypers()
                self._create_slots(variables)
            apply_state = self._prepare(variables)
            with tf.name_scope(name or self._name):
                updates = [self._update(g, v, apply_state) for g, v in pairs]
                with tf.control_dependencies(updates):
                    return operation_of(self._iterations.assign_add(1))

    def _update(self, gradient: Any, variable: Any, apply_state: Any) -> Any:
        if isinstance(variable, tf.Tensor):
            raise NotImplementedError(
                f"Trying to update a Tensor: optimizers change variables, got {variable}"
            )
        graph = tf.get_default_graph()
        name = variable.name.partition(":")[0]
        with tf.name_scope(f"update_{name}"), graph.colocate_with(variable):
            if isinstance(gradient, tf.IndexedSlices):
                if variable.constraint is not None:
                    raise RuntimeError("Cannot use a constraint function on a sparse variable.")
                return self._resource_apply_sparse_duplicate_indices(
                    gradient.values,
                    variable,
                    gradient.indices,
                    **self._state_for(self._resource_apply_sparse, apply_state),
                )
            update = self._resource_apply_dense(
                gradient, variable, **self._state_for(self._resource_apply_dense, apply_state)
            )
            if variable.constraint is None:
                return update
            with tf.control_dependencies([update]):
                return operation_of(variable.assign(variable.constraint(variable)))

    @staticmethod
    def _state_for(method: Any, apply_state: Any) -> dict[str, Any]:
        takes = "apply_state" in inspect.signature(method).parameters
        return {"apply_state": apply_state} if takes else {}

    def _prepare(self, var_list: list[Any]) -> dict[Any, Any]:
        """What the updates of all variables of a device and type share."""
        apply_state: dict[Any, Any] = {}
        for variable in var_list:
            key = (variable.device, variable.dtype.base_dtype)
            if key not in apply_state:
                apply_state[key] = {}
                with tf.device(variable.device):
                    self._prepare_local(*key, apply_state)
        return apply_state

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: Any) -> None:
        if "learning_rate" in self._hyper:
            apply_state[var_device, var_dtype]["lr_t"] = tf.identity(self._decayed_lr(var_dtype))

    def _fallback_apply_state(self, var_device: Any, var_dtype: Any) -> dict[str, Any]:
        apply_state: dict[Any, Any] = {(var_device, var_dtype): {}}
        self._prepare_local(var_device, var_dtype, apply_state)
        return apply_state[var_device, var_dtype]

    def _coefficients(self, var: Any, apply_state: Any) -> dict[str, Any]:
        key = (var.device, var.dtype.base_dtype)
        return (apply_state or {}).get(key) or self._fallback_apply_state(*key)

    def _create_slots(self, var_list: list[Any]) -> None:
        """Makes the variables that belong to those to be changed."""

    def _resource_apply_dense(self, grad: Any, var: Any, apply_state: Any = None) -> Any:
        raise NotImplementedError

    def _resource_apply_sparse(
        self, grad: Any, var: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        raise NotImplementedError

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Any, var: Any, indices: Any, **kwargs: Any
    ) -> Any:
        """Applies the gradients of rows; those of one row are summed first."""
        unique, positions = tf.unique(indices)
        summed = tf.unsorted_segment_sum(grad, positions, tf.shape(unique)[0])
        return self._resource_apply_sparse(summed, var, unique, **kwargs)

    def _resource_scatter_add(self, x: Any, i: Any, v: Any) -> Any:
        with tf.control_dependencies(
            [tf.raw_ops.ResourceScatterAdd(resource=x.handle, indices=i, updates=v)]
        ):
            return x.value()

    def _resource_scatter_update(self, x: Any, i: Any, v: Any) -> Any:
        with tf.control_dependencies(
            [tf.raw_ops.ResourceScatterUpdate(resource=x.handle, indices=i, updates=v)]
        ):
            return x.value()

    # Configuration ------------------------------------------------------------------------------

    #: Hyperparameters and attributes that `get_config` gives.
    _HYPERS: tuple[str, ...] = ()
    _CONFIG: tuple[str, ...] = ()

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal optimizer, without its state."""
        config: dict[str, Any] = {"name": self._name}
        for key in ("clipnorm", "clipvalue"):
            if key in self.__dict__:
                config[key] = self.__dict__[key]
        for key in self._HYPERS:
            config[key] = self._serialize_hyperparameter(key)
        for key in self._CONFIG:
            config[key] = getattr(self, key)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The optimizer with the arguments that `get_config` gave."""
        from penstock.keras.optimizers import schedules

        config = dict(config)
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = schedules.deserialize(config["learning_rate"], custom_objects)
        return cls(**config)


Optimizer = OptimizerV2


def operation_of(updated: Any) -> Any:
    """The operation that has updated a variable; None in eager mode, where it has run."""
    return getattr(updated, "op", None)


def _var_key(variable: Any) -> str:
    variable = whole(variable)
    if hasattr(variable, "_unique_id"):
        return str(variable._unique_id)
    return variable._shared_name if hasattr(variable, "_shared_name") else variable.op.name


def _apply(function: Any, gradient: Any, *args: Any) -> Any:
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(
            function(gradient.values, *args), gradient.indices, gradient.dense_shape
        )
    return None if gradient is None else function(gradient, *args)


def _with_gradients(grads_and_vars: Any) -> list[tuple[Any, Any]]:
    pairs = list(grads_and_vars)
    if not pairs:
        return []
    kept = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
    if not kept:
        names = [variable.name for _, variable in pairs]
        raise ValueError(f"No gradients provided for any variable: {names}.")
    missing = [variable.name for gradient, variable in pairs if gradient is None]
    if missing:
        logging.warning(
            "Gradients do not exist for variables %s when minimizing the loss.", missing
        )
    return kept
