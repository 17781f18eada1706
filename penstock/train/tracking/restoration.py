"""Restoring a checkpoint's graph of objects into the program's, step by step.

The two graphs are matched from their roots on, by the names of what objects own. Where the
program has no object yet, the position in the checkpoint waits at its owner for it.
"""

from __future__ import annotations

import itertools
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from penstock.checkpoint.reader import NewCheckpointReader
from penstock.ir.defaults import executing_eagerly
from penstock.ops.control import init_scope
from penstock.platform import logging
from penstock.train.saveables import (
    SaveableObject,
    op_list_to_dict,
    saveable_objects_for_op,
    validate_and_slice_inputs,
)
from penstock.train.saver_builder import BulkSaverBuilder
from penstock.train.tracking.saveables import PythonStateSaveable
from penstock.train.tracking.unused_values import UnusedValues

_numbers = itertools.count(1)


def next_restore_uid() -> int:
    """The number of a new restore: larger than those of all before it."""
    return next(_numbers)


class SlotRestoration(NamedTuple):
    """A slot variable that a checkpoint has for a variable."""

    optimizer_id: int
    slot_variable_id: int
    slot_name: str


class DeferredSlotRestoration(NamedTuple):
    """A slot variable to restore when its optimizer is met."""

    original_variable: Any
    slot_variable_id: int
    slot_name: str


class CheckpointPosition:
    """An object of a checkpoint that is being restored."""

    def __init__(self, checkpoint: RestoreCoordinator, proto_id: int):
        self.checkpoint = checkpoint
        self.proto_id = proto_id

    @property
    def restore_uid(self) -> int:
        return self.checkpoint.restore_uid

    @property
    def object_proto(self) -> Any:
        return self.checkpoint.object_graph_proto.nodes[self.proto_id]

    @property
    def trackable(self) -> Any:
        """The program's object at this position."""
        return self.checkpoint.object_by_proto_id[self.proto_id]

    def children(self) -> Iterator[tuple[str, CheckpointPosition]]:
        """What the object owns in the checkpoint."""
        for child in self.object_proto.children:
            yield child.local_name, CheckpointPosition(self.checkpoint, child.node_id)

    def restore(self, trackable: Any) -> None:
        """Restores the program's object from here, unless it has been."""
        with init_scope():  # the object may come to be while a function is traced
            if self.bind_object(trackable):
                made = trackable._restore_from_checkpoint_position(self)
                if made:
                    self.checkpoint.new_restore_ops(made)

    def bind_object(self, trackable: Any) -> bool:
        """Notes that a program's object is this one; False if one was noted before."""
        checkpoint = self.checkpoint
        checkpoint.see(trackable)
        current = checkpoint.object_by_proto_id.get(self.proto_id)
        if current is None:
            checkpoint.object_by_proto_id[self.proto_id] = trackable
            checkpoint.unused_values.matched.add(self.proto_id)
            self._restore_slots(trackable)
            return True
        if current is not trackable:
            logging.warning(
                "Inconsistent references when loading the checkpoint into this object graph. "
                "Either the Trackable object references in the Python program have changed in an "
                "incompatible way, or the checkpoint was generated in an incompatible program."
                "\n\nTwo checkpoint references resolved to different objects (%s and %s).",
                current,
                trackable,
            )
        return False

    def _restore_slots(self, trackable: Any) -> None:
        """Restores the slots of an optimizer, or of a variable, that has just been met."""
        checkpoint = self.checkpoint
        for waiting in checkpoint.deferred_slot_restorations.pop(self.proto_id, ()):
            trackable._create_or_restore_slot_variable(
                slot_variable_position=CheckpointPosition(checkpoint, waiting.slot_variable_id),
                variable=waiting.original_variable,
                slot_name=waiting.slot_name,
            )
        for slot in checkpoint.slot_restorations.pop(self.proto_id, ()):
            optimizer = checkpoint.object_by_proto_id.get(slot.optimizer_id)
            if optimizer is None:
                checkpoint.deferred_slot_restorations[slot.optimizer_id].append(
                    DeferredSlotRestoration(trackable, slot.slot_variable_id, slot.slot_name)
                )
            else:
                optimizer._create_or_restore_slot_variable(
                    slot_variable_position=CheckpointPosition(checkpoint, slot.slot_variable_id),
                    variable=trackable,
                    slot_name=slot.slot_name,
                )

    def is_simple_variable(self) -> bool:
        """Whether it has one value and owns nothing."""
        return len(self.object_proto.attributes) == 1 and not self.object_proto.children

    def value(self) -> Any:
        """The value of a simple variable in the checkpoint, as an array."""
        (attribute,) = self.object_proto.attributes
        reader = NewCheckpointReader(self.checkpoint.save_path_string)
        return reader.get_tensor(attribute.checkpoint_key)

    def gather_ops_or_named_saveables(self) -> tuple[list[Any], dict[str, Any], list[Any]]:
        """How to restore the object's own values.

        Operations that exist already, what needs new ones by key, and Python state.
        """
        known, named, python_values = [], {}, []
        own = self.trackable._gather_saveables_for_checkpoint()
        for attribute in self.object_proto.attributes:
            key = attribute.checkpoint_key
            owner, operation = self.checkpoint.restore_ops_by_name.get(key, (None, None))
            factory = own.get(attribute.name)
            if owner is self.trackable:
                known.append(operation)
            elif factory is None:
                self.checkpoint.note_unused(self.proto_id, attribute)
            else:
                saveable = factory(name=key) if callable(factory) else factory
                if isinstance(saveable, PythonStateSaveable):
                    python_values.append(saveable)
                else:
                    named[key] = saveable
                    self.checkpoint.owner_of_key[key] = self.trackable
        return known, named, python_values


class RestoreCoordinator:
    """One restore of one checkpoint: which objects were met, and the operations made so far."""

    def __init__(
        self,
        object_graph_proto: Any,
        save_path: str,
        save_path_tensor: Any,
        restore_op_cache: dict[str, tuple[Any, Any]],
    ):
        self.object_graph_proto = object_graph_proto
        self.save_path_string = save_path
        self.save_path_tensor = save_path_tensor
        self.restore_uid = next_restore_uid()
        self.restore_ops: list[Any] = []
        self.restore_ops_by_name = restore_op_cache
        self.new_restore_ops_callback: Callable[[list[Any]], Any] | None = None
        self.owner_of_key: dict[str, Any] = {}
        self.unused_attributes: dict[int, list[str]] = defaultdict(list)
        self.unused_values = UnusedValues(object_graph_proto, self.unused_attributes)
        # Objects with positions that wait refer to this one: no cycles of strong references.
        self.object_by_proto_id: weakref.WeakValueDictionary[int, Any] = (
            weakref.WeakValueDictionary()
        )
        self._seen: dict[int, weakref.ref[Any]] = {}
        self.deferred_slot_restorations: dict[int, list[DeferredSlotRestoration]] = defaultdict(
            list
        )
        self.slot_restorations: dict[int, list[SlotRestoration]] = defaultdict(list)
        for index, node in enumerate(object_graph_proto.nodes):
            for slot in node.slot_variables:
                self.slot_restorations[slot.original_variable_node_id].append(
                    SlotRestoration(index, slot.slot_variable_node_id, slot.slot_name)
                )

    def see(self, trackable: Any) -> None:
        """Notes an object of the program, whether or not the checkpoint has it."""
        self._seen[id(trackable)] = weakref.ref(trackable)

    def objects_without_values(self) -> list[Any]:
        """The program's objects that were met and are not in the checkpoint."""
        bound = {id(each) for each in self.object_by_proto_id.values()}
        living = [reference() for reference in self._seen.values()]
        return [each for each in living if each is not None and id(each) not in bound]

    def note_unused(self, proto_id: int, attribute: Any) -> None:
        """Notes a value of the checkpoint that the program's object does not have."""
        # Configurations of layers are written by TensorFlow, and nothing restores them.
        if not is_optional(attribute):
            self.unused_attributes[proto_id].append(attribute.name)

    def new_restore_ops(self, new_ops: list[Any]) -> None:
        """Adds operations; runs them at once if restoring follows the building of the program."""
        self.restore_ops += new_ops
        if self.new_restore_ops_callback is not None:
            self.new_restore_ops_callback(new_ops)

    def restore_saveables(
        self, tensor_saveables: dict[str, Any], python_saveables: list[Any]
    ) -> list[Any]:
        """The operations that restore tensors; Python state is restored here and now."""
        if python_saveables:
            reader = NewCheckpointReader(self.save_path_string)
            for saveable in python_saveables:
                saveable.python_restore([reader.get_tensor(spec.name) for spec in saveable.specs])
        if not tensor_saveables:
            return []
        made = []
        for name, operation in _restore_ops(tensor_saveables, self.save_path_tensor):
            made.append(operation)
            self.restore_ops_by_name[name] = (self.owner_of_key.pop(name), operation)
        return made


def is_optional(attribute: Any) -> bool:
    """Whether a value of a checkpoint need not be restored."""
    return attribute.name == "OBJECT_CONFIG_JSON" or _optional_restore_flag(attribute)


def _optional_restore_flag(attribute: Any) -> bool:
    """TensorFlow 1.x says so in field 4, which the schema of today has no name for."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    return any(field.field_number == 4 and field.data for field in UnknownFieldSet(attribute))


def _restore_ops(named: dict[str, Any], path: Any) -> Iterator[tuple[str, Any]]:
    saveables = validate_and_slice_inputs(named)
    tensors = iter(BulkSaverBuilder().bulk_restore(path, saveables, -1, False))
    for saveable in saveables:
        values = [next(tensors) for _ in saveable.specs]
        yield saveable.name, saveable.restore(values, None)


class NameBasedRestoreCoordinator:
    """One restore of a checkpoint of `tf.train.Saver`, by the names of variables."""

    def __init__(self, save_path: str):
        self.save_path = save_path
        self.restore_uid = next_restore_uid()
        self.unused_attributes: list[tuple[Any, str]] = []
        # In eager mode, what a checkpoint lacks is known at once, and left as it is.
        self._known: Any = None
        if executing_eagerly():
            self._known = NewCheckpointReader(save_path).get_variable_to_dtype_map()

    def globally_named_object_attributes(self, trackable: Any) -> Iterator[SaveableObject]:
        """An object's values under the names that a `tf.train.Saver` gives them."""
        for attribute, factory in trackable._gather_saveables_for_checkpoint().items():
            try:
                saveable = factory() if callable(factory) else factory
            except TypeError:  # it has no name but the one that a checkpoint gives
                if not factory("").optional_restore:
                    self.unused_attributes.append((trackable, attribute))
                continue
            named = op_list_to_dict([saveable], convert_variable_to_tensor=False)
            for name, op in named.items():
                for made in saveable_objects_for_op(op, name):
                    if self._has(made):
                        yield made
                    else:
                        self.unused_attributes.append((trackable, made.name))

    def _has(self, saveable: SaveableObject) -> bool:
        """Whether the checkpoint has the values of an object, as far as that is known."""
        return self._known is None or all(spec.name in self._known for spec in saveable.specs)
