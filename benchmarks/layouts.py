"""Image networks in other frameworks' layouts, from TensorFlow's NHWC images and HWIO kernels.

A framework whose users write images in two layouts runs both, and the faster one counts.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.training import Arrays

# The variants of an image network: names of torch's memory formats, and orders of JAX's axes.
LAYOUTS = {
    "torch": ("channels_last", "contiguous_format"),
    "torch-compiled": ("channels_last", "contiguous_format"),
    "jax": ("NHWC", "NCHW"),
}


def in_layout(layout: str, images: np.ndarray) -> np.ndarray:
    """NHWC images copied into another order of axes."""
    return np.ascontiguousarray(images.transpose(["NHWC".index(axis) for axis in layout]))


def torch_image_feed(
    torch: Any, variant: str, images: np.ndarray, labels: np.ndarray
) -> Callable[[], tuple[Any, Any]]:
    """A function that hands NHWC images to PyTorch as NCHW tensors of the variant's layout."""
    if variant == "channels_last":
        return lambda: (torch.from_numpy(images).permute(0, 3, 1, 2), torch.from_numpy(labels))
    planes = in_layout("NCHW", images)
    return lambda: (torch.from_numpy(planes), torch.from_numpy(labels))


def load_torch_layers(
    torch: Any,
    layers: Mapping[str, Any],
    values: Arrays,
    flat: Mapping[str, tuple[int, int, int]],
) -> None:
    """Gives PyTorch's layers TensorFlow's weights `name_w` and biases `name_b`.

    flat: layers behind a flattened image, with its height, width and channels: TensorFlow flattens
    it in that order, PyTorch with the channels first.
    """
    with torch.no_grad():
        for name, layer in layers.items():
            weights = values[name + "_w"]
            if name in flat:
                image = weights.reshape(*flat[name], -1)
                weights = image.transpose(2, 0, 1, 3).reshape(weights.shape)
            axes = (3, 2, 0, 1) if weights.ndim == 4 else (1, 0)
            layer.weight.copy_(torch.from_numpy(weights.transpose(axes)))
            layer.bias.copy_(torch.from_numpy(values[name + "_b"]))


def jax_convolve(jax: Any, layout: str, images: Any, kernel: Any, stride: int, padding: Any) -> Any:
    return jax.lax.conv_general_dilated(
        images, kernel, (stride, stride), padding, dimension_numbers=(layout, "HWIO", layout)
    )


def jax_channel_bias(layout: str, bias: Any) -> Any:
    """A bias reshaped so that it broadcasts along the channels."""
    return bias.reshape([-1 if axis == "C" else 1 for axis in layout])


def jax_max_pool(jax: Any, layout: str, images: Any, window: int, stride: int, padding: str) -> Any:
    def spatial(size: int) -> tuple[int, ...]:
        return tuple(size if axis in "HW" else 1 for axis in layout)

    lax, lowest = jax.lax, -jax.numpy.inf
    return lax.reduce_window(images, lowest, lax.max, spatial(window), spatial(stride), padding)
