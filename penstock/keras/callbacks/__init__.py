"""`tf.keras.callbacks`."""

from typing import Any

from penstock.distribute import clusters
from penstock.keras.callbacks.base import *
from penstock.keras.callbacks.checkpoints import *
from penstock.keras.callbacks.monitors import *
from penstock.keras.callbacks.tensorboard import *
from penstock.keras.callbacks.writers import *


def configured(
    model: Any,
    callbacks: Any,
    epochs: int,
    batch_size: int | None,
    steps: int | None,
    samples: int | None,
    verbose: int,
    has_validation: bool,
) -> CallbackList:
    """The callbacks of a training: the program's, and Keras' own around them."""
    if isinstance(callbacks, CallbackList):
        return callbacks
    given = callbacks if isinstance(callbacks, (list, tuple)) else [callbacks] * bool(callbacks)
    if clusters.has_worker_context() and not clusters.is_chief():
        given = [each for each in given if not getattr(each, "_chief_worker_only", None)]
    model.history = History()
    stateful = model._reported_names[1:]
    counts_steps = steps is not None or samples is None
    listed = [*given, model.history]
    if verbose:
        listed.append(ProgbarLogger("steps" if counts_steps else "samples", stateful))
    listeners = CallbackList(listed)
    listeners.set_model(model)
    names = list(model.metrics_names)
    if has_validation:
        names += [f"val_{name}" for name in model.metrics_names]
    listeners.set_params(
        {
            "batch_size": None if counts_steps else batch_size,
            "epochs": epochs,
            "steps": steps,
            "samples": steps if counts_steps else samples,
            "verbose": verbose,
            "do_validation": has_validation,
            "metrics": names,
        }
    )
    return listeners
