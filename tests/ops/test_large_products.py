"""Which library multiplies two matrices, and that it does so rightly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import penstock as tf
from penstock.kernels import large_products
from penstock.kernels.kernel_threads import kernel_threads
from penstock.kernels.large_products import biased_product_of, product_of

_CPU = torch.device("cpu")
_ZEN_5 = "vendor_id\t: AuthenticAMD\ncpu family\t: 26\nflags\t\t: fpu avx2 avx512f\n"
_ZEN_4 = _ZEN_5.replace("26", "25")
_INTEL = _ZEN_5.replace("AuthenticAMD", "GenuineIntel").replace("26", "6")
_OLD = _ZEN_5.replace(" avx512f", "")

Largeness = Callable[[Any, Any], bool]

needs_onednn = pytest.mark.skipif(
    not torch.backends.mkldnn.is_available(), reason="needs a torch with oneDNN"
)


@pytest.mark.parametrize(
    ("facts", "largeness"),
    [
        (_ZEN_5, large_products._is_large_for_wide),
        (_ZEN_4, large_products._is_large),
        (_INTEL, None),
        (_OLD, None),
        ("", None),
    ],
    ids=["zen 5", "zen 4", "intel", "without avx-512", "unknown"],
)
def test_processors(facts: str, largeness: Largeness | None) -> None:
    assert large_products._largeness_on(facts) is largeness


def _is_large(rows: int, depth: int, columns: int, *, turned: bool = False) -> bool:
    a = torch.empty(depth, rows).t() if turned else torch.empty(rows, depth)
    return large_products._is_large_for_wide(a, torch.empty(depth, columns))


def test_sizes_for_wide_processors() -> None:
    with kernel_threads(1):
        assert _is_large(100, 784, 100)
        assert not _is_large(7, 4096, 4096)
        assert not _is_large(64, 64, 64)
        assert _is_large(784, 100, 64, turned=True)
        assert not _is_large(784, 100, 40, turned=True)  # to copy the first takes longer
        a, b = torch.empty(512, 512), torch.empty(500, 512)
        assert not large_products._is_large_for_wide(a, b)
    with kernel_threads(2):
        assert not _is_large(784, 100, 64, turned=True)
        assert not _is_large(128, 100, 128)


@pytest.mark.parametrize("is_large", [large_products._is_large, large_products._is_large_for_wide])
def test_second_factors_with_gaps_are_left_to_mkl(is_large: Largeness) -> None:
    a, wide = torch.rand(600, 512), torch.rand(1024, 1200)
    assert is_large(a, wide[:512])
    assert is_large(a, torch.rand(700, 512).t())
    for b in (wide[:512, 100:900], wide[:512, ::2], wide[:900, 100:612].t()):
        assert not is_large(a, b)
    assert not is_large(a, torch.rand(1, 700).expand(512, 700))


@pytest.fixture(params=[large_products._is_large, large_products._is_large_for_wide])
def any_processor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_products, "_largeness", lambda: request.param)


_SIZES = [(100, 784, 100), (8, 512, 600), (64, 600, 1000), (3, 5, 4)]


@needs_onednn
@pytest.mark.usefixtures("any_processor")
@pytest.mark.parametrize("turned", ["", "a", "b", "ab"])
@pytest.mark.parametrize("size", _SIZES, ids=str)
def test_products(size: tuple[int, int, int], turned: str) -> None:
    rows, depth, columns = size
    a = torch.rand(depth, rows).t() if "a" in turned else torch.rand(rows, depth)
    b = torch.rand(columns, depth).t() if "b" in turned else torch.rand(depth, columns)
    expected = (a.double() @ b.double()).float()
    found = product_of(tf.float32, _CPU)(a, b)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    bias = torch.rand(columns) - depth / 4
    found = biased_product_of(tf.float32, _CPU, True)(bias, a, b)
    torch.testing.assert_close(found, (expected + bias).relu(), rtol=1e-4, atol=1e-3)


@needs_onednn
@pytest.mark.usefixtures("any_processor")
def test_products_of_values_that_are_repeated_or_parts_of_others() -> None:
    product = product_of(tf.float32, _CPU)
    wide = torch.rand(1024, 1200)
    one = torch.rand(1, 1)
    firsts = [torch.rand(600, 1).expand(600, 512), wide[::2, :512], one.expand(99, 512)]
    seconds = [torch.rand(1, 700).expand(512, 700), wide[:512, 1::2], wide[:512, 100:800]]
    for a in firsts:
        for b in seconds:
            expected = (a.double() @ b.double()).float()
            torch.testing.assert_close(product(a, b), expected, rtol=1e-4, atol=1e-4)
