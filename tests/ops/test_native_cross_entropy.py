"""Cross entropies by compiled code: values, what is no number, labels, and when it is taken."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.kernels import compilers, native_cross_entropy
from penstock.kernels.with_compiler import NativeCode

pytestmark = pytest.mark.skipif(compilers.compiler() is None, reason="needs a C++ compiler")


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    made = NativeCode("cross_entropy.cpp", 1, lambda _: True, ("-ffp-contract=fast", "-fopenmp"))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.delenv("PENSTOCK_FUSION", raising=False)
        made.count_use()
    made.wait()
    assert made.library is not None
    assert native_cross_entropy._is_good(made.library)
    return made.library


def computed(library: ctypes.CDLL, logits: torch.Tensor, labels: list[int]) -> list[np.ndarray]:
    column = torch.tensor(labels).unsqueeze(1)
    return [each.numpy() for each in native_cross_entropy._computed(library, logits, column)]


def expected(logits: torch.Tensor, labels: list[int]) -> list[np.ndarray]:
    log_p = torch.log_softmax(logits.double(), 1).numpy()
    rows = np.arange(len(labels))
    gradients = np.exp(log_p)
    gradients[rows, labels] -= 1
    return [-log_p[rows, labels], gradients]


@pytest.mark.parametrize("columns", [1, 2, 7, 8, 15, 16, 17, 31, 100, 1000])
def test_values(library: ctypes.CDLL, columns: int) -> None:
    generator = torch.Generator().manual_seed(columns)
    logits = 15 * torch.randn(23, columns, generator=generator)
    labels = torch.randint(columns, (23,), generator=generator).tolist()
    wanted = expected(logits, labels)
    for found, value in zip(computed(library, logits, labels), wanted, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-5, atol=1e-6)


def test_infinities_and_what_is_no_number(library: ctypes.CDLL) -> None:
    logits = torch.randn(6, 40)
    logits[0, 3] = float("nan")
    logits[1, 39] = float("nan")
    logits[2, 4] = float("inf")
    logits[3] = float("-inf")
    logits[4, :20] = float("-inf")
    logits[5] = -1e30
    logits[5, 0] = 1e30
    labels = [1, 1, 1, 1, 30, 2]
    losses, gradients = computed(library, logits.clone(), labels)
    assert np.isnan(losses[:4]).all() and np.isnan(gradients[:4]).all()
    wanted, _ = expected(logits[4:], labels[4:])
    np.testing.assert_allclose(losses[4:], wanted, rtol=1e-6)
    assert not gradients[4, :20].any()


@pytest.mark.parametrize("label", [-1, 40])
def test_a_label_that_is_no_class(library: ctypes.CDLL, label: int) -> None:
    logits = torch.zeros(3, 40)
    with pytest.raises(IndexError):
        computed(library, logits, [1, label, 2])
    assert not logits.any()


def test_steps_take_it_for_many_logits(
    library: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = NativeCode("cross_entropy.cpp", 1, lambda _: True)
    made.library = library
    monkeypatch.setattr(native_cross_entropy, "_native", made)
    logits = (10 * np.random.default_rng(1).standard_normal([30, 5000])).astype(np.float32)
    labels = list(range(30))
    fed, given = tf.placeholder(tf.float32, [30, 5000]), tf.placeholder(tf.int32, [30])
    x = 2.0 * fed
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=given, logits=x)
    gradient = tf.gradients(loss, x)[0]
    with tf.Session() as session:
        found = session.run([loss, gradient], {fed: logits, given: labels})
        wanted = expected(torch.from_numpy(2 * logits), labels)
        for each, value in zip(found, wanted, strict=True):
            np.testing.assert_allclose(each, value, rtol=1e-5, atol=1e-5)
        with pytest.raises(tf.errors.InvalidArgumentError, match="label value of 5000"):
            session.run(loss, {fed: logits, given: [5000] * 30})
