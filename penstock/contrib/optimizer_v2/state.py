"""What an optimizer of `tf.contrib.optimizer_v2` keeps for one graph: settings and slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import penstock as tf
from penstock.train import replicas, slots


def resolved(value: Any, name: str) -> Any:
    """A hyper-parameter (a number, a tensor, or a function without arguments) as a tensor."""
    return tf.convert_to_tensor(value() if callable(value) else value, name=name)


class OptimizerState:
    """The state of one optimizer in one graph.

    Hyper-parameters that are given as functions are asked for in every `apply_gradients`; the
    others become tensors once.
    """

    def __init__(self, op_name: str, constant_settings: Mapping[str, Any]):
        self._op_name = op_name
        with tf.init_scope():
            self._hyper: dict[str, dict[Any, Any]] = {
                name: {None: resolved(value, name)}
                for name, value in sorted(constant_settings.items())
            }
        self._slots: dict[str, dict[str, Any]] = {}
        self._non_slot_dict: dict[str, Any] = {}
        self._deferred_dependencies: dict[str, list[Any]] = {}
        self._deferred_slot_restorations: dict[str, dict[str, list[Any]]] = {}
        self._distribution: Any = None
        self._non_slot_devices: Any = None

    def for_step(
        self, changing_settings: Mapping[str, Any], distribution: Any, non_slot_devices: Any
    ) -> OptimizerState:
        """The state as one step sees it: with the hyper-parameters that change."""
        seen = OptimizerState.__new__(OptimizerState)
        vars(seen).update(vars(self))
        seen._hyper = {
            name: {None: resolved(value, name)} for name, value in sorted(changing_settings.items())
        } | self._hyper
        seen._distribution = distribution
        seen._non_slot_devices = non_slot_devices
        return seen

    def get_hyper(self, name: str, dtype: Any = None) -> Any:
        """A hyper-parameter, as a tensor of a type."""
        by_type = self._hyper[name]
        if dtype not in by_type:
            by_type[dtype] = tf.cast(by_type[None], dtype)
        return by_type[dtype]

    # Slots ----------------------------------------------------------------------------------------

    def create_slot(
        self, var: Any, val: Any, slot_name: str, optional_op_name: str | None = None
    ) -> Any:
        """The slot of a variable, made with an initial value if it is new."""
        return self._slot(
            var, slot_name, lambda: slots.create_slot(var, val, self._slot_op(optional_op_name))
        )

    def create_slot_with_initializer(
        self,
        var: Any,
        initializer: Any,
        shape: Any,
        dtype: Any,
        slot_name: str,
        optional_op_name: str | None = None,
    ) -> Any:
        """The slot of a variable, made by an initializer if it is new."""
        op_name = self._slot_op(optional_op_name)
        return self._slot(
            var,
            slot_name,
            lambda: slots.create_slot_with_initializer(var, initializer, shape, dtype, op_name),
        )

    def zeros_slot(self, var: Any, slot_name: str, optional_op_name: str | None = None) -> Any:
        """The slot of a variable, made of zeros if it is new."""
        return self._slot(
            var, slot_name, lambda: slots.create_zeros_slot(var, self._slot_op(optional_op_name))
        )

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot of a variable, or None."""
        return self._slots.get(name, {}).get(_key(var))

    def get_slot_names(self) -> list[str]:
        """The names of all slots."""
        return sorted(self._slots)

    def _slot_op(self, optional_op_name: str | None) -> str:
        return optional_op_name or self._op_name

    def _slot(self, var: Any, slot_name: str, make: Any) -> Any:
        named = self._slots.setdefault(slot_name, {})
        key = _key(var)
        if key not in named:
            named[key] = make()
            waiting = self._deferred_slot_restorations.get(slot_name, {}).pop(key, [])
            _restore(named[key], waiting)
        return named[key]

    def restore_slot(self, position: Any, slot_name: str, variable: Any) -> None:
        """Restores a slot from a checkpoint, at once or when it is made."""
        slot = self.get_slot(variable, slot_name)
        if slot is not None:
            position.restore(slot)
            return
        waiting = self._deferred_slot_restorations.setdefault(slot_name, {})
        waiting.setdefault(_key(variable), []).append(position)

    # Other variables ------------------------------------------------------------------------------

    def create_non_slot(self, initial_value: Any, name: str, colocate_with: Any = None) -> Any:
        """A variable that belongs to no single trained one, made if it is new."""
        if name not in self._non_slot_dict:
            beside = self._non_slot_devices if colocate_with is None else colocate_with
            with self._distribution.extended.colocate_vars_with(beside):
                made = tf.Variable(initial_value, name=name, trainable=False)
            self._non_slot_dict[name] = made
            _restore(made, self._deferred_dependencies.pop(name, []))
        return self._non_slot_dict[name]

    def get_non_slot(self, name: str) -> Any:
        """A variable made by `create_non_slot`, or None."""
        return self._non_slot_dict.get(name)

    def variables(self) -> list[Any]:
        """All variables of this state, by name."""
        made = [slot for named in self._slots.values() for slot in named.values()]
        return sorted([*self._non_slot_dict.values(), *made], key=lambda each: each.name)


def _key(var: Any) -> str:
    name: str = replicas.container_of(var).op.name
    return name


def _restore(variable: Any, waiting: Sequence[Any]) -> None:
    """Restores a variable from the checkpoints that waited for it, the latest first."""
    for position in sorted(waiting, key=lambda each: each.restore_uid, reverse=True):
        position.restore(variable)
