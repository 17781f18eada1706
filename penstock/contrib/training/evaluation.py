"""Evaluating checkpoints, once or as they appear."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.platform import logging
from penstock.train.checkpoint_variables import checkpoints_iterator, wait_for_new_checkpoint
from penstock.train.evaluation import _evaluate_once as evaluate_once
from penstock.train.evaluation import _get_or_create_eval_step as get_or_create_eval_step
from penstock.train.evaluation import _StopAfterNEvalsHook as StopAfterNEvalsHook

__all__ = [
    "StopAfterNEvalsHook",
    "SummaryAtEndHook",
    "checkpoints_iterator",
    "evaluate_once",
    "evaluate_repeatedly",
    "get_or_create_eval_step",
    "wait_for_new_checkpoint",
]


class SummaryAtEndHook(tf.train.SessionRunHook):
    """Writes a summary at the end of a session.

    Args:
      log_dir: where the event file goes; or
      summary_writer: what writes it.
      summary_op: the summary; all summaries of the graph if None.
      feed_dict: what it is fed with.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        summary_writer: Any = None,
        summary_op: Any = None,
        feed_dict: Any = None,
    ):
        self._summary_op = summary_op
        self._replace_summary_op = summary_op is None
        self._feed_dict = feed_dict
        self._summary_writer = summary_writer
        self._log_dir = log_dir
        if log_dir is None and summary_writer is None:
            raise ValueError("One of log_dir or summary_writer should be used.")

    def begin(self) -> None:
        if self._replace_summary_op:
            self._summary_op = tf.summary.merge_all()
        self._global_step = tf.train.get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = tf.summary.FileWriterCache.get(self._log_dir)

    def end(self, session: Any) -> None:
        if self._summary_op is not None:
            step = tf.train.global_step(session, self._global_step)
            summary = session.run(self._summary_op, self._feed_dict)
            if self._summary_writer:
                self._summary_writer.add_summary(summary, step)
        if self._summary_writer:
            self._summary_writer.flush()


def _log_time(what: str) -> None:
    logging.info(f"{what} evaluation at " + time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime()))


def _with_counting(eval_ops: Any, hooks: list[Any]) -> Any:
    """The evaluation operations with one that counts their steps, which the hooks read."""
    update = tf.assign_add(get_or_create_eval_step(), 1)
    for hook in hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook._set_evals_completed_tensor(update)
    if isinstance(eval_ops, dict):
        eval_ops["update_eval_step"] = update
        return eval_ops
    return [*eval_ops, update] if isinstance(eval_ops, (tuple, list)) else [eval_ops, update]


def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    eval_interval_secs: float = 60,
    hooks: list[Any] | None = None,
    config: Any = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Any:
    """Evaluates new checkpoints of a directory as they appear; returns the last `final_ops`.

    Args:
      checkpoint_dir: where checkpoints appear.
      master: the target of the sessions.
      scaffold: how sessions are initialized.
      eval_ops: run again and again in each evaluation, until a hook stops it.
      feed_dict: what they are fed with.
      final_ops: run at the end of each evaluation, fed with `final_ops_feed_dict`.
      eval_interval_secs: least time between two evaluations.
      hooks: hooks of the sessions.
      config: a `ConfigProto`.
      max_number_of_evaluations: after how many to return; None for no end.
      timeout: how long to wait for a checkpoint.
      timeout_fn: asked after a timeout whether to stop.
    """
    get_or_create_eval_step()
    hooks = hooks if hooks is not None else []
    if eval_ops is not None:
        eval_ops = _with_counting(eval_ops, hooks)
    final = tf.train.FinalOpsHook(final_ops, final_ops_feed_dict)
    hooks.append(final)
    paths = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)
    for evaluations, path in enumerate(paths, 1):
        creator = tf.train.ChiefSessionCreator(
            scaffold=scaffold, checkpoint_filename_with_path=path, master=master, config=config
        )
        with tf.train.MonitoredSession(session_creator=creator, hooks=hooks) as session:
            _log_time("Starting")
            if eval_ops is not None:
                while not session.should_stop():
                    session.run(eval_ops, feed_dict)
            _log_time("Finished")
        if max_number_of_evaluations is not None and evaluations >= max_number_of_evaluations:
            break
    return final.final_ops_values
