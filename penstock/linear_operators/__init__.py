"""Linear operators: matrices that are known by what they do, in `tf.linalg`."""

from penstock.linear_operators import rules as _rules  # noqa: F401 - registers what it has
from penstock.linear_operators.algebra import (
    RegisterAdjoint,
    RegisterCholesky,
    RegisterInverse,
    RegisterMatmul,
    RegisterSolve,
)
from penstock.linear_operators.batches import (
    assert_compatible_matrix_dimensions,
    assert_no_entries_with_modulus_zero,
    assert_zero_imag_part,
    broadcast_matrix_batch_dims,
    cholesky_solve_with_broadcast,
    matrix_solve_with_broadcast,
    matrix_triangular_solve_with_broadcast,
    shape_tensor,
)
from penstock.linear_operators.circulant import (
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
    LinearOperatorToeplitz,
)
from penstock.linear_operators.dense import (
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorHouseholder,
    LinearOperatorLowerTriangular,
)
from penstock.linear_operators.derived import LinearOperatorAdjoint, LinearOperatorInversion
from penstock.linear_operators.hints import (
    combined as use_operator_or_provided_hint_unless_contradicting,
)
from penstock.linear_operators.joined import (
    LinearOperatorBlockDiag,
    LinearOperatorComposition,
    LinearOperatorKronecker,
)
from penstock.linear_operators.low_rank_update import LinearOperatorLowRankUpdate
from penstock.linear_operators.operator import LinearOperator
from penstock.linear_operators.sized import (
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)

__all__ = [
    "LinearOperator",
    "LinearOperatorAdjoint",
    "LinearOperatorBlockDiag",
    "LinearOperatorCirculant",
    "LinearOperatorCirculant2D",
    "LinearOperatorCirculant3D",
    "LinearOperatorComposition",
    "LinearOperatorDiag",
    "LinearOperatorFullMatrix",
    "LinearOperatorHouseholder",
    "LinearOperatorIdentity",
    "LinearOperatorInversion",
    "LinearOperatorKronecker",
    "LinearOperatorLowRankUpdate",
    "LinearOperatorLowerTriangular",
    "LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz",
    "LinearOperatorZeros",
    "RegisterAdjoint",
    "RegisterCholesky",
    "RegisterInverse",
    "RegisterMatmul",
    "RegisterSolve",
    "assert_compatible_matrix_dimensions",
    "assert_no_entries_with_modulus_zero",
    "assert_zero_imag_part",
    "broadcast_matrix_batch_dims",
    "cholesky_solve_with_broadcast",
    "matrix_solve_with_broadcast",
    "matrix_triangular_solve_with_broadcast",
    "shape_tensor",
    "use_operator_or_provided_hint_unless_contradicting",
]
