"""`tensorflow.python.eager.context`: the mode, device and name scope of a thread as one object."""

from __future__ import annotations

import collections
import importlib
import sys
import threading
import types
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any

from penstock import config as settings
from penstock.client.session_defaults import new_session_config, start_afresh
from penstock.devices import DeviceSpec
from penstock.eager import callbacks
from penstock.eager.settings import ASYNC, EagerSettings, eager_settings
from penstock.internal_paths.eager_executors import Executor
from penstock.internal_paths.graph_mode import (
    EAGER_MODE,
    eager_mode,
    ensure_initialized,
    graph_mode,
    list_devices,
)
from penstock.ir import defaults
from penstock.ir.defaults import executing_eagerly
from penstock.ops.concrete_functions import functions_made

ContextSwitch = collections.namedtuple(
    "ContextSwitch", ["is_building_function", "enter_context_fn", "device_stack"]
)


class _ContextSwitchStack:
    """The modes that were entered and not left, as the default graphs tell them."""

    @property
    def stack(self) -> list[ContextSwitch]:
        found = [ContextSwitch(False, eager_mode, None)] if defaults.starts_eagerly() else []
        for graph in defaults.open_graphs():
            enter = eager_mode if graph.is_eager else graph.as_default
            found.append(ContextSwitch(graph.building_function, enter, None))
        return found


def _of_thread(name: str, before: Any = None) -> Any:
    """An attribute that each thread sets for itself."""

    def get(self: Any) -> Any:
        return getattr(self._local, name, before)

    def put(self: Any, value: Any) -> None:
        setattr(self._local, name, value)

    return property(get, put)


def _setting(module: types.ModuleType, name: str) -> Any:
    """An attribute that `tf.config` gets and sets."""

    def get(self: Any) -> Any:
        return getattr(module, f"get_{name}")()

    def put(self: Any, value: Any) -> None:
        getattr(module, f"set_{name}")(value)

    return property(get, put)


def _of_summaries(name: str) -> Any:
    """An attribute of what summaries are written with in a thread."""

    def get(self: Any) -> Any:
        return getattr(importlib.import_module("penstock.summary.op_writers").defaults, name)

    def put(self: Any, value: Any) -> None:
        setattr(importlib.import_module("penstock.summary.op_writers").defaults, name, value)

    return property(get, put)


class Context:
    """What holds for the operations of a thread; those of a new one hold for itself alone."""

    def __init__(
        self,
        config: Any = None,
        device_policy: Any = None,
        execution_mode: int | None = None,
        server_def: Any = None,
    ):
        self._config = config
        self._settings = EagerSettings(device_policy, execution_mode)
        self.context_switches = _ContextSwitchStack()
        self._local = threading.local()

    # Modes --------------------------------------------------------------------------------------

    def executing_eagerly(self) -> bool:
        return executing_eagerly() or defaults.starts_eagerly()

    def in_eager_mode(self) -> bool:
        return self.executing_eagerly()

    def in_graph_mode(self) -> bool:
        return not self.executing_eagerly()

    @property
    def execution_mode(self) -> int:
        return self._settings.execution_mode

    @execution_mode.setter
    def execution_mode(self, mode: int | None) -> None:
        self._settings.execution_mode = mode

    @property
    def device_policy(self) -> int:
        return self._settings.device_policy

    @device_policy.setter
    def device_policy(self, policy: int) -> None:
        self._settings.device_policy = policy

    @contextmanager
    def _mode(self, mode: int) -> Any:
        with eager_mode() if mode == EAGER_MODE else graph_mode():
            yield

    # Devices and names --------------------------------------------------------------------------

    @property
    def scope_name(self) -> str:
        return str(getattr(self._local, "scope_name", ""))

    @scope_name.setter
    def scope_name(self, name: str) -> None:
        self._local.scope_name = name

    @property
    def device_name(self) -> str | None:
        return str(getattr(self._local, "device_name", ""))

    @property
    def device_spec(self) -> DeviceSpec:
        return DeviceSpec.from_string(self.device_name or "")

    def device(self, name: Any) -> AbstractContextManager[Any]:
        """A block with another device, in full: it needs not be there."""
        return self._with_device(name)

    @contextmanager
    def _with_device(self, name: Any) -> Any:
        before = self.device_name
        self._local.device_name = _full_name(name, before or "")
        try:
            yield
        finally:
            self._local.device_name = before

    def devices(self) -> list[str]:
        return list_devices()

    def list_logical_devices(self, device_type: str | None = None) -> list[Any]:
        return list(settings.experimental.list_logical_devices(device_type))

    def num_gpus(self) -> int:
        return sum(":GPU:" in name for name in self.devices())

    @property
    def executor(self) -> Executor:
        return getattr(self._local, "executor", None) or Executor(self.execution_mode == ASYNC)

    @executor.setter
    def executor(self, executor: Executor) -> None:
        self._local.executor = executor

    @property
    def post_execution_callbacks(self) -> list[Any]:
        return callbacks.registered

    def add_post_execution_callback(self, callback: Any) -> None:
        callbacks.add_execution_callback(callback)

    @property
    def _handle(self) -> Context:
        """What stands for the context where TensorFlow's compiled code is called."""
        return self

    _context_handle = _handle

    def has_function(self, name: Any) -> bool:
        """Whether a function of that name can be called from eager code."""
        text = name.decode() if isinstance(name, bytes) else str(name)
        return text in functions_made or text in defaults.get_default_graph()._functions

    # Settings -----------------------------------------------------------------------------------

    @property
    def config(self) -> Any:
        """The ConfigProto of eager operations: what was given, and the settings of `tf.config`."""
        made = new_session_config()
        if self._config is not None:
            made.MergeFrom(self._config)
        return made

    intra_op_parallelism_threads = _setting(settings.threading, "intra_op_parallelism_threads")
    inter_op_parallelism_threads = _setting(settings.threading, "inter_op_parallelism_threads")
    soft_device_placement = _setting(settings, "soft_device_placement")
    optimizer_jit = _setting(settings.optimizer, "jit")

    @property
    def log_device_placement(self) -> bool:
        return bool(self.config.log_device_placement)

    def get_optimizer_experimental_options(self) -> dict[str, Any]:
        return dict(settings.optimizer.get_experimental_options())

    def set_optimizer_experimental_options(self, options: dict[str, Any]) -> None:
        settings.optimizer.set_experimental_options(options)

    # What summaries ask -------------------------------------------------------------------------

    summary_writer = _of_thread("summary_writer")
    summary_recording = _of_thread("summary_recording")
    summary_recording_distribution_strategy = _of_thread(
        "summary_recording_distribution_strategy", True
    )
    summary_step = _of_thread("summary_step")

    # What there is nothing to do for ------------------------------------------------------------

    def ensure_initialized(self) -> None:
        ensure_initialized()

    def add_function(self, fn: Any) -> None:
        """Functions are known by the graphs that call them."""

    def clear_post_execution_callbacks(self) -> None:
        callbacks.clear_execution_callbacks()


class _ProcessContext(Context):
    """The one that operations ask."""

    def __init__(self) -> None:
        super().__init__()
        self._settings = eager_settings

    def executing_eagerly(self) -> bool:
        return executing_eagerly()

    summary_writer = _of_summaries("writer")
    summary_recording = _of_summaries("recording")
    summary_step = _of_summaries("step")

    def num_gpus(self) -> int:
        return super().num_gpus() if executing_eagerly() else 0

    def device(self, name: Any) -> AbstractContextManager[Any]:
        return _DeviceScope(name)

    @property
    def device_name(self) -> str | None:
        graph: Any = defaults.get_default_graph()
        return str(graph._current_device()) if graph.is_eager else None

    @property
    def scope_name(self) -> str:
        name = defaults.get_default_graph().get_name_scope()
        return f"{name}/" if name and executing_eagerly() else name

    @scope_name.setter
    def scope_name(self, name: str) -> None:
        defaults.get_default_graph()._scopes.name = name.rstrip("/")


def _full_name(device: Any, before: str) -> str:
    if device is None:
        return ""
    text = getattr(device, "name", None) or (
        device.to_string() if isinstance(device, DeviceSpec) else str(device)
    )
    local = "/job:localhost/replica:0/task:0/device:CPU:0"
    spec = DeviceSpec.from_string(before or local)
    spec = spec.make_merged_spec(DeviceSpec.from_string(text))
    return spec.to_string()


class _DeviceScope:
    """`with context.device(...)`, whose blocks must be left in the order of their nesting."""

    _open = threading.local()

    def __init__(self, name: Any):
        self._name = name
        self._entered: list[AbstractContextManager[Any]] = []

    def _stack(self) -> list[_DeviceScope]:
        if not hasattr(self._open, "scopes"):
            self._open.scopes = []
        scopes: list[_DeviceScope] = self._open.scopes
        return scopes

    def __enter__(self) -> None:
        from penstock.ops.control import device

        scope = device(self._name)
        scope.__enter__()
        self._entered.append(scope)
        self._stack().append(self)

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        if not self._stack() or self._stack()[-1] is not self:
            raise RuntimeError("Exiting device scope without proper scope nesting")
        self._stack().pop()
        self._entered.pop().__exit__(kind, error, traceback)


def device(name: Any) -> AbstractContextManager[Any]:
    """A block whose operations run on a device."""
    return _DeviceScope(name)


_CONTEXT = _ProcessContext()
_context: Any = _CONTEXT  # a program that puts another one here means to start afresh


class _ThisModule(types.ModuleType):
    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_context":
            start_afresh()
            _CONTEXT.__init__()  # type: ignore[misc]
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _ThisModule


def context() -> Context:
    """The context of the process."""
    return _CONTEXT


context_safe = context


def num_gpus() -> int:
    return _CONTEXT.num_gpus()


@contextmanager
def namescope(name: str) -> Any:
    """A block whose operations are named under a further scope."""
    with defaults.get_default_graph().name_scope(name):
        yield


def scope_name() -> str:
    """The name of the current scope."""
    return _CONTEXT.scope_name


@contextmanager
def device_policy(policy: Any) -> Any:
    """A block with a rule for inputs on other devices: here they are always copied."""
    before, _CONTEXT.device_policy = _CONTEXT.device_policy, policy
    try:
        yield
    finally:
        _CONTEXT.device_policy = before


@contextmanager
def executor_scope(executor: Executor) -> Any:
    """A block whose operations an executor runs."""
    before, _CONTEXT.executor = _CONTEXT.executor, executor
    try:
        yield
    finally:
        _CONTEXT.executor = before


@contextmanager
def function_executor_type(executor_type: str) -> Any:
    """A block with a kind of executor for functions: here there is one."""
    yield


def is_async() -> bool:
    """Whether operations were asked to run in the background."""
    return _CONTEXT.executor.is_async()


def set_execution_mode(mode: int | None) -> None:
    """Says whether operations may run in the background: here they run as they are called."""
    context().execution_mode = mode


@contextmanager
def execution_mode(mode: int | None) -> Iterator[None]:
    """A block in which `set_execution_mode(mode)` holds."""
    before = context().execution_mode
    set_execution_mode(mode)
    try:
        yield
    finally:
        set_execution_mode(before)
