"""Products with matrices of few rows: the compiled kernel's values, and when it is taken."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.kernels import compilers, thin_products
from penstock.kernels.kernel_threads import kernel_threads
from penstock.kernels.large_products import product_of
from penstock.kernels.with_compiler import NativeCode

needs_compiler = pytest.mark.skipif(compilers.compiler() is None, reason="needs a C++ compiler")


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    made = NativeCode("thin_products.cpp", 1, lambda _: True, ("-ffp-contract=fast", "-fopenmp"))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.delenv("PENSTOCK_FUSION", raising=False)
        made.count_use()
    made.wait()
    assert made.library is not None
    made.library.multiply_thin.restype = None
    return made.library


@pytest.fixture
def compiled(library: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> NativeCode:
    """The kernel as if many products had been computed before."""
    made = NativeCode("thin_products.cpp", 1, lambda _: True)
    made.library = library
    monkeypatch.setattr(thin_products, "_native", made)
    return made


@needs_compiler
@pytest.mark.parametrize("rows", range(1, 50))
def test_every_height_of_tiles(library: ctypes.CDLL, rows: int) -> None:
    generator = torch.Generator().manual_seed(rows)
    depth, columns = 1 + 7 * rows % 50, 32 + 5 * rows
    a = torch.rand(rows, depth, generator=generator)
    b = torch.rand(depth, columns, generator=generator)
    torch.testing.assert_close(thin_products._multiplied(library, a, b), a @ b)


@needs_compiler
def test_rows_that_are_parts_of_longer_rows(library: ctypes.CDLL) -> None:
    a = torch.rand(20, 100)[:, 10:90]
    b = torch.rand(80, 600)[:, 100:450]
    torch.testing.assert_close(thin_products._multiplied(library, a, b), a @ b)


@needs_compiler
def test_numbers_that_are_none_stay_so(library: ctypes.CDLL) -> None:
    a, b = torch.ones(3, 40), torch.ones(40, 64)
    a[0, 3], b[5, 6] = float("inf"), float("nan")
    found = thin_products._multiplied(library, a, b)
    assert torch.equal(found.isnan(), (a @ b).isnan())
    assert found[0, 0] == float("inf")


@needs_compiler
def test_the_kernel_is_taken_for_few_rows_and_a_matrix_that_fits(compiled: NativeCode) -> None:
    few, large = torch.rand(20, 400), torch.rand(400, 800)
    with kernel_threads(2):
        assert thin_products.is_thin(few, large)
        assert not thin_products.is_thin(torch.rand(1, 400), large)
        assert not thin_products.is_thin(torch.rand(100, 400), large)
        assert not thin_products.is_thin(torch.rand(20, 800), large.t())
        assert not thin_products.is_thin(few, torch.rand(400, 8000))
        assert not thin_products.is_thin(few, torch.rand(400, 20))
        assert not thin_products.is_thin(torch.rand(20, 300), large)


@needs_compiler
def test_a_step_has_the_values_of_numpy(compiled: NativeCode) -> None:
    random = np.random.default_rng(1)
    a = random.standard_normal((20, 400)).astype("f")
    b = random.standard_normal((400, 400)).astype("f")
    fed = tf.placeholder(tf.float32, [None, 400])
    with tf.Session() as session:
        found = session.run(tf.matmul(fed, b), {fed: a})
    np.testing.assert_allclose(found, a.astype("d") @ b, atol=1e-3)


def test_before_there_is_a_kernel_uses_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_FUSION", "0")  # nothing is compiled
    made = NativeCode("thin_products.cpp", 2, lambda _: True)
    monkeypatch.setattr(thin_products, "_native", made)
    product = product_of(tf.float32, torch.device("cpu"))
    a, b = torch.rand(20, 400), torch.rand(400, 400)
    for _ in range(5):
        torch.testing.assert_close(product(a, b), torch.mm(a, b))
    assert made.library is None


@pytest.mark.parametrize("shape", [(300, 800), (800, 400)])
def test_sizes_that_do_not_fit_are_an_error(shape: tuple[int, int]) -> None:
    product = product_of(tf.float32, torch.device("cpu"))
    with pytest.raises(RuntimeError):
        product(torch.rand(20, 400), torch.rand(shape))
