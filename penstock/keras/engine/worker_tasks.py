"""Models whose strategy has other tasks beside this one: what of `fit` is this task's work."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import penstock as tf

Method = Callable[..., Any]


def strategy_of(model: Any) -> Any:
    """The strategy that made a model's variables, or that of this scope; None without one."""
    if model._distribution_strategy is not None:
        return model._distribution_strategy
    made_by = (getattr(v, "_distribute_strategy", None) for v in _known_weights(model))
    strategy = next((each for each in made_by if each is not None), None)
    if strategy is None and tf.distribute.has_strategy():
        return tf.distribute.get_strategy()
    return strategy


def _known_weights(model: Any) -> list[Any]:
    return list(model.weights) if model.built else []


def works_with_other_tasks(model: Any) -> bool:
    """Whether each of several tasks trains the model, of which this process is one."""
    from penstock.distribute import worker_session

    strategy = strategy_of(model)
    return strategy is not None and worker_session.works_with_others(strategy)


def in_task(method: Method) -> Method:
    """Lets a loop over data be the work of this task, where its model's strategy has others."""

    @functools.wraps(method)
    def inside(model: Any, *args: Any, **kwargs: Any) -> Any:
        strategy = strategy_of(model)
        if strategy is None:
            return method(model, *args, **kwargs)
        from penstock.distribute import worker_session

        with worker_session.task_context(strategy):
            return method(model, *args, **kwargs)

    return inside


def iterator_here(model: Any, dataset: Any) -> Any:
    """An iterator of a dataset in this task, also where the session has devices of others."""
    if model._distribution_strategy is not None or not works_with_other_tasks(model):
        return dataset.make_initializable_iterator()
    from penstock.distribute.copied_datasets import copied_dataset
    from penstock.distribute.device_names import host_of

    # The session's default device is another task's; a dataset's nodes are where its iterator is.
    with tf.device(host_of(strategy_of(model).extended.worker_devices[0])):
        copy = copied_dataset(dataset).with_options(dataset.options())
        return tf.data.make_initializable_iterator(copy)
