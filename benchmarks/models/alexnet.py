"""AlexNet in one tower, as in convnet-benchmarks: no normalization, no dropout; batch 16."""

from typing import Any

import numpy as np

from benchmarks.layouts import (
    LAYOUTS,
    in_layout,
    jax_channel_bias,
    jax_convolve,
    jax_max_pool,
    load_torch_layers,
    torch_image_feed,
)
from benchmarks.model import Compile, Model, Program, pytorch, sessions
from benchmarks.training import (
    Arrays,
    gradient_descent,
    jax_program,
    session_program,
    torch_program,
)

BATCH, SIZE, CLASSES = 16, 224, 1000
RATE = 1e-4  # at ten times this the loss climbs again, and magnifies rounding until losses differ

# name: kernel size, input and output channels, stride, padding on each side, is it pooled after?
CONVOLUTIONS = {
    "conv1": (11, 3, 64, 4, 2, True),
    "conv2": (5, 64, 192, 1, 2, True),
    "conv3": (3, 192, 384, 1, 1, False),
    "conv4": (3, 384, 256, 1, 1, False),
    "conv5": (3, 256, 256, 1, 1, True),
}
LAST_IMAGE = (6, 6, 256)
FLAT = 6 * 6 * 256
# name: inputs, outputs, is there a ReLU after?
CONNECTIONS = {
    "fc6": (FLAT, 4096, True),
    "fc7": (4096, 4096, True),
    "fc8": (4096, CLASSES, False),
}


def weight_shapes() -> dict[str, tuple[int, ...]]:
    convolutions = {
        name: (size, size, inputs, outputs)
        for name, (size, inputs, outputs, *_) in CONVOLUTIONS.items()
    }
    return {**convolutions, **{name: shape[:2] for name, shape in CONNECTIONS.items()}}


def initial_values() -> Arrays:
    """Weights and biases by name: convolutions HWIO, the others [inputs, outputs]."""
    rng = np.random.default_rng(1)
    values = {}
    for name, shape in weight_shapes().items():
        weights = rng.standard_normal(shape, np.float32)
        weights *= np.sqrt(2.0 / np.prod(shape[:-1]), dtype=np.float32)
        values[name + "_w"] = weights
        values[name + "_b"] = np.zeros(shape[-1], np.float32)
    return values


def batch() -> tuple[np.ndarray, np.ndarray]:
    """NHWC images and class numbers."""
    rng = np.random.default_rng(2)
    images = rng.standard_normal((BATCH, SIZE, SIZE, 3), np.float32)
    return images, rng.integers(CLASSES, size=BATCH)


def build_session(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [BATCH, SIZE, SIZE, 3])
    y = tf.placeholder(tf.int64, [BATCH])
    shapes = weight_shapes()

    def layer(name: str) -> tuple[Any, Any]:
        weights = tf.Variable(tf.zeros(shapes[name]), name=name + "_w")
        return weights, tf.Variable(tf.zeros(shapes[name][-1:]), name=name + "_b")

    value = x
    for name, (_, _, _, stride, pad, pooled) in CONVOLUTIONS.items():
        kernel, bias = layer(name)
        padding = [[0, 0], [pad, pad], [pad, pad], [0, 0]]
        value = tf.nn.conv2d(value, kernel, strides=[1, stride, stride, 1], padding=padding)
        value = tf.nn.relu(tf.nn.bias_add(value, bias))
        if pooled:
            value = tf.nn.max_pool(value, [1, 3, 3, 1], [1, 2, 2, 1], "VALID")
    value = tf.reshape(value, [BATCH, FLAT])
    for name, (_, _, rectified) in CONNECTIONS.items():
        weights, bias = layer(name)
        value = tf.matmul(value, weights) + bias
        value = tf.nn.relu(value) if rectified else value
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=value))
    train_op = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
    images, labels = batch()
    return session_program(tf, loss, train_op, {x: images, y: labels}, initial_values())


def build_torch(torch: Any, variant: str, compile: Compile) -> Program:
    nn = torch.nn
    layers: dict[str, Any] = {}
    modules: list[Any] = []
    for name, (size, inputs, outputs, stride, pad, pooled) in CONVOLUTIONS.items():
        layers[name] = nn.Conv2d(inputs, outputs, size, stride, pad)
        modules += [layers[name], nn.ReLU(inplace=True)]
        if pooled:
            modules.append(nn.MaxPool2d(3, stride=2))
    modules.append(nn.Flatten())
    for name, (inputs, outputs, rectified) in CONNECTIONS.items():
        layers[name] = nn.Linear(inputs, outputs)
        modules += [layers[name], nn.ReLU(inplace=True)] if rectified else [layers[name]]
    load_torch_layers(torch, layers, initial_values(), flat={"fc6": LAST_IMAGE})
    network = nn.Sequential(*modules).to(memory_format=getattr(torch, variant))
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE)
    fed = torch_image_feed(torch, variant, *batch())
    return torch_program(compile, network, optimizer, nn.functional.cross_entropy, fed)


def build_jax(jax: Any, variant: str) -> Program:
    jnp = jax.numpy

    def loss_of(p: Any, images: Any, labels: Any) -> Any:
        value = images
        for name, (_, _, _, stride, pad, pooled) in CONVOLUTIONS.items():
            padding = [(pad, pad), (pad, pad)]
            value = jax_convolve(jax, variant, value, p[name + "_w"], stride, padding)
            value = jax.nn.relu(value + jax_channel_bias(variant, p[name + "_b"]))
            if pooled:
                value = jax_max_pool(jax, variant, value, 3, 2, "VALID")
        value = jnp.moveaxis(value, variant.index("C"), 3).reshape(BATCH, FLAT)
        for name, (_, _, rectified) in CONNECTIONS.items():
            value = value @ p[name + "_w"] + p[name + "_b"]
            value = jax.nn.relu(value) if rectified else value
        scores = jax.nn.log_softmax(value)
        return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], axis=1))

    images, labels = batch()
    images = in_layout(variant, images)
    state = {"parameters": initial_values()}
    return jax_program(jax, loss_of, state, images, labels, gradient_descent(jax, RATE))


MODEL = Model(
    title="AlexNet, batch 16",
    steps=2,
    builders={**sessions(build_session), **pytorch(build_torch), "jax": build_jax},
    variants=LAYOUTS,
    memory=True,
)
