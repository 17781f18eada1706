"""`Trackable`: objects that own variables, and other such objects, under local names.

Checkpoints of `tf.train.Checkpoint` name a value by the way to it through these objects. What is
here is the bookkeeping alone, since variables take part in it; saving and restoring are
`penstock/train/tracking/`.
"""

from __future__ import annotations

import copy
import functools
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

VARIABLE_VALUE_KEY = "VARIABLE_VALUE"
OBJECT_CONFIG_JSON_KEY = "OBJECT_CONFIG_JSON"
OBJECT_GRAPH_PROTO_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


class TrackableReference(NamedTuple):
    """An object, and the name that its owner has for it."""

    name: str
    ref: Any


class NoDependency:
    """A value to assign to an attribute that is not to be owned; the attribute is the value."""

    def __init__(self, value: Any):
        self.value = value


class _Ownership:
    """What one object owns, and what checkpoints still have for it."""

    def __init__(self) -> None:
        self.owned: dict[str, Trackable] = {}
        self.deferred: dict[str, list[Any]] = {}
        self.update_uid = -1

    def __deepcopy__(self, memo: dict[int, Any]) -> _Ownership:
        """Values, that is variables, are one per node and shared; owners are copied."""
        copied = _Ownership()
        copied.owned = {
            name: each if each._gather_saveables_for_checkpoint() else copy.deepcopy(each, memo)
            for name, each in self.owned.items()
        }
        copied.update_uid = self.update_uid
        return copied


class Trackable:
    """An object whose state checkpoints keep, with that of the objects it owns.

    1. What it owns has names that are unique within it.
    2. A checkpoint that was restored before an object came to be owned restores it then.
    3. Of several checkpoints, the one that was restored last decides.
    """

    _ownership_record: _Ownership

    @property
    def _ownership(self) -> _Ownership:
        record: _Ownership | None = self.__dict__.get("_ownership_record")
        if record is None:  # not in __init__: subclasses forget to call it
            record = self.__dict__["_ownership_record"] = _Ownership()
        return record

    def _maybe_initialize_trackable(self) -> None:
        """For programs that call it: nothing has to be prepared."""

    @property
    def _setattr_tracking(self) -> bool:
        """Whether assigning an attribute makes the object its owner."""
        return bool(self.__dict__.get("_self_setattr_tracking", True))

    @_setattr_tracking.setter
    def _setattr_tracking(self, value: bool) -> None:
        self.__dict__["_self_setattr_tracking"] = value

    @property
    def _update_uid(self) -> int:
        """The number of the restore that this object's values are from; -1 for none."""
        return self._ownership.update_uid

    @_update_uid.setter
    def _update_uid(self, value: int) -> None:
        self._ownership.update_uid = value

    def _no_dependency(self, value: Any) -> Any:
        """The value as an attribute that is not owned."""
        return value

    # What it owns -----------------------------------------------------------------------------

    @property
    def _unconditional_checkpoint_dependencies(self) -> list[TrackableReference]:
        return [TrackableReference(*item) for item in self._ownership.owned.items()]

    @property
    def _unconditional_dependency_names(self) -> dict[str, Trackable]:
        return self._ownership.owned

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """What this object owns; a subclass may add what depends on the default graph."""
        return self._unconditional_checkpoint_dependencies

    @property
    def _deferred_dependencies(self) -> dict[str, list[Any]]:
        """Positions in checkpoints by the names of objects that are not owned yet."""
        return self._ownership.deferred

    def _lookup_dependency(self, name: str) -> Trackable | None:
        """What it owns by a name."""
        return self._ownership.owned.get(name)

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Owns an object under a name, and restores what a checkpoint has for it.

        Args:
          trackable: the object; it is returned.
          name: its name within this object.
          overwrite: whether it may take the place of another.
        """
        if not isinstance(trackable, Trackable):
            raise TypeError(
                f"Trackable._track_trackable() passed type {type(trackable)}, not a Trackable."
            )
        current = self._lookup_dependency(name)
        if current is not None and current is not trackable and not overwrite:
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a Trackable with "
                "this name is already declared as a dependency. Names must be unique (or "
                "overwrite=True)."
            )
        self._ownership.owned[name] = trackable
        if current is None:
            self._handle_deferred_dependencies(name=name, trackable=trackable)
        return trackable

    _track_checkpointable = _track_trackable  # its name before TensorFlow 1.14

    def _add_variable_with_custom_getter(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        getter: Callable[..., Any] | None = None,
        overwrite: bool = False,
        **kwargs_for_getter: Any,
    ) -> Any:
        """The variable that `getter` makes, owned under its name."""
        assert getter is not None
        made = getter(
            name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs_for_getter
        )
        if overwrite and not isinstance(made, Trackable):
            return made
        return self._track_trackable(made, name=name, overwrite=overwrite)

    # In a SavedModel --------------------------------------------------------------------------

    @property
    def _object_identifier(self) -> str:
        """The name of its kind."""
        return "_generic_user_object"

    @property
    def _tracking_metadata(self) -> str:
        """What a program of its kind wants to know of it when it is loaded."""
        return ""

    def _list_extra_dependencies_for_serialization(
        self, serialization_cache: Any
    ) -> dict[str, Any]:
        """What it owns there alone, by name; the cache is one that all objects share."""
        return {}

    def _list_functions_for_serialization(self, serialization_cache: Any) -> dict[str, Any]:
        """Its functions, by name."""
        return {}

    # Its values -------------------------------------------------------------------------------

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """Its own values: by attribute, what a saver can save, or a function of a key."""
        return {}

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Restores an object from the checkpoints that waited for it, the latest first."""
        waiting = self._deferred_dependencies.pop(name, [])
        for position in sorted(waiting, key=lambda each: each.restore_uid, reverse=True):
            position.restore(trackable)

    def _restore_from_checkpoint_position(self, checkpoint_position: Any) -> list[Any]:
        """The operations that restore this object and all it owns."""
        operations: list[Any] = []
        values: dict[str, Any] = {}
        python_values: list[Any] = []
        positions = deque([checkpoint_position])
        while positions:
            position = positions.popleft()
            made, named, python = position.trackable._single_restoration_from_checkpoint_position(
                checkpoint_position=position, visit_queue=positions
            )
            operations += made
            values.update(named)
            python_values += python
        operations += checkpoint_position.checkpoint.restore_saveables(values, python_values)
        return operations

    def _single_restoration_from_checkpoint_position(
        self, checkpoint_position: Any, visit_queue: deque[Any]
    ) -> tuple[list[Any], dict[str, Any], list[Any]]:
        """Restores this object alone; what it owns is queued, or waits until it is owned."""
        found: tuple[list[Any], dict[str, Any], list[Any]] = ([], {}, [])
        if checkpoint_position.restore_uid > self._update_uid:
            found = checkpoint_position.gather_ops_or_named_saveables()
            self._ownership.update_uid = checkpoint_position.restore_uid
        for name, position in checkpoint_position.children():
            owned = self._lookup_dependency(name)
            if owned is None:
                self._deferred_dependencies.setdefault(name, []).append(position)
            elif position.bind_object(trackable=owned):
                visit_queue.append(position)
        return found


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that may assign attributes without owning them."""

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    return untracked


@contextmanager
def no_automatic_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """Attributes that are assigned here are not owned."""
    previous = getattr(obj, "_setattr_tracking", True)
    obj._setattr_tracking = False
    try:
        yield
    finally:
        obj._setattr_tracking = previous
