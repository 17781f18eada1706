"""Image networks as functions for JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.image_network import Branches, Connection, Convolution, ImageNetwork, Layer, Pool
from benchmarks.layouts import jax_channel_bias, jax_convolve, jax_max_pool


def jax_loss(jax: Any, network: ImageNetwork, layout: str) -> Callable[[Any, Any, Any], Any]:
    """The mean cross entropy as a function of weights, images in the layout, and labels."""
    jnp = jax.numpy

    def apply(layers: Sequence[Layer], p: Any, value: Any) -> Any:
        for layer in layers:
            if isinstance(layer, Convolution):
                padding = [(layer.pad, layer.pad)] * 2
                weights, bias = p[layer.name + "_w"], p[layer.name + "_b"]
                value = jax_convolve(jax, layout, value, weights, layer.stride, padding)
                value = jax.nn.relu(value + jax_channel_bias(layout, bias))
            elif isinstance(layer, Pool):
                value = pool(layer, value)
            elif isinstance(layer, Connection):
                value = connect(layer, p, value)
            else:
                value = joined(layer, p, value)
        return value

    def pool(layer: Pool, value: Any) -> Any:
        if layer.mean:  # of a whole image
            return value.mean([layout.index("H"), layout.index("W")], keepdims=True)
        padding = "SAME" if layer.same else "VALID"
        return jax_max_pool(jax, layout, value, layer.window, layer.stride, padding)

    def connect(layer: Connection, p: Any, value: Any) -> Any:
        if value.ndim == 4:
            value = jnp.moveaxis(value, layout.index("C"), 3).reshape(value.shape[0], -1)
        value = value @ p[layer.name + "_w"] + p[layer.name + "_b"]
        return jax.nn.relu(value) if layer.rectified else value

    def joined(layer: Branches, p: Any, value: Any) -> Any:
        outputs = [apply(branch, p, value) for branch in layer.branches]
        return jnp.concatenate(outputs, layout.index("C"))

    def loss(p: Any, images: Any, labels: Any) -> Any:
        scores = jax.nn.log_softmax(apply(network.layers, p, images))
        return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], axis=1))

    return loss
