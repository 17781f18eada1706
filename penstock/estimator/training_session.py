"""The session in which an Estimator trains: its hooks, and the loop."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.estimator.cluster_task import TaskType
from penstock.platform import logging
from penstock.train.basic_session_run_hooks import LoggingTensorHook, NanTensorHook
from penstock.train.global_step import get_global_step
from penstock.train.recording_hooks import CheckpointSaverHook, StepCounterHook, SummarySaverHook
from penstock.train.saver import Saver


def run(
    spec: Any,
    config: Any,
    session_config: Any,
    hooks: list[Any],
    saving_listeners: list[Any],
    replicas: Any = None,
) -> Any:
    """Runs training steps until a hook or the end of the input stops it; gives the last loss.

    `replicas` is the `extended` of a strategy: in some of them each worker initializes its own
    variables, and one of them saves.
    """
    _add_loss_to_collections(spec.loss)
    worker_hooks = [*hooks, NanTensorHook(spec.loss)]
    if config.log_step_count_steps is not None:
        watched = {"loss": spec.loss, "step": get_global_step(tf.get_default_graph())}
        worker_hooks.append(LoggingTensorHook(watched, every_n_iter=config.log_step_count_steps))
    worker_hooks += spec.training_hooks
    _add_saver(spec, config)
    chief_hooks = _chief_hooks(spec, config, worker_hooks, saving_listeners)
    summary_steps, log_steps = config.save_summary_steps, config.log_step_count_steps
    if _leaves_summaries_to_a_worker(config):
        worker_hooks += _summary_hooks(spec, config)
        summary_steps, log_steps = 0, None
    is_chief = config.is_chief
    if replicas is not None and replicas.experimental_should_init:
        is_chief = True
        chief_hooks = chief_hooks if replicas.should_checkpoint else ()
        if not replicas.should_save_summary:
            summary_steps, log_steps = 0, None
    with tf.train.MonitoredTrainingSession(
        master=config.master,
        is_chief=is_chief,
        checkpoint_dir=config.model_dir,
        scaffold=spec.scaffold,
        hooks=worker_hooks,
        chief_only_hooks=chief_hooks,
        save_checkpoint_secs=0,  # a hook of ours saves
        save_summaries_steps=summary_steps,
        config=session_config,
        max_wait_secs=config.session_creation_timeout_secs,
        log_step_count_steps=log_steps,
    ) as session:
        loss, made_steps = None, False
        while not session.should_stop():
            made_steps = True
            _, loss = session.run([spec.train_op, spec.loss])
        if not made_steps:
            logging.warn(
                "Training with estimator made no steps. Perhaps input is empty or misspecified."
            )
    return loss


def _add_loss_to_collections(loss: Any) -> None:
    summaries = tf.get_collection(tf.GraphKeys.SUMMARIES)
    if not any(summary.op.name == "loss" for summary in summaries):
        tf.summary.scalar("loss", loss)
    tf.add_to_collection(tf.GraphKeys.LOSSES, loss)


def _add_saver(spec: Any, config: Any) -> None:
    if spec.scaffold.saver or tf.get_collection(tf.GraphKeys.SAVERS):
        return
    saver = Saver(
        sharded=True,
        max_to_keep=config.keep_checkpoint_max,
        keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
        defer_build=True,
        save_relative_paths=True,
    )
    tf.add_to_collection(tf.GraphKeys.SAVERS, saver)


def _chief_hooks(
    spec: Any, config: Any, worker_hooks: list[Any], saving_listeners: list[Any]
) -> tuple[Any, ...]:
    """The chief's hooks: one of them saves checkpoints, unless the user has brought one."""
    of_user = [*worker_hooks, *spec.training_chief_hooks]
    savers = [hook for hook in of_user if isinstance(hook, CheckpointSaverHook)]
    made: tuple[Any, ...] = ()
    if not savers and (config.save_checkpoints_secs or config.save_checkpoints_steps):
        made = (
            CheckpointSaverHook(
                config.model_dir,
                save_secs=config.save_checkpoints_secs,
                save_steps=config.save_checkpoints_steps,
                scaffold=spec.scaffold,
            ),
        )
    if saving_listeners:
        if not (savers or made):
            raise ValueError(
                "There should be a CheckpointSaverHook to use saving_listeners. Please set one of "
                "the RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
            )
        saver = (*savers, *made)[0]
        known = list(saver._listeners)
        saver._listeners = [*known, *(each for each in saving_listeners if each not in known)]
    return (*made, *spec.training_chief_hooks)


def _leaves_summaries_to_a_worker(config: Any) -> bool:
    """A master evaluates too, so that its steps say nothing of the speed of training."""
    jobs = config.cluster_spec.jobs if config.cluster_spec else ()
    return TaskType.MASTER in jobs and TaskType.WORKER in jobs


def _summary_hooks(spec: Any, config: Any) -> list[Any]:
    hooks: list[Any] = []
    if config.task_type != TaskType.WORKER or config.task_id != 0:
        return hooks
    if config.save_summary_steps:
        hooks.append(
            SummarySaverHook(
                save_steps=config.save_summary_steps,
                output_dir=config.model_dir,
                scaffold=spec.scaffold,
            )
        )
    if config.log_step_count_steps:
        hooks.append(
            StepCounterHook(every_n_steps=config.log_step_count_steps, output_dir=config.model_dir)
        )
    return hooks
