"""Weighted alternating least squares; the numbers are those of TensorFlow 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.factorization import WALSMatrixFactorization, WALSModel
from penstock.contrib.factorization.matrices_under_test import (
    INPUT_MATRIX,
    calculate_loss,
    np_matrix_to_tf_sparse,
    remove_empty_rows_columns,
)
from penstock.ops.matrix_factorization import masked_matmul

RANDOM = np.random.RandomState(1)
ROWS = RANDOM.randn(5, 3).astype(np.float32)
COLS = RANDOM.randn(7, 3).astype(np.float32)


def _model(row_shards: int = 1, col_shards: int = 1, **options: Any) -> WALSModel:
    return WALSModel(
        5,
        7,
        3,
        unobserved_weight=0.1,
        regularization=0.01,
        num_row_shards=row_shards,
        num_col_shards=col_shards,
        row_init=lambda: ROWS if row_shards == 1 else [ROWS[:3], ROWS[3:]],
        col_init=lambda: COLS if col_shards == 1 else [COLS[:3], COLS[3:5], COLS[5:]],
        **options,
    )


def _row_sweep(session: Any, model: WALSModel) -> None:
    for op in (model.initialize_op, model.worker_init, model.row_update_prep_gramian_op):
        session.run(op)
    session.run(model.initialize_row_update_op)


@pytest.mark.parametrize(
    ("shards", "options"),
    [
        ((1, 1), {}),
        ((2, 3), {}),
        ((1, 1), {"use_factors_weights_cache": False, "use_gramian_cache": False}),
        ((1, 1), {"row_weights": [1.0] * 5, "col_weights": [1.0] * 7}),
    ],
)
def test_a_sweep_over_rows_and_columns(shards: Any, options: Any) -> None:
    model = _model(*shards, **options)
    whole, part = (np_matrix_to_tf_sparse(INPUT_MATRIX, rows) for rows in (None, [3, 1]))
    factors, _, loss, regularization, weights = model.update_row_factors(part)
    _, update_rows, *_ = model.update_row_factors(whole)
    _, update_cols, *_ = model.update_col_factors(whole)
    with tf.Session() as session:
        _row_sweep(session, model)
        found = session.run([factors, loss, regularization, weights])
        np.testing.assert_allclose(
            found[0], [[2.794, 0.842, -5.905], [-0.52, -1.526, -1.101]], atol=1e-3
        )
        np.testing.assert_allclose(found[1:], [58.242, 1.287, 23.5], atol=2e-3)
        session.run(update_rows)
        session.run(model.col_update_prep_gramian_op)
        session.run(model.initialize_col_update_op)
        session.run(update_cols)
        cols = np.concatenate(session.run(model.col_factors))
        np.testing.assert_allclose(
            cols[4:6], [[-0.81, -0.254, -0.383], [0.053, -0.397, -0.627]], atol=1e-3
        )
        with session.as_default():
            total = calculate_loss(
                whole,
                tf.concat(model.row_factors, 0),
                tf.concat(model.col_factors, 0),
                0.01,
                0.1,
                np.ones(5, np.float32),
                np.ones(7, np.float32),
            )
        assert total == pytest.approx(2.372, abs=2e-3)


def test_weights_of_projections_and_none_at_all() -> None:
    model = _model()
    part = np_matrix_to_tf_sparse(INPUT_MATRIX, [3, 1])
    plain = model.project_row_factors(part)
    weighted = model.project_row_factors(part, projection_weights=[0.0, 1.0])
    unweighted = _model(row_weights=None, col_weights=None)
    projected = unweighted.update_row_factors(part)[0]
    with tf.Session() as session:
        _row_sweep(session, model)
        first, second = session.run([plain, weighted])
        np.testing.assert_allclose(first[1], second[1], rtol=1e-4)
        _row_sweep(session, unweighted)
        third = session.run(projected)
        np.testing.assert_allclose(third[0], [0.879, -1.029, -1.563], atol=1e-3)
    with pytest.raises(ValueError, match="Invalid weight initialization argument"):
        _model(row_weights=-1, col_weights=-1)


def test_the_estimator_sweeps_in_turns(tmp_path: Any) -> None:
    def input_fn(project_row: bool = True) -> Any:
        features = {
            WALSMatrixFactorization.INPUT_ROWS: np_matrix_to_tf_sparse(INPUT_MATRIX),
            WALSMatrixFactorization.INPUT_COLS: np_matrix_to_tf_sparse(
                INPUT_MATRIX, transpose=True
            ),
            WALSMatrixFactorization.PROJECT_ROW: tf.constant(project_row),
        }
        return features, None

    estimator = WALSMatrixFactorization(
        5,
        7,
        3,
        unobserved_weight=0.1,
        regularization_coeff=0.01,
        row_init=[ROWS],
        col_init=[COLS],
        model_dir=str(tmp_path),
        max_sweeps=4,
    )
    estimator.fit(input_fn=input_fn, steps=50)
    np.testing.assert_allclose(estimator.get_row_factors()[0][0], [-0.168, 0.043, -0.57], atol=2e-3)
    found = estimator.evaluate(input_fn=input_fn, steps=1)
    assert found["global_step"] == 4 and found["loss"] == pytest.approx(1.109, abs=2e-3)
    projected = list(estimator.get_projections(lambda: input_fn(False)))
    assert len(projected) == 7 and projected[0].shape == (3,)


def test_elements_of_products() -> None:
    a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    found = masked_matmul(a, a, [[0, 1], [1, 0]], False, True)
    transposed = masked_matmul(a, a, [[0, 1], [1, 0]], True, False)
    outside = masked_matmul(a, a, [[0, 2]], False, True)
    with tf.Session() as session:
        assert session.run(found).tolist() == [11.0, 11.0]
        assert session.run(transposed).tolist() == [14.0, 14.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="outside of the product"):
            session.run(outside)


def test_matrices_without_empty_rows() -> None:
    matrix = np.array([[1, 0, 2], [0, 0, 0]])
    left, rows, cols = remove_empty_rows_columns(matrix)
    assert (left.tolist(), rows.tolist(), cols.tolist()) == ([[1, 2]], [0], [0, 2])
    shuffled = np_matrix_to_tf_sparse(matrix, shuffle=True)
    with tf.Session() as session:
        found = session.run(shuffled)
    assert dict(zip(map(tuple, found.indices.tolist()), found.values.tolist(), strict=True)) == {
        (0, 0): 1.0,
        (0, 2): 2.0,
    }
