"""`tf.estimator.TrainSpec` and `EvalSpec`: what to train on, and what to evaluate on."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from penstock.estimator.exporters import Exporter
from penstock.train.session_run_hook import SessionRunHook


def _checked_input_fn(input_fn: Any) -> Any:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")
    return input_fn


def checked_hooks(hooks: Any) -> tuple[Any, ...]:
    """Hooks as a tuple; TypeError if something else is among them."""
    hooks = tuple(hooks or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be `SessionRunHook` instances, given: {hook}")
    return hooks


class TrainSpec(namedtuple("TrainSpec", ["input_fn", "max_steps", "hooks"])):
    """How `train_and_evaluate` trains.

    Args:
      input_fn: returns features and labels.
      max_steps: up to which global step; until the input ends by default.
      hooks: `SessionRunHook`s of all workers.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Any,
        max_steps: int | None = None,
        hooks: Any = None,
    ) -> TrainSpec:
        _checked_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(
            cls,
            input_fn,
            max_steps,
            checked_hooks(hooks),
        )


class EvalSpec(
    namedtuple(
        "EvalSpec",
        ["input_fn", "steps", "name", "hooks", "exporters", "start_delay_secs", "throttle_secs"],
    )
):
    """How `train_and_evaluate` evaluates.

    Args:
      input_fn: returns features and labels.
      steps: how many batches; until the input ends if None.
      name: tells the results of several evaluations apart.
      hooks: `SessionRunHook`s.
      exporters: one `Exporter`, or several, to call after an evaluation.
      start_delay_secs: how long an evaluator waits before it starts.
      throttle_secs: how long after an evaluation the next one starts at the earliest.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Any,
        steps: int | None = 100,
        name: str | None = None,
        hooks: Any = None,
        exporters: Any = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        _checked_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        for what, secs in (
            ("start_delay_secs", start_delay_secs),
            ("throttle_secs", throttle_secs),
        ):
            if secs < 0:
                raise ValueError(f"Must specify {what} >= 0, given: {secs}")
        return super().__new__(
            cls,
            input_fn,
            steps,
            name,
            checked_hooks(hooks),
            _checked_exporters(exporters),
            start_delay_secs,
            throttle_secs,
        )


def _checked_exporters(exporters: Any) -> tuple[Any, ...]:
    if not exporters:
        return ()
    try:
        exporters = (exporters,) if isinstance(exporters, Exporter) else tuple(exporters)
    except TypeError:
        exporters = (exporters,)
    if not all(isinstance(exporter, Exporter) for exporter in exporters):
        raise TypeError(
            "`exporters` must be an Exporter, an iterable of Exporter, or `None`, found "
            f"{exporters}."
        )
    names = [exporter.name for exporter in exporters]
    for name in names:
        if not name:
            raise ValueError(
                "An Exporter cannot have a name that is `None` or empty. All exporter names: "
                f"{names}"
            )
        if not isinstance(name, str):
            raise ValueError(f"An Exporter must have a string name. Given: {type(name)}")
    if len(set(names)) != len(names):
        raise ValueError(
            "`exporters` must have unique names. Such a name cannot be `None`. All exporter names: "
            f"{names}"
        )
    return exporters
