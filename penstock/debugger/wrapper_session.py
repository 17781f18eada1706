"""Sessions around sessions that watch what their runs compute: what all debuggers share."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from typing import Any

from penstock import errors, nest, proto
from penstock.client.session import BaseSession, SessionInterface
from penstock.debugger.watches import watch_graph
from penstock.ir import defaults
from penstock.platform import logging
from penstock.train.monitored_session import _MonitoredSession


def _check_type(value: Any, expected: Any) -> None:
    if not isinstance(value, expected):
        raise TypeError(f"Expected type {expected}; got type {type(value)}")


class OnSessionInitRequest:
    """What `on_session_init` is asked with."""

    def __init__(self, sess: Any):
        self.session = sess


class OnSessionInitAction:
    """What a debugger may do when it gets its session."""

    PROCEED = "proceed"
    REMOTE_INSTR_LOOP = "remote_instr_loop"


class OnSessionInitResponse:
    """The answer of `on_session_init`."""

    def __init__(self, action: str):
        _check_type(action, str)
        self.action = action


class OnRunStartRequest:
    """What `on_run_start` is asked with: the arguments of a run, and the how manieth it is."""

    def __init__(
        self,
        fetches: Any,
        feed_dict: Any,
        run_options: Any,
        run_metadata: Any,
        run_call_count: int,
        is_callable_runner: bool = False,
    ):
        self.fetches = fetches
        self.feed_dict = feed_dict
        self.run_options = run_options
        self.run_metadata = run_metadata
        self.run_call_count = run_call_count
        self.is_callable_runner = is_callable_runner


class OnRunStartAction:
    """How a run can be made: with watches, with a trace, or plainly."""

    DEBUG_RUN = "debug_run"
    PROFILE_RUN = "profile_run"
    NON_DEBUG_RUN = "non_debug_run"


class OnRunStartResponse:
    """The answer of `on_run_start`: how to run, and what to watch."""

    def __init__(
        self,
        action: str,
        debug_urls: Any,
        debug_ops: Any = "DebugIdentity",
        node_name_regex_whitelist: str | None = None,
        op_type_regex_whitelist: str | None = None,
        tensor_dtype_regex_whitelist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ):
        _check_type(action, str)
        self.action = action
        _check_type(debug_urls, list)
        self.debug_urls = debug_urls
        self.debug_ops = debug_ops
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def watches(self) -> dict[str, Any]:
        """The arguments of `watch_graph`."""
        return {key: value for key, value in vars(self).items() if key != "action"}


class OnRunEndRequest:
    """What `on_run_end` is told: how the run was made, and how it ended."""

    def __init__(
        self,
        performed_action: str,
        run_metadata: Any = None,
        client_graph_def: Any = None,
        tf_error: errors.OpError | None = None,
    ):
        _check_type(performed_action, str)
        self.performed_action = performed_action
        if run_metadata is not None:
            _check_type(run_metadata, proto.RunMetadata)
        self.run_metadata = run_metadata
        self.client_graph_def = client_graph_def
        self.tf_error = tf_error


class OnRunEndResponse:
    """The answer of `on_run_end`."""


class WatchOptions:
    """What to watch in a run, for the `watch_fn` of a session; see `watch_graph`."""

    def __init__(
        self,
        debug_ops: Any = None,
        node_name_regex_whitelist: str | None = None,
        op_type_regex_whitelist: str | None = None,
        tensor_dtype_regex_whitelist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ):
        self.debug_ops = debug_ops if debug_ops else ["DebugIdentity"]
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def __repr__(self) -> str:
        return f"WatchOptions({', '.join(f'{key}={value!r}' for key, value in vars(self).items())})"


def _check_arguments(runner: Any, options: Any, fetches: Any, feed_dict: Any) -> None:
    """ValueError where a callable comes with another one, or with fetches or feeds."""
    if runner is not None and options is not None:
        first, second = "callable_runner", "callable_options"
    elif fetches is not None or feed_dict:
        first = "callable_runner" if runner is not None else "callable_options"
        second = "fetches/feed_dict"
    else:
        return
    raise ValueError(f"{first} and {second} are mutually exclusive, but are used simultaneously.")


def _is_empty(fetches: Any) -> bool:
    if isinstance(fetches, Mapping):
        fetches = list(fetches.values())
    return bool(nest.is_nested(fetches)) and all(_is_empty(each) for each in fetches)


class BaseDebugWrapperSession(SessionInterface):
    """A session that asks before each run how to make it, and tells afterwards how it went.

    Args:
      sess: the session to run with: a `tf.Session`, or a monitored one.
      thread_name_filter: a pattern; runs from threads of other names are left alone.
      pass_through_operrors: whether an error of a run is raised; it is returned otherwise.
    """

    def __init__(
        self, sess: Any, thread_name_filter: str | None = None, pass_through_operrors: bool = False
    ):
        _check_type(sess, (BaseSession, _MonitoredSession))
        self._sess = sess
        self._threads = re.compile(thread_name_filter) if thread_name_filter else None
        self._pass_through_operrors = pass_through_operrors
        self._run_call_count = 0
        self._default_context: Any = None
        response = self.on_session_init(OnSessionInitRequest(sess))
        _check_type(response, OnSessionInitResponse)
        if response.action == OnSessionInitAction.REMOTE_INSTR_LOOP:
            raise NotImplementedError(
                "OnSessionInitAction REMOTE_INSTR_LOOP has not been implemented."
            )
        if response.action != OnSessionInitAction.PROCEED:
            raise ValueError(f"Invalid OnSessionInitAction value: {response.action}")

    # What a debugger decides ------------------------------------------------------------------

    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        """Called when the session is wrapped."""
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        """Called before each run."""
        raise NotImplementedError(f"{type(self).__name__} must say how to run: on_run_start")

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        """Called after each run."""
        return OnRunEndResponse()

    # Running ----------------------------------------------------------------------------------

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
        callable_runner: Callable[..., Any] | None = None,
        callable_runner_args: Any = None,
        callable_options: Any = None,
    ) -> Any:
        """`Session.run` under the debugger; see there for the first four arguments."""
        is_callable = callable_runner is not None or callable_options is not None
        if is_callable:
            _check_arguments(callable_runner, callable_options, fetches, feed_dict)

        def run(options: Any, run_metadata: Any) -> Any:
            values = callable_runner_args or ()
            if callable_runner is not None:
                return callable_runner(*values, options=options, run_metadata=run_metadata)
            if callable_options is not None:
                step = proto.CallableOptions()
                step.CopyFrom(callable_options)
                if options is not None:
                    step.run_options.MergeFrom(options)
                made = self._sess._make_callable_from_options(step)
                return made(*values, run_metadata=run_metadata)
            return self._sess.run(fetches, feed_dict, options, run_metadata)

        self.increment_run_call_count()
        nothing = not is_callable and _is_empty(fetches)
        if nothing:
            logging.info(
                "Due to empty fetches, tfdbg Session wrapper is letting a Session.run pass "
                "through without any debugging actions."
            )
        if nothing or self._is_disabled_thread():
            return run(options, run_metadata)
        response = self.on_run_start(
            OnRunStartRequest(
                fetches,
                feed_dict,
                options,
                run_metadata,
                self._run_call_count,
                is_callable_runner=is_callable,
            )
        )
        _check_type(response, OnRunStartResponse)
        results, request = self._run_as(response, run, options, run_metadata)
        _check_type(self.on_run_end(request), OnRunEndResponse)
        return results

    def _run_as(
        self,
        response: OnRunStartResponse,
        run: Callable[[Any, Any], Any],
        options: Any,
        run_metadata: Any,
    ) -> tuple[Any, OnRunEndRequest]:
        action = response.action
        if action == OnRunStartAction.NON_DEBUG_RUN:
            return run(options, run_metadata), OnRunEndRequest(action)
        if action not in (OnRunStartAction.DEBUG_RUN, OnRunStartAction.PROFILE_RUN):
            raise ValueError(f"Invalid OnRunStartAction value: {action}")
        decorated = options if options is not None else proto.RunOptions()
        if run_metadata is None:
            run_metadata = proto.RunMetadata()
        failure = None
        if action == OnRunStartAction.PROFILE_RUN:
            self._decorate_run_options_for_profile(decorated)
            results = run(decorated, run_metadata)
        else:
            self._decorate_run_options_for_debug(decorated, **response.watches())
            try:
                results = run(decorated, run_metadata)
            except errors.OpError as error:
                if self._pass_through_operrors:
                    raise
                results = failure = error
        graph_def = self._sess.graph.as_graph_def()
        return results, OnRunEndRequest(action, run_metadata, graph_def, failure)

    def _decorate_run_options_for_debug(
        self, run_options: Any, debug_urls: Any, **watches: Any
    ) -> None:
        run_options.output_partition_graphs = True
        watch_graph(
            run_options,
            self._sess.graph,
            debug_urls=debug_urls,
            reset_disk_byte_usage=(
                self._run_call_count == 1 or self._is_disk_usage_reset_each_run()
            ),
            **watches,
        )

    def _is_disk_usage_reset_each_run(self) -> bool:
        """Whether nothing is left of a run's dump when the next begins."""
        return False

    def _decorate_run_options_for_profile(self, run_options: Any) -> None:
        run_options.trace_level = proto.RunOptions.FULL_TRACE

    def _is_disabled_thread(self) -> bool:
        name = threading.current_thread().name or ""
        return self._threads is not None and not self._threads.match(name)

    @property
    def run_call_count(self) -> int:
        """How often `run` was called."""
        return self._run_call_count

    def increment_run_call_count(self) -> None:
        self._run_call_count += 1

    # As the session that it wraps -----------------------------------------------------------------

    @property
    def graph(self) -> Any:
        return self._sess.graph

    @property
    def graph_def(self) -> Any:
        return self._sess.graph_def

    @property
    def sess_str(self) -> Any:
        return self._sess.sess_str

    @property
    def session(self) -> Any:
        """The session that is wrapped."""
        return self._sess

    def make_callable(
        self, fetches: Any, feed_list: Any = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function that runs one fixed step under the debugger."""
        runner = self._sess.make_callable(fetches, feed_list=feed_list, accept_options=True)

        def call(*values: Any, options: Any = None, run_metadata: Any = None) -> Any:
            return self.run(
                None,
                options=options,
                run_metadata=run_metadata,
                callable_runner=runner,
                callable_runner_args=values,
            )

        return call

    def _make_callable_from_options(self, callable_options: Any) -> Callable[..., Any]:
        """A function that runs the step of a CallableOptions message under the debugger."""

        def call(*values: Any, run_metadata: Any = None) -> Any:
            return self.run(
                None,
                run_metadata=run_metadata,
                callable_options=callable_options,
                callable_runner_args=values,
            )

        return call

    def run_step_fn(self, step_fn: Callable[[Any], Any]) -> Any:
        """`MonitoredSession.run_step_fn` under the debugger."""
        return step_fn(_MonitoredSession.StepContext(self._sess, self.run))

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        raise NotImplementedError(
            "partial_run_setup is not implemented for debug-wrapper sessions."
        )

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        raise NotImplementedError("partial_run is not implemented for debug-wrapper sessions.")

    def list_devices(self, *args: Any, **kwargs: Any) -> Any:
        return self._sess.list_devices(*args, **kwargs)

    def reset(self, *args: Any, **kwargs: Any) -> Any:
        return self._sess.reset(*args, **kwargs)

    def should_stop(self) -> Any:
        if hasattr(self._sess, "should_stop"):
            return self._sess.should_stop()
        raise ValueError(
            f"The wrapped session {self._sess!r} does not have a method called 'should_stop'. "
            "Do you intend to wrap a tf.MonitoredSession instead?"
        )

    def as_default(self) -> Any:
        return defaults.session_scope(self)

    def close(self) -> None:
        self._sess.close()

    def __enter__(self) -> Any:
        if self._default_context is None:
            self._default_context = self.as_default()
        return self._default_context.__enter__()

    def __exit__(self, error_type: Any, error: Any, trace: Any) -> None:
        self._default_context.__exit__(error_type, error, trace)
        self._default_context = None
