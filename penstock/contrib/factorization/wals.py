"""`tf.contrib.factorization.WALSMatrixFactorization`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import penstock as tf
from penstock import logging
from penstock.contrib.factorization.factorization_ops import WALSModel
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps

__all__ = ["WALSMatrixFactorization"]


class _SweepHook(tf.train.SessionRunHook):
    """Runs sweeps over rows and columns in turn."""

    def __init__(
        self,
        is_row_sweep_var: Any,
        is_sweep_done_var: Any,
        init_op: Any,
        row_prep_ops: list[Any],
        col_prep_ops: list[Any],
        row_train_op: Any,
        col_train_op: Any,
        switch_op: Any,
    ):
        self._is_row_sweep_var = is_row_sweep_var
        self._is_sweep_done_var = is_sweep_done_var
        self._init_op = init_op
        self._row_prep_ops = row_prep_ops
        self._col_prep_ops = col_prep_ops
        self._row_train_op = row_train_op
        self._col_train_op = col_train_op
        self._switch_op = switch_op
        self._is_initialized = False

    def before_run(self, run_context: Any) -> Any:
        session = run_context.session
        is_done = session.run(self._is_sweep_done_var)
        if not self._is_initialized:
            session.run(self._init_op)
        if is_done:
            session.run(self._switch_op)
        is_row_sweep = session.run(self._is_row_sweep_var)
        if is_done or not self._is_initialized:
            logging.info("A sweep over the %s begins.", "rows" if is_row_sweep else "columns")
            for prep_op in self._row_prep_ops if is_row_sweep else self._col_prep_ops:
                session.run(prep_op)
        self._is_initialized = True
        train_op = self._row_train_op if is_row_sweep else self._col_train_op
        return tf.train.SessionRunArgs(fetches=[train_op])


class _IncrementGlobalStepHook(tf.train.SessionRunHook):
    """Counts the global step."""

    def __init__(self) -> None:
        self._counted = tf.assign_add(tf.train.get_global_step(), 1, name="global_step_incr").op

    def before_run(self, run_context: Any) -> None:
        run_context.session.run(self._counted)


class _StopAtSweepHook(tf.train.SessionRunHook):
    """Stops after so many sweeps."""

    def __init__(self, last_sweep: int):
        self._last_sweep = last_sweep

    def begin(self) -> None:
        name = WALSMatrixFactorization.COMPLETED_SWEEPS
        try:
            self._completed = tf.get_default_graph().get_tensor_by_name(f"{name}:0")
        except KeyError:
            raise RuntimeError(
                f"{name} counter should be created to use StopAtSweepHook."
            ) from None

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._completed)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results >= self._last_sweep:
            run_context.request_stop()


class _Sweeps:
    """The state of the sweeps, in variables, and the operations of each kind of sweep."""

    def __init__(self) -> None:
        self.is_row_sweep = _counter(True, "is_row_sweep")
        self.is_done = _counter(False, "is_sweep_done")
        self.completed = _counter(0, WALSMatrixFactorization.COMPLETED_SWEEPS)
        self.loss = _counter(0.0, WALSMatrixFactorization.LOSS)
        self.error = _counter(0.0, WALSMatrixFactorization.RWSE)
        tf.summary.scalar("loss", self.loss)
        tf.summary.scalar("root_weighted_squared_error", self.error)
        tf.summary.scalar("completed_sweeps", self.completed)

    def of(self, sp_input: Any, count: int, update: Callable[[Any], Any], axis: str) -> Any:
        """What begins a sweep anew, and a step of it: all rows must have been processed."""
        none_processed = tf.fill(dims=[count], value=False)
        with tf.colocate_with(none_processed):
            processed = _counter(none_processed, f"processed_{axis}")
        _, update_op, loss, regularization, weights = update(sp_input)
        indices = sp_input.indices[:, 0]
        steps = [
            update_op,
            tf.assign(self.loss, loss + regularization),
            tf.assign(self.error, tf.sqrt(loss / weights)),
        ]
        with tf.control_dependencies(steps):
            with tf.colocate_with(processed):
                marked = tf.scatter_update(
                    processed,
                    indices,
                    tf.ones_like(indices, dtype=tf.bool),
                    name=f"update_processed_{axis}_indices",
                )
            with tf.control_dependencies([marked]):
                is_done = tf.reduce_all(processed)
                train_op = tf.group(
                    tf.assign(self.is_done, is_done),
                    tf.assign_add(self.completed, tf.cast(is_done, tf.int32)),
                    name=f"{axis}_sweep_train_op",
                )
        return processed.initializer, train_op


def _counter(value: Any, name: str) -> Any:
    return tf.Variable(
        value, trainable=False, name=name, collections=[tf.GraphKeys.GLOBAL_VARIABLES]
    )


def _wals_factorization_model_function(
    features: dict[str, Any], labels: Any, mode: str, params: dict[str, Any]
) -> ModelFnOps:
    assert labels is None
    is_training = mode == ModeKeys.TRAIN
    model = WALSModel(
        params["num_rows"],
        params["num_cols"],
        params["embedding_dimension"],
        unobserved_weight=params["unobserved_weight"],
        regularization=params["regularization_coeff"],
        row_init=params["row_init"],
        col_init=params["col_init"],
        num_row_shards=params["num_row_shards"],
        num_col_shards=params["num_col_shards"],
        row_weights=params["row_weights"],
        col_weights=params["col_weights"],
        use_factors_weights_cache=params["use_factors_weights_cache_for_training"] and is_training,
        use_gramian_cache=params["use_gramian_cache_for_training"] and is_training,
    )
    if is_training:
        return _training(model, features, params)
    rows = features[WALSMatrixFactorization.INPUT_ROWS]
    cols = features[WALSMatrixFactorization.INPUT_COLS]
    project_row = features[WALSMatrixFactorization.PROJECT_ROW]
    if mode == ModeKeys.INFER:
        weights = features.get(WALSMatrixFactorization.PROJECTION_WEIGHTS)
        projection = tf.cond(
            project_row,
            lambda: model.project_row_factors(rows, False, weights),
            lambda: model.project_col_factors(cols, True, weights),
        )
        return ModelFnOps(
            mode=mode,
            predictions={WALSMatrixFactorization.PROJECTION_RESULT: projection},
            train_op=tf.no_op(),
        )
    if mode != ModeKeys.EVAL:
        raise ValueError(f"mode={mode} is not recognized.")

    def loss_of(updated: Any) -> Any:
        _, _, loss, regularization, _ = updated
        return loss + regularization

    loss = tf.cond(
        project_row,
        lambda: loss_of(model.update_row_factors(rows, False)),
        lambda: loss_of(model.update_col_factors(cols, True)),
    )
    return ModelFnOps(mode=mode, predictions={}, loss=loss, train_op=tf.no_op())


def _training(model: WALSModel, features: dict[str, Any], params: dict[str, Any]) -> ModelFnOps:
    sweeps = _Sweeps()
    reset_rows, row_train_op = sweeps.of(
        features[WALSMatrixFactorization.INPUT_ROWS],
        params["num_rows"],
        lambda entries: model.update_row_factors(entries, False),
        "rows",
    )
    reset_cols, col_train_op = sweeps.of(
        features[WALSMatrixFactorization.INPUT_COLS],
        params["num_cols"],
        lambda entries: model.update_col_factors(entries, True),
        "cols",
    )
    switched = tf.assign(sweeps.is_row_sweep, tf.logical_not(sweeps.is_row_sweep))
    switch_op = tf.group(switched, reset_rows, reset_cols, name="sweep_switch_op")
    hooks: list[Any] = [
        _SweepHook(
            sweeps.is_row_sweep,
            sweeps.is_done,
            model.worker_init,
            [model.row_update_prep_gramian_op, model.initialize_row_update_op],
            [model.col_update_prep_gramian_op, model.initialize_col_update_op],
            row_train_op,
            col_train_op,
            switch_op,
        ),
        _IncrementGlobalStepHook(),
    ]
    if params["max_sweeps"] is not None:
        hooks.append(_StopAtSweepHook(params["max_sweeps"]))
    return ModelFnOps(
        mode=ModeKeys.TRAIN,
        predictions={},
        loss=sweeps.loss,
        train_op=tf.no_op(),
        training_hooks=hooks,
    )


class WALSMatrixFactorization(Estimator):
    """An estimator that factorizes a matrix by weighted alternating least squares.

    Its features are INPUT_ROWS, a part of the matrix with some of its rows, and INPUT_COLS, one
    with some columns, transposed; PROJECT_ROW, which of both to project or evaluate; and
    PROJECTION_WEIGHTS.

    Args:
      num_rows, num_cols: the size of the matrix.
      embedding_dimension: the size of factors.
      max_sweeps: stop after so many sweeps; see `WALSModel` for the rest.
    """

    INPUT_ROWS = "input_rows"
    INPUT_COLS = "input_cols"
    PROJECT_ROW = "project_row"
    PROJECTION_WEIGHTS = "projection_weights"
    PROJECTION_RESULT = "projection"
    COMPLETED_SWEEPS = "completed_sweeps"
    LOSS = "WALS_loss"
    RWSE = "WALS_RWSE"

    def __init__(
        self,
        num_rows: int,
        num_cols: int,
        embedding_dimension: int,
        unobserved_weight: float = 0.1,
        regularization_coeff: float | None = None,
        row_init: Any = "random",
        col_init: Any = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache_for_training: bool = True,
        use_gramian_cache_for_training: bool = True,
        max_sweeps: int | None = None,
        model_dir: Any = None,
        config: Any = None,
    ):
        params = {
            "num_rows": num_rows,
            "num_cols": num_cols,
            "embedding_dimension": embedding_dimension,
            "unobserved_weight": unobserved_weight,
            "regularization_coeff": regularization_coeff,
            "row_init": row_init,
            "col_init": col_init,
            "num_row_shards": num_row_shards,
            "num_col_shards": num_col_shards,
            "row_weights": row_weights,
            "col_weights": col_weights,
            "max_sweeps": max_sweeps,
            "use_factors_weights_cache_for_training": use_factors_weights_cache_for_training,
            "use_gramian_cache_for_training": use_gramian_cache_for_training,
        }
        self._shards = {"row": num_row_shards, "col": num_col_shards}
        super().__init__(_wals_factorization_model_function, model_dir, config, params)
        if self.config is not None and self.config.num_worker_replicas > 1:
            raise ValueError("WALSMatrixFactorization must be run on a single worker replica.")

    def _factors(self, side: str) -> list[Any]:
        return [
            self.get_variable_value(f"{side}_factors_shard_{shard}")
            for shard in range(self._shards[side])
        ]

    def get_row_factors(self) -> list[Any]:
        """The factors of the rows, an array for each shard."""
        return self._factors("row")

    def get_col_factors(self) -> list[Any]:
        """The factors of the columns, an array for each shard."""
        return self._factors("col")

    def get_projections(self, input_fn: Callable[[], Any]) -> Iterator[Any]:
        """The factors of the rows or columns of an input."""
        found = self.predict(input_fn=input_fn)
        return (result[WALSMatrixFactorization.PROJECTION_RESULT] for result in found)
