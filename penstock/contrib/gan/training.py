"""Operations that train both networks of a GAN, and the orders in which to run them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib import training
from penstock.contrib.gan.namedtuples import CycleGANModel, GANTrainOps, GANTrainSteps
from penstock.contrib.slim import learning as slim_learning

__all__ = [
    "RunTrainOpsHook",
    "gan_train",
    "gan_train_ops",
    "get_joint_train_hooks",
    "get_sequential_train_hooks",
    "get_sequential_train_steps",
]

_HooksOf = Callable[[GANTrainOps], list[Any]]
_ONE_EACH = GANTrainSteps(1, 1)


def _split_updates(update_ops: Any, model: Any, check: bool) -> tuple[list[Any], list[Any]]:
    """Update operations of the generator and of the discriminator, so that each runs once."""
    collection = tf.GraphKeys.UPDATE_OPS
    wanted = tf.get_collection(collection) if update_ops is None else list(update_ops)
    generator = tf.get_collection(collection, model.generator_scope.name)
    discriminator = tf.get_collection(collection, model.discriminator_scope.name)
    unused = [op for op in dict.fromkeys(wanted) if op not in {*generator, *discriminator}]
    if check and unused:
        raise ValueError(f"There are unused update ops: {unused}")
    return (
        [op for op in dict.fromkeys(generator) if op in set(wanted)],
        [op for op in dict.fromkeys(discriminator) if op in set(wanted)],
    )


def _train_op(
    network: str, loss: Any, optimizer: Any, variables: Any, updates: list[Any], **kwargs: Any
) -> Any:
    """The training operation of one network, without counting a step."""
    local_step = None
    if isinstance(optimizer, tf.train.SyncReplicasOptimizer):
        # It needs a step of its own to tell stale gradients by, and one that workers share.
        global_step = tf.train.get_or_create_global_step()
        local_step = tf.get_variable(
            f"dummy_global_step_{network}",
            shape=[],
            dtype=global_step.dtype.base_dtype,
            initializer=tf.zeros_initializer(),
            trainable=False,
            collections=[tf.GraphKeys.GLOBAL_VARIABLES],
        )
        updates = [*updates, local_step.assign(global_step)]
    with tf.name_scope(f"{network}_train"):
        return training.create_train_op(
            total_loss=loss,
            optimizer=optimizer,
            variables_to_train=variables,
            global_step=local_step,
            update_ops=updates,
            **kwargs,
        )


def gan_train_ops(
    model: Any,
    loss: Any,
    generator_optimizer: Any,
    discriminator_optimizer: Any,
    check_for_unused_update_ops: bool = True,
    is_chief: bool = True,
    **kwargs: Any,
) -> GANTrainOps:
    """The operations that train a model.

    Args:
      model: a `GANModel`, one of its relatives, or a `CycleGANModel`.
      loss: its losses.
      generator_optimizer: of the generator's variables.
      discriminator_optimizer: of the discriminator's variables.
      check_for_unused_update_ops: whether updates outside of both networks are an error.
      is_chief: whether hooks of synchronous optimizers are those of the chief.
      **kwargs: passed to `tf.contrib.training.create_train_op` for each network.
    """
    if isinstance(model, CycleGANModel):
        optimizers = (generator_optimizer, discriminator_optimizer)
        rest = (*optimizers, check_for_unused_update_ops, is_chief)
        with tf.name_scope("cyclegan_x2y_train"):
            x2y = gan_train_ops(model.model_x2y, loss.loss_x2y, *rest, **kwargs)
        with tf.name_scope("cyclegan_y2x_train"):
            y2x = gan_train_ops(model.model_y2x, loss.loss_y2x, *rest, **kwargs)
        return GANTrainOps(
            (x2y.generator_train_op, y2x.generator_train_op),
            (x2y.discriminator_train_op, y2x.discriminator_train_op),
            tf.train.get_or_create_global_step().assign_add(1),
        )
    step_op = tf.train.get_or_create_global_step().assign_add(1)
    generator_updates, discriminator_updates = _split_updates(
        kwargs.pop("update_ops", None), model, check_for_unused_update_ops
    )
    generator_op = _train_op(
        "generator",
        loss.generator_loss,
        generator_optimizer,
        model.generator_variables,
        generator_updates,
        **kwargs,
    )
    discriminator_op = _train_op(
        "discriminator",
        loss.discriminator_loss,
        discriminator_optimizer,
        model.discriminator_variables,
        discriminator_updates,
        **kwargs,
    )
    hooks = [
        optimizer.make_session_run_hook(is_chief)
        for optimizer in (generator_optimizer, discriminator_optimizer)
        if isinstance(optimizer, tf.train.SyncReplicasOptimizer)
    ]
    return GANTrainOps(generator_op, discriminator_op, step_op, hooks)


class RunTrainOpsHook(tf.train.SessionRunHook):
    """Runs operations a number of times before each step."""

    def __init__(self, train_ops: Any, train_steps: int):
        self._train_ops = train_ops if isinstance(train_ops, (list, tuple)) else [train_ops]
        self._train_steps = train_steps

    def before_run(self, run_context: Any) -> None:
        for _ in range(self._train_steps):
            run_context.session.run(self._train_ops)


def get_sequential_train_hooks(train_steps: GANTrainSteps = _ONE_EACH) -> _HooksOf:
    """Makes hooks that update the generator, then the discriminator, each so many times."""

    def hooks_of(train_ops: GANTrainOps) -> list[Any]:
        return [
            RunTrainOpsHook(train_ops.generator_train_op, train_steps.generator_train_steps),
            RunTrainOpsHook(
                train_ops.discriminator_train_op, train_steps.discriminator_train_steps
            ),
            *train_ops.train_hooks,
        ]

    return hooks_of


def get_joint_train_hooks(train_steps: GANTrainSteps = _ONE_EACH) -> _HooksOf:
    """Makes hooks that update both networks in one run where they can, then what is left."""
    together = min(train_steps)
    generator_alone = train_steps.generator_train_steps - together
    discriminator_alone = train_steps.discriminator_train_steps - together

    def hooks_of(train_ops: GANTrainOps) -> list[Any]:
        generator, discriminator = train_ops.generator_train_op, train_ops.discriminator_train_op
        return [
            RunTrainOpsHook([generator, discriminator], together),
            RunTrainOpsHook(generator, generator_alone),
            RunTrainOpsHook(discriminator, discriminator_alone),
            *train_ops.train_hooks,
        ]

    return hooks_of


def gan_train(
    train_ops: GANTrainOps,
    logdir: str | None,
    get_hooks_fn: _HooksOf = get_sequential_train_hooks(),  # noqa: B008
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Any = None,
    chief_only_hooks: Any = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: Any = None,
) -> Any:
    """Trains until a hook stops it, as `tf.contrib.training.train` does; the last step."""
    return training.train(
        train_ops.global_step_inc_op,
        logdir,
        master=master,
        is_chief=is_chief,
        scaffold=scaffold,
        hooks=[*(hooks or ()), *get_hooks_fn(train_ops)],
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
    )


def get_sequential_train_steps(train_steps: GANTrainSteps = _ONE_EACH) -> Callable[..., Any]:
    """A `train_step_fn` for `slim.learning.train`: it gives the sum of losses, whether to stop."""

    def sequential_train_steps(
        sess: Any, train_ops: GANTrainOps, global_step: Any, train_step_kwargs: dict[str, Any]
    ) -> tuple[Any, Any]:
        kwargs = {name: each for name, each in train_step_kwargs.items() if name != "should_stop"}
        loss = 0
        for train_op, times in (
            (train_ops.generator_train_op, train_steps.generator_train_steps),
            (train_ops.discriminator_train_op, train_steps.discriminator_train_steps),
        ):
            for _ in range(times):
                loss += slim_learning.train_step(sess, train_op, global_step, kwargs)[0]
        sess.run(train_ops.global_step_inc_op)
        # Only now: whether to stop is told by the step that was just counted.
        stop = train_step_kwargs.get("should_stop")
        return loss, False if stop is None else sess.run(stop)

    return sequential_train_steps
