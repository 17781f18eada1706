"""Operators that are made of several: products, block diagonals, Kronecker products."""

from __future__ import annotations

import functools
import operator as operators_of_python
from collections.abc import Callable, Sequence
from typing import Any

from penstock import errors
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.linear_operators import batches, hints
from penstock.linear_operators.operator import Hint, LinearOperator
from penstock.ops import array, casts
from penstock.ops.control import group
from penstock.ops.decompositions import adjoint as adjoint_of
from penstock.shapes import TensorShape


class _Joined(LinearOperator):
    """What is made of a list of operators."""

    def __init__(
        self, operators: Sequence[LinearOperator], between: str, name: str | None, **given: Hint
    ):
        if not operators:
            raise ValueError(f"Expected a non-empty list of operators. Found: {operators}")
        self._operators = list(operators)
        dtype = hints.common_type(self._operators)
        parents = [parent for operator in operators for parent in operator.graph_parents]
        name = name or between.join(operator.name for operator in operators)
        with name_scope(name, values=parents):
            super().__init__(dtype=dtype, graph_parents=parents, name=name, **given)

    @property
    def operators(self) -> list[LinearOperator]:
        """The operators that this one is made of."""
        return self._operators

    def _joint_batch_shape(self) -> TensorShape:
        shapes = (operator.batch_shape for operator in self.operators)
        return functools.reduce(array.broadcast_static_shape, shapes)

    def _joint_batch_shape_tensor(self) -> Any:
        shapes = (operator.batch_shape_tensor() for operator in self.operators)
        return functools.reduce(array.broadcast_dynamic_shape, shapes)

    def _over_all(self, combine: Callable[[Any, Any], Any], method: str) -> Any:
        return functools.reduce(combine, (getattr(entry, method)() for entry in self.operators))

    def _all_assert(self, method: str) -> Operation:
        return group(*(getattr(operator, method)() for operator in self.operators))


class LinearOperatorComposition(_Joined):
    """The product of operators: the last one is applied first."""

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str | None = None,
    ):
        operators = _listed(operators)
        message = "The composition of non-singular operators is always non-singular."
        super().__init__(
            operators,
            "_o_",
            name,
            is_non_singular=hints.implied(operators, "is_non_singular", is_non_singular, message),
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
        )

    def _shape(self) -> TensorShape:
        for left, right in zip(self.operators, self.operators[1:], strict=False):
            left.domain_dimension.assert_is_compatible_with(right.range_dimension)
        first, last = self.operators[0], self.operators[-1]
        return self._joint_batch_shape().concatenate([first.range_dimension, last.domain_dimension])

    def _shape_tensor(self) -> Any:
        first, last = self.operators[0], self.operators[-1]
        matrix = [first.range_dimension_tensor(), last.domain_dimension_tensor()]
        return array.concat([self._joint_batch_shape_tensor(), matrix], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        first, *others = self.operators if adjoint else self.operators[::-1]
        result = first.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in others:
            result = operator.matmul(result, adjoint=adjoint)
        return result

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        first, *others = self.operators[::-1] if adjoint else self.operators
        result = first.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in others:
            result = operator.solve(result, adjoint=adjoint)
        return result

    def _determinant(self) -> Any:
        return self._over_all(operators_of_python.mul, "determinant")

    def _log_abs_determinant(self) -> Any:
        return self._over_all(operators_of_python.add, "log_abs_determinant")


def _listed(operators: Any) -> list[LinearOperator]:
    if isinstance(operators, LinearOperator) or not hasattr(operators, "__iter__"):
        raise TypeError(f"Expected a list of operators. Found: {operators}")
    return list(operators)


def _implied_by_all(
    operators: Sequence[LinearOperator], what: str, **given: Hint
) -> dict[str, Hint]:
    """The hints of a sum or product that has each property which all its operators have."""
    return {
        key: hints.implied(
            operators,
            key,
            hint,
            f"The {what} of {key.removeprefix('is_').replace('_', '-')} operators is always so.",
        )
        for key, hint in given.items()
    }


class LinearOperatorBlockDiag(_Joined):
    """Square operators as blocks along the diagonal of a matrix that is zero elsewhere."""

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = True,
        name: str | None = None,
    ):
        operators = _listed(operators)
        given = _implied_by_all(
            operators,
            "direct sum",
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
        )
        if not (is_square and all(operator.is_square for operator in operators)):
            raise ValueError("Can only represent a block diagonal of square matrices.")
        super().__init__(operators, "_ds_", name, is_square=True, **given)

    def _shape(self) -> TensorShape:
        sides = (operator.domain_dimension for operator in self.operators)
        side = functools.reduce(operators_of_python.add, sides)
        return self._joint_batch_shape().concatenate([side, side])

    def _shape_tensor(self) -> Any:
        side = self._over_all(operators_of_python.add, "domain_dimension_tensor")
        return array.concat([self._joint_batch_shape_tensor(), [side, side]], 0)

    def _blocks(self, x: Any, axis: int) -> Any:
        sizes: list[Any] = [operator.domain_dimension.value for operator in self.operators]
        if None in sizes:
            sizes = [operator.domain_dimension_tensor() for operator in self.operators]
        return array.split(x, sizes, axis=axis)

    def _by_block(self, method: str, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        blocks = self._blocks(x, -1 if adjoint_arg else -2)
        results = [
            getattr(operator, method)(block, adjoint=adjoint, adjoint_arg=adjoint_arg)
            for operator, block in zip(self.operators, blocks, strict=True)
        ]
        return array.concat(batches.broadcast_matrix_batch_dims(results), axis=-2)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._by_block("matmul", x, adjoint, adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._by_block("solve", rhs, adjoint, adjoint_arg)

    def _determinant(self) -> Any:
        return self._over_all(operators_of_python.mul, "determinant")

    def _log_abs_determinant(self) -> Any:
        return self._over_all(operators_of_python.add, "log_abs_determinant")

    def _trace(self) -> Any:
        return self._over_all(operators_of_python.add, "trace")

    def _diag_part(self) -> Any:
        columns = [array.expand_dims(entry.diag_part(), -1) for entry in self.operators]
        joined = array.concat(batches.broadcast_matrix_batch_dims(columns), axis=-2)
        return array.squeeze(joined, axis=-1)

    def _to_dense(self) -> Any:
        dense = [operator.to_dense() for operator in self.operators]
        blocks = batches.broadcast_matrix_batch_dims(dense)
        total, before, rows = self.domain_dimension_tensor(), 0, []
        for block in blocks:
            sizes: Any = array.shape(block)
            after = total - before - sizes[-1]
            rows.append(
                array.concat(
                    [
                        array.zeros(array.concat([sizes[:-1], [before]], 0), dtype=block.dtype),
                        block,
                        array.zeros(array.concat([sizes[:-1], [after]], 0), dtype=block.dtype),
                    ],
                    axis=-1,
                )
            )
            before += sizes[-1]
        matrix = array.concat(rows, axis=-2)
        matrix.set_shape(self.shape)
        return matrix

    def _assert_non_singular(self) -> Operation:
        return self._all_assert("assert_non_singular")

    def _assert_self_adjoint(self) -> Operation:
        return self._all_assert("assert_self_adjoint")

    def _assert_positive_definite(self) -> Operation:
        return self._all_assert("assert_positive_definite")


class LinearOperatorKronecker(_Joined):
    """The Kronecker product of operators."""

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: Hint = None,
        is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None,
        is_square: Hint = None,
        name: str | None = None,
    ):
        operators = _listed(operators)
        given = _implied_by_all(
            operators,
            "Kronecker product",
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
        )
        super().__init__(operators, "_x_", name, is_square=is_square, **given)

    def _shape(self) -> TensorShape:
        multiply = operators_of_python.mul
        rows = functools.reduce(multiply, (entry.range_dimension for entry in self.operators))
        cols = functools.reduce(multiply, (entry.domain_dimension for entry in self.operators))
        return self._joint_batch_shape().concatenate([rows, cols])

    def _shape_tensor(self) -> Any:
        multiply = operators_of_python.mul
        rows = self._over_all(multiply, "range_dimension_tensor")
        cols = self._over_all(multiply, "domain_dimension_tensor")
        return array.concat([self._joint_batch_shape_tensor(), [rows, cols]], 0)

    def _factor_by_factor(self, method: str, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        """Applies each operator along its own axis of the rows of `x`.

        The axis to work on is always in front; what came out of it goes to the end, behind the
        columns, so that the next one is in front.
        """
        x = adjoint_of(x) if adjoint_arg else x
        swaps = adjoint != (method == "solve")
        current, sizes = x, self._sizes(x)
        columns = sizes[-1]
        for operator in self.operators:
            axis = (
                operator.range_dimension_tensor() if swaps else operator.domain_dimension_tensor()
            )
            sizes = self._sizes(current)
            split = array.concat([sizes[:-2], [axis, sizes[-2] * sizes[-1] // axis]], 0)
            applied = getattr(operator, method)(array.reshape(current, split), adjoint=adjoint)
            current = array.matrix_transpose(applied)
        sizes = self._sizes(current)
        rows = sizes[-2] * sizes[-1] // columns
        turned = array.reshape(current, array.concat([sizes[:-2], [columns, rows]], 0))
        result = array.matrix_transpose(turned)
        if x.shape.ndims is not None:
            batch = array.broadcast_static_shape(x.shape[:-2], self.batch_shape)
            side = self.domain_dimension if swaps else self.range_dimension
            result.set_shape(batch.concatenate([side, x.shape[-1]]))
        return result

    @staticmethod
    def _sizes(x: Any) -> Any:
        return array.shape(x)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._factor_by_factor("matmul", x, adjoint, adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._factor_by_factor("solve", rhs, adjoint, adjoint_arg)

    def _times(self, operator: LinearOperator) -> Any:
        """How often an operator's determinant counts."""
        others = self.domain_dimension_tensor() // operator.domain_dimension_tensor()
        return casts.cast(others, self.dtype)

    def _determinant(self) -> Any:
        powers = (entry.determinant() ** self._times(entry) for entry in self.operators)
        return functools.reduce(operators_of_python.mul, powers)

    def _log_abs_determinant(self) -> Any:
        terms = (entry.log_abs_determinant() * self._times(entry) for entry in self.operators)
        return functools.reduce(operators_of_python.add, terms)

    def _trace(self) -> Any:
        return self._over_all(operators_of_python.mul, "trace")

    def _diag_part(self) -> Any:
        diagonal = self.operators[0].diag_part()
        for operator in self.operators[1:]:
            products = diagonal[..., :, None] * operator.diag_part()[..., None, :]
            sizes = self._sizes(products)
            diagonal = array.reshape(products, array.concat([sizes[:-2], [-1]], 0))
        return diagonal

    def _to_dense(self) -> Any:
        dense = self.operators[0].to_dense()
        for operator in self.operators[1:]:
            factor = operator.to_dense()
            products = dense[..., :, None, :, None] * factor[..., None, :, None, :]
            sizes = self._sizes(products)
            matrix = [sizes[-4] * sizes[-3], sizes[-2] * sizes[-1]]
            dense = array.reshape(products, array.concat([sizes[:-4], matrix], 0))
        dense.set_shape(self.shape)
        return dense

    def _assert_non_singular(self) -> Operation:
        self._require_square_factors("invertible")
        return self._all_assert("assert_non_singular")

    def _assert_self_adjoint(self) -> Operation:
        self._require_square_factors("self adjoint")
        return self._all_assert("assert_self_adjoint")

    def _require_square_factors(self, what: str) -> None:
        if not all(operator.is_square for operator in self.operators):
            message = f"All Kronecker factors must be square for the product to be {what}."
            raise errors.InvalidArgumentError(None, None, message)
