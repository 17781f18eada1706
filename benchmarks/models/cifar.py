"""The convolutional network of the CIFAR-10 tutorial, on 24×24 crops, batch 64.

Two blocks of convolution, max pool and local response normalization, then two hidden layers.
"""

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

BATCH, SIZE, CLASSES = 64, 24, 10
RATE = 0.1
RADIUS, LRN_BIAS, ALPHA, BETA = 4, 1.0, 0.001 / 9.0, 0.75
WINDOW = 2 * RADIUS + 1
FLAT = 6 * 6 * 64

# name: shape of the weights, their standard deviation, the bias's initial value
LAYERS: dict[str, tuple[tuple[int, ...], float, float]] = {
    "conv1": ((5, 5, 3, 64), 0.05, 0.0),
    "conv2": ((5, 5, 64, 64), 0.05, 0.1),
    "local3": ((FLAT, 384), 0.04, 0.1),
    "local4": ((384, 192), 0.04, 0.1),
    "softmax": ((192, CLASSES), 1 / 192.0, 0.0),
}


def initial_values() -> Arrays:
    """Weights and biases by name: convolutions HWIO, the others [inputs, outputs]."""
    rng = np.random.default_rng(1)
    values = {}
    for name, (shape, deviation, bias) in LAYERS.items():
        values[name + "_w"] = rng.normal(0, deviation, shape).astype(np.float32)
        values[name + "_b"] = np.full(shape[-1], bias, np.float32)
    return values


def batch() -> tuple[np.ndarray, np.ndarray]:
    """NHWC images and class numbers."""
    rng = np.random.default_rng(2)
    images = rng.standard_normal((BATCH, SIZE, SIZE, 3), np.float32)
    return images, rng.integers(CLASSES, size=BATCH)


def build_session(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [BATCH, SIZE, SIZE, 3])
    y = tf.placeholder(tf.int64, [BATCH])

    def layer(name: str) -> tuple[Any, Any]:
        shape = LAYERS[name][0]
        weights = tf.Variable(tf.zeros(shape), name=name + "_w")
        return weights, tf.Variable(tf.zeros(shape[-1:]), name=name + "_b")

    def convolve(value: Any, name: str) -> Any:
        kernel, bias = layer(name)
        return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(value, kernel, [1, 1, 1, 1], "SAME"), bias))

    def connect(value: Any, name: str) -> Any:
        weights, bias = layer(name)
        return tf.matmul(value, weights) + bias

    def pool(value: Any) -> Any:
        return tf.nn.max_pool(value, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")

    def normalize(value: Any) -> Any:
        return tf.nn.lrn(value, RADIUS, bias=LRN_BIAS, alpha=ALPHA, beta=BETA)

    value = normalize(pool(convolve(x, "conv1")))
    value = pool(normalize(convolve(value, "conv2")))
    value = tf.reshape(value, [BATCH, FLAT])
    value = tf.nn.relu(connect(value, "local3"))
    value = tf.nn.relu(connect(value, "local4"))
    logits = connect(value, "softmax")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train_op = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
    images, labels = batch()
    return session_program(tf, loss, train_op, {x: images, y: labels}, initial_values())


def build_torch(torch: Any, variant: str, compile: Compile) -> Program:
    nn = torch.nn

    def pool() -> Any:  # ceil_mode pads at the end alone, as SAME does here
        return nn.MaxPool2d(3, stride=2, ceil_mode=True)

    def normalize() -> Any:  # PyTorch divides alpha by the window
        return nn.LocalResponseNorm(WINDOW, alpha=ALPHA * WINDOW, beta=BETA, k=LRN_BIAS)

    layers = {
        "conv1": nn.Conv2d(3, 64, 5, padding=2),
        "conv2": nn.Conv2d(64, 64, 5, padding=2),
        "local3": nn.Linear(FLAT, 384),
        "local4": nn.Linear(384, 192),
        "softmax": nn.Linear(192, CLASSES),
    }
    load_torch_layers(torch, layers, initial_values(), flat={"local3": (6, 6, 64)})
    network = nn.Sequential(
        *(layers["conv1"], nn.ReLU(), pool(), normalize()),
        *(layers["conv2"], nn.ReLU(), normalize(), pool()),
        *(nn.Flatten(), layers["local3"], nn.ReLU(), layers["local4"], nn.ReLU()),
        layers["softmax"],
    ).to(memory_format=getattr(torch, variant))
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE)
    fed = torch_image_feed(torch, variant, *batch())
    return torch_program(compile, network, optimizer, nn.functional.cross_entropy, fed)


def build_jax(jax: Any, variant: str) -> Program:
    lax, jnp = jax.lax, jax.numpy
    channels = variant.index("C")

    def convolve(value: Any, p: Any, name: str) -> Any:
        value = jax_convolve(jax, variant, value, p[name + "_w"], 1, "SAME")
        return jax.nn.relu(value + jax_channel_bias(variant, p[name + "_b"]))

    def pool(value: Any) -> Any:
        return jax_max_pool(jax, variant, value, 3, 2, "SAME")

    def normalize(value: Any) -> Any:
        # Shifted sums: XLA fuses them into one loop, unlike a reduce_window over the channels.
        width = [(0, 0)] * 4
        width[channels] = (RADIUS, RADIUS)
        squares = jnp.pad(value * value, width)
        depth = value.shape[channels]
        shifted = (
            lax.slice_in_dim(squares, shift, shift + depth, axis=channels)
            for shift in range(WINDOW)
        )
        return value * (LRN_BIAS + ALPHA * sum(shifted)) ** -BETA

    def connect(value: Any, p: Any, name: str) -> Any:
        return value @ p[name + "_w"] + p[name + "_b"]

    def loss_of(p: Any, images: Any, labels: Any) -> Any:
        value = normalize(pool(convolve(images, p, "conv1")))
        value = pool(normalize(convolve(value, p, "conv2")))
        value = jnp.moveaxis(value, channels, 3).reshape(BATCH, FLAT)
        value = jax.nn.relu(connect(value, p, "local3"))
        value = jax.nn.relu(connect(value, p, "local4"))
        scores = jax.nn.log_softmax(connect(value, p, "softmax"))
        return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], axis=1))

    images, labels = batch()
    images = in_layout(variant, images)
    state = {"parameters": initial_values()}
    return jax_program(jax, loss_of, state, images, labels, gradient_descent(jax, RATE))


MODEL = Model(
    title="CIFAR conv net, batch 64",
    steps=5,
    builders={**sessions(build_session), **pytorch(build_torch), "jax": build_jax},
    variants=LAYOUTS,
)
