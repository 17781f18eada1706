"""What an Estimator demands of the functions and objects that a user gives it."""

from __future__ import annotations

from typing import Any

from penstock.estimator.argument_names import fn_args
from penstock.platform import logging
from penstock.train.recording_hooks import CheckpointSaverListener
from penstock.train.session_run_hook import SessionRunHook

_MODEL_FN_ARGUMENTS = {"features", "labels", "mode", "params", "self", "config"}


def verify_model_fn_args(model_fn: Any, params: Any) -> None:
    """ValueError unless a model function has the arguments it needs, and no others."""
    names = set(fn_args(model_fn))
    if "features" not in names:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in names:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is "
            "passed to Estimator."
        )
    if params is None and "params" in names:
        logging.warn(
            "Estimator's model_fn (%s) includes params argument, but params are not passed to "
            "Estimator.",
            model_fn,
        )
    others = list(names - _MODEL_FN_ARGUMENTS)
    if others:
        raise ValueError(f"model_fn ({model_fn}) has following not expected args: {others}")


_MAY_BE_OVERRIDDEN = {
    "model_fn",
    "_create_and_assert_global_step",
    "_export_all_saved_models",
}


def check_nothing_overridden(estimator: Any, base: type) -> None:
    """A subclass makes a model; how it is trained is the same for all."""
    cls = type(estimator)
    if getattr(cls, "_may_override", False):
        return
    members = {name for name in dir(base) if not name.startswith("__")}
    overridden = [
        name
        for name in (members & set(vars(cls))) - _MAY_BE_OVERRIDDEN
        if getattr(base, name) != getattr(cls, name)
    ]
    if overridden:
        raise ValueError(
            f"Subclasses of Estimator cannot override members of Estimator. {cls} does override "
            f"{overridden}"
        )


def check_positive(name: str, count: Any) -> None:
    """ValueError unless a number of steps is None or positive."""
    if count is not None and count <= 0:
        raise ValueError(f"Must specify {name} > 0, given: {count}")


def checked_hooks(hooks: Any) -> list[Any]:
    """Hooks as a list."""
    hooks = list(hooks or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return hooks


def checked_listeners(listeners: Any) -> list[Any]:
    """Listeners of checkpoints as a list."""
    listeners = list(listeners or ())
    for listener in listeners:
        if not isinstance(listener, CheckpointSaverListener):
            raise TypeError(
                f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}"
            )
    return listeners
