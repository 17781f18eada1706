"""`tf.Session`: runs any subgraph of a graph, again and again."""

from __future__ import annotations

import itertools
import threading
import warnings
import weakref
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from penstock import errors, proto
from penstock.client.fetches import Fetches, structure_key
from penstock.client.mixed_precision_state import with_mixed_precision
from penstock.client.partial_runs import check_named, never_set_up
from penstock.client.session_defaults import new_session_config
from penstock.client.session_devices import DeviceAttributes as _DeviceAttributes
from penstock.client.session_devices import attributes_of
from penstock.dtypes import DType
from penstock.ir import defaults
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.placement.whole_graph import WholeGraphCheck

_open_sessions: weakref.WeakSet[BaseSession] = weakref.WeakSet()
_open_lock = threading.Lock()


class _Run:
    """What a session keeps for one form of `run`: feed converters, compiled step, way back."""

    __slots__ = ("contract", "echoes", "expand", "fed", "feeds", "flat", "step")

    def __init__(
        self, step: Any, feeds: list[Tensor], expand: list[Any] | None, flat: Fetches
    ) -> None:
        from penstock.client.feeds import converter_of_all

        self.step = step
        self.fed = feeds
        self.expand = expand
        self.flat = flat
        self.contract = flat.build
        #: Tensors both fed and fetched: where among the results, where among the feeds.
        self.echoes = [
            (flat.tensors.index(tensor), index, tensor)
            for index, tensor in enumerate(feeds)
            if tensor in flat.tensors
        ]
        convert = converter_of_all(feeds)
        #: From what was given for the fed keys to runtime values.
        self.feeds: Callable[[Iterable[Any]], Sequence[Any]] = (
            convert if expand is None else lambda values: convert(self._expanded(values))
        )

    def run(self, given: Collection[Any], timeout: float | None) -> Any:
        """Runs the step plainly on what was fed, and returns what `Session.run` does."""
        results = self.step.run(self.feeds(given) if given else (), timeout)
        return self.build(results, given) if self.echoes else self.contract(results)

    def _expanded(self, values: Iterable[Any]) -> Iterable[Any]:
        if self.expand is None:
            return values
        return [
            part
            for value, split in zip(values, self.expand, strict=True)
            for part in (split(value) if split is not None else [value])
        ]

    def build(self, results: Any, values: Iterable[Any]) -> Any:
        """The results in the structure of the fetches; what was fed comes back as an array."""
        if self.echoes:
            from penstock.client.feeds import fed_array

            results, given = list(results), list(self._expanded(values))
            for slot, index, tensor in self.echoes:
                results[slot] = fed_array(tensor, given[index])
        return self.contract(results)


def _text(target: Any) -> str:
    if isinstance(target, bytes):
        return target.decode()
    if not isinstance(target, str):
        raise TypeError(f"target must be a string, but got {type(target)}")
    return target


def _place_of(target: str, config: Any) -> tuple[Any, bool]:
    """The server of this process that a target names, if any, and whether it is reached by gRPC."""
    if not target:
        return None, False
    from penstock.distributed.server import server_of

    server = server_of(target)
    if server is not None and not (config and config.rpc_options.use_rpc_for_inprocess_master):
        return server, False
    if target.startswith("grpc://"):
        return None, True
    raise errors.NotFoundError(
        None,
        None,
        "No session factory registered for the given session options: "
        f'{{target: "{target}" config: }} Registered factories are '
        "{DIRECT_SESSION, GRPC_SESSION}.",
    )


def _merged(config: Any, server: Any) -> Any:
    """The configuration of a session: what it was given, over the defaults of its server."""
    if server is None:
        return config if config is not None else new_session_config()
    merged = proto.ConfigProto()
    merged.CopyFrom(server.server_def.default_session_config)
    merged.MergeFrom(config if config is not None else new_session_config())
    return merged


def _placed_in(server: Any, config: Any) -> dict[str, Any]:
    """Where a session on a server runs, and with whose state."""
    own_state = config.isolate_session_state
    return {
        "server": server.server_def.default_session_config,
        "task_name": server.task_name,
        "resources": None if own_state else server.resources,
    }


def _seconds(milliseconds: int) -> float | None:
    return milliseconds / 1000 if milliseconds > 0 else None


class SessionInterface:
    """What all that runs steps for a client has: sessions, and the debuggers around them."""

    @property
    def graph(self) -> Graph:
        """The graph whose nodes are run."""
        raise NotImplementedError("graph")

    @property
    def sess_str(self) -> str:
        """The target that the session is connected to."""
        raise NotImplementedError("sess_str")

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Runs one step; see `Session.run`."""
        raise NotImplementedError("run")

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        """Prepares a step that is run in parts."""
        raise NotImplementedError("partial_run_setup")

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        """Runs the next part of a step."""
        raise NotImplementedError("partial_run")


class BaseSession(SessionInterface):
    """Compiles a step once per form of `run` and runs it; see `tf.Session`."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None):
        if graph is None:
            graph = defaults.get_default_graph()
        elif not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        self._target = _text(target)
        if config is not None and not isinstance(config, proto.ConfigProto):
            raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        self._server, self._is_remote = _place_of(self._target, config)
        self._graph = graph
        self._config = with_mixed_precision(_merged(config, self._server))
        self._timeout = _seconds(self._config.operation_timeout_in_ms)
        self._closed = False
        self._was_reset = False  # by somebody, together with its server
        self._lock = threading.Lock()
        self._runs: dict[Any, _Run] = {}
        self._steps: dict[Any, Any] = {}
        self._mutations = graph.mutations
        self._partial_runs: dict[str, Any] = {}
        self._partial_run_numbers = itertools.count()
        self._watched: Any = None  # the runs of a debugger, once there is one
        self._runtime = self._make_runtime()
        self._whole_graph = self._make_graph_check()
        with _open_lock:
            _open_sessions.add(self)

    def _make_runtime(self) -> Any:
        # The runtime loads torch: the first session does, not building graphs.
        if self._is_remote:
            from penstock.distributed.remote_runtime import RemoteRuntime

            return RemoteRuntime(self._target, self._graph, self._config)
        from penstock.runtime.configured import configured_runtime

        server, config = self._server, self._config
        cluster = None if server is None else server.cluster_for(config)
        if cluster is not None:
            return cluster.session_runtime(config)
        return configured_runtime(config, **({} if server is None else _placed_in(server, config)))

    def _make_graph_check(self) -> WholeGraphCheck | None:
        if self._is_remote or self._config.graph_options.place_pruned_graph:
            return None
        names = self._runtime.device_names
        return WholeGraphCheck(names, soft=self._config.allow_soft_placement)

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def graph_def(self) -> Any:
        return self._graph.as_graph_def(add_shapes=self._config.graph_options.infer_shapes)

    @property
    def sess_str(self) -> str:
        return self._target

    def list_devices(self) -> list[_DeviceAttributes]:
        """The devices that steps of this session may use."""
        return attributes_of(self._runtime.device_attributes())

    # Running ----------------------------------------------------------------------------------

    def run(
        self,
        fetches: Any,
        feed_dict: dict[Any, Any] | None = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """Runs one step and returns the values of `fetches`, in the same structure.

        `fetches` is any nest of tensors, operations, their names, sparse tensors …; `feed_dict`
        replaces the values of tensors. `options.timeout_in_ms` ends a step that takes longer;
        `options.trace_level` fills `run_metadata` with what the step did.
        """
        if self._closed:
            raise self._closed_error()
        kind = type(fetches)
        try:
            structure = fetches if kind is Tensor or kind is Operation else structure_key(fetches)
            key = (structure, tuple(feed_dict.keys())) if feed_dict else (structure,)
            run = self._runs.get(key)
        except (TypeError, AttributeError):  # not hashable, or wrong: prepared for this call alone
            key, run = None, None
        if run is None or self._graph.mutations != self._mutations:
            if feed_dict and not hasattr(feed_dict, "items"):
                raise TypeError(f"feed_dict must be a dictionary, got {type(feed_dict)}")
            run = self._prepare(key, fetches, feed_dict or {})
        given: Any = feed_dict.values() if feed_dict else ()
        if options is None and run_metadata is None:
            return run.run(given, self._timeout)
        return run.build(self._run_with(options, run_metadata, run, run.feeds(given)), given)

    def _run_with(
        self, options: Any, run_metadata: Any, run: _Run, values: Sequence[Any]
    ) -> tuple[Any, ...]:
        """The results of a step, run as `options` asks."""
        timeout = self._timeout_of(options)
        if options is not None and options.inter_op_thread_pool and self._is_local:
            with self._runtime.pools.choose(options.inter_op_thread_pool):
                return self._run_in_pool(options, run_metadata, run, values, timeout)
        return self._run_in_pool(options, run_metadata, run, values, timeout)

    @property
    def _is_local(self) -> bool:
        """Whether steps run on the devices of this process alone."""
        return self._server is None and not self._is_remote

    def _run_in_pool(
        self,
        options: Any,
        run_metadata: Any,
        run: _Run,
        values: Sequence[Any],
        timeout: float | None,
    ) -> tuple[Any, ...]:
        if run_metadata is not None:
            if not isinstance(run_metadata, proto.RunMetadata):
                raise TypeError(
                    f"run_metadata must be a tf.RunMetadata, but got {type(run_metadata)}"
                )
            run_metadata.Clear()
        watched = options is not None and options.debug_options.debug_tensor_watch_opts
        if watched and not self._is_remote:
            return self._run_watched(run, values, timeout, options, run_metadata)
        results: tuple[Any, ...]
        if run_metadata is not None or watched:
            results = run.step.run_with_options(
                values, options or proto.RunOptions(), run_metadata or proto.RunMetadata(), timeout
            )
        else:
            results = run.step.run(values, timeout)
        return results

    def _run_watched(
        self, run: _Run, values: Any, timeout: float | None, options: Any, run_metadata: Any
    ) -> tuple[Any, ...]:
        """A run whose tensors are written to files, as `options.debug_options` asks."""
        from penstock.runtime.watched_runs import WatchedRuns

        if self._watched is None:
            self._watched = WatchedRuns(on_server=self._server is not None)
        names = {
            "input_names": [tensor.name for tensor in run.fed],
            "output_names": [tensor.name for tensor in run.flat.tensors],
            "target_nodes": [operation.name for operation in run.flat.targets],
        }
        with self._graph._lock:
            step = run.step.as_written()
        results: tuple[Any, ...] = self._watched.run(
            step, names, values, options, run_metadata, timeout
        )
        return results

    def _timeout_of(self, options: Any) -> float | None:
        if options is None:
            return self._timeout
        if not isinstance(options, proto.RunOptions):
            raise TypeError(f"options must be a tf.RunOptions, but got {type(options)}")
        return _seconds(options.timeout_in_ms) or self._timeout

    def _prepare(self, key: Any, fetches: Any, feeds: Iterable[Any]) -> _Run:
        if not self._graph.get_operations():
            raise RuntimeError(
                "The Session graph is empty.  Add operations to the graph before calling run()."
            )
        flat = Fetches(self._graph, fetches, self)
        tensors, expand = self._expand_feeds(feeds)
        step = self._compiled(tensors, flat.tensors, flat.targets)
        run = _Run(step, tensors, expand, flat)
        if key is not None:
            self._runs[key] = run
        return run

    def _expand_feeds(self, keys: Any) -> tuple[list[Tensor], list[Any] | None]:
        from penstock.client.feeds import expand_keys

        return expand_keys(self._graph, keys)

    def _compiled(
        self,
        feeds: list[Tensor],
        fetches: list[Tensor],
        targets: list[Operation],
    ) -> Any:
        with self._lock:
            if self._graph.mutations != self._mutations:
                self._runs.clear()
                self._steps.clear()
                self._mutations = self._graph.mutations
            signature = tuple(feeds), tuple(fetches), tuple(targets)
            step = self._steps.get(signature)
            if step is None:
                with self._graph._lock:
                    if self._whole_graph is not None:
                        self._whole_graph.check(self._graph)
                    step = self._runtime.compile(feeds, fetches, list(dict.fromkeys(targets)))
                self._steps[signature] = step
            return step

    def make_callable(
        self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function that runs one fixed step: `f = sess.make_callable(y, [x]); f(value)`."""
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("`feed_list` must be a list or tuple.")
        keys = list(feed_list or ())
        run = self._prepare(None, fetches, keys)
        made_at = self._mutations

        def call(*values: Any, options: Any = None, run_metadata: Any = None) -> Any:
            nonlocal run, made_at
            if self._closed:
                raise self._closed_error()
            if len(values) != len(keys):
                raise TypeError(f"the callable takes {len(keys)} feeds, got {len(values)}")
            if self._graph.mutations != made_at:
                run = self._prepare(None, fetches, keys)
                made_at = self._mutations
            if options is None and run_metadata is None:
                return run.run(values, self._timeout)
            results = self._run_with(options, run_metadata, run, run.feeds(values))
            return run.build(results, values)

        return call if accept_options else lambda *values: call(*values)

    def _make_callable_from_options(self, callable_options: Any) -> Callable[..., list[Any]]:
        """A function that runs the step of a CallableOptions message; it returns a list.

        The shapes of what it is called with are not compared with those of the fed tensors.
        """
        from penstock.client.callable_options import named_in_options
        from penstock.client.feeds import unchecked

        wanted = callable_options
        fed, fetched, targets = named_in_options(self._graph, wanted)
        call = self.make_callable((fetched, targets), fed, accept_options=True)

        def run(*values: Any, run_metadata: Any = None) -> list[Any]:
            if len(values) != len(fed):
                raise errors.InvalidArgumentError(
                    None, None, f"Expected {len(fed)} feed tensors, but got {len(values)}"
                )
            arrays = [unchecked(tensor, value) for tensor, value in zip(fed, values, strict=True)]
            results: list[Any] = call(
                *arrays, options=wanted.run_options, run_metadata=run_metadata
            )[0]
            return results

        return run

    # Partial runs -----------------------------------------------------------------------------

    def partial_run_setup(self, fetches: Any, feeds: Sequence[Any] | None = None) -> str:
        """Prepares a step that is run in parts; all its fetches and feeds are named ahead."""
        runtime = self._open_runtime()
        flat = Fetches(self._graph, fetches, self)
        tensors = check_named(self._graph, feeds or (), flat)
        handle = f"partial_run_{next(self._partial_run_numbers)}"
        self._partial_runs[handle] = runtime.partial_run(tensors, flat.tensors, flat.targets)
        return handle

    def partial_run(
        self, handle: str | None, fetches: Any, feed_dict: dict[Any, Any] | None = None
    ) -> Any:
        """Runs the next part of a step: what `fetches` need, with further feeds."""
        if self._closed:
            raise self._closed_error()
        if handle is None:
            return self.run(fetches, feed_dict)
        partial = self._partial_runs.get(handle)
        if partial is None:
            raise never_set_up(bool(self._target))
        flat = Fetches(self._graph, fetches, self)
        tensors, expand = self._expand_feeds(feed_dict or ())
        run = _Run(None, tensors, expand, flat)
        given = list((feed_dict or {}).values())
        values = dict(zip(tensors, run.feeds(given), strict=True))
        results = run.build(partial.run(values, flat.tensors, flat.targets), given)
        if partial.is_over:
            self._partial_runs.pop(handle, None)
        return results

    # Tensors that stay in the session -------------------------------------------------------------

    def _kept_tensor(self, handle: str, dtype: DType) -> Any:
        """The value of a tensor that is kept under a handle."""
        array = self._open_runtime().kept_tensor(handle, dtype)
        return array if array.ndim else array[()]

    def _forget_tensor(self, handle: str) -> None:
        self._open_runtime().forget_tensor(handle)

    def _closed_error(self) -> Exception:
        if self._was_reset:
            return errors.AbortedError(
                None, None, f"Session is not found: {self._target} was reset."
            )
        return RuntimeError("Attempted to use a closed Session.")

    def _open_runtime(self) -> Any:
        if self._closed:
            raise self._closed_error()
        return self._runtime

    # Life -------------------------------------------------------------------------------------

    def as_default(self) -> AbstractContextManager[Any]:
        """Makes this the default session of the thread within a `with` block; does not close it."""
        return defaults.session_scope(self)

    def close(self) -> None:
        """Frees the session's state; running a closed session is an error.

        Steps that wait for a queue end with CancelledError.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._runs.clear()
            self._steps.clear()
            self._partial_runs.clear()
            self._runtime.close()
        with _open_lock:
            _open_sessions.discard(self)

    @staticmethod
    def reset(target: str, containers: Sequence[str] | None = None, config: Any = None) -> None:
        """Clears the named containers of state (the default one, which is named after the job, if
        None) in all tasks, and closes sessions on `target`."""
        target = _text(target)
        server, is_remote = _place_of(target, config)
        if server is not None:
            server.reset(containers or ())
        elif is_remote:
            from penstock.distributed.remote_runtime import reset_target

            reset_target(target, containers or (), config)
            return
        with _open_lock:
            sessions = [session for session in _open_sessions if session._target == target]
        for session in sessions:
            if not target:
                session._runtime.reset(containers or ())
            session._was_reset = bool(target)
            session.close()

    def __del__(self) -> None:
        # A session that is dropped without close() gives its memory back all the same.
        runtime = getattr(self, "_runtime", None)
        if runtime is not None and not self._closed:
            self._closed = True
            if self._is_remote:
                runtime.abandon()


class Session(BaseSession):
    """A connection to the runtime that runs the nodes of a graph.

    >>> with tf.Session() as sess:
    ...     print(sess.run(y, feed_dict={x: 3.0}))
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None):
        super().__init__(target, graph, config)
        self._context: ExitStack | None = None

    def __enter__(self) -> Session:
        if self._context is not None:
            raise RuntimeError(
                "Session context managers are not re-entrant. Use `Session.as_default()` if you "
                "want to enter a session multiple times."
            )
        stack = self._context = ExitStack()
        stack.enter_context(self._graph.as_default())
        stack.enter_context(self.as_default())
        return self

    def __exit__(self, error_type: Any, error: Any, trace: Any) -> None:
        stack, self._context = self._context, None
        assert stack is not None
        stack.__exit__(error_type, error, trace)
        self.close()


class InteractiveSession(BaseSession):
    """A session that makes itself the default one when it is created, for use in a shell."""

    _active_session_count = 0

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None):
        if config is None or isinstance(config, proto.ConfigProto):
            # What is typed into a shell is placed as it is run: a wrong node harms no other.
            config = proto.ConfigProto.FromString(config.SerializeToString() if config else b"")
            config.graph_options.place_pruned_graph = True
        super().__init__(target, graph, config)
        with _open_lock:
            if InteractiveSession._active_session_count > 0:
                warnings.warn(
                    "An interactive session is already active. This can cause out-of-memory "
                    "errors in some cases. You must explicitly call "
                    "`InteractiveSession.close()` to release resources held by the other "
                    "session(s).",
                    stacklevel=2,
                )
            InteractiveSession._active_session_count += 1
        self._stack = ExitStack()
        if graph is not None:
            self._stack.enter_context(graph.as_default())
        self._stack.enter_context(defaults.session_scope(self, nested=False))

    def close(self) -> None:
        if not self._closed:
            with _open_lock:
                InteractiveSession._active_session_count -= 1
            self._stack.close()
        super().close()
