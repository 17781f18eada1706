"""Products of matrices on CPUs, by the library that multiplies those of their size the fastest.

MKL keeps its best kernels for Intel's processors. On others with AVX-512, oneDNN takes 0.75 to
0.9 of its time for large float32 matrices (benchmarks/README.md), but more for small ones; where
the processor computes 512 bits at once, AMD's since Zen 5, it takes half the time of MKL, and
is worth it for all but small ones. For a matrix of few rows and another one that stays in a cache
there is a kernel of our own.
"""

import functools
import re
from pathlib import Path
from typing import Any

import torch

from penstock import dtypes
from penstock.kernels.thin_products import is_thin, thin_product

_LEAST_WORK = 1 << 25  # multiplications, from which oneDNN's longer way in is always worth it
_LEAST_ROWS = 8
_LEAST_FACTOR = 1 << 18  # elements of a second factor that is not transposed, for which it is, too
_LEAST_WIDE_WORK = 1 << 20  # multiplications of each thread, where oneDNN is twice as fast
_LEAST_WIDE_COLUMNS = 48  # of each thread, for a first factor that oneDNN has to copy
_FIRST_WIDE_FAMILY = 0x1A  # of AMD's processors: Zen 5


def product_of(dtype: Any, device: Any) -> Any:
    """The product of two matrices of a type: `torch.mm`, or a choice between it and others."""
    if dtype is dtypes.float32 and device.type == "cpu":
        is_large = _largeness()
        if is_large is None:
            return _thin_or_small_product
        return functools.partial(_product, is_large)
    return torch.mm


@functools.cache
def _largeness():
    """What says that two matrices are large enough for oneDNN; None where MKL is faster."""
    if not torch.backends.mkldnn.is_available():
        return None
    try:
        return _largeness_on(Path("/proc/cpuinfo").read_text())
    except OSError:
        return None


def _largeness_on(facts):
    if "GenuineIntel" in facts or "avx512f" not in facts:
        return None
    family = re.search(r"^cpu family\s*: (\d+)$", facts, re.MULTILINE)
    is_wide = family is not None and int(family[1]) >= _FIRST_WIDE_FAMILY
    return _is_large_for_wide if is_wide and "AuthenticAMD" in facts else _is_large


def biased_product_of(dtype: Any, device: Any, rectified: bool) -> Any:
    """The product of two matrices plus a vector, rectified or not, in the way of `product_of`."""
    if device.type != "cpu":
        return _biased_on_device if rectified else torch.addmm
    is_large = _largeness() if dtype is dtypes.float32 else None
    if is_large is not None:
        return functools.partial(_biased_product, is_large, "relu" if rectified else "none")
    return functools.partial(_small_biased_product, "relu") if rectified else torch.addmm


def _biased_on_device(bias, a, b):
    return torch._addmm_activation(bias, a, b, use_gelu=False)


def _small_biased_product(activation, bias, a, b):
    product = torch.addmm(bias, a, b)
    return product.relu_() if activation == "relu" else product


def _is_large(a, b):
    rows, size = a.shape[0], b.numel()
    if rows < _LEAST_ROWS or size < _LEAST_FACTOR or a.shape[1] != b.shape[0]:
        return False
    if rows * size >= _LEAST_WORK:
        return _is_dense(b)
    return a.is_contiguous() and b.is_contiguous()


def _is_large_for_wide(a, b):
    rows, depth = a.shape
    if rows < _LEAST_ROWS or depth != b.shape[0]:
        return False
    columns = b.shape[1]
    work = rows * depth * columns
    if work < _LEAST_WIDE_WORK:
        return False
    threads = torch.get_num_threads()
    if work < _LEAST_WIDE_WORK * threads:
        return False
    if a.stride(1) != 1 and columns < _LEAST_WIDE_COLUMNS * threads:
        return False
    return _is_dense(b)


def _is_dense(b):
    """Whether a second factor is in its memory without gaps; else oneDNN takes a thousand times
    as long, by a loop over elements.
    """
    return b.is_contiguous() or b.t().is_contiguous()


def _biased_product(is_large, activation, bias, a, b):
    if not is_large(a, b):
        return _small_biased_product(activation, bias, a, b)
    return torch.ops.mkldnn._linear_pointwise.default(a, b.t(), bias, activation, [], "")


def _thin_or_small_product(a, b):
    return thin_product(a, b) if is_thin(a, b) else torch.mm(a, b)


def _product(is_large, a, b):
    if is_thin(a, b):
        return thin_product(a, b)
    if not is_large(a, b):
        return torch.mm(a, b)
    return torch.ops.mkldnn._linear_pointwise.default(a, b.t(), None, "none", [], "")
