"""Sessions and hooks that write the tensors of every run to a folder, to be looked at later."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from typing import Any

from penstock import proto
from penstock.debugger.watches import watch_graph
from penstock.debugger.wrapper_session import (
    BaseDebugWrapperSession,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
    WatchOptions,
)
from penstock.runtime.watching import METADATA_PREFIX, write_event
from penstock.train.session_run_hook import SessionRunArgs, SessionRunHook


class NonInteractiveDebugWrapperSession(BaseDebugWrapperSession):
    """A debugger that asks nobody: `watch_fn(fetches, feeds)` gives the `WatchOptions` of a run."""

    def __init__(
        self,
        sess: Any,
        watch_fn: Callable[[Any, Any], Any] | None = None,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool = False,
    ):
        super().__init__(sess, thread_name_filter, pass_through_operrors)
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError("watch_fn is not callable")
        self._watch_fn = watch_fn

    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> Any:
        """Where the tensors of a run go."""
        raise NotImplementedError(f"{type(self).__name__} must say where tensors go")

    def _prepare_run_watch_config(self, fetches: Any, feed_dict: Any) -> tuple[Any, WatchOptions]:
        urls = self.prepare_run_debug_urls(fetches, feed_dict)
        options = WatchOptions() if self._watch_fn is None else self._watch_fn(fetches, feed_dict)
        return urls, WatchOptions(*options) if isinstance(options, tuple) else options

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        urls, options = self._prepare_run_watch_config(request.fetches, request.feed_dict)
        urls = [urls] if isinstance(urls, str) else urls
        return OnRunStartResponse(OnRunStartAction.DEBUG_RUN, urls, **vars(options))


class DumpingDebugWrapperSession(NonInteractiveDebugWrapperSession):
    """A session whose runs each leave a dump in a folder `run_<time>_<number>`.

    >>> sess = tf_debug.DumpingDebugWrapperSession(sess, "/tmp/dumps")
    >>> sess.run(train_op)
    >>> dump = tf_debug.DebugDumpDir(glob.glob("/tmp/dumps/run_*")[0])

    Args:
      sess: the session to run with.
      session_root: the folder; it must be empty, or not exist.
      watch_fn: from fetches and feeds to the `WatchOptions` of a run; all is watched without it.
      thread_name_filter: a pattern; runs from threads of other names are left alone.
      pass_through_operrors: whether an error of a run is raised; it is returned otherwise.
      log_usage: not used.
    """

    def __init__(
        self,
        sess: Any,
        session_root: str,
        watch_fn: Callable[[Any, Any], Any] | None = None,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool = False,
        log_usage: bool = True,
    ):
        super().__init__(sess, watch_fn, thread_name_filter, pass_through_operrors)
        root = os.path.expanduser(session_root)
        check_dump_root(root, "session_root")
        os.makedirs(root, exist_ok=True)
        self._session_root = root
        self._run_counter = itertools.count()

    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> list[str]:
        number = next(self._run_counter)
        folder = os.path.join(self._session_root, f"run_{time.time_ns() // 1000}_{number}")
        os.mkdir(folder)
        keys = repr(feed_dict.keys()) if feed_dict else repr(feed_dict)
        for kind, text in (("fetches", repr(fetches)), ("feed_keys", keys)):
            event = proto.Event()
            event.log_message.message = text
            write_event(os.path.join(folder, f"{METADATA_PREFIX}{kind}_info_"), event)
        return [f"file://{folder}"]


def check_dump_root(path: str, argument: str) -> None:
    """ValueError where a path is no place for a new dump."""
    if os.path.isfile(path):
        raise ValueError(f"{argument} path points to a file: {path}")
    if os.path.isdir(path) and os.listdir(path):
        raise ValueError(f"{argument} path points to a non-empty directory: {path}")


class DumpingDebugHook(SessionRunHook):
    """`DumpingDebugWrapperSession` for monitored sessions and estimators."""

    def __init__(
        self,
        session_root: str,
        watch_fn: Callable[[Any, Any], Any] | None = None,
        thread_name_filter: str | None = None,
        log_usage: bool = True,
    ):
        self._arguments = (session_root, watch_fn, thread_name_filter)
        self._session_wrapper: DumpingDebugWrapperSession | None = None

    def before_run(self, run_context: Any) -> SessionRunArgs:
        is_new = self._session_wrapper is None
        if self._session_wrapper is None:
            self._session_wrapper = DumpingDebugWrapperSession(
                run_context.session, *self._arguments
            )
        self._session_wrapper.increment_run_call_count()
        asked = run_context.original_args
        urls, watches = self._session_wrapper._prepare_run_watch_config(
            asked.fetches, asked.feed_dict
        )
        options = proto.RunOptions()
        graph = run_context.session.graph
        watch_graph(options, graph, debug_urls=urls, reset_disk_byte_usage=is_new, **vars(watches))
        return SessionRunArgs(None, feed_dict=None, options=options)
