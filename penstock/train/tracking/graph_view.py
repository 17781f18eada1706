"""The graph of objects below a root: who owns whom, and the key of each value in a checkpoint."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any

from penstock.ir.defaults import executing_eagerly
from penstock.proto import TrackableObjectGraph
from penstock.train.saveables import SaveableObject, op_list_to_dict, saveable_objects_for_op
from penstock.train.tracking.attributes import NotTrackable
from penstock.train.tracking.saveables import PythonStateSaveable

_ESCAPE = "."
_SLOTS = _ESCAPE + "OPTIMIZER_SLOT"
_ATTRIBUTES = _ESCAPE + "ATTRIBUTES"

_Slot = TrackableObjectGraph.TrackableObject.SlotVariableReference


def escape_local_name(name: str) -> str:
    """A name as a part of a key: parts are separated by slashes, and dots escape."""
    return name.replace(_ESCAPE, _ESCAPE + _ESCAPE).replace("/", _ESCAPE + "S")


class _Objects:
    """Objects in the order of their numbers, with their keys."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.keys: list[str] = []
        self.slots: dict[int, list[Any]] = {}

    def add(self, trackable: Any, key: str) -> int:
        self.numbers[id(trackable)] = len(self.objects)
        self.objects.append(trackable)
        self.keys.append(key)
        return len(self.objects) - 1


class ObjectGraphView:
    """What is reachable from a root object; the root may be given by a weak reference."""

    def __init__(self, root: Any):
        self._root_ref = root
        # By object and key, with the object, so that its id is not another's: a value has one key
        # for long, and needs new nodes only where that changes.
        self._known: dict[tuple[int, str], tuple[Any, str, list[SaveableObject]]] = {}

    @property
    def root(self) -> Any:
        root = self._root_ref() if isinstance(self._root_ref, weakref.ref) else self._root_ref
        assert root is not None
        return root

    def list_dependencies(self, obj: Any) -> Any:
        """What an object owns."""
        return obj._checkpoint_dependencies

    def list_objects(self) -> list[Any]:
        """All objects, slot variables too."""
        return self._gather().objects

    def _gather(self) -> _Objects:
        """All objects in the order of their distance from the root, then slot variables."""
        found = _Objects()
        paths: dict[int, tuple[str, ...]] = {id(self.root): ()}
        to_visit = deque([self.root])
        while to_visit:
            current = to_visit.popleft()
            if isinstance(current, NotTrackable):
                raise NotImplementedError(
                    f"The object {current} does not support object-based saving. What no longer "
                    "refers to it can be saved without it."
                )
            path = paths[id(current)]
            found.add(current, "/".join(escape_local_name(part) for part in path))
            for name, owned in self.list_dependencies(current):
                if id(owned) not in paths:
                    paths[id(owned)] = (*path, name)
                    to_visit.append(owned)
        _add_slot_variables(found)
        return found

    def serialize_object_graph(self) -> tuple[list[SaveableObject], Any, dict[Any, Any]]:
        """What to save, the message of the graph of objects, and feeds of Python state."""
        found = self._gather()
        message = TrackableObjectGraph()
        saveables: list[SaveableObject] = []
        feeds: dict[Any, Any] = {}
        for number, trackable in enumerate(found.objects):
            node = message.nodes.add()
            node.slot_variables.extend(found.slots.get(number, ()))
            for name, owned in self.list_dependencies(trackable):
                node.children.add(node_id=found.numbers[id(owned)], local_name=name)
            for saveable in self._saveables_of(trackable, node, found.keys[number]):
                saveables.append(saveable)
                if isinstance(saveable, PythonStateSaveable):
                    feeds.update(saveable.feed_dict_additions())
        return saveables, message, feeds

    def frozen_saveable_objects(self) -> tuple[list[SaveableObject], Any]:
        """What to save with Python state as it is now, and the message."""
        saveables, message, _ = self.serialize_object_graph()
        return [
            each.freeze() if isinstance(each, PythonStateSaveable) else each for each in saveables
        ], message

    def _saveables_of(self, trackable: Any, node: Any, key: str) -> Iterator[SaveableObject]:
        for name, factory in trackable._gather_saveables_for_checkpoint().items():
            attribute_key = f"{key}/{_ATTRIBUTES}/{escape_local_name(name)}"
            entry = (id(trackable), attribute_key)
            made = self._known.get(entry)
            if made is None:
                full_name, saveables = _made(trackable, name, factory, attribute_key)
                made = (trackable, full_name, saveables)
                if not executing_eagerly():  # there they may hold a state of now
                    self._known[entry] = made
            node.attributes.add(name=name, full_name=made[1], checkpoint_key=attribute_key)
            yield from made[2]


def _made(
    trackable: Any, attribute: str, factory: Any, key: str
) -> tuple[str, list[SaveableObject]]:
    """The name that a `tf.train.Saver` has for a value, and what saves it under a key."""
    value = factory(name=key) if callable(factory) else factory
    if isinstance(value, SaveableObject):
        full_name, saveables = "", [value]
    else:
        (full_name,) = op_list_to_dict([value], convert_variable_to_tensor=False)
        saveables = list(saveable_objects_for_op(value, key))
        for saveable in saveables:
            saveable.full_name = full_name  # type: ignore[attr-defined]  # programs ask for it
    for saveable in saveables:
        if key not in saveable.name:
            raise AssertionError(
                f"The object {trackable} produced a SaveableObject with name '{saveable.name}' for "
                f"attribute '{attribute}'. Expected a name containing '{key}'."
            )
    return full_name, saveables


def _add_slot_variables(found: _Objects) -> None:
    """Numbers the slot variables of the optimizers for the variables that are there."""
    owned = list(found.objects)
    for number, optimizer in enumerate(owned):
        if not hasattr(optimizer, "_create_or_restore_slot_variable"):
            continue
        for slot_name in optimizer.get_slot_names():
            for original, variable in enumerate(owned):
                slot = _slot_of(optimizer, variable, slot_name)
                if slot is None:
                    continue
                if id(slot) in found.numbers:
                    raise NotImplementedError(
                        "A slot variable was re-used as a dependency of a Trackable object. This "
                        f"is not currently allowed: {slot}"
                    )
                key = "/".join(
                    [found.keys[original], _SLOTS, found.keys[number], escape_local_name(slot_name)]
                )
                found.slots.setdefault(number, []).append(
                    _Slot(
                        original_variable_node_id=original,
                        slot_name=slot_name,
                        slot_variable_node_id=found.add(slot, key),
                    )
                )


def _slot_of(optimizer: Any, variable: Any, slot_name: str) -> Any:
    try:
        return optimizer.get_slot(variable, slot_name)
    except (AttributeError, KeyError):  # it is no variable, or none that the optimizer knows
        return None
