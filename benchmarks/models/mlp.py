"""The network of the OSDI paper's first figure: 784-100-10, batch 100, fed each step, Adagrad."""

from typing import Any

import numpy as np

from benchmarks.model import Compile, Model, Program, pytorch, sessions
from benchmarks.training import Arrays, jax_program, session_program, torch_program

BATCH, PIXELS, HIDDEN, CLASSES = 100, 784, 100, 10
RATE = 0.01
INITIAL_ACCUMULATOR = 0.1  # TensorFlow's default


def initial_values() -> Arrays:
    rng = np.random.default_rng(1)
    shapes = {"w1": (PIXELS, HIDDEN), "w2": (HIDDEN, CLASSES)}
    values = {
        name: rng.normal(0, shape[0] ** -0.5, shape).astype(np.float32)
        for name, shape in shapes.items()
    }
    return {**values, "b1": np.zeros(HIDDEN, np.float32), "b2": np.zeros(CLASSES, np.float32)}


def batch() -> tuple[np.ndarray, np.ndarray]:
    """Images and one-hot labels."""
    rng = np.random.default_rng(2)
    images = rng.random((BATCH, PIXELS), np.float32)
    return images, np.eye(CLASSES, dtype=np.float32)[rng.integers(CLASSES, size=BATCH)]


def build_session(tf: Any) -> Program:
    x = tf.placeholder(tf.float32, [BATCH, PIXELS])
    y = tf.placeholder(tf.float32, [BATCH, CLASSES])
    w1 = tf.Variable(tf.zeros([PIXELS, HIDDEN]), name="w1")
    b1 = tf.Variable(tf.zeros([HIDDEN]), name="b1")
    w2 = tf.Variable(tf.zeros([HIDDEN, CLASSES]), name="w2")
    b2 = tf.Variable(tf.zeros([CLASSES]), name="b2")
    hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
    logits = tf.matmul(hidden, w2) + b2
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train_op = tf.train.AdagradOptimizer(RATE).minimize(loss)
    images, labels = batch()
    return session_program(tf, loss, train_op, {x: images, y: labels}, initial_values())


def build_torch(torch: Any, variant: str, compile: Compile) -> Program:
    nn = torch.nn
    network = nn.Sequential(nn.Linear(PIXELS, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CLASSES))
    values = initial_values()
    with torch.no_grad():
        for layer, number in ((network[0], "1"), (network[2], "2")):
            layer.weight.copy_(torch.from_numpy(values["w" + number].T))
            layer.bias.copy_(torch.from_numpy(values["b" + number]))
    optimizer = torch.optim.Adagrad(
        network.parameters(), lr=RATE, initial_accumulator_value=INITIAL_ACCUMULATOR
    )
    images, labels = batch()

    def fed() -> tuple[Any, Any]:
        return torch.from_numpy(images), torch.from_numpy(labels)

    return torch_program(compile, network, optimizer, nn.functional.cross_entropy, fed)


def build_jax(jax: Any, variant: str) -> Program:
    jnp = jax.numpy

    def loss_of(p: Any, images: Any, labels: Any) -> Any:
        hidden = jax.nn.relu(images @ p["w1"] + p["b1"])
        logits = hidden @ p["w2"] + p["b2"]
        return -jnp.mean(jnp.sum(labels * jax.nn.log_softmax(logits), axis=1))

    def adagrad(state: Any, gradients: Any) -> Any:
        sums = jax.tree.map(lambda s, g: s + g * g, state["sums"], gradients)
        parameters = jax.tree.map(
            lambda p, g, s: p - RATE * g * jax.lax.rsqrt(s), state["parameters"], gradients, sums
        )
        return {"parameters": parameters, "sums": sums}

    values = initial_values()
    sums = {name: np.full_like(value, INITIAL_ACCUMULATOR) for name, value in values.items()}
    return jax_program(jax, loss_of, {"parameters": values, "sums": sums}, *batch(), adagrad)


MODEL = Model(
    title="MLP 784-100-10, batch 100, Adagrad",
    steps=100,
    builders={**sessions(build_session), **pytorch(build_torch), "jax": build_jax},
)
