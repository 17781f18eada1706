"""Training on servers that run elsewhere, from one program: `DistributeConfig.remote_cluster`.

The program works for each worker of that cluster in a thread of its own, with a graph and a session
on the worker's server; for an evaluator, too. Parameter servers only serve. A strategy whose
replicas are in one graph has one session, on the first worker's server.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.distribute.clusters import normalize_cluster_spec
from penstock.distribute.coordinator import CoordinatorMode, run_distribute_coordinator
from penstock.distribute.worker_context import TaskType, get_current_worker_context
from penstock.estimator.coordinated import for_evaluation, for_training
from penstock.estimator.specs import TrainSpec


def remote_cluster_of(config: Any) -> Any:
    """The cluster that a RunConfig has this program train on; None if it has none."""
    options = config._experimental_distribute
    return None if options is None else getattr(options, "remote_cluster", None)


def is_remote(config: Any) -> bool:
    """Whether the work is other tasks', and not that of this thread for one of them."""
    return remote_cluster_of(config) is not None and get_current_worker_context() is None


def train(estimator: Any, input_fn: Any, hooks: list[Any], saving_listeners: list[Any]) -> Any:
    """Trains by replicas that are in one graph; the last loss."""

    def work(strategy: Any) -> Any:
        return for_training(estimator, strategy)._train_model(input_fn, hooks, saving_listeners)

    strategy = _checked_strategy(estimator.config)
    return _in_one_graph(estimator.config, strategy, "train", work)


def evaluate(estimator: Any, input_fn: Any, **options: Any) -> Any:
    """Evaluates by replicas that are in one graph."""

    def work(strategy: Any) -> Any:
        return for_evaluation(estimator, strategy).evaluate(input_fn, **options)

    config = estimator.config
    return _in_one_graph(config, config.eval_distribute, "evaluate", work)


def _in_one_graph(config: Any, strategy: Any, method: str, work: Callable[[Any], Any]) -> Any:
    """What `work` returns; the results of many workers could not be told apart from one."""
    if strategy.extended.experimental_between_graph:
        raise ValueError(
            f"`Estimator.{method}` API is not supported for {type(strategy).__name__} with "
            "`STANDALONE_CLIENT` mode. Use tf.estimator.train_and_evaluate."
        )
    cluster = normalize_cluster_spec(remote_cluster_of(config))
    if TaskType.EVALUATOR in cluster.jobs:
        raise ValueError(
            f"'evaluator' job is not supported by `Estimator.{method}`. Use "
            "tf.estimator.train_and_evaluate."
        )
    return run_distribute_coordinator(
        work,
        strategy,
        mode=CoordinatorMode.STANDALONE_CLIENT,
        cluster_spec=cluster,
        session_config=config.session_config,
    )


def train_and_evaluate(
    estimator: Any, train_spec: Any, eval_spec: Any, executor_class: type
) -> None:
    """Trains for all workers of the remote cluster, and evaluates if it has an evaluator."""
    config = estimator.config

    def work(strategy: Any) -> None:
        mine = for_training(estimator, strategy)
        executor_class(mine, _of_task(train_spec, mine.config.is_chief), eval_spec)._train(None)

    def evaluate(strategy: Any) -> None:
        mine = for_evaluation(estimator, strategy)
        executor_class(mine, train_spec, eval_spec).run_evaluator()

    run_distribute_coordinator(
        work,
        _checked_strategy(config),
        evaluate,
        config.eval_distribute,
        mode=CoordinatorMode.STANDALONE_CLIENT,
        cluster_spec=remote_cluster_of(config),
        session_config=config.session_config,
    )


def _checked_strategy(config: Any) -> Any:
    strategy = config.train_distribute
    if strategy is None:
        raise ValueError("A `remote_cluster` needs `train_distribute`, which says how to use it.")
    if config.cluster_spec:
        raise ValueError("Give a cluster in TF_CONFIG or as `remote_cluster`, not both.")
    return strategy


def _of_task(train_spec: Any, is_chief: bool) -> Any:
    """The hooks of a TrainSpec are the chief's: they are not made for several sessions at once."""
    return train_spec if is_chief else TrainSpec(train_spec.input_fn, train_spec.max_steps)
