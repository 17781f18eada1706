"""Tensors that stay in a session between steps: `tf.get_session_handle` and its partners."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, attr, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ops.constants import placeholder
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

__all__ = ["delete_session_tensor", "get_session_handle", "get_session_tensor"]

GetSessionHandle = op("GetSessionHandle(value: T) -> handle: string", STATEFUL)
GetSessionHandleV2 = op("GetSessionHandleV2(value: T) -> handle: resource", STATEFUL)
GetSessionTensor = op(
    "GetSessionTensor(handle: string) -> value: dtype", STATEFUL, dtype=attr("type")
)
DeleteSessionTensor = op("DeleteSessionTensor(handle: string)", STATEFUL)
not_differentiable(GetSessionHandle, GetSessionHandleV2, GetSessionTensor, DeleteSessionTensor)


@GetSessionHandle.shape
@GetSessionHandleV2.shape
def _(op: Any, value: Shape) -> Shape:
    return ()


@GetSessionTensor.shape
def _(op: Any, handle: Shape) -> Shape:
    with_rank(handle, 0)
    return None


@DeleteSessionTensor.shape
def _(op: Any, handle: Shape) -> list[Shape]:
    with_rank(handle, 0)
    return []


class TensorHandle:
    """A tensor that a session keeps, which `run` returns for a `tf.get_session_handle`.

    The tensor is kept for as long as the handle lives, or until it is deleted.
    """

    def __init__(self, handle: Any, dtype: DType, session: Any):
        self._handle = handle.decode() if isinstance(handle, bytes) else str(handle)
        self._dtype = dtype
        self._session = session
        self._auto_gc_enabled = True

    def __del__(self) -> None:
        if getattr(self, "_auto_gc_enabled", False):
            with suppress(Exception):  # the session may be gone
                self._session._forget_tensor(self._handle)

    def __str__(self) -> str:
        return self._handle

    @property
    def handle(self) -> str:
        """The handle as text: what is fed for the holder of `tf.get_session_tensor`."""
        return self._handle

    def eval(self) -> Any:
        """The value of the tensor."""
        self._check()
        return self._session._kept_tensor(self._handle, self._dtype)

    def delete(self) -> None:
        """Forgets the tensor."""
        self._check()
        self._auto_gc_enabled = False
        self._session._forget_tensor(self._handle)

    def get_raw_handle(self) -> str:
        """The handle as text; the tensor is then kept until it is deleted."""
        self._auto_gc_enabled = False
        return self._handle

    def _check(self) -> None:
        if not self._auto_gc_enabled:
            raise TypeError(f"Persistent tensor {self._handle} may have already been deleted.")


def _device_of(handle: Any) -> str:
    """The device that a handle, or its text, says that the tensor is on."""
    return str(handle).split(";")[-1]


def get_session_handle(data: Any, name: str | None = None) -> Tensor:
    """Keeps a tensor in the session; `run` of the result gives a `TensorHandle`.

    >>> h = sess.run(tf.get_session_handle(tf.matmul(a, b)))
    >>> holder, product = tf.get_session_tensor(h.handle, tf.float32)
    >>> sess.run(product * 2, feed_dict={holder: h.handle})
    """
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with get_default_graph().colocate_with(data._op):
        return GetSessionHandle(data, name=name)


def get_session_tensor(handle: Any, dtype: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """A placeholder for a handle, and the tensor that it stands for.

    Args:
      handle: the text of a handle; the tensor is read on its device.
      dtype: the type of the tensor.
      name: a name for the operation.
    """
    with get_default_graph().device(_device_of(handle)):
        holder = placeholder(dtypes.string)
        return holder, GetSessionTensor(holder, dtype=dtype, name=name)


def delete_session_tensor(handle: Any, name: str | None = None) -> tuple[Tensor, Operation]:
    """A placeholder for a handle, and an operation that forgets its tensor."""
    with get_default_graph().device(_device_of(handle)):
        holder = placeholder(dtypes.string)
        return holder, DeleteSessionTensor(holder, name=name)
