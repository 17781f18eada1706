"""Monitors: what hooks were called before; a hook runs them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.train.basic_session_run_hooks import _as_graph_element
from penstock.train.global_step import get_global_step
from penstock.train.session_run_hook import SessionRunArgs, SessionRunHook


class BaseMonitor:
    """Sees the steps of training, and may ask for tensors and stop it."""

    def __init__(self) -> None:
        self._begun = False
        self._current_epoch: int | None = None
        self._current_step: int | None = None
        self._max_steps: int | None = None
        self._estimator: Any = None

    @property
    def run_on_all_workers(self) -> bool:
        """Whether other workers than the chief have it, too."""
        return False

    def set_estimator(self, estimator: Any) -> None:
        """Says whose training it sees."""
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Called before training."""
        if self._begun:
            raise ValueError("begin called twice without end.")
        self._max_steps = max_steps
        self._begun = True

    def end(self, session: Any = None) -> None:
        """Called after training."""
        if not self._begun:
            raise ValueError("end called without begin.")
        self._max_steps = None
        self._begun = False

    def epoch_begin(self, epoch: int) -> None:
        """Called before each epoch."""
        if self._current_epoch is not None:
            raise ValueError("epoch_begin called twice without epoch_end.")
        if epoch < 0:
            raise ValueError(f"Invalid epoch {epoch}.")
        self._current_epoch = epoch

    def epoch_end(self, epoch: int) -> None:
        """Called after each epoch."""
        if self._current_epoch != epoch:
            raise ValueError(f"epoch_end expected {self._current_epoch} but got {epoch}.")
        self._current_epoch = None

    def step_begin(self, step: int) -> Sequence[Any] | None:
        """Called before each step; gives tensors, or their names, to be computed in it."""
        if step < 0 or (self._max_steps is not None and step > self._max_steps):
            raise ValueError(f"Invalid step {step}.")
        self._current_step = step
        return []

    def step_end(self, step: int, output: Mapping[Any, Any]) -> bool | None:
        """Called after each step with what was asked for; gives whether training is to stop."""
        if self._current_step != step:
            raise ValueError(f"step_end expected {self._current_step} but got {step}.")
        self._current_step = None
        return False

    def post_step(self, step: int, session: Any) -> None:
        """Called after `step_end` of all monitors."""


class EveryN(BaseMonitor):
    """Sees some of the steps: the first ones, every n-th after that, and the last.

    A subclass has `every_n_step_begin`, `every_n_step_end` and `every_n_post_step`.
    """

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1):
        super().__init__()
        self._every_n_steps = every_n_steps
        self._first_n_steps = first_n_steps
        self._last_successful_step: int | None = None
        self._last_active_step = 0
        self._active = False

    def every_n_step_begin(self, step: int) -> Sequence[Any] | None:
        """As `step_begin`."""
        return []

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool | None:
        """As `step_end`."""
        return False

    def every_n_post_step(self, step: int | None, session: Any) -> None:
        """As `post_step`; called after training, too, for a last step that was not seen."""

    def step_begin(self, step: int) -> Sequence[Any] | None:
        super().step_begin(step)
        self._active = (
            step <= self._first_n_steps
            or step >= self._every_n_steps + self._last_active_step
            or step == self._max_steps
        )
        return self.every_n_step_begin(step) if self._active else []

    def step_end(self, step: int, output: Mapping[Any, Any]) -> bool | None:
        super().step_end(step, output)
        return self.every_n_step_end(step, output) if self._active else False

    def post_step(self, step: int, session: Any) -> None:
        super().post_step(step, session)
        if self._active:
            self.every_n_post_step(step, session)
            self._last_active_step = step
        self._last_successful_step = step

    def end(self, session: Any = None) -> None:
        super().end(session=session)
        if self._last_successful_step != self._last_active_step:
            self.every_n_post_step(self._last_successful_step, session)


class RunHookAdapterForMonitors(SessionRunHook):
    """The hook that runs monitors."""

    def __init__(self, monitors: Sequence[Any]):
        self._monitors = monitors
        self._last_step: int | None = None

    def begin(self) -> None:
        self._last_step = None
        self._global_step_tensor = get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        if self._last_step is None:
            self._last_step = run_context.session.run(self._global_step_tensor) + 1
        wanted: list[Any] = []
        for monitor in self._monitors:
            requests = monitor.step_begin(self._last_step)
            if requests and not isinstance(requests, list):
                raise ValueError("Monitor.step_begin should return a list.")
            wanted.extend(requests or ())
        fetches: dict[str, Any] = {"step": self._global_step_tensor}
        if wanted:
            fetches["monitors"] = {each: _as_graph_element(each) for each in wanted}
        return SessionRunArgs(fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        outputs = run_values.results.get("monitors", {})
        for monitor in self._monitors:
            if monitor.step_end(self._last_step, outputs):
                run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(self._last_step, run_context.session)
        self._last_step = run_values.results["step"] + 1

    def end(self, session: Any) -> None:
        self._last_step = None
        for monitor in self._monitors:
            if "session" in inspect.signature(monitor.end).parameters:
                monitor.end(session=session)
            else:
                monitor.end()


def replace_monitors_with_hooks(monitors_or_hooks: Any, estimator: Any) -> list[Any]:
    """Hooks, with one that runs all monitors among them, of which workers have but some."""
    given = list(monitors_or_hooks or ())
    hooks = [each for each in given if isinstance(each, SessionRunHook)]
    monitors = [each for each in given if not isinstance(each, SessionRunHook)]
    if not estimator.config.is_chief:
        monitors = [monitor for monitor in monitors if monitor.run_on_all_workers]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    return [*hooks, RunHookAdapterForMonitors(monitors)] if monitors else hooks
