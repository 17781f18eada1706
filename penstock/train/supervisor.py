"""`tf.train.Supervisor`: sessions for training with checkpoints and summaries in threads."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from penstock import dtypes, proto, summary
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.graph import Graph
from penstock.ops.control import group
from penstock.ops.lookup_tables import tables_initializer
from penstock.ops.variable_collections import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from penstock.platform import logging
from penstock.train.coordinator import Coordinator, LooperThread
from penstock.train.global_step import global_step as value_of_step
from penstock.train.graph_files import write_graph
from penstock.train.meta_graph import create_meta_graph_def
from penstock.train.saver import Saver
from penstock.train.session_manager import SessionManager

__all__ = ["SVStepCounterThread", "SVSummaryThread", "SVTimerCheckpointThread", "Supervisor"]

_STEP_RATE_LINES = 10


def _first_of(key: str) -> Any:
    """The first member of a collection of the default graph, or None."""
    members = get_default_graph().get_collection(key)
    if len(members) > 1:
        logging.info("Found %d %s operations. Returning the first one.", len(members), key)
    return members[0] if members else None


def _first_or_made(key: str, make: Callable[[], Any]) -> Any:
    """The first member of a collection; where there is none, one is made and added."""
    found = _first_of(key)
    if found is None:
        found = make()
        if found is not None:
            get_default_graph().add_to_collection(key, found)
    return found


def _default_local_init_op() -> Any:
    return group(local_variables_initializer(), tables_initializer())


def _default_saver() -> Saver | None:
    return Saver() if global_variables() else None


def _default_global_step() -> Any:
    try:
        step = get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    if step.dtype.base_dtype in (dtypes.int32, dtypes.int64):
        return step
    logging.warning("Found 'global_step' is not an int type: %s", step.dtype)
    return None


class Supervisor:
    """Makes sessions for training, saves checkpoints and summaries in threads, and stops them.

    >>> sv = tf.train.Supervisor(logdir="/tmp/train")
    >>> with sv.managed_session() as sess:
    ...     while not sv.should_stop():
    ...         sess.run(train_op)

    `tf.train.MonitoredTrainingSession` is its successor. Operations that are not given are taken
    from the graph's collections, or made; None is none at all. The graph is finalized.

    Args:
      graph: the graph; the default one if None.
      ready_op: a vector of the names of uninitialized variables.
      ready_for_local_init_op: the same for what `local_init_op` needs.
      is_chief: whether this task initializes and saves the model; the others wait for it.
      init_op: initializes the model; fed with `init_feed_dict`.
      local_init_op: run in every session.
      logdir: where checkpoints and summaries go.
      summary_op: what is written every `save_summaries_secs` seconds.
      saver: what saves the model every `save_model_secs` seconds.
      global_step: the tensor of the step.
      recovery_wait_secs: the pause between looks at whether the model is ready.
      stop_grace_secs: how long threads may take to end.
      checkpoint_basename: the name of checkpoints.
      session_manager: makes the sessions.
      summary_writer: writes the summaries.
      init_fn: called with the session after `init_op`.
      local_init_run_options: `RunOptions` for `local_init_op`.
    """

    USE_DEFAULT = 0

    def __init__(
        self,
        graph: Graph | None = None,
        ready_op: Any = USE_DEFAULT,
        ready_for_local_init_op: Any = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Any = USE_DEFAULT,
        init_feed_dict: Any = None,
        local_init_op: Any = USE_DEFAULT,
        logdir: str | None = None,
        summary_op: Any = USE_DEFAULT,
        saver: Any = USE_DEFAULT,
        global_step: Any = USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: Any = None,
        summary_writer: Any = USE_DEFAULT,
        init_fn: Callable[[Any], Any] | None = None,
        local_init_run_options: Any = None,
    ):
        if executing_eagerly():
            raise RuntimeError("Supervisors are not compatible with eager execution.")
        self._graph = get_default_graph() if graph is None else graph

        def part(given: Any, key: str, make: Callable[[], Any]) -> Any:
            return _first_or_made(key, make) if given is Supervisor.USE_DEFAULT else given

        keys = GraphKeys
        with self._graph.as_default():
            self._ready_op = part(ready_op, keys.READY_OP, report_uninitialized_variables)
            self._ready_for_local_init_op = ready_for_local_init_op
            if ready_for_local_init_op is Supervisor.USE_DEFAULT:
                self._ready_for_local_init_op = _first_of(keys.READY_FOR_LOCAL_INIT_OP)
            self._init_op = part(init_op, keys.INIT_OP, global_variables_initializer)
            self._init_feed_dict = init_feed_dict
            self._local_init_op = part(local_init_op, keys.LOCAL_INIT_OP, _default_local_init_op)
            self._saver = part(saver, keys.SAVERS, _default_saver)
            self._summary_op = part(summary_op, keys.SUMMARY_OP, summary.merge_all)
            self._global_step = part(global_step, keys.GLOBAL_STEP, _default_global_step)
        self._meta_graph_def = create_meta_graph_def(
            graph_def=self._graph.as_graph_def(add_shapes=True),
            saver_def=self._saver.saver_def if self._saver else None,
        )
        self._is_chief = is_chief
        self._coord = Coordinator()
        self._stop_grace_secs = stop_grace_secs
        self._init_fn = init_fn
        # Only the chief writes files.
        self._logdir = logdir if is_chief else None
        self._save_summaries_secs = save_summaries_secs if is_chief else None
        self._save_model_secs = save_model_secs if is_chief else None
        self._save_path: str | None = None
        if self._logdir:
            self._save_path = os.path.join(self._logdir, checkpoint_basename)
        self._summary_writer: Any = None
        if is_chief and summary_writer is not Supervisor.USE_DEFAULT:
            self._summary_writer = summary_writer
        elif self._logdir:
            self._summary_writer = summary.FileWriter(self._logdir)
        self._graph_added_to_summary = False
        self._session_manager = session_manager
        if session_manager is None:
            self._session_manager = SessionManager(
                local_init_op=self._local_init_op,
                ready_op=self._ready_op,
                ready_for_local_init_op=self._ready_for_local_init_op,
                graph=self._graph,
                recovery_wait_secs=recovery_wait_secs,
                local_init_run_options=local_init_run_options,
            )
        self._verify_setup()
        self._graph.finalize()

    def _verify_setup(self) -> None:
        if self._is_chief:
            return
        for op in self._graph.get_operations():
            if op.type in ("Variable", "VariableV2") and not op.device:
                raise ValueError(
                    f"When using replicas, all Variables must have their device set: {op}"
                )

    # The parts --------------------------------------------------------------------------------

    @property
    def is_chief(self) -> bool:
        return self._is_chief

    @property
    def session_manager(self) -> Any:
        return self._session_manager

    @property
    def coord(self) -> Coordinator:
        return self._coord

    @property
    def init_op(self) -> Any:
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        return self._ready_for_local_init_op

    @property
    def summary_writer(self) -> Any:
        return self._summary_writer

    @property
    def summary_op(self) -> Any:
        return self._summary_op

    @property
    def save_summaries_secs(self) -> float | None:
        return self._save_summaries_secs

    @property
    def global_step(self) -> Any:
        return self._global_step

    @property
    def saver(self) -> Any:
        return self._saver

    @property
    def save_model_secs(self) -> float | None:
        return self._save_model_secs

    @property
    def save_path(self) -> str | None:
        return self._save_path

    # Starting ---------------------------------------------------------------------------------

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Any:
        """A session with the model ready; the chief makes it so, the others wait for that.

        Args:
          master: the target of the session.
          config: its `ConfigProto`.
          wait_for_checkpoint: whether the chief waits for a checkpoint to restore.
          max_wait_secs: how long to wait.
          start_standard_services: whether to start the threads that save, and queue runners.
        """
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            sess = self._session_manager.prepare_session(
                master,
                init_op=self.init_op,
                saver=self.saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self._init_feed_dict,
                init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                logging.info("Starting standard services.")
                self.start_standard_services(sess)
        else:
            sess = self._session_manager.wait_for_session(
                master, config=config, max_wait_secs=max_wait_secs
            )
        if start_standard_services:
            logging.info("Starting queue runners.")
            self.start_queue_runners(sess)
        return sess

    def _write_graph(self) -> None:
        if self._logdir:
            graph_def = self._graph.as_graph_def(add_shapes=True)
            write_graph(graph_def, self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            self._summary_writer.add_graph(self._graph)
            self._summary_writer.add_meta_graph(self._meta_graph_def)
            self._graph_added_to_summary = True

    def start_standard_services(self, sess: Any) -> list[LooperThread] | None:
        """Starts the threads that write summaries, count steps and save checkpoints."""
        if not self._is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief "
                "supervisors can write events."
            )
        if not self._logdir:
            logging.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        if self._global_step is not None and self._summary_writer:
            self._summary_writer.add_session_log(
                proto.SessionLog(status=proto.SessionLog.START),
                value_of_step(sess, self._global_step),
            )
        threads: list[LooperThread] = []
        if self._save_summaries_secs and self._summary_writer:
            if self._summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if self._global_step is not None:
                threads.append(SVStepCounterThread(self, sess))
        if self._saver and self._save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def start_queue_runners(
        self, sess: Any, queue_runners: Iterable[Any] | None = None
    ) -> list[Any]:
        """Starts the threads of queue runners, by default all of the graph, and returns them."""
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        threads: list[Any] = []
        for runner in queue_runners:
            threads += runner.create_threads(sess, coord=self._coord, daemon=True, start=True)
        return threads

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """Starts a thread that calls `target` every so many seconds until the stop."""
        return LooperThread.loop(self._coord, timer_interval_secs, target, args, kwargs)

    # Stopping ---------------------------------------------------------------------------------

    def stop(
        self,
        threads: Iterable[Any] | None = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """Stops the threads and waits for them; raises the error of the one that failed."""
        self._coord.request_stop()
        try:
            self._coord.join(
                threads,
                stop_grace_period_secs=self._stop_grace_secs,
                ignore_live_threads=ignore_live_threads,
            )
        finally:
            if close_summary_writer and self._summary_writer:
                stopped = proto.SessionLog(status=proto.SessionLog.STOP)
                self._summary_writer.add_session_log(stopped)
                self._summary_writer.close()
                self._graph_added_to_summary = False

    def request_stop(self, ex: Any = None) -> None:
        """Asks the threads to stop; `ex` is raised by `stop`."""
        self._coord.request_stop(ex=ex)

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> AbstractContextManager[None]:
        """A context that turns an exception into a request to stop."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Waits until a stop is requested."""
        self._coord.wait_for_stop()

    def summary_computed(self, sess: Any, summary: Any, global_step: Any = None) -> None:
        """Writes a summary at a step, the current one if None."""
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self._global_step is not None:
            global_step = value_of_step(sess, self._global_step)
        self._summary_writer.add_summary(summary, global_step)

    @contextlib.contextmanager
    def managed_session(
        self,
        master: str = "",
        config: Any = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Any]:
        """A context with a session that is ready; at its end all threads are stopped.

        An error inside, other than the end of the input, is raised when the threads have ended.
        """
        sess: Any = None
        try:
            sess = self.prepare_or_wait_for_session(
                master=master, config=config, start_standard_services=start_standard_services
            )
            yield sess
        except Exception as error:
            self.request_stop(error)
        except BaseException:
            # Ctrl-C: threads that wait in steps, for other workers say, are not waited for.
            self.request_stop()
            with contextlib.suppress(Exception):
                if sess is not None:
                    sess.close()
            raise
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                # What `stop` raises is the cause of any trouble that closing meets.
                with contextlib.suppress(Exception):
                    if sess is not None:
                        sess.close()

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


class SVSummaryThread(LooperThread):
    """Writes the summaries of a supervisor."""

    def __init__(self, sv: Supervisor, sess: Any):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        global_step = None
        if self._sv.global_step is not None:
            values, global_step = self._sess.run([self._sv.summary_op, self._sv.global_step])
        else:
            values = self._sess.run(self._sv.summary_op)
        if self._sv.summary_writer:
            logging.info("Recording summary at step %s.", global_step)
            self._sv.summary_writer.add_summary(values, global_step)


class SVStepCounterThread(LooperThread):
    """Writes the steps per second of a supervisor."""

    def __init__(self, sv: Supervisor, sess: Any, step_counter: Any = None):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess
        self._last_time = 0.0
        self._last_step = 0
        self._step_counter = sv.global_step if step_counter is None else step_counter
        self._summary_tag = f"{self._step_counter.op.name}/sec"

    def start_loop(self) -> None:
        self._last_time = time.time()
        self._last_step = value_of_step(self._sess, self._step_counter)

    def run_loop(self) -> None:
        step, now = value_of_step(self._sess, self._step_counter), time.time()
        steps, seconds = step - self._last_step, now - self._last_time
        self._last_step, self._last_time = step, now
        rate = steps / seconds if seconds > 0 else float("inf")
        value = proto.Summary.Value(tag=self._summary_tag, simple_value=rate)
        if self._sv.summary_writer:
            self._sv.summary_writer.add_summary(proto.Summary(value=[value]), step)
        logging.log_first_n(logging.INFO, "%s: %g", _STEP_RATE_LINES, self._summary_tag, rate)


class SVTimerCheckpointThread(LooperThread):
    """Saves the checkpoints of a supervisor."""

    def __init__(self, sv: Supervisor, sess: Any):
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        sv = self._sv
        logging.info("Saving checkpoint to path %s", sv.save_path)
        sv.saver.save(self._sess, sv.save_path, global_step=sv.global_step)
        if sv.summary_writer and sv.global_step is not None:
            log = proto.SessionLog(status=proto.SessionLog.CHECKPOINT, checkpoint_path=sv.save_path)
            sv.summary_writer.add_session_log(log, value_of_step(self._sess, sv.global_step))
