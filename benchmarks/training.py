"""Turns a loss into a Program, once per framework: the part that is the same for every network."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.frameworks import session_config
from benchmarks.model import Compile, Program

Arrays = Mapping[str, np.ndarray]


def threads() -> int:
    """How many threads a framework may use: as many as there are CPUs for this process."""
    return len(os.sched_getaffinity(0))


def open_session(tf: Any) -> Any:
    return tf.Session(config=session_config(tf, threads()))


def session_program(
    tf: Any,
    loss: Any,
    train_op: Any,
    feed: Mapping[Any, np.ndarray],
    initial: Arrays,
    replay_op: Any = None,
) -> Program:
    """A program of the current graph; `initial` holds the variables' values by variable name.

    The values enter by `load`, not as constants: a graph that holds them would count as memory of
    the step. `replay_op` is for a `train_op` that draws random numbers.
    """
    session = open_session(tf)
    session.run(tf.global_variables_initializer())
    for variable in tf.trainable_variables():
        variable.load(initial[variable.op.name], session)
    return Program(
        step=lambda: session.run(train_op, feed_dict=feed),
        observe=lambda: float(session.run(loss, feed_dict=feed)),
        replay=None if replay_op is None else lambda: session.run(replay_op, feed_dict=feed),
    )


def torch_program(
    compile: Compile,
    network: Any,
    optimizer: Any,
    loss_of: Callable[[Any, Any], Any],
    batch: Callable[[], tuple[Any, Any]],
) -> Program:
    """A program that trains `network` on `batch()`, the inputs and labels of one step."""

    @compile
    def loss_of_batch(inputs: Any, labels: Any) -> Any:
        return loss_of(network(inputs), labels)

    update = compile(optimizer.step)

    def step() -> None:
        optimizer.zero_grad()
        loss_of_batch(*batch()).backward()
        update()

    def observe() -> float:
        # The same call as in a step: another mode would make the compiler compile it again.
        return float(loss_of_batch(*batch()).detach())

    return Program(step, observe)


def jax_program(
    jax: Any,
    loss_of: Callable[[Any, Any, Any], Any],
    parameters: Any,
    inputs: np.ndarray,
    labels: np.ndarray,
    update: Callable[[Any, Any], Any],
) -> Program:
    """A program whose state is a tree with the parameters at "parameters".

    update: (state, gradients) -> the next state.
    """
    state = jax.tree.map(jax.numpy.array, parameters)
    loss = jax.jit(loss_of)

    def next_state(state: Any, inputs: Any, labels: Any) -> Any:
        return update(state, jax.grad(loss_of)(state["parameters"], inputs, labels))

    # Donating the old state lets XLA update it in place.
    train = jax.jit(next_state, donate_argnums=0)

    def step() -> None:
        nonlocal state
        state = train(state, inputs, labels)
        jax.block_until_ready(state)

    return Program(step, lambda: float(loss(state["parameters"], inputs, labels)))


def gradient_descent(jax: Any, rate: float) -> Callable[[Any, Any], Any]:
    """The update of plain gradient descent, for `jax_program`."""

    def update(state: Any, gradients: Any) -> Any:
        descend = jax.tree.map(lambda p, g: p - rate * g, state["parameters"], gradients)
        return {"parameters": descend}

    return update
