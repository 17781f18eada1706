"""The graph of eager execution: it keeps no nodes, but runs them as they are made.

Where it is the default graph a program is in eager mode. So nothing asks for the mode when an
operation is made in a graph: it is the graph that differs.
"""

from __future__ import annotations

import random
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any

from penstock import devices, dtypes
from penstock.client.session_defaults import forgotten_with_settings, session_defaults
from penstock.dtypes import DType
from penstock.eager import callbacks
from penstock.eager.tensor import EagerOperation, EagerTensor, tensor_of
from penstock.ir import registry, scopes, tapes
from penstock.ir.collections import GraphKeys
from penstock.ir.graph import Graph, _PlacedProbe
from penstock.ir.operation import Operation
from penstock.ir.registry import OpSpec
from penstock.ir.tensor import Tensor

if TYPE_CHECKING:
    from penstock.runtime.immediate import Immediate

# What libraries add to by themselves and nobody could ever take out again.
_NOT_KEPT = frozenset(
    key for key in vars(GraphKeys).values() if isinstance(key, str) and key != "global_step"
)


_graphs: weakref.WeakSet[EagerGraph] = weakref.WeakSet()


@forgotten_with_settings
def _forget_devices() -> None:
    """Lets the next operation of each graph ask for the devices again."""
    for graph in list(_graphs):
        graph.__dict__.pop("runtime", None)


class EagerGraph(Graph):
    """Runs each operation that is added to it, at once; its tensors have values.

    1. It has no nodes: what an operation gave lives as long as the program holds it.
    2. Names are not made unique, since there is nothing that they tell apart.
    3. Control inputs mean nothing: what comes first in the program runs first.
    """

    is_eager = True

    def __init__(self) -> None:
        super().__init__()
        self._random = random.Random()
        _graphs.add(self)

    @cached_property
    def runtime(self) -> Immediate:
        """What runs operations: from the first one on, the devices are as they are."""
        from penstock.runtime.immediate import Immediate

        chosen = session_defaults()
        counts = chosen.device_count
        return Immediate(
            max(1, counts.get("CPU", 1)),
            counts.get("GPU", None),
            chosen.gpu_options.visible_device_list,
        )

    @property
    def has_run(self) -> bool:
        """Whether there were operations, since the settings last started afresh."""
        return "runtime" in self.__dict__

    @property
    def seed(self) -> int | None:
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed
        self._random = random.Random(seed)
        if self.has_run:
            self.runtime.forget_kernels()

    def drawn_seed(self) -> int:
        return self._random.randint(0, 2**31 - 1)

    # Running ----------------------------------------------------------------------------------

    def _add(
        self,
        spec: OpSpec,
        name: str,
        inputs: tuple[Tensor, ...],
        attrs: dict[str, Any],
        output_types: Iterable[DType],
        control_inputs: Iterable[Operation] = (),
    ) -> Operation:
        types = list(output_types)
        _refuse_references(spec, types)
        made_by = EagerOperation(self, spec, name, attrs)
        values = [_value(tensor) for tensor in inputs]
        wanted = _device_of_state(spec, inputs) or self._current_device()
        results, device = self.runtime.run(
            made_by, [tensor._dtype for tensor in inputs], values, wanted
        )
        outputs: list[Tensor] = [
            tensor_of(made_by, i, dtype, result, device)
            for i, (dtype, result) in enumerate(zip(types, results, strict=True))
        ]
        op = EagerOperation(self, spec, name, attrs, inputs, outputs)
        tapes.record(op)
        if callbacks.registered:
            callbacks.tell(op)
        return op

    def record_function(
        self,
        name: str,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        backward: Callable[..., Any],
    ) -> None:
        """Tells tapes of something that was computed, and how to differentiate it.

        Args:
          backward: gives the gradients of the inputs for those of the outputs.
        """
        spec = registry.find("IdentityN")
        assert spec is not None
        op = EagerOperation(self, spec, name, {}, tuple(inputs), list(outputs))
        op.__dict__["_backward"] = backward
        tapes.record(op)

    def moved(self, tensor: EagerTensor, device: str) -> EagerTensor:
        """A tensor's value on another device; gradients pass through."""
        from penstock.ops.identity import identity

        with self._scopes.setting(devices=[]), self.device(device):
            made: Any = identity(tensor)
        return made

    def _current_device(self) -> str:
        if not self._scopes.devices:
            return ""
        probe = _PlacedProbe()
        scopes.apply_devices(self._scopes.devices, probe)  # type: ignore[arg-type]
        if not probe._device:
            return ""
        return self._full_name(probe._device)

    def _full_name(self, device: str) -> str:
        wanted = devices.DeviceSpec.from_string(device)
        for name in self.runtime.device_names:
            known = devices.DeviceSpec.from_string(name)
            if wanted.device_type in (None, known.device_type) and wanted.device_index in (
                None,
                known.device_index,
            ):
                return name
        place = f"{wanted.device_type}:{wanted.device_index or 0}"
        raise RuntimeError(f"/job:localhost/replica:0/task:0/device:{place} unknown device.")

    # Names ------------------------------------------------------------------------------------

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        prefix = self._scopes.name
        return f"{prefix}/{name}" if prefix else name

    # Scopes -----------------------------------------------------------------------------------

    @contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        if callable(device_name_or_function):
            raise RuntimeError(
                "tf.device does not support functions when eager execution is enabled."
            )
        with super().device(device_name_or_function):
            yield

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """A block whose operations run where a tensor or a variable is."""
        place = getattr(op, "device", None)
        with self.device(place) if place else nullcontext():
            yield

    @contextmanager
    def control_dependencies(self, control_inputs: Any) -> Iterator[None]:
        for each in control_inputs if isinstance(control_inputs, (list, tuple)) else ():
            if callable(each):
                each()
        if callable(control_inputs):
            control_inputs()
        yield

    # Collections ------------------------------------------------------------------------------

    def add_to_collection(self, name: Any, value: Any) -> None:
        if name not in _NOT_KEPT:
            super().add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        return [] if name in _NOT_KEPT else super().get_collection_ref(name)

    def finalize(self) -> None:
        """Nothing to do: it never has nodes."""


def _device_of_state(spec: OpSpec, inputs: Sequence[Tensor]) -> str:
    """The further CPU device that an operation's state is on: it runs where its state is.

    A call of a function does not: its nodes may be on many devices.
    """
    for tensor in inputs:
        if tensor._dtype is dtypes.resource and "f" not in spec.attrs:
            place = str(getattr(tensor, "_device", ""))
            if "CPU:" in place and not place.endswith("CPU:0"):
                return place
    return ""


def _value(tensor: Tensor) -> Any:
    try:
        return tensor._value
    except AttributeError:
        raise TypeError(
            'An op outside of the function building code is being passed a "Graph" tensor, which '
            "has no value here. A tf.init_scope inside a function lets Graph tensors out of it. "
            f"The graph tensor has name: {tensor.name}"
        ) from None


def _refuse_references(spec: OpSpec, types: Sequence[DType]) -> None:
    argument = next((arg.name for arg in (*spec.inputs, *spec.outputs) if arg.is_ref), None)
    if argument is not None:
        raise RuntimeError(
            f"{spec.name} op does not support eager execution. Arg '{argument}' is a ref."
        )
