"""An imitated GPU: tensors of the host's memory that demand what CUDA's tensors demand.

Kernels are written for a machine that most who work on them don't have. On this device values of
two memories don't mix, NumPy can't read them, an index out of range ends the process's use of the
device, and types that CUDA has no code for are refused, so that a test on any machine finds what
would fail on a GPU. `PENSTOCK_IMITATE_GPU=1` runs the whole test suite with it
(`-p tests.gpu.imitation`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

DEVICE = torch.device("cuda", 0)
_CARD = SimpleNamespace(
    name="Imitation",
    total_memory=8 << 30,
    major=9,
    minor=0,
    pci_domain_id=0,
    pci_bus_id=26,
    pci_device_id=0,
)
_WIDE = (torch.uint16, torch.uint32, torch.uint64)
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool)
_FROM_ANY_MEMORY = ("copy_", "_to_copy", "index", "index_put_", "index_put", "_index_put_impl_")
# Types of the first tensor that CUDA has no code for.
_NO_CODE: dict[str, tuple[torch.dtype, ...]] = {
    **dict.fromkeys(
        "mm addmm bmm baddbmm addmv mv dot vdot addbmm convolution convolution_backward "
        "max_pool2d_with_indices max_pool3d_with_indices max_pool2d_with_indices_backward "
        "avg_pool2d avg_pool3d avg_pool2d_backward avg_pool3d_backward im2col col2im "
        "upsample_bilinear2d upsample_bicubic2d native_batch_norm log_softmax softmax _softmax "
        "_log_softmax histc".split(),
        (*_INTEGERS, *_WIDE),
    ),
    **dict.fromkeys(
        "scatter_reduce scatter_reduce_".split(),
        (torch.complex64, torch.complex128, torch.bool, *_WIDE),
    ),
    **dict.fromkeys(
        "bitwise_and bitwise_or bitwise_xor bitwise_not where roll add sub mul div sum "
        "index_add index_add_ index_put_ scatter_add_ cumsum sort flip max min amax amin "
        "maximum minimum lt gt le ge clamp gather index_select scatter_ index_copy_ index "
        "masked_fill_ masked_fill topk tril triu __lshift__ __rshift__".split(),
        _WIDE,
    ),
}


class DeviceAssert(RuntimeError):
    """What stands for the assertion inside a kernel that ends the CUDA context."""


class ImitatedTensor(torch.Tensor):  # type: ignore[misc]
    """A tensor that says it is on a GPU, with its numbers in a tensor of the host."""

    inner: torch.Tensor
    syncs: list[str] = []  # noqa: RUF012  # of the whole process: what has waited for the device

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> ImitatedTensor:
        made: ImitatedTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=DEVICE,
        )
        made.inner = inner
        return made

    # Torch's own look for CUDA before they ask the dispatcher.

    def __getitem__(self, key: Any) -> Any:
        return ImitatedTensor(_run(torch.Tensor.__getitem__, (self.inner, _inner_key(key)), {}))

    def __setitem__(self, key: Any, value: Any) -> None:
        _run(torch.Tensor.__setitem__, (self.inner, _inner_key(key), _inner(value)), {})

    def nonzero(self) -> Any:
        self.syncs.append("nonzero")
        return ImitatedTensor(self.inner.nonzero())

    def contiguous(self, memory_format: Any = torch.contiguous_format) -> Any:
        made = self.inner.contiguous(memory_format=memory_format)
        return self if made is self.inner else ImitatedTensor(made)

    def __invert__(self) -> Any:
        return self.bitwise_not()

    def untyped_storage(self) -> Any:
        return self.inner.untyped_storage()

    def tolist(self) -> Any:
        return self._asked("tolist").tolist()

    def __int__(self) -> int:
        return int(self._asked("int"))

    def __index__(self) -> int:
        return int(self._asked("index"))

    def __float__(self) -> float:
        return float(self._asked("float"))

    def __bool__(self) -> bool:
        return bool(self._asked("bool"))

    def _asked(self, how: str) -> torch.Tensor:
        self.syncs.append(how)
        return self.inner

    def numpy(self, *, force: bool = False) -> Any:
        raise TypeError("can't convert cuda:0 device type tensor to numpy.")

    def __repr__(self, **options: Any) -> str:
        return f"{self.inner!r} (imitated GPU)"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        name = func.__name__.split(".")[0]
        wrappers = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, torch.Tensor)]
        _check_memories(func, name, wrappers)
        _check_types(name, wrappers)
        if name in ("_local_scalar_dense", "equal", "is_nonzero", "nonzero"):
            cls.syncs.append(name)
        back_to_host = False
        if kwargs.get("device") is not None:
            back_to_host = torch.device(kwargs["device"]).type == "cpu"
            kwargs["device"] = torch.device("cpu")
        kwargs.pop("pin_memory", None)
        known = {id(x.inner): x for x in wrappers if isinstance(x, ImitatedTensor)}
        given, options = tree_map(_inner, (args, kwargs))
        result = _run(func, given, options)
        if name in ("copy_", "index_put_") and not isinstance(args[0], ImitatedTensor):
            return args[0]

        def outer(x: Any) -> Any:
            if not isinstance(x, torch.Tensor) or back_to_host:
                return x
            if id(x) in known:
                return known[id(x)]
            return ImitatedTensor(x.resolve_conj().resolve_neg())

        return tree_map(outer, result)


def _inner(x: Any) -> Any:
    return x.inner if isinstance(x, ImitatedTensor) else x


def _inner_key(key: Any) -> Any:
    for part in key if isinstance(key, (tuple, list)) else [key]:
        if isinstance(part, ImitatedTensor) and part.dtype is torch.bool:
            ImitatedTensor.syncs.append("index by a mask")
    return tree_map(_inner, key)


def _run(func: Any, given: Any, options: Any) -> Any:
    try:
        return func(*given, **options)
    except (IndexError, RuntimeError) as error:
        text = str(error)
        if "out of range" in text or "out of bounds" in text or "index" in text.lower():
            if any(word in text for word in ("Dimension out of range", "dimension")):
                raise
            raise DeviceAssert(f"device-side assert: {func}: {error}") from error
        raise


def _check_memories(func: Any, name: str, tensors: list[torch.Tensor]) -> None:
    if name in _FROM_ANY_MEMORY:
        if name not in ("copy_", "_to_copy") and not isinstance(tensors[0], ImitatedTensor):
            raise RuntimeError(f"indices should be on the CPU ({func})")
        return
    on_host = [x for x in tensors if not isinstance(x, ImitatedTensor)]
    mixes = len(on_host) < len(tensors)
    numbers_only = all(x.dim() == 0 for x in on_host)
    broadcasts = torch.Tag.pointwise in func.tags or name in ("where", "fill_", "masked_fill_")
    if on_host and mixes and not (numbers_only and broadcasts):
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, "
            f"cuda:0 and cpu! ({func})"
        )
    if (
        numbers_only
        and on_host
        and name.endswith("_")
        and not isinstance(tensors[0], ImitatedTensor)
    ):
        raise RuntimeError(f"{func} writes a GPU's value into the host's")


def _check_types(name: str, tensors: list[torch.Tensor]) -> None:
    refused = _NO_CODE.get(name, ())
    position = 1 if name in ("where", "index_put_") and len(tensors) > 1 else 0
    if tensors and tensors[position].dtype in refused:
        raise NotImplementedError(f'"{name}_cuda" not implemented for {tensors[position].dtype}')


class _Factories(TorchDispatchMode):  # type: ignore[misc]
    """Makes tensors that are asked for on a GPU."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # to skip it, torch would import it, which takes seconds

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        device = kwargs.get("device")
        if device is None or torch.device(device).type != "cuda":
            return func(*args, **kwargs)
        kwargs["device"] = torch.device("cpu")
        kwargs.pop("pin_memory", None)
        return ImitatedTensor(func(*tree_map(_inner, args), **kwargs))


def _by_way_of_host(make: Any) -> Any:
    """Torch's functions that ask no dispatcher for their memory."""

    def made(*args: Any, device: Any = None, **options: Any) -> Any:
        value = make(*args, **options)
        return value if device is None else value.to(device)

    return made


def _new_tensor(like: torch.Tensor, data: Any, dtype: Any = None, device: Any = None) -> Any:
    return torch.as_tensor(data, dtype=dtype or like.dtype).to(device or like.device)


def _copy(to: torch.Tensor, value: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    if isinstance(value, ImitatedTensor) and not isinstance(to, ImitatedTensor):
        ImitatedTensor.syncs.append("copy to the host")
    _inner(to)[...] = _inner(value)
    return to


class _TorchOfDevices:
    """Torch as the module of devices sees it: random numbers of a GPU come from the host."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    @staticmethod
    def Generator(device: Any) -> torch.Generator:  # torch's name
        return torch.Generator()


@contextmanager
def imitated_gpu() -> Iterator[list[str]]:
    """Gives sessions of this process an imitated GPU; what waits for it is listed."""
    from penstock.kernels import with_triton
    from penstock.runtime import configured, device

    run_thread = threading.Thread.run

    def run(thread: threading.Thread) -> None:
        with _Factories():
            run_thread(thread)

    def gpus(count: int | None, *rest: Any, **options: Any) -> list[int]:
        return [] if count == 0 else [0]

    with (
        mock.patch.object(configured, "visible_gpus", gpus),
        mock.patch.object(device, "torch", _TorchOfDevices()),
        # Where there is a real GPU, it must not get the addresses of the host's tensors.
        mock.patch.object(torch.cuda, "is_available", return_value=False),
        mock.patch.object(with_triton, "triton_code", return_value=None),
        mock.patch.object(torch.cuda, "_lazy_init", return_value=None),
        mock.patch.object(torch.cuda, "get_device_properties", return_value=_CARD),
        mock.patch.object(torch.cuda, "get_per_process_memory_fraction", return_value=0.5),
        mock.patch.object(torch.Tensor, "pin_memory", lambda self, *_: self),
        mock.patch.object(torch, "tensor", _by_way_of_host(torch.tensor)),
        mock.patch.object(torch, "as_tensor", _by_way_of_host(torch.as_tensor)),
        mock.patch.object(torch, "scalar_tensor", _by_way_of_host(torch.scalar_tensor)),
        mock.patch.object(torch.Tensor, "new_tensor", _new_tensor),
        mock.patch.object(torch.Tensor, "copy_", _copy),
        mock.patch.object(torch, "nonzero", lambda x: x.nonzero()),
        mock.patch.object(threading.Thread, "run", run),
        _Factories(),
    ):
        ImitatedTensor.syncs.clear()
        yield ImitatedTensor.syncs


if os.environ.get("PENSTOCK_IMITATE_GPU"):
    import pytest

    @pytest.fixture(autouse=True)
    def _with_imitated_gpu() -> Iterator[None]:
        with imitated_gpu():
            yield
