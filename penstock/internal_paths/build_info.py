"""`tensorflow.python.platform.build_info`: for which devices the library was built."""

from __future__ import annotations

from penstock.testing.local_devices import is_built_with_cuda, is_built_with_rocm


def __getattr__(name: str) -> bool:
    """Asked for late: whether PyTorch has a device is known once it is imported."""
    if name == "is_cuda_build":
        return is_built_with_cuda()
    if name == "is_rocm_build":
        return is_built_with_rocm()
    raise AttributeError(name)
