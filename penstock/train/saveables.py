"""What a saver saves: variables, their slices, and objects that say themselves how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from penstock.devices import DeviceSpec
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.tensor import Tensor
from penstock.ops.identity import identity
from penstock.ops.partitioned_variables import PartitionedVariable
from penstock.ops.queue_state import QueueState, SetQueueState
from penstock.ops.queues import QueueBase
from penstock.ops.readers import ReaderBase, ReaderRestoreStateV2, ReaderSerializeStateV2
from penstock.ops.ref_variable import RefVariable
from penstock.ops.resource_variable import ResourceVariable
from penstock.ops.resource_variables import AssignVariableOp
from penstock.ops.shaping import reshape
from penstock.ops.state import Assign
from penstock.ops.variables import Variable

_REF_TYPES = ("Variable", "VariableV2", "AutoReloadVariable")
_VARIABLE_TYPES = (*_REF_TYPES, "VarHandleOp", "ReadVariableOp")


class SaveSpec:
    """One tensor of a checkpoint: what to save, and under which name.

    Args:
      tensor: the tensor to save, or a function that makes it.
      slice_spec: which slice of a whole it is; empty if it is the whole.
      name: its name in the checkpoint.
      dtype: its type, for a function.
      device: its device, for a function.
    """

    def __init__(
        self,
        tensor: Any,
        slice_spec: str,
        name: str,
        dtype: Any = None,
        device: str | None = None,
    ):
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        if callable(tensor):
            if dtype is None or device is None:
                raise AssertionError(
                    "When passing a callable `tensor` to a SaveSpec, an explicit dtype and device "
                    "must be provided."
                )
            self.dtype = dtype
            self.device: Any = device
        else:
            self.dtype = tensor.dtype
            self.device = tensor.device

    @property
    def tensor(self) -> Any:
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """What a `tf.train.Saver` saves and restores: one or more tensors that belong together.

    Args:
      op: what is saved; an object is saved once.
      specs: a `SaveSpec` for each tensor.
      name: the name in the checkpoint.
    """

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str):
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def optional_restore(self) -> bool:
        """Whether a checkpoint without it is as good."""
        return False

    @property
    def device(self) -> Any:
        return self.specs[0].device

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        """An operation that takes the values over; shapes are given where they may differ."""
        raise ValueError("Calling an abstract method.")


class ReferenceVariableSaveable(SaveableObject):
    """A variable whose buffer is a node's output."""

    def __init__(self, var: Any, slice_spec: str, name: str):
        super().__init__(var, [SaveSpec(var, slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = reshape(value, restored_shapes[0])
        buffer = self.op._ref() if isinstance(self.op, RefVariable) else self.op
        strict = restored_shapes is None and self.op.get_shape().is_fully_defined()
        return Assign(buffer, value, validate_shape=strict)


class ResourceVariableSaveable(SaveableObject):
    """A variable behind a handle."""

    def __init__(self, var: Any, slice_spec: str, name: str):
        self._var_device = var.device
        self._var_shape = var.shape
        tensor: Any
        if isinstance(var, Tensor):
            self.handle_op = var.op.inputs[0]
            tensor = var
        elif isinstance(var, ResourceVariable):
            self.handle_op = var.handle
            tensor = _reader_of(var)
        else:
            raise ValueError(
                f"Saveable is neither a resource variable nor a read operation. Got: {var!r}"
            )
        spec = SaveSpec(tensor, slice_spec, name, dtype=var.dtype, device=var.device)
        super().__init__(var, [spec], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = reshape(value, restored_shapes[0])
        with get_default_graph().device(self._var_device):
            value = identity(value)
            value.shape.assert_is_compatible_with(self._var_shape)
            return AssignVariableOp(self.handle_op, value)


class HandleSaveable(SaveableObject):
    """What is behind a handle, where one op tells its state and another one sets it."""

    def __init__(
        self, handle: Tensor, name: str, tell: Callable[..., Any], put: Callable[..., Any]
    ):
        self._put = put
        with get_default_graph().colocate_with(handle):
            state = tell(handle, name="state")
        super().__init__(handle, [SaveSpec(state, "", name)], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        with get_default_graph().colocate_with(self.op):
            return self._put(self.op, restored_tensors[0], name="set_state")


def queue_saveable(handle: Tensor, name: str | None = None) -> SaveableObject:
    """The elements of a queue, in their order, and the state of its generator if it shuffles."""
    return HandleSaveable(handle, name or handle.op.name, QueueState, SetQueueState)


def reader_saveable(handle: Tensor, name: str | None = None) -> SaveableObject:
    """The file that a reader is in, and how far."""
    name = name or handle.op.name
    return HandleSaveable(handle, name, ReaderSerializeStateV2, ReaderRestoreStateV2)


def _input_saveable(part: QueueBase | ReaderBase, name: str | None = None) -> SaveableObject:
    if isinstance(part, QueueBase):
        return queue_saveable(part.queue_ref, name)
    return reader_saveable(part.reader_ref, name)


def _reader_of(variable: ResourceVariable) -> Callable[[], Tensor]:
    def read() -> Tensor:
        graph = get_default_graph()
        with graph.device(variable.device):
            value = variable.read_value()
            with graph.device("/device:CPU:0"):
                return identity(value)

    return read


def set_cpu0(device_string: str) -> str:
    """The first CPU of the task that a device belongs to."""
    spec = DeviceSpec.from_string(device_string)
    return spec.replace(device_type="CPU", device_index=0).to_string()


def all_saveable_objects(scope: str | None = None) -> list[Any]:
    """What a saver saves unless told otherwise."""
    graph = get_default_graph()
    return graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope) + graph.get_collection(
        GraphKeys.SAVEABLE_OBJECTS, scope
    )


# From what a program names to objects that can be saved ---------------------------------------


def _is_variable_tensor(value: Any) -> bool:
    if isinstance(value, ResourceVariable):
        return value._is_eager
    return isinstance(value, Tensor) and value.op.type in _VARIABLE_TYPES


def _is_plain_variable(value: Any) -> bool:
    """Whether a value is a variable of which there is one, not a copy for each replica."""
    return isinstance(value, Variable) and not getattr(value, "_is_distributed", False)


def _variable_tensor(variable: Any) -> Tensor:
    """The node that stands for a variable in the checkpoint's graph nodes.

    In eager mode there are none: a variable stands for itself.
    """
    if executing_eagerly():
        if not isinstance(variable, ResourceVariable):
            raise ValueError(
                "Can only save/restore ResourceVariables when eager execution is enabled, type: "
                f"{type(variable)}."
            )
        return variable  # type: ignore[return-value]
    if isinstance(variable, ResourceVariable):
        return variable._as_graph_element()
    tensor: Tensor = to_tensor(variable, as_ref=True)
    return tensor


def _saveable_of(variable: Any, slice_spec: str, name: str) -> SaveableObject:
    has_value = isinstance(variable, ResourceVariable) and variable._is_eager
    is_reference = not has_value and variable.op.type in _REF_TYPES
    make = ReferenceVariableSaveable if is_reference else ResourceVariableSaveable
    return make(variable, slice_spec, name)


def saveable_objects_for_op(op: Any, name: Any) -> Iterator[SaveableObject]:
    """The objects to save for a variable, a list of its slices, a queue or a reader, or itself."""
    if not isinstance(name, str):
        raise TypeError(
            "names_to_saveables must be a dict mapping string names to trackable operations. "
            f"Name is not a string: {name}"
        )
    if isinstance(op, SaveableObject):
        yield op
    elif isinstance(op, (QueueBase, ReaderBase)):
        yield _input_saveable(op, name)
    elif isinstance(op, (list, tuple, PartitionedVariable)):
        yield from _saveables_of_slices(op, name)
    else:
        saveables = getattr(op, "_gather_saveables_for_checkpoint", None)
        if saveables is not None and not _is_plain_variable(op):
            yield from _saveables_of_object(saveables(), name)
            return
        variable = _variable_tensor(op)
        if not _is_variable_tensor(variable):
            raise TypeError(
                "names_to_saveables must be a dict mapping string names to Tensors/Variables. Not "
                f"a variable: {variable}"
            )
        yield _saveable_of(variable, "", name)


def _saveables_of_slices(parts: Iterable[Any], name: str) -> Iterator[SaveableObject]:
    whole = None
    for variable in parts:
        if not isinstance(variable, Variable):
            raise ValueError(f"Slices must all be Variables: {variable}")
        info = variable._get_save_slice_info()
        if info is None:
            raise ValueError(f"Slices must all be slices: {variable}")
        if whole is None:
            whole = info.full_name
        elif whole != info.full_name:
            raise ValueError(
                f"Slices must all be from the same tensor: {whole} != {info.full_name}"
            )
        yield _saveable_of(variable, info.spec, name)


def _saveables_of_object(factories: dict[str, Any], name: str) -> Iterator[SaveableObject]:
    for attribute, factory in factories.items():
        full_name = name if attribute == "VARIABLE_VALUE" else f"{name}_{attribute}"
        made = factory(full_name) if callable(factory) else factory
        yield from saveable_objects_for_op(made, made.name)


def op_list_to_dict(op_list: Any, convert_variable_to_tensor: bool = True) -> dict[str, Any]:
    """What to save by its name in the checkpoint; slices of one whole make one entry."""
    if not isinstance(op_list, (list, tuple, set)):
        raise TypeError(f"Variables to save should be passed in a dict or a list: {op_list}")
    found: dict[str, Any] = {}
    entries = [
        _input_saveable(entry) if isinstance(entry, (QueueBase, ReaderBase)) else entry
        for entry in op_list
    ]

    def put(name: str, value: Any) -> None:
        if name in found:
            raise ValueError(f"At least two variables have the same name: {name}")
        found[name] = value

    for entry in sorted(entries, key=lambda entry: entry.name):
        if isinstance(entry, SaveableObject):
            found[entry.name] = entry
        elif isinstance(entry, PartitionedVariable):
            put(entry.name, entry)
        elif isinstance(entry, Variable) and entry._get_save_slice_info() is not None:
            _put_slice(found, entry)
        elif not _is_plain_variable(entry) and hasattr(entry, "_gather_saveables_for_checkpoint"):
            factories = entry._gather_saveables_for_checkpoint().values()
            made = [factory() if callable(factory) else factory for factory in factories]
            found.update(op_list_to_dict(made))
        else:
            variable = _variable_tensor(entry) if convert_variable_to_tensor else entry
            if convert_variable_to_tensor and not _is_variable_tensor(variable):
                raise TypeError(f"Variable to save is not a Variable: {variable}")
            if isinstance(variable, ResourceVariable) and variable._is_eager:
                put(variable._shared_name, variable)
                continue
            op = variable.op
            put(op.inputs[0].op.name if op.type == "ReadVariableOp" else op.name, variable)
    return found


def _put_slice(found: dict[str, Any], part: Variable) -> None:
    info = part._get_save_slice_info()
    assert info is not None
    name = info.full_name or ""
    known = found.setdefault(name, [])
    if not isinstance(known, list):
        raise ValueError(f"Mixing slices and non-slices with the same name: {name}")
    known.append(part)


def validate_and_slice_inputs(names_to_saveables: Any) -> list[SaveableObject]:
    """The objects to save, in the order of their names; each of them once."""
    if not isinstance(names_to_saveables, dict):
        names_to_saveables = op_list_to_dict(names_to_saveables)
    saveables: list[SaveableObject] = []
    seen: set[int] = set()
    for name, op in sorted(names_to_saveables.items(), key=lambda item: str(item[0])):
        for saveable in saveable_objects_for_op(op, name):
            if id(saveable.op) in seen:
                raise ValueError(
                    f"The same saveable will be restored with two names: {saveable.name}"
                )
            saveables.append(saveable)
            seen.add(id(saveable.op))
    return saveables
