"""`tf.contrib.checkpoint`: tools for the checkpoints of `tf.train.Checkpoint`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from penstock.checkpoint.reader import NewCheckpointReader
from penstock.ir.trackable import VARIABLE_VALUE_KEY
from penstock.ir.trackable import Trackable as CheckpointableBase
from penstock.ops.control import no_op
from penstock.ops.variable_creation import variable_creator_scope
from penstock.proto import TrackableObjectGraph as CheckpointableObjectGraph
from penstock.train.saveables import SaveableObject, SaveSpec
from penstock.train.tracking import AutoTrackable as Checkpointable
from penstock.train.tracking import (
    CheckpointManager,
    List,
    Mapping,
    NoDependency,
    NumpyState,
    TrackableDataStructure,
    list_objects,
    object_metadata,
)
from penstock.train.tracking import PythonState as PythonStateWrapper

__all__ = [
    "CheckpointManager",
    "Checkpointable",
    "CheckpointableBase",
    "CheckpointableObjectGraph",
    "List",
    "Mapping",
    "NoDependency",
    "NumpyState",
    "PythonStateWrapper",
    "UniqueNameTracker",
    "capture_dependencies",
    "dot_graph_from_checkpoint",
    "list_objects",
    "object_metadata",
    "split_dependency",
]


class UniqueNameTracker(TrackableDataStructure):
    """Owns objects under names that it makes unique: "x", "x_1", …"""

    def __init__(self) -> None:
        self._name_counts: dict[str, int] = {}

    @property
    def _values(self) -> Iterable[Any]:
        return [reference.ref for reference in self._checkpoint_dependencies]

    def track(self, trackable: Any, base_name: str) -> Any:
        """Owns an object, and returns it."""
        if not isinstance(trackable, CheckpointableBase):
            raise ValueError(
                f"Expected a trackable value, got {trackable} which does not inherit from "
                "tf.track.Trackable."
            )
        count = self._name_counts.get(base_name, 0)
        while self._lookup_dependency(name := f"{base_name}_{count}" if count else base_name):
            count += 1
        self._name_counts[base_name] = count + 1
        return self._track_value(trackable, name=name)


@contextmanager
def capture_dependencies(template: Any) -> Iterator[None]:
    """Lets an object own the variables that are made here, under their names in its scope."""
    prefix = f"{template.variable_scope.name}/"

    def owned(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        variable = next_creator(**kwargs)
        name = kwargs.get("name")
        if name is not None and name.startswith(prefix):
            template._track_trackable(variable, name=name[len(prefix) :], overwrite=True)
        return variable

    with variable_creator_scope(owned):
        yield


# Values that are saved and restored together --------------------------------------------------


class _CallbackSaveable(SaveableObject):
    """One tensor that functions make and take."""

    def __init__(
        self,
        name: str,
        dtype: Any,
        device: str,
        save_callback: Callable[[], Any],
        restore_callback: Callable[[Any], Any],
    ):
        self._restore_callback = restore_callback
        spec = SaveSpec(save_callback, "", name, dtype=dtype, device=device)
        super().__init__(save_callback, [spec], name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        (tensor,) = restored_tensors
        return self._restore_callback(tensor)


class _SplitDependency(CheckpointableBase):
    """One of several values that are made, and taken, at once."""

    def __init__(
        self,
        name: str,
        dtype: Any,
        device: str,
        buffers: tuple[dict[str, Any], dict[str, Any]],
        names: Sequence[str],
        functions: tuple[Callable[[Any], Any], Callable[[Any], Any]],
    ):
        self._name = name
        self._save_buffer, self._restore_buffer = buffers
        self._names = names
        self._fill, self._consume = functions
        self._factory = partial(
            _CallbackSaveable,
            dtype=dtype,
            device=device,
            save_callback=self._saved,
            restore_callback=self._restored,
        )

    def _saved(self) -> Any:
        if self._name not in self._save_buffer:
            if self._save_buffer:
                raise AssertionError(
                    f"Split dependency {self._name} ({self}) unsynchronized. Split dependencies "
                    "must be saved together."
                )
            self._fill(self._save_buffer)
        return self._save_buffer.pop(self._name)

    def _restored(self, tensor: Any) -> Any:
        if self._name in self._restore_buffer:
            raise AssertionError(
                f"Split dependency {self._name} ({self}) unsynchronized. Split dependencies must "
                "be restored together."
            )
        self._restore_buffer[self._name] = tensor
        if len(self._restore_buffer) < len(self._names):
            return no_op()
        operation = self._consume(self._restore_buffer)
        self._restore_buffer.clear()
        return operation

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {VARIABLE_VALUE_KEY: self._factory}


def split_dependency(
    component_names: Sequence[str],
    component_dtypes: Sequence[Any],
    fill_save_buffer_fn: Callable[[dict[str, Any]], Any],
    consume_restore_buffer_fn: Callable[[dict[str, Any]], Any],
    device: str,
) -> dict[str, Any]:
    """Objects whose values one function makes, and one function takes.

    Args:
      component_names: their names.
      component_dtypes: the types of their values.
      fill_save_buffer_fn: adds a tensor for each name to a dictionary.
      consume_restore_buffer_fn: from a dictionary of tensors to the operation that restores.
      device: where to save and restore.
    """
    buffers: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    functions = (fill_save_buffer_fn, consume_restore_buffer_fn)
    return {
        name: _SplitDependency(name, dtype, device, buffers, component_names, functions)
        for name, dtype in zip(component_names, component_dtypes, strict=True)
    }


# Drawing --------------------------------------------------------------------------------------


def dot_graph_from_checkpoint(save_path: Any) -> str:
    """The objects of a checkpoint as a graph in the DOT language."""
    reader = NewCheckpointReader(save_path)
    nodes = object_metadata(save_path).nodes
    slots = {slot.slot_variable_node_id for node in nodes for slot in node.slot_variables}
    lines = ["digraph {"]
    for number, node in enumerate(nodes):
        look = ""
        if [each.name for each in node.attributes] == [VARIABLE_VALUE_KEY]:
            color, kind = ("orange", "Slot variable") if number in slots else ("blue", "Variable")
            value = node.attributes[0]
            shape = reader.get_variable_to_shape_map()[value.checkpoint_key]
            dtype = reader.get_variable_to_dtype_map()[value.checkpoint_key].name
            what = f"{kind} {_quoted(value.full_name)} shape={shape} {dtype}"
            look = f' color={color} tooltip="{what}"'
        elif node.slot_variables:
            look = ' color=red tooltip="Optimizer"'
        lines.append(f'N_{number} [shape=point label="" width=.25{look}]')
        for child in node.children:
            lines.append(f'N_{number} -> N_{child.node_id} [label="{_quoted(child.local_name)}"]')
        for slot in node.slot_variables:
            target = f"N_{slot.slot_variable_node_id}"
            name = _quoted(slot.slot_name)
            lines.append(f'N_{number} -> {target} [label="{name}" style=dotted]')
            lines.append(f"N_{slot.original_variable_node_id} -> {target} [style=dotted]")
    return "\n".join([*lines, "}\n"])


def _quoted(name: str) -> str:
    return name.replace('"', '\\"')
