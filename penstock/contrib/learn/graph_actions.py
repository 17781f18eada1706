"""`tf.contrib.learn.graph_actions`: training, evaluation and inference of graphs as they are."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

import penstock as tf
from penstock import logging
from penstock.contrib.framework.graph_parts import get_graph_from_inputs
from penstock.contrib.framework.variables import assert_or_get_global_step
from penstock.contrib.learn import monitors as monitors_lib
from penstock.ops.resources import initialize_resources, local_resources, shared_resources
from penstock.summary.file_writer import FileWriterCache
from penstock.train.basic_session_run_hooks import NanLossDuringTrainingError
from penstock.train.checkpoint_variables import load_variable

FeedFn = Callable[[], Any]

_GRACE_SECS = 120


def clear_summary_writers() -> None:
    """Closes and forgets all writers of event files."""
    FileWriterCache.clear()


def get_summary_writer(logdir: str) -> Any:
    """The writer of event files in a directory."""
    return FileWriterCache.get(logdir)


def _saver_of(graph: Any, keep_checkpoint_max: int = 5) -> Any:
    saved = [
        *graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES),
        *graph.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS),
    ]
    return tf.train.Saver(saved, sharded=True, max_to_keep=keep_checkpoint_max) if saved else None


def train(
    graph: Any,
    output_dir: str,
    train_op: Any,
    loss_op: Any,
    global_step_tensor: Any = None,
    init_op: Any = None,
    init_feed_dict: Any = None,
    init_fn: Any = None,
    log_every_steps: int = 10,
    supervisor_is_chief: bool = True,
    supervisor_master: str = "",
    supervisor_save_model_secs: float = 600,
    keep_checkpoint_max: int = 5,
    supervisor_save_summaries_steps: int = 100,
    feed_fn: FeedFn | None = None,
    steps: int | None = None,
    fail_on_nan_loss: bool = True,
    monitors: Any = None,
    max_steps: int | None = None,
) -> Any:
    """Trains a graph from its latest checkpoint on, and returns the last loss.

    Args:
      train_op, loss_op: what each step runs.
      init_op, init_feed_dict, init_fn: how variables begin; see `tf.train.Supervisor`.
      feed_fn: gives what each step is fed; training ends when it raises StopIteration.
      steps: how many steps to make, or
      max_steps: up to which global step to train.
      fail_on_nan_loss: whether a loss that is no number ends training with an error.
      monitors: see `tf.contrib.learn.monitors`; the default ones if there are none.
    """
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    if train_op is None:
        raise ValueError("Missing train_op.")
    if loss_op is None:
        raise ValueError("Missing loss_op.")
    writer = get_summary_writer(output_dir) if supervisor_is_chief else None
    with graph.as_default():
        global_step = assert_or_get_global_step(graph, global_step_tensor)
        if global_step is None:
            raise ValueError('No "global_step" was provided or found in the graph.')
        if max_steps is None and steps:
            max_steps = _saved_step(output_dir, global_step) + steps
        if not monitors:
            monitors = _default_monitors(loss_op, supervisor_save_summaries_steps, writer)
        if not supervisor_is_chief:
            monitors = [monitor for monitor in monitors if monitor.run_on_all_workers]
    while True:
        for monitor in monitors:
            monitor.begin(max_steps=max_steps)
        supervisor = tf.train.Supervisor(
            graph,
            init_op=init_op or tf.train.Supervisor.USE_DEFAULT,
            init_feed_dict=init_feed_dict,
            is_chief=supervisor_is_chief,
            logdir=output_dir,
            saver=_saver_of(graph, keep_checkpoint_max),
            global_step=global_step,
            summary_op=None,
            summary_writer=writer,
            save_model_secs=supervisor_save_model_secs,
            init_fn=init_fn,
        )
        training = _Training(supervisor, global_step, train_op, loss_op, monitors, max_steps)
        try:
            return training.run(
                supervisor_master, feed_fn, log_every_steps, fail_on_nan_loss, supervisor_is_chief
            )
        except tf.errors.AbortedError:
            logging.warning("Training got Aborted error. Keep training.")


def _saved_step(output_dir: str, global_step: Any) -> int:
    try:
        return int(load_variable(output_dir, global_step.op.name))
    except (tf.errors.NotFoundError, ValueError):
        return 0


def _default_monitors(loss_op: Any, save_summary_steps: int, writer: Any) -> list[Any]:
    if writer is None:
        return []
    return monitors_lib.get_default_monitors(
        loss_op=loss_op,
        summary_op=tf.summary.merge_all(),
        save_summary_steps=save_summary_steps,
        summary_writer=writer,
    )


class _Training:
    """The steps of a training, with its monitors."""

    def __init__(
        self,
        supervisor: Any,
        global_step: Any,
        train_op: Any,
        loss_op: Any,
        monitors: list[Any],
        max_steps: int | None,
    ):
        self._supervisor = supervisor
        self._global_step = global_step
        self._train_op = train_op
        self._loss_op = loss_op
        self._monitors = monitors
        self._max_steps = max_steps
        self._loss: Any = None

    def run(
        self,
        master: str,
        feed_fn: FeedFn | None,
        log_every_steps: int,
        fail_on_nan_loss: bool,
        is_chief: bool,
    ) -> Any:
        session = self._supervisor.PrepareSession(master=master, start_standard_services=True)
        self._supervisor.StartQueueRunners(session)
        with session:
            failed = True
            try:
                self._make_steps(session, feed_fn, log_every_steps, fail_on_nan_loss)
                failed = False
            except tf.errors.OutOfRangeError as error:
                failed = False
                logging.warn("Training ends with its input: %s.", error)
            except StopIteration:
                failed = False
                logging.info("The input iterator has ended.")
            finally:
                self._finish(session, is_chief, failed)
        return self._loss

    def _make_steps(
        self, session: Any, feed_fn: FeedFn | None, log_every_steps: int, fail_on_nan_loss: bool
    ) -> None:
        last = logged = session.run(self._global_step)
        while not self._supervisor.ShouldStop() and not self._is_over(last):
            feed = feed_fn() if feed_fn is not None else None
            wants_stop = self._step(session, last + 1, feed)
            if np.isnan(self._loss):
                if fail_on_nan_loss:
                    logging.error("Model diverged with loss = NaN.")
                    raise NanLossDuringTrainingError()
                logging.warning("Model diverged with loss = NaN.")
            if wants_stop:
                break
            now = session.run(self._global_step)
            if now <= last:
                logging.error(
                    "Global step was not incremented by train op at step %s: new step %d", last, now
                )
            last = now
            if self._is_over(last) or last - logged >= log_every_steps:
                logging.info("training step %d, loss = %.5f.", last, self._loss)
                logged = last

    def _is_over(self, step: int) -> bool:
        return self._max_steps is not None and step >= self._max_steps

    def _step(self, session: Any, step: int, feed: Any) -> bool:
        """One step; gives whether a monitor wants to stop."""
        wanted = {self._train_op, self._loss_op}
        for monitor in self._monitors:
            wanted.update(monitor.step_begin(step))
        tensors = list(wanted)
        values = session.run(tensors, feed_dict=feed)
        outputs = {
            tensor.name if isinstance(tensor, tf.Tensor) else tensor: value
            for tensor, value in zip(tensors, values, strict=True)
        }
        self._loss = outputs[self._loss_op.name]
        stops = [monitor.step_end(step, outputs) for monitor in self._monitors]
        return any(stops)

    def _finish(self, session: Any, is_chief: bool, failed: bool) -> None:
        """Saves the last state; an error of that hides none of the training's."""
        try:
            self._supervisor.Stop(close_summary_writer=False)
            last = session.run(self._global_step)
            if is_chief:
                self._supervisor.saver.save(session, self._supervisor.save_path, global_step=last)
                for monitor in self._monitors:
                    monitor.end()
        except tf.errors.OutOfRangeError as error:
            logging.warn("The final checkpoint met the end of the input: %s.", error)
        except Exception as error:
            if not failed:
                raise
            logging.error(
                "After an error in training the last checkpoint could not be written, either: %s.",
                error,
            )


def _from_collection(key: str, make: Callable[[], Any]) -> Any:
    """The first of a collection, or a new one that goes into it."""
    found = tf.get_collection(key)
    if found:
        return found[0]
    made = make()
    if made is not None:
        tf.add_to_collection(key, made)
    return made


def _get_saver() -> Any:
    return _from_collection(
        tf.GraphKeys.SAVERS, lambda: tf.train.Saver() if tf.global_variables() else None
    )


def evaluate(
    graph: Any,
    output_dir: str,
    checkpoint_path: Any,
    eval_dict: dict[str, Any],
    update_op: Any = None,
    global_step_tensor: Any = None,
    supervisor_master: str = "",
    log_every_steps: int = 10,
    feed_fn: FeedFn | None = None,
    max_steps: int | None = None,
) -> tuple[Any, Any]:
    """Evaluates a graph with the variables of a checkpoint.

    Args:
      eval_dict: the tensors to evaluate, by name.
      update_op: what each step runs, if the tensors are to be evaluated at the end only.
      feed_fn: gives what each step is fed; evaluation ends when it raises StopIteration.
      max_steps: how many steps to make; up to the end of the input by default.

    Returns:
      The values by name, and the global step.
    """
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    with graph.as_default():
        global_step = assert_or_get_global_step(graph, global_step_tensor)
        saver = _get_saver()
        session, initialized = _session_manager().recover_session(
            master=supervisor_master, saver=saver, checkpoint_dir=checkpoint_path
        )
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
    with session:
        if not initialized:
            logging.warning("Failed to initialize from %s.", checkpoint_path)
            with graph.as_default():
                session.run(tf.global_variables_initializer())
            if checkpoint_path:
                saver.restore(session, checkpoint_path)
        step = session.run(global_step)
        try:
            results = _evaluated(session, eval_dict, update_op, feed_fn, max_steps, log_every_steps)
        finally:
            session.close()
            coordinator.request_stop()
            try:
                coordinator.join(threads, stop_grace_period_secs=_GRACE_SECS)
            except (RuntimeError, tf.errors.CancelledError) as error:
                logging.warning("Coordinator didn't stop cleanly: %s", error)
    _write_summary(output_dir, results, step)
    return results, step


def _session_manager() -> Any:
    ready_for_local = tf.get_collection(tf.GraphKeys.READY_FOR_LOCAL_INIT_OP)
    return tf.train.SessionManager(
        local_init_op=_from_collection(
            tf.GraphKeys.LOCAL_INIT_OP,
            lambda: tf.group(tf.local_variables_initializer(), tf.tables_initializer()),
        ),
        ready_op=_from_collection(tf.GraphKeys.READY_OP, tf.report_uninitialized_variables),
        ready_for_local_init_op=ready_for_local[0] if ready_for_local else None,
    )


def _evaluated(
    session: Any,
    eval_dict: dict[str, Any],
    update_op: Any,
    feed_fn: FeedFn | None,
    max_steps: int | None,
    log_every_steps: int,
) -> Any:
    results = feed = None
    evaluated_at, step = None, 0
    try:
        while max_steps is None or step < max_steps:
            step += 1
            feed = feed_fn() if feed_fn is not None else None
            if update_op is not None:
                session.run(update_op, feed_dict=feed)
            else:
                results, evaluated_at = session.run(eval_dict, feed_dict=feed), step
            if step % log_every_steps == 0:
                if evaluated_at != step:
                    results, evaluated_at = session.run(eval_dict, feed_dict=feed), step
                logging.info("Results after %d steps: %s.", step, _as_text(results))
    except (tf.errors.OutOfRangeError, StopIteration) as error:
        log = logging.info if max_steps is None else logging.warn
        log("The input has ended: %s", error)
    if results is None or evaluated_at != step:
        try:
            results = session.run(eval_dict, feed_dict=feed)
        except (tf.errors.OutOfRangeError, StopIteration) as error:
            logging.info("The input has ended: %s", error)
    return results


def _as_text(results: Any) -> str:
    return ", ".join(f"{key} = {value!s}" for key, value in sorted(results.items()))


def _write_summary(output_dir: str, results: Any, step: Any) -> None:
    logging.info("Saving evaluation summary for step %d: %s", step, _as_text(results))
    summary = tf.Summary()
    for key, result in results.items():
        if result is None:
            continue
        value = summary.value.add(tag=key)
        if isinstance(result, np.float32 | float):
            value.simple_value = float(result)
        else:
            logging.warn("Skipping summary for %s, must be a float or np.float32.", key)
    writer = get_summary_writer(output_dir)
    writer.add_summary(summary, step)
    writer.flush()


def run_n(
    output_dict: dict[str, Any],
    feed_dict: Any = None,
    restore_checkpoint_path: Any = None,
    n: int = 1,
) -> list[Any]:
    """The values of tensors in n steps that are fed the same."""
    return run_feeds(output_dict, itertools.repeat(feed_dict, n), restore_checkpoint_path)


def run_feeds_iter(
    output_dict: dict[str, Any], feed_dicts: Iterable[Any], restore_checkpoint_path: Any = None
) -> Iterator[Any]:
    """The values of tensors, for one feed after another.

    Args:
      restore_checkpoint_path: the checkpoint of variables; they are initialized without one.
    """
    if not output_dict:
        raise ValueError(f"output_dict is invalid: {output_dict}.")
    if not feed_dicts:
        raise ValueError(f"feed_dicts is invalid: {feed_dicts}.")
    graph = get_graph_from_inputs(list(output_dict.values()))
    with graph.as_default(), tf.Session("") as session:
        session.run(initialize_resources(shared_resources() + local_resources()))
        if restore_checkpoint_path:
            saver = _saver_of(graph)
            if saver:
                saver.restore(session, restore_checkpoint_path)
        else:
            session.run(tf.global_variables_initializer())
        session.run(tf.local_variables_initializer())
        session.run(tf.tables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord=coordinator)
        try:
            for feed in feed_dicts:
                yield session.run(output_dict, feed)
        finally:
            coordinator.request_stop()
            if threads:
                coordinator.join(threads, stop_grace_period_secs=_GRACE_SECS)


def run_feeds(*args: Any, **kwargs: Any) -> list[Any]:
    """As `run_feeds_iter`, in a list."""
    return list(run_feeds_iter(*args, **kwargs))


def infer(restore_checkpoint_path: Any, output_dict: dict[str, Any], feed_dict: Any = None) -> Any:
    """The values of tensors with the variables of a checkpoint."""
    return run_feeds(output_dict, [feed_dict], restore_checkpoint_path)[0]
