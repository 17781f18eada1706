"""`tf.layers.Layer`: layers whose variables are those of a variable scope."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock import dtypes
from penstock.ir import nest
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.graph import Graph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.layers.core_layer import CoreLayer, settled_trainable
from penstock.layers.input_spec import InputSpec
from penstock.layers.object_names import to_snake_case, unique_object_name
from penstock.ops.partitioned_variables import PartitionedVariable
from penstock.ops.variable_collections import global_variables, trainable_variables
from penstock.ops.variable_scope import VariableScope, get_variable, variable_scope
from penstock.ops.variables import Variable, VariableAggregation, VariableSynchronization

__all__ = ["InputSpec", "Layer", "keras_style_scope", "set_keras_style"]

_keras_style = False


@contextmanager
def keras_style_scope() -> Iterator[None]:
    """Layers made inside own their variables, as Keras layers do, and don't share them by scope."""
    global _keras_style
    outer = _keras_style
    _keras_style = True
    try:
        yield
    finally:
        _keras_style = outer


def set_keras_style() -> None:
    """From now on all layers own their variables, as Keras layers do."""
    global _keras_style
    _keras_style = True


class Layer(CoreLayer):
    """A layer that gets its variables from a variable scope, by `tf.get_variable`.

    The scope is chosen when the layer is first used: that of the layer's name inside the current
    one, made unique; or the one given as `scope` to the call.

    Args:
      trainable: whether the variables are trained.
      name: name of the scope; by default it follows from the class.
      dtype: type of the variables; that of the first input if None.
    """

    def __init__(self, trainable: bool = True, name: Any = None, dtype: Any = None, **kwargs: Any):
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        self._use_resource_variables = False
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._keras_style = _keras_style
        for argument, value in (("scope", scope), ("reuse", self._reuse)):
            if _keras_style and value is not None:
                raise ValueError(
                    f"{argument} argument not allowed when keras style layers are enabled, but "
                    f"saw: {value}"
                )
        self._scope: VariableScope | None = None
        self._current_scope: VariableScope | None = None
        if scope:
            with variable_scope(scope) as captured:
                self._scope = captured

    @property
    def graph(self) -> None:
        """Always None: a layer is not bound to a graph."""
        return None

    def _init_set_name(self, name: Any) -> None:
        own_name = to_snake_case(type(self).__name__)
        if isinstance(name, VariableScope) or not name:
            self._name = unique_object_name(own_name)
        else:
            self._name = name
        given = name.name if isinstance(name, VariableScope) else name
        self._base_name = given or own_name

    @property
    def scope_name(self) -> str:
        """The name of the variable scope, which is known once the layer was used."""
        if not self._scope:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been '
                "used yet. The scope name is determined the first time the layer instance is "
                "called. You must therefore call the layer before querying `scope_name`."
            )
        return self._scope.name

    def _name_scope(self) -> str:
        if self._keras_style:
            return super()._name_scope()
        assert self._current_scope is not None
        return self._current_scope.original_name_scope

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            chosen = variable_scope(self._base_name if scope is None else scope)
        else:
            chosen = variable_scope(scope, default_name=self._base_name)
        with chosen as captured:
            self._scope = captured

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses, to the layer and to the graph's regularization losses."""
        known, known_callable = len(self._losses), len(self._callable_losses)
        super().add_loss(losses, inputs=inputs)
        made = [make() for make in self._callable_losses[known_callable:]]
        new = [*self._losses[known:], *(loss for loss in made if loss is not None)]
        _add_new_members(GraphKeys.REGULARIZATION_LOSSES, new)

    def add_weight(  # type: ignore[override] # the order of arguments is TensorFlow's
        self,
        name: str,
        shape: Any,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        partitioner: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Gets or makes the variable `name` of the layer's scope and adds it to the layer.

        Args:
          initializer: by default the scope's, else Glorot's for floats, zeros for other numbers.
          regularizer: a function of the variable whose value is added to the losses.
          trainable: True unless the variable is synchronized ON_READ; False in a frozen layer.
          partitioner: makes a variable in parts.
        """
        for key in kwargs:
            if key != "experimental_autocast":
                raise TypeError("Unknown keyword argument:", key)
        settings = {
            "dtype": dtypes.as_dtype(dtype or self.dtype or dtypes.float32),
            "constraint": constraint,
            "partitioner": partitioner,
            "synchronization": synchronization,
            "aggregation": aggregation,
        }
        wants_training = settled_trainable(trainable, synchronization) and self.trainable
        if self._keras_style:
            return super().add_weight(
                name,
                shape,
                initializer=initializer,
                regularizer=regularizer,
                trainable=wants_training,
                use_resource=use_resource,
                **settings,
            )
        existing = set(global_variables())
        self._set_scope()
        with (
            variable_scope(
                self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False
            ) as scope,
            self._at(scope),
            name_scope(self._name_scope()),
        ):
            variable = super().add_weight(
                name,
                shape,
                initializer=scope.initializer if initializer is None else initializer,
                trainable=wants_training,
                use_resource=use_resource or self._use_resource_variables or scope.use_resource,
                getter=get_variable,
                **settings,
            )
            if regularizer and not existing.intersection(_parts(variable)):
                self._add_weight_regularization(name, variable, regularizer)
        if wants_training:
            self._respect_getter(variable)
        return variable

    @contextmanager
    def _at(self, scope: VariableScope) -> Iterator[None]:
        self._current_scope = scope
        yield

    def _respect_getter(self, variable: Any) -> None:
        """Counts a variable as not trained if a scope's custom getter made it so."""
        if executing_eagerly():
            is_trained = variable.trainable
        else:
            is_trained = any(variable is other for other in trainable_variables())
        if isinstance(variable, Variable) and not is_trained:
            self._trainable_weights = [w for w in self._trainable_weights if w is not variable]
            if not any(variable is known for known in self._non_trainable_weights):
                self._non_trainable_weights.append(variable)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Applies the layer in its variable scope; `scope` chooses it at the first call."""
        scope = kwargs.pop("scope", None)
        if self._keras_style:
            if scope is not None:
                raise ValueError(
                    "scope argument not allowed when keras style layers are enabled, but saw: "
                    f"{scope}"
                )
            return super().__call__(inputs, *args, **kwargs)
        self._set_scope(scope)
        with variable_scope(
            self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False
        ) as opened:
            self._current_scope = opened
            if "scope" in self._call_fn_args:
                kwargs["scope"] = opened
            outputs = super().__call__(inputs, *args, **kwargs)
        _add_new_members(GraphKeys.UPDATE_OPS, self.updates)
        return outputs

    def _after_call(self, inputs: Any, outputs: Any, args: Any, kwargs: Any) -> Any:
        """Lets a Keras model see that such a layer, which it refuses, is between its own."""
        given = nest.flatten(inputs)
        of_keras = given and all(hasattr(each, "_keras_history") for each in given)
        if of_keras and not {id(each) for each in given} & {id(e) for e in nest.flatten(outputs)}:
            from penstock.keras.engine.node import Node

            Node(self, inputs, outputs, {})
        return outputs

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A copy with the same graph elements and a scope of its own."""
        result = type(self).__new__(type(self))
        memo[id(self)] = result
        for key, value in self.__dict__.items():
            setattr(result, key, _copy_for_layer(value, memo))
        return result


_Layer = Layer  # its name in TensorFlow 1.0

_SHARED_BY_COPIES = (Graph, Tensor, Operation, Variable, PartitionedVariable, threading.local)


def _copy_for_layer(value: Any, memo: dict[int, Any]) -> Any:
    if isinstance(value, VariableScope):
        return copy.copy(value)
    leaves = nest.flatten(value)
    if leaves and isinstance(leaves[0], _SHARED_BY_COPIES):
        return nest.pack_as(value, leaves)
    return copy.deepcopy(value, memo)


def _parts(variable: Any) -> list[Any]:
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


def _add_new_members(collection: str, values: list[Any]) -> None:
    members = get_default_graph().get_collection_ref(collection)
    known = {id(member) for member in members}
    members += [value for value in values if id(value) not in known]
