"""Evaluating the checkpoints of a training that may still run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib import training
from penstock.contrib.training import evaluation  # which programs reach through this module

__all__ = [
    "checkpoints_iterator",
    "evaluate_once",
    "evaluation",
    "evaluation_loop",
    "wait_for_new_checkpoint",
]

#: Stands for `tf.summary.merge_all()`.
_USE_DEFAULT = 0


def wait_for_new_checkpoint(
    checkpoint_dir: Any,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """The path of a checkpoint newer than the last; None if there was none in time."""
    found: str | None = training.wait_for_new_checkpoint(
        checkpoint_dir, last_checkpoint, seconds_to_sleep, timeout
    )
    return found


checkpoints_iterator = tf.train.checkpoints_iterator


def _hooks(
    num_evals: int, logdir: Any, summary_op: Any, feed_dict: Any, hooks: Sequence[Any] | None
) -> list[Any]:
    found: list[Any] = [training.StopAfterNEvalsHook(num_evals)]
    # A tensor can't be compared with a number to see whether it is the default.
    if isinstance(summary_op, int) and summary_op == _USE_DEFAULT:
        summary_op = tf.summary.merge_all()
    if summary_op is not None:
        found.append(
            training.SummaryAtEndHook(log_dir=logdir, summary_op=summary_op, feed_dict=feed_dict)
        )
    return [*found, *(hooks or ())]


def _saver(variables_to_restore: Any) -> Any:
    return None if variables_to_restore is None else tf.train.Saver(variables_to_restore)


def evaluate_once(
    master: str,
    checkpoint_path: Any,
    logdir: Any,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    session_config: Any = None,
    hooks: Sequence[Any] | None = None,
) -> Any:
    """Evaluates a model at one checkpoint; gives the values of `final_op`.

    Args:
      num_evals: how often `eval_op` is run.
      summary_op: written to `logdir` at the end; all summaries by default.
    """
    return training.evaluate_once(
        checkpoint_path,
        master=master,
        scaffold=tf.train.Scaffold(
            init_op=initial_op,
            init_feed_dict=initial_op_feed_dict,
            saver=_saver(variables_to_restore),
        ),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        hooks=_hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks),
        config=session_config,
    )


def evaluation_loop(
    master: str,
    checkpoint_dir: Any,
    logdir: Any,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    init_fn: Callable[..., Any] | None = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: int | None = None,
    session_config: Any = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    hooks: Sequence[Any] | None = None,
) -> Any:
    """Evaluates a model at each new checkpoint of a folder; see `evaluate_once`.

    Args:
      eval_interval_secs: least time between evaluations.
      timeout: longest time to wait for a checkpoint.
      timeout_fn: called after a timeout; whether to end.
    """
    return training.evaluate_repeatedly(
        checkpoint_dir,
        master=master,
        scaffold=tf.train.Scaffold(
            init_op=initial_op,
            init_feed_dict=initial_op_feed_dict,
            init_fn=init_fn,
            saver=_saver(variables_to_restore),
        ),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs,
        hooks=_hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks),
        config=session_config,
        max_number_of_evaluations=max_number_of_evaluations,
        timeout=timeout,
        timeout_fn=timeout_fn,
    )
