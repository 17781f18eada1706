"""The tests that linear operators are tested with, sums of operators, and their variables."""

from __future__ import annotations

import unittest
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.linear_operators.addition import add_operators
from penstock.testing import linear_operator_cases as cases


class DiagCases(cases.SquareLinearOperatorDerivedClassTest):
    """An operator that is right, of one shape and type."""

    factor = 1.0

    @staticmethod
    def operator_shapes_infos() -> list[cases.OperatorShapesInfo]:
        return [cases.OperatorShapesInfo((2, 3, 3))]

    @staticmethod
    def dtypes_to_test() -> list[Any]:
        return [tf.complex64]

    def operator_and_matrix(
        self,
        shapes_info: Any,
        dtype: Any,
        use_placeholder: bool,
        ensure_self_adjoint_and_pd: bool = False,
    ) -> tuple[Any, Any]:
        diag = cases.random_sign_uniform(shapes_info.shape[:-1], 1.0, 2.0, dtype)
        if ensure_self_adjoint_and_pd:
            diag = tf.cast(tf.abs(diag), dtype)
        given = tf.placeholder_with_default(diag, shape=None) if use_placeholder else diag
        hint = True if ensure_self_adjoint_and_pd else None
        operator = tf.linalg.LinearOperatorDiag(
            given, is_self_adjoint=hint, is_positive_definite=hint
        )
        return operator, self.factor * tf.matrix_diag(diag)


class WrongDiagCases(DiagCases):
    """An operator that stands for another matrix; it has the same tests."""

    factor = 1.01


cases.add_tests(DiagCases)


def _outcome(test_class: type[unittest.TestCase]) -> unittest.TestResult:
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(test_class).run(result)
    return result


WrongDiagCases.__test__ = False  # type: ignore[attr-defined] # run below


def test_a_wrong_operator_fails_every_test_that_compares() -> None:
    outcome = _outcome(WrongDiagCases)
    assert not outcome.errors
    passed = outcome.testsRun - len(outcome.failures) - len(outcome.skipped)
    assert len(outcome.failures) == 48
    assert passed == 0


def test_tests_cannot_be_added_twice() -> None:
    with pytest.raises(RuntimeError, match="defined more than once"):
        cases.add_tests(DiagCases)


def test_random_matrices_have_their_properties() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tril = cases.random_tril_matrix([4, 4], tf.float32, force_well_conditioned=True)
        definite = cases.random_positive_definite_matrix([3, 3], tf.complex64)
        correlated = cases.random_normal_correlated_columns([2, 3])
        values = session.run([tril, definite, correlated])
    assert np.array_equal(np.tril(values[0]), values[0])
    assert (np.abs(np.diag(values[0])) >= 1.0).all()
    np.testing.assert_allclose(values[1], values[1].conj().T, rtol=1e-6)
    assert (np.linalg.eigvalsh(values[1]) > 0).all()
    assert values[2].shape == (2, 3)
    with pytest.raises(ValueError, match="at least length 2"):
        cases.random_normal_correlated_columns([2])


def test_variables_of_operators() -> None:
    with tf.Graph().as_default():
        variable = tf.Variable([2.0, 3.0])
        diag = tf.linalg.LinearOperatorDiag(variable)
        assert diag.variables == diag.trainable_variables == (variable,)
        assert tf.linalg.LinearOperatorComposition([diag, diag]).variables == (variable,)
        DiagCases("check_tape_safe").check_tape_safe(diag)
        with pytest.raises(AssertionError, match="was empty"):
            DiagCases("check_tape_safe").check_tape_safe(tf.linalg.LinearOperatorDiag([1.0]))


def test_sums_keep_their_structure() -> None:
    diag, identity = tf.linalg.LinearOperatorDiag, tf.linalg.LinearOperatorIdentity
    triangular = tf.linalg.LinearOperatorLowerTriangular
    with tf.Graph().as_default(), tf.Session() as session:
        for operators, kind, expected in (
            ([identity(2), identity(2)], "ScaledIdentity", [[2, 0], [0, 2]]),
            ([identity(2), diag([1.0, 2.0])], "Diag", [[2, 0], [0, 3]]),
            ([diag([1.0, 2.0]), triangular([[1.0, 0.0], [5.0, 1.0]])], "LowerTriangular", None),
        ):
            (total,) = add_operators(operators)
            assert type(total).__name__ == f"LinearOperator{kind}"
            if expected is not None:
                assert session.run(total.to_dense()).tolist() == expected
    definite = diag([1.0], is_positive_definite=True)
    assert add_operators([definite, definite])[0].is_positive_definite


def test_operators_that_cannot_be_added() -> None:
    diag = tf.linalg.LinearOperatorDiag
    with pytest.raises(ValueError, match="same domain dimension"):
        add_operators([diag([1.0]), diag([1.0, 2.0])])
    with pytest.raises(TypeError, match="only LinearOperator instances"):
        add_operators([1.0])
    with pytest.raises(ValueError, match="at least one operator"):
        add_operators([])
