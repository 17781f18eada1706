"""A training operation with all that belongs to it, and the loop that runs it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import penstock as tf
from penstock.ops.control import with_dependencies
from penstock.platform import logging

__all__ = [
    "add_gradients_summaries",
    "clip_gradient_norms",
    "clip_gradient_norms_fn",
    "create_train_op",
    "multiply_gradients",
    "train",
]

_Pairs = Sequence[tuple[Any, Any]]

_USE_GLOBAL_STEP = 0


def _on_values(grad: Any, change: Callable[[Any], Any]) -> Any:
    """A gradient with its values changed; the rows of a sparse one stay the same."""
    if isinstance(grad, tf.IndexedSlices):
        return tf.IndexedSlices(change(grad.values), grad.indices, grad.dense_shape)
    return change(grad)


def add_gradients_summaries(grads_and_vars: _Pairs) -> list[Any]:
    """Adds a histogram and the norm of each gradient to the summaries."""
    summaries = []
    for grad, var in grads_and_vars:
        if grad is None:
            logging.info("Var %s has no gradient", var.op.name)
            continue
        values = grad.values if isinstance(grad, tf.IndexedSlices) else grad
        summaries += [
            tf.summary.histogram(f"{var.op.name}_gradient", values),
            tf.summary.scalar(f"{var.op.name}_gradient_norm", tf.global_norm([values])),
        ]
    return summaries


def clip_gradient_norms(gradients_to_variables: _Pairs, max_norm: float) -> list[Any]:
    """The gradients, each clipped to a norm."""
    return [
        (grad if grad is None else _on_values(grad, lambda g: tf.clip_by_norm(g, max_norm)), var)
        for grad, var in gradients_to_variables
    ]


def clip_gradient_norms_fn(max_norm: float) -> Callable[[_Pairs], list[Any]]:
    """A `transform_grads_fn` that clips each gradient to a norm."""
    return lambda gradients_to_variables: clip_gradient_norms(gradients_to_variables, max_norm)


def multiply_gradients(grads_and_vars: _Pairs, gradient_multipliers: dict[Any, Any]) -> list[Any]:
    """The gradients, those of some variables (or names of variables) multiplied by a factor."""
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    multiplied = []
    for grad, var in grads_and_vars:
        key = var if var in gradient_multipliers else var.op.name
        if key in gradient_multipliers:
            if grad is None:
                raise ValueError("Requested multiple of `None` gradient.")
            factor = tf.convert_to_tensor(gradient_multipliers[key], dtype=grad.dtype)
            grad = _on_values(grad, partial(operator.mul, factor))
        multiplied.append((grad, var))
    return multiplied


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = _USE_GLOBAL_STEP,
    update_ops: Any = None,
    variables_to_train: Any = None,
    transform_grads_fn: Callable[[Any], Any] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = tf.train.Optimizer.GATE_OP,
    aggregation_method: int | None = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Any:
    """An operation that takes a step of training and gives the loss.

    Args:
      total_loss: the loss.
      optimizer: a `tf.train.Optimizer`.
      global_step: what counts steps; the graph's global step by default, None for none.
      update_ops: run before the loss; those of the collection UPDATE_OPS if None.
      variables_to_train: the variables; all trainable ones if None.
      transform_grads_fn: changes the list of gradients and variables.
      summarize_gradients: whether to add summaries of gradients.
      gate_gradients: see `Optimizer.compute_gradients`.
      aggregation_method: see there.
      colocate_gradients_with_ops: see there.
      check_numerics: whether a loss that is not finite is an error.
    """
    if global_step is _USE_GLOBAL_STEP:
        global_step = tf.train.get_or_create_global_step()
    # As a dictionary, not a set: the order of nodes must not change from run to run.
    known = dict.fromkeys(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
    wanted = known if update_ops is None else dict.fromkeys(update_ops)
    if not known.keys() <= wanted.keys():
        logging.warning(
            "update_ops in create_train_op does not contain all the update_ops in "
            "GraphKeys.UPDATE_OPS"
        )
    if wanted:
        with tf.control_dependencies(list(wanted)):
            barrier = tf.no_op(name="update_barrier")
        total_loss = with_dependencies([barrier], total_loss)
    if variables_to_train is None:
        variables_to_train = tf.trainable_variables()
    else:
        trainable = tf.trainable_variables()
        for variable in variables_to_train:
            assert getattr(variable, "trainable", False) or any(
                variable is each for each in trainable
            )
    assert variables_to_train
    grads = optimizer.compute_gradients(
        total_loss,
        variables_to_train,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn:
        grads = transform_grads_fn(grads)
    if summarize_gradients:
        with tf.name_scope("summarize_grads"):
            add_gradients_summaries(grads)
    updates = optimizer.apply_gradients(grads, global_step=global_step)
    with tf.name_scope("train_op"):
        if check_numerics:
            total_loss = tf.check_numerics(total_loss, "LossTensor is inf or nan")
        train_op = with_dependencies([updates], total_loss)
    train_ops = tf.get_collection_ref(tf.GraphKeys.TRAIN_OP)
    if train_op not in train_ops:
        train_ops.append(train_op)
    return train_op


def train(
    train_op: Any,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Any = None,
    chief_only_hooks: Any = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: Any = None,
    max_wait_secs: float = 7200,
    run_metadata: Any = None,
) -> Any:
    """Runs `train_op` in a `MonitoredTrainingSession` until a hook stops it; the last loss."""
    if logdir is None and is_chief:
        if save_summaries_steps:
            raise ValueError("logdir cannot be None when save_summaries_steps is not None")
        if save_checkpoint_secs:
            raise ValueError("logdir cannot be None when save_checkpoint_secs is not None")
    loss = None
    with tf.train.MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
        max_wait_secs=max_wait_secs,
    ) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
