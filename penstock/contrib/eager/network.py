"""`tf.contrib.eager.Network`: what came before `tf.keras.Model` could be subclassed."""

from __future__ import annotations

import functools
import weakref
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.contrib.eager.network_checkpoints import (
    restore_network_checkpoint,
    save_network_checkpoint,
)
from penstock.internal_paths.python_util import fn_args
from penstock.layers.base import Layer
from penstock.layers.object_names import Counts, to_snake_case, unique_object_name
from penstock.ops.variable_scope import VariableScope, _open_scopes

__all__ = ["Network", "Sequential", "restore_network_checkpoint", "save_network_checkpoint"]


def _scope_of_variables(layer: weakref.ref[Layer]) -> str:
    """The name scope of a layer in a network: exactly that of its variables."""
    found = layer()
    assert found is not None
    assert found._current_scope is not None
    return f"{found._current_scope.name}/"


class Network(Layer):
    """Layers with names of their own: `self.dense = self.track_layer(tf.layers.Dense(4))`.

    1. The first network that a layer is added to owns it: the layer's scope is inside its scope.
    2. Names are unique among the layers that a network owns, networks' own ones in the graph.
    3. A network without a name has none until it is added to another one, or called.

    Args:
      name: of the network and its variable scope; by default it follows from the class.
    """

    _first_parent: Any  # of no network: None before the name is final, then False

    def __init__(self, name: Any = None):
        if isinstance(name, VariableScope):
            raise ValueError("VariableScopes are not valid Network names.")
        if name is not None and "/" in name:
            raise ValueError("Forward slashes ('/') are not allowed in Network names.")
        super().__init__(name=name)
        self._sub_layer_name_uids: Counts = defaultdict(int)
        self._first_parent = None
        self._non_network_sublayers: list[Layer] = []
        self._owned_layers: dict[str, Layer] = {}
        self._default_parent_variable_scope = tf.get_variable_scope()
        self._open_scopes = _open_scopes()

    def _gather_saveables_for_checkpoint(self) -> Any:
        raise NotImplementedError(
            "tfe.Network: `save_network_checkpoint` saves one; object-based checkpoints are those "
            "of a tf.keras.Model."
        )

    # Names and scopes ---------------------------------------------------------------------------

    def _init_set_name(self, name: Any) -> None:
        self._name = name
        self._base_name = None

    @property
    def name(self) -> str:
        if self._name is None:
            raise ValueError(
                f"This {type(self).__name__} does not yet have a final name: call it or add it to "
                "another Network first, or name it when it is made."
            )
        return str(self._name)

    def _name_scope(self) -> str:
        return _scope_of_variables(weakref.ref(self))

    def _parent(self) -> Network | None:
        parent: Network | None = self._first_parent() if self._first_parent else None
        return parent

    def _finalize_name(self, parent_network: Network | None) -> None:
        """Chooses the name, if there is none, and the owner."""
        if not self._name:
            self._base_name = to_snake_case(type(self).__name__)
            outside = self._default_parent_variable_scope.name
            self._name = unique_object_name(
                self._base_name,
                name_uid_map=parent_network._sub_layer_name_uids if parent_network else None,
                avoid_names=parent_network._owned_layers if parent_network else self._taken(),
                namespace=outside,
                zero_based=True,
            )
        if self._parent() is None:
            self._first_parent = weakref.ref(parent_network) if parent_network else False

    def _taken(self) -> set[str]:
        """Names of variable scopes that are there already, beside the network's."""
        outside = self._default_parent_variable_scope.name
        prefix = f"{outside}/" if outside else ""
        scopes = self._open_scopes.counts
        return {name.removeprefix(prefix) for name in scopes if name.startswith(prefix)}

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is not None:
            return
        parent = self._parent()
        if parent is None:
            self._finalize_name(None)
        if scope is not None:
            raise ValueError("Networks may not be created with explicit scopes.")
        outside: Any = self._default_parent_variable_scope
        if parent is not None:
            parent._set_scope()
            outside = parent._scope
        if f"{outside.name}/{self._name}" in self._open_scopes.counts:
            raise self._name_is_taken()
        with (
            tf.variable_scope(outside),
            tf.variable_scope(None, use_resource=True, default_name=self._name) as opened,
        ):
            self._scope = opened
        self._check_scope(opened.name, parent)
        for layer in self._non_network_sublayers:
            self._set_scope_for_nonnetwork_sublayer(layer)

    def _name_is_taken(self) -> ValueError:
        return ValueError(
            f"A Network named '{self._name}' already exists (or a variable_scope was created "
            "with this name). Names must be unique."
        )

    def _check_scope(self, scope_name: str, parent: Network | None) -> None:
        prefix, _, suffix = scope_name.rpartition("/")
        if suffix != self._name:
            raise self._name_is_taken()
        if parent is not None and prefix != parent.scope_name:
            raise ValueError(
                f"Network '{self._name}': its variable_scope must be in that of the Network which "
                f"owns it, '{parent.scope_name}', but is in '{prefix}'; open no variable_scope "
                "between the two."
            )
        if parent is None and prefix:
            self._name = scope_name

    def _set_scope_for_nonnetwork_sublayer(self, sublayer: Any) -> None:
        if sublayer._scope is not None:
            return
        owner = getattr(sublayer, "_first_parent", lambda: None)()
        if owner is None:
            self._finalize_name(None)
            raise ValueError(
                f"Network {self.name}: the Network that owns its layer {sublayer.name} was garbage "
                "collected before the layer had variables; keep a reference to it."
            )
        owner._set_scope()
        with (
            tf.variable_scope(owner._scope),
            tf.variable_scope(None, use_resource=True, default_name=sublayer.name) as opened,
        ):
            sublayer._scope = opened
        sublayer._name_scope = functools.partial(_scope_of_variables, weakref.ref(sublayer))

    # Layers -------------------------------------------------------------------------------------

    def track_layer(self, layer: Any) -> Any:
        """Makes a layer, which is returned, a part of the network."""
        if not hasattr(self, "_owned_layers"):
            raise RuntimeError("Need to call Network.__init__ before adding layers")
        if not isinstance(layer, Layer):
            raise TypeError(
                f"Network.track_layer() passed type {type(layer)}, not a tf.layers.Layer"
            )
        layer._use_resource_variables = True
        if isinstance(layer, Network):
            layer._finalize_name(self)
        elif not layer.built:
            self._own(layer)
        if not layer.built and self._owns(layer):
            known = self._owned_layers.setdefault(layer.name, layer)
            if known is not layer:
                raise ValueError(
                    f"Attempt to add two Layers with the name '{layer.name}' to the same Network."
                )
            if any(layer is each for each in self._layers):
                return layer
        self._layers.append(layer)
        return layer

    def _own(self, layer: Any) -> None:
        """Renames a layer that nobody owns, unless its name was given."""
        if getattr(layer, "_first_parent", lambda: None)() is None:
            if layer._name != layer._base_name:
                layer._base_name = to_snake_case(type(layer).__name__)
                layer._name = unique_object_name(
                    layer._base_name,
                    name_uid_map=self._sub_layer_name_uids,
                    avoid_names=self._owned_layers,
                    zero_based=True,
                )
            layer._first_parent = weakref.ref(self)
        self._non_network_sublayers.append(layer)

    def _owns(self, layer: Any) -> bool:
        return bool(layer._first_parent) and layer._first_parent() is self

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """The layer of a name, or of a position."""
        if index is not None and name is not None:
            raise ValueError(f"get_layer: takes a name or an index, got {name!r} and {index}.")
        if index is not None:
            if len(self._layers) <= index:
                raise ValueError(
                    f"get_layer: index {index} is beyond the {len(self._layers)} layers of the "
                    "Network."
                )
            return self._layers[index]
        if not name:
            raise ValueError("get_layer: needs the name or the index of a layer, got neither.")
        for layer in self._layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    @property
    def layers(self) -> list[Any]:
        return self._layers

    @property
    def weights(self) -> list[Any]:
        return self._of_sublayers("weights")

    @property
    def trainable_weights(self) -> list[Any]:
        return self._of_sublayers("trainable_weights")

    @property
    def non_trainable_weights(self) -> list[Any]:
        return self._of_sublayers("non_trainable_weights")

    @property
    def losses(self) -> list[Any]:
        return self._of_sublayers("losses")

    @property
    def trainable(self) -> bool:
        return True

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not value:
            raise AttributeError("cannot mark Network as not trainable")

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """Not for networks: their layers have the variables."""
        raise RuntimeError("add_variable not supported in Network class: let a layer do it.")

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Not for networks: their layers have the losses."""
        raise RuntimeError("add_loss is not supported in Network class: let a layer do it.")


class Sequential(Network):
    """Layers, or functions of one argument, one after the other.

    Args:
      layers_funcs: the layers and functions.
    """

    def __init__(self, layers_funcs: Sequence[Any] | None = None, name: str | None = None):
        super().__init__(name=name)
        self._layers_funcs: list[tuple[bool, Any]] = []
        for step in layers_funcs or ():
            self.add(step)

    def add(self, layer_func: Any) -> None:
        """Puts a layer or a function behind the others."""
        if isinstance(layer_func, Layer):
            arguments = fn_args(layer_func.call)
            self.track_layer(layer_func)
        elif callable(layer_func):
            arguments = fn_args(layer_func)
        else:
            raise TypeError(
                f"Sequential.add: takes a tf.layers.Layer or a function, got {layer_func!r} of "
                f"type {type(layer_func)}."
            )
        self._layers_funcs.append(("training" in arguments, layer_func))

    def call(self, inputs: Any, training: Any = None) -> Any:
        """What the last one gives for what the others gave."""
        value = inputs
        for takes_training, step in self._layers_funcs:
            tell = takes_training and training is not None
            value = step(value, training) if tell else step(value)
        return value
