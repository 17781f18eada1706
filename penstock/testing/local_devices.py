"""Which devices this process has, and scopes that place the nodes of a test on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.client.device_lib import list_local_devices
from penstock.ops.control import device as _device_scope


def _gpus() -> list[Any]:
    return [device for device in list_local_devices() if device.device_type == "GPU"]


def gpu_device_name() -> str:
    """The name of a GPU of this process, or the empty string."""
    return next((str(gpu.name) for gpu in _gpus()), "")


def _compute_capability(device: Any) -> tuple[int, int]:
    found = re.search(r"compute capability: (\d+)\.(\d+)", device.physical_device_desc)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None
) -> bool:
    """Whether this process has a GPU, if wanted with a compute capability of (major, minor)."""
    wanted = min_cuda_compute_capability
    return any(wanted is None or _compute_capability(gpu) >= wanted for gpu in _gpus())


# Nothing is compiled in: there is support for GPUs where a session finds one.


def is_built_with_cuda() -> bool:
    """Whether programs can use CUDA GPUs in this process."""
    return is_gpu_available(cuda_only=True)


def is_built_with_rocm() -> bool:
    """Whether programs can use ROCm GPUs: they cannot."""
    return False


def is_built_with_gpu_support() -> bool:
    """Whether programs can use GPUs in this process."""
    return is_built_with_cuda() or is_built_with_rocm()


IsGoogleCudaEnabled = is_built_with_cuda
IsBuiltWithROCm = is_built_with_rocm


def GpuSupportsHalfMatMulAndConv() -> bool:
    """Whether a GPU multiplies and convolves float16 arrays."""
    return is_gpu_available(min_cuda_compute_capability=(5, 3))


def IsMklEnabled() -> bool:
    """Whether TensorFlow's ops for MKL's memory layouts are there: they are not."""
    return False


def is_xla_enabled() -> bool:
    """Whether tests run with XLA: they do not."""
    return False


@contextmanager
def device(use_gpu: bool) -> Iterator[None]:
    """Places nodes on a GPU if that is wanted and there is one, else on the CPU."""
    with _device_scope("/device:GPU:0" if use_gpu and is_gpu_available() else "/device:CPU:0"):
        yield


@contextmanager
def use_gpu() -> Iterator[None]:
    """Places nodes on a GPU if there is one."""
    with device(use_gpu=True):
        yield


@contextmanager
def force_gpu() -> Iterator[None]:
    """Places nodes on the first GPU, be there one or not."""
    with _device_scope("/device:GPU:0"):
        yield


@contextmanager
def force_cpu() -> Iterator[None]:
    """Places nodes on the CPU."""
    with _device_scope("/device:CPU:0"):
        yield
