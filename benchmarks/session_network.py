"""Image networks as a graph, for Penstock and TensorFlow: a function of the `tf` module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.image_network import Branches, Connection, Convolution, ImageNetwork, Layer, Pool


class SessionNetwork:
    """The graph of a network with new variables, `name_w` and `name_b`, in the default graph."""

    def __init__(self, tf: Any, network: ImageNetwork, data_format: str = "NHWC") -> None:
        self._tf = tf
        self._network = network
        self._format = data_format
        self._shapes = network.weight_shapes()

    def loss(self, images: Any, labels: Any) -> Any:
        """The mean cross entropy of images, which are in the network's data format."""
        tf = self._tf
        logits = self._apply(self._network.layers, images)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        return tf.reduce_mean(losses)

    def training(self, images: Any, labels: Any) -> tuple[Any, Any]:
        """The loss, and the operation that takes a step."""
        loss = self.loss(images, labels)
        return loss, self._tf.train.GradientDescentOptimizer(self._network.rate).minimize(loss)

    def _apply(self, layers: Sequence[Layer], value: Any) -> Any:
        for layer in layers:
            if isinstance(layer, Convolution):
                value = self._convolution(layer, value)
            elif isinstance(layer, Pool):
                value = self._pool(layer, value)
            elif isinstance(layer, Connection):
                value = self._connection(layer, value)
            else:
                value = self._joined(layer, value)
        return value

    def _weights(self, name: str) -> tuple[Any, Any]:
        tf, shape = self._tf, self._shapes[name]
        weights = tf.Variable(tf.zeros(shape), name=name + "_w")
        return weights, tf.Variable(tf.zeros(shape[-1:]), name=name + "_b")

    def _spatial(self, value: Any, other: Any) -> list[Any]:
        return [value if axis in "HW" else other for axis in self._format]

    def _convolution(self, layer: Convolution, value: Any) -> Any:
        tf = self._tf
        kernel, bias = self._weights(layer.name)
        value = tf.nn.conv2d(
            value,
            kernel,
            strides=self._spatial(layer.stride, 1),
            padding=self._spatial([layer.pad] * 2, [0, 0]),
            data_format=self._format,
        )
        return tf.nn.relu(tf.nn.bias_add(value, bias, data_format=self._format))

    def _pool(self, layer: Pool, value: Any) -> Any:
        pool = self._tf.nn.avg_pool if layer.mean else self._tf.nn.max_pool
        return pool(
            value,
            self._spatial(layer.window, 1),
            self._spatial(layer.stride, 1),
            "SAME" if layer.same else "VALID",
            data_format=self._format,
        )

    def _connection(self, layer: Connection, value: Any) -> Any:
        tf = self._tf
        weights, bias = self._weights(layer.name)
        if value.shape.ndims == 4:
            if self._format == "NCHW":
                value = tf.transpose(value, [0, 2, 3, 1])
            value = tf.reshape(value, [-1, self._shapes[layer.name][0]])
        value = tf.matmul(value, weights) + bias
        return tf.nn.relu(value) if layer.rectified else value

    def _joined(self, layer: Branches, value: Any) -> Any:
        outputs = [self._apply(branch, value) for branch in layer.branches]
        return self._tf.concat(outputs, axis=self._format.index("C"))
