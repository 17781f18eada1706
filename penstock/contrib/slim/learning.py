"""Training: an operation that trains, and a loop that runs it."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import penstock as tf
from penstock import gfile, logging
from penstock.contrib import training

# Modules that programs reach through this one, as in TensorFlow.
from penstock.train import saver as tf_saver
from penstock.train import supervisor

__all__ = [
    "add_gradients_summaries",
    "clip_gradient_norms",
    "create_train_op",
    "multiply_gradients",
    "supervisor",
    "tf_saver",
    "train",
    "train_step",
]

GradientsAndVariables = list[tuple[Any, Any]]

#: Stands for the global step of the graph, and for what `train` makes itself.
_USE_GLOBAL_STEP = 0
_USE_DEFAULT = 0


def _is_default(value: Any) -> bool:
    # A tensor can't be compared with a number to see whether it is the default.
    return isinstance(value, int) and value == _USE_DEFAULT


def _on_values(function: Callable[[Any], Any], gradient: Any) -> Any:
    """A function of a gradient's values, whether it is dense or sparse."""
    if isinstance(gradient, tf.IndexedSlices):
        values = function(gradient.values)
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return function(gradient)


def clip_gradient_norms(gradients_to_variables: Any, max_norm: float) -> GradientsAndVariables:
    """Scales down each gradient whose norm is above a maximum."""
    return [
        (
            None
            if gradient is None
            else _on_values(lambda values: tf.clip_by_norm(values, max_norm), gradient),
            variable,
        )
        for gradient, variable in gradients_to_variables
    ]


def multiply_gradients(
    grads_and_vars: GradientsAndVariables, gradient_multipliers: dict[Any, Any]
) -> GradientsAndVariables:
    """Multiplies the gradients of some variables.

    Args:
      gradient_multipliers: factors by variable or by the name of its operation.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    multiplied: GradientsAndVariables = []
    for gradient, variable in grads_and_vars:
        key = variable if variable in gradient_multipliers else variable.op.name
        if key in gradient_multipliers:
            if gradient is None:
                raise ValueError("Requested multiple of `None` gradient.")
            factor = gradient_multipliers[key]
            if not isinstance(factor, tf.Tensor):
                factor = tf.constant(factor, dtype=gradient.dtype)
            gradient = _on_values(functools.partial(tf.multiply, factor), gradient)
        multiplied.append((gradient, variable))
    return multiplied


def add_gradients_summaries(grads_and_vars: GradientsAndVariables) -> list[Any]:
    """A histogram of each gradient and a scalar of its norm."""
    made: list[Any] = []
    for gradient, variable in grads_and_vars:
        name = variable.op.name
        if gradient is None:
            logging.info("Var %s has no gradient", name)
            continue
        values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
        made.append(tf.summary.histogram(f"{name}/gradient", values))
        made.append(tf.summary.scalar(f"{name}/gradient_norm", tf.global_norm([values])))
    return made


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = _USE_GLOBAL_STEP,
    update_ops: Any = None,
    variables_to_train: Any = None,
    clip_gradient_norm: float = 0,
    summarize_gradients: bool = False,
    gate_gradients: int = tf.train.Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    gradient_multipliers: dict[Any, Any] | None = None,
    check_numerics: bool = True,
) -> Any:
    """The loss, as a tensor whose evaluation runs the updates and trains.

    Args:
      global_step: counts the steps; None counts nothing; by default the graph's, made if need be.
      update_ops: run before the loss; by default those of the collection `UPDATE_OPS`.
      clip_gradient_norm: greatest norm of each gradient, if above zero.
      gradient_multipliers: factors by variable or by the name of its operation.
      check_numerics: whether a loss that is no finite number is an error.
    """

    def transform(gradients: GradientsAndVariables) -> GradientsAndVariables:
        if gradient_multipliers:
            with tf.name_scope("multiply_grads"):
                gradients = multiply_gradients(gradients, gradient_multipliers)
        if clip_gradient_norm > 0:
            with tf.name_scope("clip_grads"):
                gradients = clip_gradient_norms(gradients, clip_gradient_norm)
        return gradients

    step = {} if _is_default(global_step) else {"global_step": global_step}
    return training.create_train_op(
        total_loss=total_loss,
        optimizer=optimizer,
        update_ops=update_ops,
        variables_to_train=variables_to_train,
        transform_grads_fn=transform,
        summarize_gradients=summarize_gradients,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        check_numerics=check_numerics,
        **step,
    )


def train_step(
    sess: Any, train_op: Any, global_step: Any, train_step_kwargs: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Runs one step of training; gives the loss and whether to stop.

    Args:
      train_step_kwargs: tensors `should_stop`, `should_log` and `should_trace`, `logdir` and a
        `summary_writer` for traces; all are optional.
    """
    start = time.time()
    options, metadata = _tracing(sess, train_step_kwargs)
    total_loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    elapsed = time.time() - start
    if metadata is not None:
        _write_trace(metadata, step, train_step_kwargs)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, total_loss, elapsed)
    if "should_stop" not in train_step_kwargs:
        return total_loss, False
    return total_loss, sess.run(train_step_kwargs["should_stop"])


def _tracing(sess: Any, settings: Mapping[str, Any]) -> tuple[Any, Any]:
    """The options and the message for a traced step, or None twice."""
    if "should_trace" not in settings:
        return None, None
    if "logdir" not in settings:
        raise ValueError("logdir must be present in train_step_kwargs when should_trace is present")
    if not sess.run(settings["should_trace"]):
        return None, None
    return tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()


def _write_trace(metadata: Any, step: int, settings: Mapping[str, Any]) -> None:
    from penstock.tracing.timeline import Timeline

    path = os.path.join(settings["logdir"], f"tf_trace-{step}.json")
    logging.info("Writing trace to %s", path)
    with gfile.GFile(path, "w") as file:
        file.write(Timeline(metadata.step_stats).generate_chrome_trace_format())
    if "summary_writer" in settings:
        settings["summary_writer"].add_run_metadata(metadata, f"run_metadata-{step}")


def train(
    train_op: Any,
    logdir: Any,
    train_step_fn: Callable[..., tuple[Any, Any]] = train_step,
    train_step_kwargs: Any = _USE_DEFAULT,
    log_every_n_steps: int = 1,
    graph: Any = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
    number_of_steps: int | None = None,
    init_op: Any = _USE_DEFAULT,
    init_feed_dict: Any = None,
    local_init_op: Any = _USE_DEFAULT,
    init_fn: Callable[[Any], Any] | None = None,
    ready_op: Any = _USE_DEFAULT,
    summary_op: Any = _USE_DEFAULT,
    save_summaries_secs: float = 600,
    summary_writer: Any = _USE_DEFAULT,
    startup_delay_steps: int = 0,
    saver: Any = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    session_wrapper: Callable[[Any], Any] | None = None,
    trace_every_n_steps: int | None = None,
    ignore_live_threads: bool = False,
) -> Any:
    """Runs a training operation until it is to stop; gives the last loss.

    Args:
      logdir: for checkpoints and summaries; None writes none.
      train_step_fn: called for each step, with session, operation, step and `train_step_kwargs`;
        gives the loss and whether to stop.
      number_of_steps: the step to stop at; None trains until the input ends.
      init_fn: called with the session after the initialization, for example to restore.
      startup_delay_steps: the step that other workers than the chief wait for.
      sync_optimizer: `SyncReplicasOptimizer` or a list of them.
      session_wrapper: makes the session to use of the session.
    """
    _check_arguments(train_op, logdir, summary_op, saver, trace_every_n_steps, number_of_steps)
    optimizers = _sync_optimizers(sync_optimizer, startup_delay_steps)
    graph = graph or tf.get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = tf.train.get_or_create_global_step()
        saver = saver or tf.train.Saver()
        operations = _init_operations(init_op, ready_op, local_init_op, optimizers, is_chief)
        if _is_default(summary_op):
            summary_op = tf.summary.merge_all()
        if _is_default(summary_writer):
            summary_writer = tf.train.Supervisor.USE_DEFAULT
        chief_work = _chief_work(optimizers) if is_chief else None
        if _is_default(train_step_kwargs):
            traced = trace_every_n_steps if is_chief else None
            train_step_kwargs = _step_settings(
                global_step, number_of_steps, log_every_n_steps, traced, logdir
            )
    supervisor = tf.train.Supervisor(
        graph=graph,
        is_chief=is_chief,
        logdir=logdir,
        init_feed_dict=init_feed_dict,
        summary_op=summary_op,
        summary_writer=summary_writer,
        global_step=global_step,
        saver=saver,
        save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs,
        init_fn=init_fn,
        **operations,
    )
    if summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer

    def prepared(session: Any) -> tuple[Any, Any]:
        """The session to use, with all its threads started."""
        logging.info("Starting Session.")
        if session_wrapper is not None:
            logging.info("Wrapping session with wrapper function: %s", session_wrapper)
            session = session_wrapper(session)
        if is_chief:
            if logdir:
                supervisor.start_standard_services(session)
        elif startup_delay_steps > 0:
            limit = min(startup_delay_steps, number_of_steps or sys.maxsize)
            _wait_for_step(session, global_step, limit)
        threads = supervisor.start_queue_runners(session)
        logging.info("Starting Queues.")
        if chief_work is not None:
            runners, tokens = chief_work
            supervisor.start_queue_runners(session, runners)
            session.run(tokens)
        return session, threads

    total_loss = None
    while True:
        try:
            with supervisor.managed_session(
                master, start_standard_services=False, config=session_config
            ) as session:
                session, threads = prepared(session)
                try:
                    while not supervisor.should_stop():
                        total_loss, should_stop = train_step_fn(
                            session, train_op, global_step, train_step_kwargs
                        )
                        if should_stop:
                            logging.info("Stopping Training.")
                            supervisor.request_stop()
                            break
                except tf.errors.OutOfRangeError as error:
                    logging.info("Caught OutOfRangeError. Stopping Training. %s", error)
                if logdir and supervisor.is_chief:
                    logging.info("Finished training! Saving model to disk.")
                    supervisor.saver.save(
                        session, supervisor.save_path, global_step=supervisor.global_step
                    )
                    supervisor.stop(
                        threads,
                        close_summary_writer=True,
                        ignore_live_threads=ignore_live_threads,
                    )
            return total_loss
        except tf.errors.AbortedError:
            # A task of the cluster was restarted: begin again from the last checkpoint.
            logging.info("Retrying training!")


def _check_arguments(
    train_op: Any,
    logdir: Any,
    summary_op: Any,
    saver: Any,
    trace_every_n_steps: int | None,
    number_of_steps: int | None,
) -> None:
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        needs_logdir = {
            "summary_op": not _is_default(summary_op),
            "saver": saver is not None,
            "trace_every_n_steps": trace_every_n_steps is not None,
        }
        for name, is_given in needs_logdir.items():
            if is_given:
                raise ValueError(f"Cannot provide {name} because logdir=None")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")


def _sync_optimizers(given: Any, startup_delay_steps: int) -> list[Any] | None:
    if given is None:
        return None
    if startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    optimizers = list(given) if isinstance(given, (list, tuple)) else [given]
    for each in optimizers:
        if not isinstance(each, tf.train.SyncReplicasOptimizer):
            raise ValueError("`sync_optimizer` must be a tf.train.SyncReplicasOptimizer.")
    return optimizers


def _init_operations(
    init_op: Any, ready_op: Any, local_init_op: Any, optimizers: list[Any] | None, is_chief: bool
) -> dict[str, Any]:
    """The operations by which the supervisor initializes, by its argument names."""
    with tf.name_scope("init_ops"):
        if _is_default(init_op):
            init_op = tf.global_variables_initializer()
        if _is_default(ready_op):
            ready_op = tf.report_uninitialized_variables()
        if _is_default(local_init_op):
            local_init_op = tf.group(tf.local_variables_initializer(), tf.tables_initializer())
        ready_for_local_init_op = None
        if optimizers is not None:
            with tf.control_dependencies([] if local_init_op is None else [local_init_op]):
                local_init_op = tf.group(
                    *(
                        each.chief_init_op if is_chief else each.local_step_init_op
                        for each in optimizers
                    )
                )
            ready_for_local_init_op = tf.group(
                *(each.ready_for_local_init_op for each in optimizers)
            )
    return {
        "init_op": init_op,
        "ready_op": ready_op,
        "local_init_op": local_init_op,
        "ready_for_local_init_op": ready_for_local_init_op,
    }


def _chief_work(optimizers: list[Any] | None) -> tuple[list[Any], list[Any]] | None:
    """The queue runners and the first tokens of synchronous training."""
    if optimizers is None:
        return None
    tokens = [each.get_init_tokens_op() for each in optimizers]
    return [each.get_chief_queue_runner() for each in optimizers], tokens


def _step_settings(
    global_step: Any,
    number_of_steps: int | None,
    log_every_n_steps: int,
    trace_every_n_steps: int | None,
    logdir: Any,
) -> dict[str, Any]:
    with tf.name_scope("train_step"):
        settings: dict[str, Any] = {
            "should_stop": tf.greater_equal(global_step, number_of_steps)
            if number_of_steps
            else tf.constant(False)
        }
        if log_every_n_steps > 0:
            settings["should_log"] = tf.equal(tf.mod(global_step, log_every_n_steps), 0)
        if trace_every_n_steps is not None:
            settings["should_trace"] = tf.equal(tf.mod(global_step, trace_every_n_steps), 0)
            settings["logdir"] = logdir
        return settings


def _wait_for_step(sess: Any, global_step: Any, step: int) -> None:
    while tf.train.global_step(sess, global_step) < step:
        time.sleep(1.0)
