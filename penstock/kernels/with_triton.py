"""Kernels of our own for GPUs, where ATen's go through memory more often than they must.

They are written in Triton, which PyTorch brings along where it brings CUDA. Where it is missing, or
can't compile, or `PENSTOCK_TRITON=0` is set, ATen's kernels do the work.
"""

from __future__ import annotations

import functools
import importlib
import os
from typing import Any

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode


@functools.cache
def triton_code(family: str) -> Any:
    """A module of `triton_code`; None where there is no Triton or no GPU."""
    if os.environ.get("PENSTOCK_TRITON", "1") in ("0", "false") or not torch.cuda.is_available():
        return None
    try:
        return importlib.import_module(f"penstock.kernels.triton_code.{family}")
    except ImportError:
        return None


class Attempt:
    """A function of a family that has a plain one to fall back to, for good once it has failed.

    Calling it gives None where the plain one is to be used.
    """

    def __init__(self, family: str, name: str):
        self._family = family
        self._name = name
        self._failed = False

    def __call__(self, *args: Any) -> Any:
        if self._failed or (code := triton_code(self._family)) is None:
            return None
        if _get_current_dispatch_mode() is not None:
            return None  # calls are being traced, of tensors that have no memory
        try:
            return getattr(code, self._name)(*args)
        except torch.OutOfMemoryError:
            raise
        except Exception:  # a compiler that is missing or refuses: the plain kernel says the rest
            self._failed = True
            return None
