"""Tests of a linear operator against the matrix that it stands for.

A test class says how to make both (`operator_and_matrix`); `add_tests` gives it a test for every
method of operators, shape, type, adjoint or not, with known and with unknown shapes.
"""

from __future__ import annotations

import abc
import itertools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from penstock import dtypes, linalg
from penstock.autodiff.gradients import gradients
from penstock.ir.graph import Graph
from penstock.linear_operators.batches import matrix_solve_with_broadcast
from penstock.ops.aggregates import trace
from penstock.ops.casts import cast
from penstock.ops.diagonals import matrix_diag_part
from penstock.ops.filling import ones
from penstock.ops.joining import concat
from penstock.ops.matmul import matmul
from penstock.testing.random_matrices import (
    random_normal,
    random_normal_correlated_columns,
    random_positive_definite_matrix,
    random_sign_uniform,
    random_tril_matrix,
    random_uniform,
)
from penstock.testing.test_case import SEED, TensorFlowTestCase

__all__ = [
    "CheckTapeSafeSkipOptions",
    "LinearOperatorDerivedClassTest",
    "NonSquareLinearOperatorDerivedClassTest",
    "OperatorShapesInfo",
    "SquareLinearOperatorDerivedClassTest",
    "add_tests",
    "random_normal",
    "random_normal_correlated_columns",
    "random_positive_definite_matrix",
    "random_sign_uniform",
    "random_tril_matrix",
    "random_uniform",
]

_TOLERANCE = {
    dtypes.float16: 1e-3,
    dtypes.float32: 1e-6,
    dtypes.float64: 1e-12,
    dtypes.complex64: 1e-6,
    dtypes.complex128: 1e-12,
}


class OperatorShapesInfo:
    """The shape of an operator, with what else its test wants to know."""

    def __init__(self, shape: Any, **kwargs: Any):
        self.shape = shape
        self.__dict__.update(kwargs)


class CheckTapeSafeSkipOptions:
    """Methods whose gradients `check_tape_safe` may pass over."""

    DETERMINANT = "determinant"
    DIAG_PART = "diag_part"
    LOG_ABS_DETERMINANT = "log_abs_determinant"
    TRACE = "trace"


class LinearOperatorDerivedClassTest(TensorFlowTestCase, metaclass=abc.ABCMeta):
    """Base of the tests of one kind of operator."""

    _atol: ClassVar[dict[Any, float]] = dict(_TOLERANCE)
    _rtol: ClassVar[dict[Any, float]] = dict(_TOLERANCE)

    def assertAC(self, x: Any, y: Any) -> None:
        """Asserts that values are as close as their type allows."""
        dtype = dtypes.as_dtype(x.dtype)
        self.assertAllClose(x, y, atol=self._atol[dtype], rtol=self._rtol[dtype])

    @staticmethod
    def adjoint_options() -> list[bool]:
        return [False, True]

    @staticmethod
    def adjoint_arg_options() -> list[bool]:
        return [False, True]

    @staticmethod
    def dtypes_to_test() -> list[Any]:
        return [dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128]

    @staticmethod
    def use_placeholder_options() -> list[bool]:
        return [False, True]

    @staticmethod
    def operator_shapes_infos() -> list[OperatorShapesInfo]:
        """The shapes to test."""
        raise NotImplementedError("operator_shapes_infos has not been implemented.")

    @abc.abstractmethod
    def operator_and_matrix(
        self,
        shapes_info: Any,
        dtype: Any,
        use_placeholder: bool,
        ensure_self_adjoint_and_pd: bool = False,
    ) -> tuple[Any, Any]:
        """An operator and its matrix, as a tensor."""

    @abc.abstractmethod
    def make_rhs(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        """The right side of a system of equations."""

    @abc.abstractmethod
    def make_x(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        """What the operator is multiplied with."""

    @staticmethod
    def skip_these_tests() -> list[str]:
        """Names of tests, without `test_`, that the operator has not."""
        return []

    def assertRaisesError(self, msg: str) -> Any:
        """Asserts that a step fails with a message."""
        return self.assertRaisesOpError(msg)

    def check_tape_safe(self, operator: Any, skip_options: Any = None) -> None:
        """Asserts that what operators compute has gradients by all of the operator's variables."""
        if not operator.variables:
            raise AssertionError("`operator.variables` was empty")
        for value in _differentiable_values(operator, skip_options or ()):
            for gradient in gradients(value, list(operator.variables)):
                self.assertIsNotNone(gradient)


def _differentiable_values(operator: Any, skipped: Any) -> Iterator[Any]:
    """What an operator can compute, as far as its hints say."""
    yield operator.to_dense()
    yield operator.adjoint().to_dense()
    x = cast(ones(operator.H.shape_tensor()[:-1]), operator.dtype)
    yield operator.matvec(x)
    if not operator.is_square:
        return
    for method in ("determinant", "log_abs_determinant", "diag_part", "trace"):
        if method not in skipped:
            yield getattr(operator, method)()
    if operator.is_non_singular is False:
        return
    yield operator.inverse().to_dense()
    yield operator.solvevec(x)
    if operator.is_self_adjoint and operator.is_positive_definite:
        yield operator.cholesky().to_dense()


# What is compared: each gives the operator's value and the matrix's -----------------------------

Pair = tuple[Any, Any]


def _to_dense(operator: Any, matrix: Any) -> Pair:
    return operator.to_dense(), matrix


def _det(operator: Any, matrix: Any) -> Pair:
    return operator.determinant(), linalg.det(matrix)


def _log_abs_det(operator: Any, matrix: Any) -> Pair:
    return operator.log_abs_determinant(), linalg.slogdet(matrix)[1]


def _trace(operator: Any, matrix: Any) -> Pair:
    return operator.trace(), trace(matrix)


def _add_to_tensor(operator: Any, matrix: Any) -> Pair:
    return operator.add_to_tensor(2 * matrix), 3 * matrix


def _diag_part(operator: Any, matrix: Any) -> Pair:
    return operator.diag_part(), matrix_diag_part(matrix)


def _inverse(operator: Any, matrix: Any) -> Pair:
    return operator.inverse().to_dense(), linalg.inv(matrix)


def _cholesky(operator: Any, matrix: Any) -> Pair:
    return operator.cholesky().to_dense(), linalg.cholesky(matrix)


_UNARY: dict[str, Callable[[Any, Any], Pair]] = {
    "add_to_tensor": _add_to_tensor,
    "cholesky": _cholesky,
    "det": _det,
    "diag_part": _diag_part,
    "inverse": _inverse,
    "log_abs_det": _log_abs_det,
    "to_dense": _to_dense,
    "trace": _trace,
}
#: Name of the test, the operator's method, and whether its argument has the operator's batch.
_WITH_ARGUMENT = {
    "matmul": ("matmul", True),
    "matmul_with_broadcast": ("matmul", True),
    "solve": ("solve", True),
    "solve_with_broadcast": ("solve", False),
}


def _unary_test(name: str, info: Any, dtype: Any, use_placeholder: bool) -> Callable[[Any], None]:
    def test(self: Any) -> None:
        with self.session(graph=Graph()) as session:
            session.graph.seed = SEED
            more = {"ensure_self_adjoint_and_pd": True} if name == "cholesky" else {}
            operator, matrix = self.operator_and_matrix(
                info, dtype, use_placeholder=use_placeholder, **more
            )
            actual, expected = _UNARY[name](operator, matrix)
            _compare(self, session, actual, expected, not use_placeholder)

    return test


def _binary_test(
    name: str, info: Any, dtype: Any, use_placeholder: bool, adjoint: bool, adjoint_arg: bool
) -> Callable[[Any], None]:
    method, with_batch = _WITH_ARGUMENT[name]

    def test(self: Any) -> None:
        if not with_batch and len(info.shape) <= 2:
            return  # the same as the test with a batch
        with self.session(graph=Graph()) as session:
            session.graph.seed = SEED
            operator, matrix = self.operator_and_matrix(
                info, dtype, use_placeholder=use_placeholder
            )
            make = self.make_x if method == "matmul" else self.make_rhs
            argument = make(operator, adjoint=adjoint, with_batch=with_batch)
            given = linalg.adjoint(argument) if adjoint_arg else argument
            actual = getattr(operator, method)(given, adjoint=adjoint, adjoint_arg=adjoint_arg)
            if method == "matmul":
                expected = matmul(matrix, argument, adjoint_a=adjoint)
            else:
                expected = matrix_solve_with_broadcast(matrix, argument, adjoint=adjoint)
            _compare(self, session, actual, expected, not use_placeholder)

    return test


def _compare(self: Any, session: Any, actual: Any, expected: Any, shapes_known: bool) -> None:
    if shapes_known:
        self.assertAllEqual(expected.shape, actual.shape)
    actual_value, expected_value = session.run([actual, expected])
    self.assertAC(actual_value, expected_value)


def add_tests(test_cls: Any) -> None:
    """Gives a class the tests of all methods, but for those that it skips."""
    skipped = test_cls.skip_these_tests()
    for dtype, use_placeholder, info in itertools.product(
        test_cls.dtypes_to_test(),
        test_cls.use_placeholder_options(),
        test_cls.operator_shapes_infos(),
    ):
        variant = f"_shape={info.shape},dtype={dtype},use_placeholder={use_placeholder}"
        for name in _UNARY.keys() - skipped:
            test = _unary_test(name, info, dtype, use_placeholder)
            _add_test(test_cls, f"test_{name}_{variant}", test)
        for name in _WITH_ARGUMENT.keys() - skipped:
            for adjoint, adjoint_arg in itertools.product(
                test_cls.adjoint_options(), test_cls.adjoint_arg_options()
            ):
                test = _binary_test(name, info, dtype, use_placeholder, adjoint, adjoint_arg)
                full = f"test_{name}_{variant},adjoint={adjoint},adjoint_arg={adjoint_arg}"
                _add_test(test_cls, full, test)


def _add_test(test_cls: Any, name: str, test: Callable[[Any], None]) -> None:
    if hasattr(test_cls, name):
        raise RuntimeError(f"Test {name} defined more than once")
    test.__name__ = name
    setattr(test_cls, name, test)


# Shapes -----------------------------------------------------------------------------------------


def _argument(operator: Any, size: Any, size_tensor: Callable[[], Any], with_batch: bool) -> Any:
    """A random argument with `size` rows, of one column or two."""
    columns = 1 if operator.tensor_rank is None or operator.tensor_rank % 2 else 2
    shape: Any
    if operator.shape.is_fully_defined():
        shape = [*(operator.batch_shape.as_list() if with_batch else ()), size.value, columns]
    else:
        shape = [size_tensor(), columns]
        if with_batch:
            shape = concat((operator.batch_shape_tensor(), shape), 0)
    return random_normal(shape, dtype=operator.dtype)


class SquareLinearOperatorDerivedClassTest(LinearOperatorDerivedClassTest, metaclass=abc.ABCMeta):
    """Base of the tests of a square operator."""

    @staticmethod
    def operator_shapes_infos() -> list[OperatorShapesInfo]:
        shapes = [(0, 0), (1, 1), (1, 3, 3), (3, 4, 4), (2, 1, 4, 4)]
        return [OperatorShapesInfo(shape) for shape in shapes]

    def make_rhs(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        return self.make_x(operator, adjoint=not adjoint, with_batch=with_batch)

    def make_x(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        size = operator.domain_dimension
        return _argument(operator, size, operator.domain_dimension_tensor, with_batch)


class NonSquareLinearOperatorDerivedClassTest(
    LinearOperatorDerivedClassTest, metaclass=abc.ABCMeta
):
    """Base of the tests of an operator with other numbers of rows than of columns."""

    @staticmethod
    def skip_these_tests() -> list[str]:
        return ["cholesky", "inverse", "solve", "solve_with_broadcast", "det", "log_abs_det"]

    @staticmethod
    def operator_shapes_infos() -> list[OperatorShapesInfo]:
        shapes = [(2, 1), (1, 2), (1, 3, 2), (3, 3, 4), (2, 1, 2, 4)]
        return [OperatorShapesInfo(shape) for shape in shapes]

    def make_rhs(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        raise NotImplementedError("a system that is not square is not solved")

    def make_x(self, operator: Any, adjoint: bool, with_batch: bool = True) -> Any:
        side = "range" if adjoint else "domain"
        size = getattr(operator, f"{side}_dimension")
        size_tensor = getattr(operator, f"{side}_dimension_tensor")
        return _argument(operator, size, size_tensor, with_batch)
