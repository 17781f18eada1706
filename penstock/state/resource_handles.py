"""Handles of resources: what says elsewhere which resource of a device is meant.

Where a resource is, its handle in a step is the resource itself. What leaves the process, to
another task or to a client, is a `ResourceHandle`; back home it is the resource again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock import dtypes, errors, proto, shapes
from penstock.state.containers import manager_of, managers


# Of what a resource can do, its handle can nothing; `hasattr` may ask all the same.
class _Elsewhere(errors.InvalidArgumentError, AttributeError):
    """A handle was used that is another device's."""


class _Gone(errors.NotFoundError, AttributeError):
    """A handle was used whose resource is no more."""


@dataclass(frozen=True)
class ResourceHandle:
    """The name of a resource of another process.

    Attributes:
      number: that of the manager that has the resource: sessions may have state of their own.
      kind: the name of the class that it is found by.
      types: the type of its value and its shape, if it has one.
    """

    device: str
    container: str
    name: str
    number: int
    kind: str
    types: tuple[tuple[str, tuple[int | None, ...] | None], ...] = ()

    def __getattr__(self, name: str) -> Any:
        if manager_of(self.number) is not None:
            path = f"{self.container}/{self.name}/{self.kind}"
            raise _Gone(None, None, f"Resource {path} does not exist.")
        raise _Elsewhere(
            None,
            None,
            f"Trying to access resource {self.name} located in device {self.device} from another "
            "device: put the node that uses it there.",
        )

    def message(self) -> Any:
        """The handle as a ResourceHandleProto."""
        made = proto.ResourceHandleProto(
            device=self.device,
            container=self.container,
            name=self.name,
            hash_code=self.number,
            maybe_type_name=self.kind,
        )
        for kind, shape in self.types:
            made.dtypes_and_shapes.add(
                dtype=dtypes.as_dtype(kind).as_datatype_enum,
                shape=shapes.TensorShape(shape).as_proto(),
            )
        return made

    @staticmethod
    def of_message(message: Any) -> ResourceHandle:
        return ResourceHandle(
            message.device,
            message.container,
            message.name,
            message.hash_code,
            message.maybe_type_name,
            tuple(
                (dtypes.as_dtype(each.dtype).name, _sizes(each.shape))
                for each in message.dtypes_and_shapes
            ),
        )


def _sizes(message: Any) -> tuple[int | None, ...] | None:
    if message.unknown_rank:
        return None
    return tuple(dim.size if dim.size >= 0 else None for dim in message.dim)


def handle_of(value: Any) -> ResourceHandle | None:
    """The handle of a resource; None of what no device keeps under a name."""
    if isinstance(value, ResourceHandle):
        return value
    for manager in managers():
        found = manager.place_of(value)
        if found is not None:
            container, name, kind = found
            place = manager.device, container, name
            return ResourceHandle(*place, manager.number, kind, _described(value))
    return None


def _described(value: Any) -> tuple[tuple[str, Any], ...]:
    dtype = getattr(value, "dtype", None)
    if not isinstance(dtype, dtypes.DType):
        return ()
    return ((dtype.base_dtype.name, getattr(value, "shape", None)),)


def at_home(handle: ResourceHandle) -> Any:
    """The resource that is meant, if it is one of this process, else the handle."""
    manager = manager_of(handle.number)
    if manager is None:
        return handle
    found = manager.named(handle.kind, handle.container, handle.name)
    return handle if found is None else found
