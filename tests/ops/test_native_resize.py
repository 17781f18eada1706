"""Pictures resized by compiled code have ATen's values, bit by bit; without it ATen goes on."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.kernels import compilers, image_workspace, with_compiler
from penstock.kernels.image_taps import bilinear_taps
from penstock.kernels.with_compiler import NativeCode

USES = 3

needs_compiler = pytest.mark.skipif(compilers.compiler() is None, reason="needs a C++ compiler")


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> NativeCode:
    """Code that is compiled after a few pictures."""
    monkeypatch.delenv("PENSTOCK_FUSION", raising=False)
    made = NativeCode("resize.cpp", USES, image_workspace._agrees)
    monkeypatch.setattr(image_workspace, "_native", made)
    monkeypatch.setattr(image_workspace, "_kept", image_workspace._Kept())
    return made


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    made = NativeCode("resize.cpp", 1, lambda _: True)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.delenv("PENSTOCK_FUSION", raising=False)
        made.count_use()
    made.wait()
    assert made.library is not None
    return made.library


@needs_compiler
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
@pytest.mark.parametrize("channels", [1, 2, 3, 5])
def test_values_are_those_of_aten(library: ctypes.CDLL, dtype: Any, channels: int) -> None:
    sizes = np.random.default_rng(channels).integers(2, 70, (40, 4)).tolist()
    generator = torch.Generator().manual_seed(1)
    compared = 0
    for height, width, new_height, new_width in sizes:
        picture = torch.rand(1, height, width, channels, generator=generator).mul(255).to(dtype)
        taps = [
            bilinear_taps(size, wanted, False, new_width % 2 == 0, picture.device)
            for size, wanted in ((height, new_height), (width, new_width))
        ]
        if not all(each.is_pair for each in taps):
            continue
        expected = image_workspace._ByAten(picture, *taps).resized(picture)
        found = image_workspace._Natively(library, picture, *taps).resized(picture)
        assert torch.equal(found, expected), (height, width, new_height, new_width)
        compared += 1
    assert compared > 20


def _resized(sess: Any, resized: Any, count: int) -> list[np.ndarray]:
    feed = resized.op.inputs[0]
    numbers = np.arange(24 * 32 * 3).reshape(1, 24, 32, 3)
    return [sess.run(resized, {feed: (numbers * 7 + i) % 256}) for i in range(count)]


@needs_compiler
def test_a_program_that_resizes_often_gets_compiled_code(native: NativeCode) -> None:
    resized = tf.image.resize_bilinear(tf.placeholder(tf.uint8, [1, 24, 32, 3]), [13, 17])
    with tf.Session() as sess:
        before = _resized(sess, resized, USES)
        native.wait()
        assert native.library is not None
        after = _resized(sess, resized, USES)
        assert isinstance(
            image_workspace._kept.workspace.resized.__self__, image_workspace._Natively
        )
    np.testing.assert_array_equal(after, before)


@needs_compiler
def test_code_of_other_values_is_not_used(
    native: NativeCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (with_compiler._FOLDER / "resize.cpp").read_text()
    wrong = text.replace("high - low", "low - high")
    assert wrong != text
    real = with_compiler.shared_library
    monkeypatch.setattr(with_compiler, "shared_library", lambda _, *options: real(wrong, *options))
    resized = tf.image.resize_bilinear(tf.placeholder(tf.uint8, [1, 24, 32, 3]), [13, 17])
    with tf.Session() as sess:
        before = _resized(sess, resized, USES)
        native.wait()
        assert native.library is None
        np.testing.assert_array_equal(_resized(sess, resized, USES), before)


@pytest.mark.parametrize("why", ["switched off", "no compiler"])
def test_without_compiled_code(
    native: NativeCode, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "switched off":
        monkeypatch.setenv("PENSTOCK_FUSION", "0")
    else:
        monkeypatch.setattr(compilers, "compiler", lambda: None)
    resized = tf.image.resize_bilinear(tf.placeholder(tf.uint8, [1, 24, 32, 3]), [13, 17])
    with tf.Session() as sess:
        before = _resized(sess, resized, 2 * USES)
        native.wait()
        assert native.library is None
        np.testing.assert_array_equal(_resized(sess, resized, 2 * USES), before)
