"""`tensorflow.python.framework.kernels`: which op types have kernels on which device types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.ir import registry
from penstock.proto import KernelList


def _listed(op_types: Iterable[str]) -> Any:
    from penstock.kernels import registry as kernels  # which brings torch

    found = KernelList()
    for op_type in op_types:
        for device_type in kernels.device_types(op_type):
            found.kernel.add(op=op_type, device_type=device_type)
    return found


def get_all_registered_kernels() -> Any:
    """A KernelList message of all kernels."""
    return _listed(sorted(registry.specs()))


def get_registered_kernels_for_op(name: str) -> Any:
    """A KernelList message of the kernels of an op type."""
    return _listed([name])
