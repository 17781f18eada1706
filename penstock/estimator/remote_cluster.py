"""Training on servers that run elsewhere, from one program: `DistributeConfig.remote_cluster`.

The program works for each worker of that cluster in a thread of its own, with a graph and a session
on the worker's server; for an evaluator, too. Parameter servers only serve.
"""

from __future__ import annotations

from typing import Any

from penstock.distribute.coordinator import CoordinatorMode, run_distribute_coordinator
from penstock.distribute.worker_context import get_current_worker_context
from penstock.estimator.coordinated import for_evaluation, for_training
from penstock.estimator.specs import TrainSpec


def remote_cluster_of(config: Any) -> Any:
    """The cluster that a RunConfig has this program train on; None if it has none."""
    options = config._experimental_distribute
    return None if options is None else getattr(options, "remote_cluster", None)


def check_trains_in_worker(config: Any) -> None:
    """Refuses `Estimator.train` of the program itself: each worker's own copy is to be trained."""
    if remote_cluster_of(config) is None or get_current_worker_context() is not None:
        return
    strategy = _checked_strategy(config)
    raise ValueError(
        f"`Estimator.train` API is not supported for {type(strategy).__name__} with "
        "`STANDALONE_CLIENT` mode. Use tf.estimator.train_and_evaluate."
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
    if not strategy.extended.experimental_between_graph:
        raise ValueError(
            f"In-graph multi-worker training with `{type(strategy).__name__}` is not supported."
        )
    if config.cluster_spec:
        raise ValueError("Give a cluster in TF_CONFIG or as `remote_cluster`, not both.")
    return strategy


def _of_task(train_spec: Any, is_chief: bool) -> Any:
    """The hooks of a TrainSpec are the chief's: they are not made for several sessions at once."""
    return train_spec if is_chief else TrainSpec(train_spec.input_fn, train_spec.max_steps)
