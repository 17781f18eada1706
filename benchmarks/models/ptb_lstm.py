"""A language model of two LSTM layers: 200 units, 20 words of 20 sequences, a vocabulary of 10,000.

Trained by gradient descent with clipped gradients. In Penstock and TensorFlow once with
`tf.nn.dynamic_rnn` and once as a `tf.while_loop` written by hand; PyTorch has `nn.LSTM`, JAX a
scan.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.model import Compile, Model, Program, pytorch, sessions
from benchmarks.training import Arrays, session_program

SEQUENCES, WORDS, UNITS, LAYERS, VOCABULARY = 20, 20, 200, 2, 10_000
RATE, CLIP = 1.0, 5.0


def initial_values() -> Arrays:
    """Gates are in the order input, new, forget, output, as TensorFlow's cells have them."""
    rng = np.random.default_rng(1)

    def uniform(*shape: int) -> np.ndarray:
        return rng.uniform(-0.1, 0.1, shape).astype(np.float32)

    values = {"embeddings": uniform(VOCABULARY, UNITS)}
    for layer in range(LAYERS):
        values[f"kernel_{layer}"] = uniform(2 * UNITS, 4 * UNITS)
        values[f"bias_{layer}"] = np.zeros(4 * UNITS, np.float32)
    values["softmax"] = uniform(UNITS, VOCABULARY)
    values["softmax_bias"] = np.zeros(VOCABULARY, np.float32)
    return values


def batch() -> tuple[np.ndarray, np.ndarray]:
    words = np.random.default_rng(2).integers(0, VOCABULARY, (SEQUENCES, WORDS + 1))
    return words[:, :-1].astype(np.int32), words[:, 1:].astype(np.int32)


def _lstm(tf: Any, x: Any, c: Any, h: Any, kernel: Any, bias: Any) -> tuple[Any, Any]:
    gates = tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), kernel), bias)
    i, j, f, o = tf.split(gates, 4, axis=1)
    c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
    return c, tf.tanh(c) * tf.sigmoid(o)


class Cell:
    """Both layers as a cell for `dynamic_rnn`."""

    state_size = ((UNITS, UNITS),) * LAYERS
    output_size = UNITS

    def __init__(self, tf: Any, weights: list[tuple[Any, Any]]) -> None:
        self._tf, self._weights = tf, weights

    def zero_state(self, batch_size: int, dtype: Any) -> Any:
        zeros = self._tf.zeros([batch_size, UNITS], dtype)
        return ((zeros, zeros),) * LAYERS

    def __call__(self, x: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        new = []
        for (c, h), (kernel, bias) in zip(state, self._weights, strict=True):
            c, x = _lstm(self._tf, x, c, h, kernel, bias)
            new.append((c, x))
        return x, tuple(new)


def with_dynamic_rnn(tf: Any, cell: Cell, inputs: Any) -> Any:
    state = cell.zero_state(SEQUENCES, tf.float32)
    return tf.nn.dynamic_rnn(cell, inputs, initial_state=state)[0]


def with_while_loop(tf: Any, cell: Cell, inputs: Any) -> Any:
    steps = tf.TensorArray(tf.float32, WORDS).unstack(tf.transpose(inputs, [1, 0, 2]))

    def body(t: Any, outputs: Any, state: Any) -> tuple[Any, Any, Any]:
        output, state = cell(steps.read(t), state)
        return t + 1, outputs.write(t, output), state

    state = cell.zero_state(SEQUENCES, tf.float32)
    start = (tf.constant(0), tf.TensorArray(tf.float32, WORDS), state)
    outputs = tf.while_loop(lambda t, *_: t < WORDS, body, start)[1]
    return tf.transpose(outputs.stack(), [1, 0, 2])


def build_session(unroll: Callable[[Any, Cell, Any], Any], tf: Any) -> Program:
    values = initial_values()
    variables = {
        name: tf.Variable(tf.zeros(value.shape), name=name) for name, value in values.items()
    }
    x, y = (tf.placeholder(tf.int32, [SEQUENCES, WORDS]) for _ in range(2))
    weights = [
        (variables[f"kernel_{layer}"], variables[f"bias_{layer}"]) for layer in range(LAYERS)
    ]
    embedded = tf.nn.embedding_lookup(variables["embeddings"], x)
    outputs = tf.reshape(unroll(tf, Cell(tf, weights), embedded), [-1, UNITS])
    logits = tf.matmul(outputs, variables["softmax"]) + variables["softmax_bias"]
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.reshape(y, [-1]), logits=logits
    )
    loss = tf.reduce_sum(losses) / SEQUENCES
    trained = list(variables.values())
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, trained), CLIP)
    optimizer = tf.train.GradientDescentOptimizer(RATE)
    train = optimizer.apply_gradients(list(zip(gradients, trained, strict=True)))
    return session_program(tf, loss, train, dict(zip((x, y), batch(), strict=True)), values)


def build_torch(torch: Any, variant: str, compile: Compile) -> Program:
    values = {name: torch.from_numpy(value) for name, value in initial_values().items()}
    lstm = torch.nn.LSTM(UNITS, UNITS, LAYERS, batch_first=True)
    embedding = torch.nn.Embedding(VOCABULARY, UNITS)
    softmax = torch.nn.Linear(UNITS, VOCABULARY)
    _load(torch, values, lstm, embedding, softmax)
    # PyTorch adds two biases to each gate; the others have one, so the second one stays zero.
    of_lstm = [each for name, each in lstm.named_parameters() if not name.startswith("bias_hh")]
    parameters = [*embedding.parameters(), *of_lstm, *softmax.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=RATE)
    x, y = (torch.from_numpy(words).long() for words in batch())

    @compile
    def loss_of(x: Any, y: Any) -> Any:
        logits = softmax(lstm(embedding(x))[0].reshape(-1, UNITS))
        total = torch.nn.functional.cross_entropy(logits, y.reshape(-1), reduction="sum")
        return total / SEQUENCES

    def step() -> None:
        optimizer.zero_grad()
        loss_of(x, y).backward()
        torch.nn.utils.clip_grad_norm_(parameters, CLIP)
        optimizer.step()

    return Program(step, lambda: float(loss_of(x, y).detach()))


def _load(torch: Any, values: Any, lstm: Any, embedding: Any, softmax: Any) -> None:
    """Gives PyTorch's modules the same weights; their gates are input, forget, new, output."""
    with torch.no_grad():
        embedding.weight.copy_(values["embeddings"])
        softmax.weight.copy_(values["softmax"].T)
        softmax.bias.copy_(values["softmax_bias"])
        for layer in range(LAYERS):
            i, j, f, o = values[f"kernel_{layer}"].split(UNITS, 1)
            kernel = torch.cat((i, f, j, o), 1).T
            getattr(lstm, f"weight_ih_l{layer}").copy_(kernel[:, :UNITS])
            getattr(lstm, f"weight_hh_l{layer}").copy_(kernel[:, UNITS:])
            bias = torch.zeros(4 * UNITS)
            bias[UNITS : 2 * UNITS] = 1.0  # what the others add to the forget gate
            getattr(lstm, f"bias_ih_l{layer}").copy_(bias)
            getattr(lstm, f"bias_hh_l{layer}").zero_()


def build_jax(jax: Any, variant: str) -> Program:
    jnp = jax.numpy
    x, y = batch()

    def cell(values: Any, state: Any, x: Any) -> Any:
        new = []
        for layer, (c, h) in enumerate(state):
            gates = jnp.concatenate((x, h), 1) @ values[f"kernel_{layer}"]
            i, j, f, o = jnp.split(gates + values[f"bias_{layer}"], 4, 1)
            c = c * jax.nn.sigmoid(f + 1.0) + jax.nn.sigmoid(i) * jnp.tanh(j)
            x = jnp.tanh(c) * jax.nn.sigmoid(o)
            new.append((c, x))
        return tuple(new), x

    def loss_of(values: Any, x: Any, y: Any) -> Any:
        zeros = jnp.zeros((SEQUENCES, UNITS))
        state = ((zeros, zeros),) * LAYERS
        inputs = jnp.swapaxes(values["embeddings"][x], 0, 1)
        outputs = jax.lax.scan(partial(cell, values), state, inputs)[1]
        logits = jnp.swapaxes(outputs, 0, 1).reshape(-1, UNITS) @ values["softmax"]
        scores = jax.nn.log_softmax(logits + values["softmax_bias"])
        return -jnp.take_along_axis(scores, y.reshape(-1, 1), 1).sum() / SEQUENCES

    def train(values: Any, x: Any, y: Any) -> Any:
        gradients = jax.grad(loss_of)(values, x, y)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradients)))
        scale = RATE * jnp.minimum(CLIP / norm, 1.0)
        return jax.tree.map(lambda value, gradient: value - scale * gradient, values, gradients)

    train_step = jax.jit(train, donate_argnums=0)
    loss_step = jax.jit(loss_of)
    values = {name: jnp.array(value) for name, value in initial_values().items()}

    def step() -> None:
        nonlocal values
        values = train_step(values, x, y)
        jax.block_until_ready(values)

    return Program(step, lambda: float(loss_step(values, x, y)))


def _model(title: str, unroll: Callable[[Any, Cell, Any], Any]) -> Model:
    return Model(
        title=title,
        steps=5,
        builders={
            **sessions(partial(build_session, unroll)),
            **pytorch(build_torch),
            "jax": build_jax,
        },
        tolerance=1e-3,
    )


DYNAMIC_RNN = _model("PTB LSTM 2 × 200, dynamic_rnn", with_dynamic_rnn)
WHILE_LOOP = _model("PTB LSTM 2 × 200, while_loop", with_while_loop)
