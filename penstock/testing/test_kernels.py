"""Kernels of those op types for tests that have some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock import errors
from penstock.kernels.registry import HOST, Constant, kernel
from penstock.kernels.values import from_array


class _Stub:
    """A resource that is initialized or not, and nothing else."""

    initialized = False


def _create(handle: Any) -> None:
    """Marks the resource as initialized, where handles were stacked and sliced the first one."""
    resource = handle.flat[0] if isinstance(handle, np.ndarray) else handle
    if resource.initialized:
        raise errors.AlreadyExistsError(None, None, "Resource is there already")
    resource.initialized = True


@kernel("StubResourceHandleOp", devices=HOST)
def _(node: Any, env: Any) -> Any:
    name = node.attrs["shared_name"] or node.name
    return Constant(env.resources.get_or_create(_Stub, node.attrs["container"], name, _Stub))


@kernel("ResourceCreateOp", devices=HOST)
def _(node: Any) -> Callable[..., None]:
    return _create


@kernel("ResourceUsingOp", devices=HOST)
def _(node: Any) -> Callable[..., None]:
    return lambda resource: None


@kernel("ResourceInitializedOp", devices=HOST, fresh=True)
def _(node: Any) -> Callable[..., Any]:
    return lambda resource: from_array(np.array(resource.initialized))


@kernel("KernelLabel", "KernelLabelRequired", devices=HOST)
def _(node: Any) -> Any:
    label = node.attrs.get("_kernel") or "default"
    text = label.decode() if isinstance(label, bytes) else str(label)
    result = np.array(f"My label is: {text}".encode(), dtype=object)
    return lambda *inputs: result


@kernel("Old", devices=HOST)
def _(node: Any) -> Callable[..., None]:
    return lambda: None


@kernel("GraphDefVersion", devices=HOST, fresh=True)
def _(node: Any) -> Callable[..., Any]:
    version = node.origin.graph.graph_def_versions.producer
    return lambda: from_array(np.array(version, np.int32))


@kernel("DevicePlacementOp")
def _(node: Any) -> Any:
    result = np.array(str(node.device).encode(), dtype=object)
    return lambda: result
