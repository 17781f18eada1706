"""Our own kernels against ATen's: on a GPU, or anywhere with Triton's interpreter
(`TRITON_INTERPRET=1`)."""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch

pytest.importorskip("triton")

_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
pytestmark = [
    pytest.mark.skipif(
        not (_INTERPRETED or torch.cuda.is_available()), reason="there is no GPU here"
    ),
    # The interpreter's own way with NumPy.
    pytest.mark.filterwarnings("ignore:Conversion of an array:DeprecationWarning"),
]

DEVICE = "cpu" if _INTERPRETED else "cuda"
_aten = torch.ops.aten

WINDOWS = [
    ((2, 5, 7, 9), (3, 3), (2, 2), (0, 0)),
    ((2, 40, 8, 6), (3, 3), (1, 1), (1, 1)),
    ((1, 3, 8, 8), (2, 2), (2, 2), (0, 0)),
    ((2, 130, 5, 5), (3, 2), (2, 1), (1, 0)),
]


def _image(shape: tuple[int, ...], dtype: Any = torch.float32) -> Any:
    torch.manual_seed(0)
    made = torch.randn(shape, device=DEVICE).to(dtype)
    return made.to(memory_format=torch.channels_last)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
@pytest.mark.parametrize(("shape", "windows", "strides", "before"), WINDOWS)
def test_pooling(shape: Any, windows: Any, strides: Any, before: Any, dtype: Any) -> None:
    from penstock.kernels.triton_code import pooling

    image = _image(shape, dtype)
    args = windows, strides, before, (1, 1), False
    expected, positions = _aten.max_pool2d_with_indices(image, *args)
    outputs = expected.shape[2:]
    assert torch.equal(pooling.largest(image, windows, strides, before, outputs, False), expected)
    found, places = pooling.largest(image, windows, strides, before, outputs, True)
    assert torch.equal(found, expected)
    grad = torch.randn_like(found)
    spread = pooling.gradient(grad, places, shape[2:], windows, strides, before)
    wanted = _aten.max_pool2d_with_indices_backward(grad, image, *args, positions)
    tolerance = 1e-2 if dtype is torch.float16 else 1e-6
    torch.testing.assert_close(spread, wanted, rtol=tolerance, atol=tolerance)


def test_windows_without_a_largest_value() -> None:
    from penstock.kernels.triton_code import pooling

    image = torch.full_like(_image((1, 4, 4, 4)), float("-inf"))
    image[0, 1, 2, 2] = float("nan")
    windows, strides, before = (3, 3), (1, 1), (1, 1)
    args = windows, strides, before, (1, 1), False
    on_host = image.cpu()  # on a GPU ATen loses the gradients of such windows
    expected, positions = _aten.max_pool2d_with_indices(on_host, *args)
    found, places = pooling.largest(image, windows, strides, before, expected.shape[2:], True)
    torch.testing.assert_close(found.cpu(), expected, equal_nan=True)
    grad = torch.randn_like(found)
    spread = pooling.gradient(grad, places, (4, 4), windows, strides, before)
    wanted = _aten.max_pool2d_with_indices_backward(grad.cpu(), on_host, *args, positions)
    torch.testing.assert_close(spread.cpu(), wanted)


@pytest.mark.parametrize("shape", [(2, 5, 7, 33), (300, 17), (3, 4, 4, 160)])
def test_sums_of_slices(shape: tuple[int, ...]) -> None:
    from penstock.kernels.triton_code import sums

    torch.manual_seed(0)
    channels = shape[-1]
    grad = torch.randn(*shape[:-1], channels + 7, device=DEVICE)[..., 3 : 3 + channels]
    features = torch.relu(torch.randn(shape, device=DEVICE))
    passed, total = sums.rectified(grad, features)
    expected = _aten.threshold_backward(grad, features, 0)
    assert torch.equal(passed, expected)
    torch.testing.assert_close(total, expected.reshape(-1, channels).sum(0), rtol=1e-5, atol=1e-4)
    expected = grad.reshape(-1, channels).sum(0)
    torch.testing.assert_close(sums.channel_sums(grad), expected, rtol=1e-5, atol=1e-4)


def test_values_that_lie_otherwise_are_left_to_aten() -> None:
    from penstock.kernels.triton_code import sums

    turned = torch.ones(3, 4, 5, device=DEVICE).transpose(0, 1)
    assert sums.channel_sums(turned) is None
    assert sums.channel_sums(torch.ones(3, 4, device=DEVICE, dtype=torch.float64)) is None
    assert sums.rectified(turned, turned) is None
