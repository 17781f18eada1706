"""Training and evaluation of an Estimator under a `tf.distribute.Strategy`.

The model function is called once for each replica, whose batches are those of the input function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import penstock as tf
from penstock import nest
from penstock.distribute.strategy import get_loss_reduction
from penstock.distribute.variables import SyncOnReadVariable
from penstock.estimator.estimator_spec import EstimatorSpec
from penstock.estimator.input_results import parse_iterator_result
from penstock.train.session_run_hook import SessionRunHook


class _IteratorHook(SessionRunHook):
    """Starts the iterator of all replicas when the session is there."""

    def __init__(self, iterator: Any):
        self._iterator = iterator

    def begin(self) -> None:
        self._initializer = self._iterator.initialize()

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._initializer)


class MergeMetricsHook(SessionRunHook):
    """Adds up the replicas' metric variables when evaluation ends, in those of the first."""

    def begin(self) -> None:
        variables = [
            each
            for each in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
            if isinstance(each, SyncOnReadVariable)
        ]
        self._merge = tf.group(*(_merged(variable) for variable in variables))

    def end(self, session: Any) -> None:
        session.run(self._merge)


def _merged(variable: SyncOnReadVariable) -> Any:
    first, *others = variable.values
    total = tf.add_n([each.read_value() for each in variable.values])
    with tf.control_dependencies([total]):
        return tf.group(first.assign(total), *(each.assign(tf.zeros_like(each)) for each in others))


@contextmanager
def _scaling_losses(strategy: Any) -> Iterator[None]:
    """Lets optimizers divide losses that are means by the number of replicas."""
    strategy._scale_loss_for_estimator = True
    try:
        yield
    finally:
        strategy._scale_loss_for_estimator = False


def _inputs(strategy: Any, call_input_fn: Callable[[Any], Any]) -> tuple[Any, Any, list[Any]]:
    def dataset(context: Any) -> Any:
        made = call_input_fn(context)
        if not isinstance(made, tf.data.Dataset):
            raise ValueError(
                "input_fn() must return a tf.data.Dataset when using a tf.distribute.Strategy, "
                f"got {made!r}"
            )
        return made

    iterator = strategy.make_input_fn_iterator(dataset)
    return (*parse_iterator_result(iterator.get_next()), [_IteratorHook(iterator)])


def _reduction_of_loss() -> Any:
    """How the loss of all replicas is made of theirs, which optimizers may have divided."""
    if tf.get_default_graph()._is_loss_scaled_by_optimizer:
        return get_loss_reduction()
    return tf.distribute.ReduceOp.SUM


def training_spec(
    strategy: Any, call_input_fn: Callable[[Any], Any], call_model_fn: Callable[..., Any]
) -> tuple[EstimatorSpec, list[Any]]:
    """What all replicas do in a training step, and the hooks that their input needs."""
    with _scaling_losses(strategy):
        features, labels, hooks = _inputs(strategy, call_input_fn)
        each = strategy.extended.call_for_each_replica(call_model_fn, args=(features, labels))
        loss = strategy.reduce(_reduction_of_loss(), each.loss, axis=None)
    first = strategy.experimental_local_results
    spec = EstimatorSpec(
        mode=each.mode,
        loss=loss,
        train_op=strategy.group(each.train_op),
        training_hooks=[first(hook)[0] for hook in each.training_hooks],
        training_chief_hooks=[first(hook)[0] for hook in each.training_chief_hooks],
        scaffold=first(each.scaffold)[0],
    )
    return spec, hooks


def evaluation_parts(
    strategy: Any,
    call_input_fn: Callable[[Any], Any],
    call_model_fn: Callable[..., Any],
    metrics_of: Callable[[Any], Any],
) -> tuple[EstimatorSpec, Any, dict[str, Any], list[Any]]:
    """The first replica's spec, the update of all metrics, their values, and hooks."""

    def replica(features: Any, labels: Any) -> Any:
        spec = call_model_fn(features, labels)
        return spec, metrics_of(spec)

    features, labels, hooks = _inputs(strategy, call_input_fn)
    spec, (update, values) = strategy.extended.call_for_each_replica(
        replica, args=(features, labels)
    )
    local = strategy.experimental_local_results
    first = nest.map_structure(lambda each: local(each)[0], values)
    own = EstimatorSpec(
        mode=spec.mode,
        loss=local(spec.loss)[0],
        evaluation_hooks=[local(hook)[0] for hook in spec.evaluation_hooks],
        scaffold=local(spec.scaffold)[0],
    )
    return own, strategy.group(update), first, [*hooks, MergeMetricsHook()]
