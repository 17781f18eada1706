"""Variables of a `tf.contrib.eager.Network` in checkpoints, also of one that is not built yet."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import penstock as tf

MapFunction = Callable[[str], str]


def _without_prefix(network: Any) -> MapFunction:
    """Names of variables as the network itself would call them."""
    prefix = f"{network.scope_name}/"
    return lambda name: name.removeprefix(prefix)


def _file(network: Any, save_path: str) -> str:
    if os.path.isdir(save_path):
        return os.path.join(save_path, network.name.replace("/", "_"))
    return save_path


def _session() -> Any:
    return None if tf.executing_eagerly() else tf.get_default_session()


def _conflict(network: Any, function: str | None, name: str, first: Any, second: Any) -> ValueError:
    """Two variables have one name in a checkpoint; `function` was given the user's `map_func`."""
    which = f"two variables named '{name}' ('{first._shared_name}' and '{second._shared_name}')"
    if function is None:
        return ValueError(
            "The default checkpoint variable name mapping strategy for Network "
            f"'{network.name}' resulted in a naming conflict: without the prefix "
            f"'{network.scope_name}' there are {which}. It happens where layers are shared with "
            "another Network; pass a `map_func`, for example `lambda n: n`."
        )
    return ValueError(
        f"The map_func passed to {function} for the Network '{network.name}' resulted in {which}. "
        "Names in a checkpoint must differ."
    )


def _by_checkpoint_name(
    network: Any, map_func: MapFunction | None, function: str
) -> dict[str, Any]:
    mapped = map_func or _without_prefix(network)
    variables: dict[str, Any] = {}
    for variable in network.variables:
        name = mapped(variable._shared_name)
        if variables.setdefault(name, variable) is not variable:
            given = None if map_func is None else function
            raise _conflict(network, given, name, variables[name], variable)
    return variables


def save_network_checkpoint(
    network: Any, save_path: str, global_step: Any = None, map_func: MapFunction | None = None
) -> str:
    """Saves a network's variables, and gives the checkpoint's name.

    Args:
      network: a `Network` that was called.
      save_path: a file, or a directory, in which the file has the network's name.
      global_step: a number behind the name; by default the graph's global step.
      map_func: gives the names in the checkpoint of full names; by default the network's own name
        is taken away.
    """
    if not network.built:
        raise ValueError(
            "Attempt to save the Network before it was first called: a call makes its variables."
        )
    network._set_scope()
    if global_step is None:
        global_step = tf.train.get_global_step()
    variables = _by_checkpoint_name(network, map_func, "save_network_checkpoint")
    saved = tf.train.Saver(variables).save(
        sess=_session(),
        save_path=_file(network, save_path),
        write_meta_graph=False,
        global_step=global_step,
    )
    assert saved is not None  # one saver writes one file
    return saved


def restore_network_checkpoint(
    network: Any, save_path: str, map_func: MapFunction | None = None
) -> None:
    """Restores a network's variables: those there are at once, the others when they are made.

    Args:
      network: a `Network`.
      save_path: a checkpoint, or the directory of one that has the network's name.
      map_func: as in `save_network_checkpoint`.
    """
    network._finalize_name(None)
    network._set_scope()
    path = _file(network, save_path)
    existing = _by_checkpoint_name(network, map_func, "restore_network_checkpoint")
    if existing:
        tf.train.Saver(existing).restore(sess=_session(), save_path=path)
    reader = tf.train.load_checkpoint(path)
    missing = {
        name: reader.get_tensor(name)
        for name, _ in tf.train.list_variables(path)
        if name not in existing
    }
    if missing:
        _restore_later(network, _Restoration(network, map_func, missing, _session()))


@dataclass
class _Restoration:
    """Values of a checkpoint that wait for their variables.

    A value that a variable got is None from then on: a later variable of that name is a conflict.
    """

    network: Any
    map_func: MapFunction | None
    values: dict[str, Any]
    session: Any
    restored: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._mapped = self.map_func or _without_prefix(self.network)

    def name_of(self, variable_name: str) -> str | None:
        name = self._mapped(variable_name)
        return name if name in self.values else None

    def note(self, name: str, variable: Any) -> None:
        if self.values[name] is not None:
            self.values[name] = None
            if self.session is not None:
                self.session.run(variable.initializer)
        first = self.restored.setdefault(name, variable)
        if first is not variable:
            function = None if self.map_func is None else "restore_network_checkpoint"
            raise _conflict(self.network, function, name, first, variable)


def _getter_of(restorations: list[_Restoration]) -> Callable[..., Any]:
    """A custom getter that lets variables begin with the value that was restored last."""

    def get(
        getter: Callable[..., Any],
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        **kwargs: Any,
    ) -> Any:
        for restoration in reversed(restorations):
            saved_as = restoration.name_of(name)
            if saved_as is None:
                continue
            value = restoration.values[saved_as]
            if value is not None:
                initializer, shape = value, None
            variable = getter(name, shape=shape, dtype=dtype, initializer=initializer, **kwargs)
            restoration.note(saved_as, variable)
            return variable
        return getter(name, shape=shape, dtype=dtype, initializer=initializer, **kwargs)

    return get


def _restore_later(layer: Any, restoration: _Restoration) -> None:
    is_network = hasattr(layer, "_owned_layers")
    if is_network:
        layer._set_scope()
    if not hasattr(layer, "_deferred_restorations"):
        layer._deferred_restorations = []
        layer._scope.set_custom_getter(_getter_of(layer._deferred_restorations))
    layer._deferred_restorations.append(restoration)
    for sublayer in layer.layers if is_network else ():
        if not hasattr(sublayer, "_owned_layers"):
            layer._set_scope_for_nonnetwork_sublayer(sublayer)
        _restore_later(sublayer, restoration)
