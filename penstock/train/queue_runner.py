"""`tf.train.QueueRunner`: threads that keep a queue filled."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any

from penstock import errors, proto
from penstock.client.session import BaseSession
from penstock.ir.collection_protos import register_proto_function
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import executing_eagerly, get_default_graph, get_default_session
from penstock.ir.naming import within_scope, without_scope
from penstock.platform import logging
from penstock.state.turns import ShortSteps
from penstock.train.coordinator import Coordinator

__all__ = ["QueueRunner", "add_queue_runner", "start_queue_runners"]

NO_QUEUES = (
    "Input pipelines based on Queues are not supported when eager execution is enabled. Please use "
    "tf.data to ingest data into your model instead."
)


class QueueRunner:
    """The enqueue operations of a queue, each run again and again in a thread of its own.

    When the last of them has come to the end of its input, the queue is closed.

    Args:
      queue: a queue.
      enqueue_ops: operations that add to it; one thread for each.
      close_op: what is run at the end of the input; `queue.close()` if None.
      cancel_op: what is run when the coordinator stops; if None, the queue is closed and its
        pending enqueues are cancelled.
      queue_closed_exception_types: errors that mean the end of the input; if None,
        `OutOfRangeError`.
      queue_runner_def: a `QueueRunnerDef` message instead of all of these.
      import_scope: the name scope that the message's nodes were imported into.
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Any = None,
        cancel_op: Any = None,
        queue_closed_exception_types: tuple[type[errors.OpError], ...] | None = None,
        queue_runner_def: Any = None,
        import_scope: str | None = None,
    ):
        if executing_eagerly():
            raise RuntimeError(
                "QueueRunners are not supported when eager execution is enabled. Instead, please "
                "use tf.data to get data into your model."
            )
        self._lock = threading.Lock()
        self._steps = ShortSteps()
        self._runs_per_session: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._exceptions_raised: list[BaseException] = []
        if queue_runner_def is not None:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._read(queue_runner_def, import_scope)
            return
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        _check_types(queue_closed_exception_types)
        self._queue = queue
        self._enqueue_ops = enqueue_ops
        self._close_op = queue.close() if close_op is None else close_op
        if cancel_op is None:
            cancel_op = queue.close(cancel_pending_enqueues=True)
        self._cancel_op = cancel_op
        self._queue_closed_exception_types = queue_closed_exception_types or (
            errors.OutOfRangeError,
        )

    def _read(self, message: Any, import_scope: str | None) -> None:
        assert isinstance(message, proto.QueueRunnerDef)
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(within_scope(name, import_scope))

        self._queue = element(message.queue_name)
        self._enqueue_ops = [element(name) for name in message.enqueue_op_name]
        self._close_op = element(message.close_op_name)
        self._cancel_op = element(message.cancel_op_name)
        codes = message.queue_closed_exception_types
        types = tuple(errors.exception_type_from_error_code(code) for code in codes)
        self._queue_closed_exception_types = types or (errors.OutOfRangeError,)

    @property
    def queue(self) -> Any:
        """The queue; its node where the runner was read from a message."""
        return self._queue

    @property
    def enqueue_ops(self) -> Sequence[Any]:
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[type[errors.OpError], ...]:
        return self._queue_closed_exception_types

    @property
    def exceptions_raised(self) -> list[BaseException]:
        """What threads without a coordinator failed with."""
        return self._exceptions_raised

    @property
    def name(self) -> str:
        """The name of the queue's node."""
        return str(self._queue.name)

    @property
    def was_started(self) -> bool:
        """Whether threads have been made for any session that still exists."""
        return bool(self._runs_per_session)

    def create_threads(
        self, sess: Any, coord: Coordinator | None = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """Makes the threads for a session; none where those of an earlier call still run.

        Args:
          sess: the session to run the enqueue operations in.
          coord: who tells the threads to stop, and is told of their errors.
          daemon: whether the program may end while the threads still run.
          start: whether to start the threads too.
        """
        with self._lock:
            if self._runs_per_session.get(sess, 0) > 0:
                return []
            self._runs_per_session[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        threads = [
            threading.Thread(
                target=self._run,
                args=(sess, op, coord),
                name=f"QueueRunnerThread-{self.name}-{op.name}",
            )
            for op in self._enqueue_ops
        ]
        if coord is not None:
            threads.append(
                threading.Thread(
                    target=self._close_on_stop,
                    args=(sess, self._cancel_op, coord),
                    name=f"QueueRunnerThread-{self.name}-close_on_stop",
                )
            )
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            if daemon:
                thread.daemon = True
            if start:
                thread.start()
        return threads

    def _run(self, sess: Any, enqueue_op: Any, coord: Coordinator | None = None) -> None:
        """The body of a thread: enqueues until the input ends, an error, or a stop."""
        ended = False
        try:
            enqueue = sess.make_callable(enqueue_op)

            def goes_on() -> bool:
                return not (coord and coord.should_stop())

            while goes_on():
                try:
                    if _runs_here(sess):
                        self._steps.run(enqueue, goes_on)
                    else:
                        enqueue()
                except self._queue_closed_exception_types:
                    ended = True
                    return
        except Exception as error:
            if coord is not None:
                coord.request_stop(error)
                return
            logging.error("Exception in QueueRunner: %s", error)
            with self._lock:
                self._exceptions_raised.append(error)
            raise
        finally:
            self._leave(sess, close=ended)

    def _leave(self, sess: Any, *, close: bool) -> None:
        """Counts a thread that ends; the last one to come to the input's end closes the queue."""
        with self._lock:
            self._runs_per_session[sess] -= 1
            if close and self._runs_per_session[sess] == 0:
                _run_ignoring_errors(sess, self._close_op)

    def _close_on_stop(self, sess: Any, cancel_op: Any, coord: Coordinator) -> None:
        coord.wait_for_stop()
        _run_ignoring_errors(sess, cancel_op)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The runner as a `QueueRunnerDef`; None where its queue is outside of `export_scope`."""
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        message = proto.QueueRunnerDef()
        message.queue_name = without_scope(self.name, export_scope)
        message.enqueue_op_name.extend(
            without_scope(op.name, export_scope) for op in self._enqueue_ops
        )
        message.close_op_name = without_scope(self._close_op.name, export_scope)
        message.cancel_op_name = without_scope(self._cancel_op.name, export_scope)
        message.queue_closed_exception_types.extend(
            errors.error_code_from_exception_type(cls) for cls in self._queue_closed_exception_types
        )
        return message

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: str | None = None) -> QueueRunner:
        """The runner of a `QueueRunnerDef`."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def _check_types(types: Any) -> None:
    if types is None:
        return
    are_errors = isinstance(types, tuple) and types
    if not are_errors or not all(issubclass(cls, errors.OpError) for cls in types):
        raise TypeError(
            "queue_closed_exception_types, when provided, must be a tuple of tf.error types, but "
            f"saw: {types}"
        )


def _runs_here(sess: Any) -> bool:
    """Whether a session runs its steps in this process."""
    return isinstance(sess, BaseSession) and not sess._target


def _run_ignoring_errors(sess: Any, op: Any) -> None:
    """Closes a queue; its session may be closed by then."""
    try:
        sess.run(op)
    except Exception as error:
        logging.vlog(1, "Ignored exception: %s", error)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Adds a runner to those that `start_queue_runners` starts."""
    get_default_graph().add_to_collection(collection, qr)


def start_queue_runners(
    sess: Any = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Starts the threads of all queue runners of the graph and returns them.

    Args:
      sess: a session; the default one if None.
      coord: who tells the threads to stop.
      daemon: whether the program may end while the threads still run.
      start: False to make the threads only.
      collection: the collection of the runners.
    """
    if executing_eagerly():
        raise RuntimeError("Queues are not compatible with eager execution.")
    if sess is None:
        sess = get_default_session()
        if sess is None:
            raise ValueError(
                "Cannot start queue runners: No default session is registered. Use `with "
                "sess.as_default()` or pass an explicit session to "
                "tf.start_queue_runners(sess=sess)"
            )
    if not isinstance(sess, BaseSession):
        if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
            return []  # it has started them itself
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    runners = get_default_graph().get_collection(collection)
    if not runners:
        logging.warning(
            "`tf.train.start_queue_runners()` was called when no queue runners were defined. You "
            "can safely remove the call to this deprecated function."
        )
    with sess.graph.as_default():
        threads = []
        for runner in get_default_graph().get_collection(collection):
            threads += runner.create_threads(sess, coord=coord, daemon=daemon, start=start)
    return threads


register_proto_function(
    GraphKeys.QUEUE_RUNNERS,
    proto_type=proto.QueueRunnerDef,
    to_proto=QueueRunner.to_proto,
    from_proto=QueueRunner.from_proto,
)
