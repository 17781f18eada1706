"""`tf.contrib.eager.EagerVariableStore`: what `tf.get_variable` shares in eager mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.ops.variable_scope import using_store
from penstock.ops.variable_store import VariableStore


class EagerVariableStore:
    """Keeps the variables that `tf.get_variable` makes inside, and gives them again by name.

    >>> container = tfe.EagerVariableStore()
    >>> with container.as_default():
    ...     x = tf.layers.dense(x, 10, name="first")
    """

    def __init__(self, store: VariableStore | None = None):
        if store is not None and not store.keeps_eager_variables:
            raise ValueError("Cannot construct EagerVariableStore from a VariableStore without")
        self._store = store or VariableStore(keeps_eager_variables=True)

    @contextmanager
    def as_default(self) -> Iterator[None]:
        """A block in which `tf.get_variable` keeps its variables here."""
        with using_store(self._store):
            yield

    def variables(self) -> list[Any]:
        """All variables, in the order of their names."""
        return sorted(self._store._vars.values(), key=lambda variable: variable.name)

    def trainable_variables(self) -> list[Any]:
        """Those that are trained."""
        return [variable for variable in self.variables() if variable.trainable]

    def non_trainable_variables(self) -> list[Any]:
        """Those that are not trained."""
        return [variable for variable in self.variables() if not variable.trainable]

    def copy(self) -> EagerVariableStore:
        """A store with copies of all variables."""
        from penstock.ops.variable_creation import create_variable

        copied = EagerVariableStore()
        for name, variable in self._store._vars.items():
            copied._store._vars[name] = create_variable(
                variable.read_value(), name=name, trainable=variable.trainable
            )
        return copied
