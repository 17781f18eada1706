"""Decompositions into eigenvectors and singular vectors.

A vector's sign, or its phase if it is complex, is open: it is the one that makes its largest entry
positive. Of equal values the vectors are open too, so that no case has them.
"""

from typing import Any

import numpy as np

from tests.ops.case import Case, array, c64, c128, f32, f64

_FULL = {"full_matrices": True}
_VALUES = {"compute_uv": False}


def _self_adjoint(x: Any) -> Any:
    return x + np.conj(np.swapaxes(x, -1, -2))


def _phases(vectors: Any) -> Any:
    """The factors that make the largest entry of each column positive."""
    if 0 in vectors.shape:
        return np.ones((*vectors.shape[:-2], 1, vectors.shape[-1]), vectors.dtype)
    # Halves of a pair may be equal in size: only a clearly larger entry comes before the first.
    sizes = np.abs(vectors)
    first = np.argmax(sizes > 0.99 * sizes.max(-2, keepdims=True), axis=-2)
    entries = np.take_along_axis(vectors, first[..., None, :], -2)
    return (np.abs(entries) / entries).astype(vectors.dtype)


def of_eigenvectors(outputs: list[Any]) -> list[Any]:
    values, vectors = outputs
    return [values, None if vectors is None else vectors * _phases(vectors)]


def _sorted(outputs: list[Any]) -> list[Any]:
    values, vectors = outputs
    order = np.lexsort((values.imag.round(6), values.real.round(6)), axis=-1)
    values = np.take_along_axis(values, order, -1)
    if vectors is None:
        return [values, None]
    vectors = np.take_along_axis(vectors, order[..., None, :], -1)
    return [values, vectors * _phases(vectors)]


def of_old_op(outputs: list[Any]) -> list[Any]:
    values, vectors = outputs[0][..., :1, :], outputs[0][..., 1:, :]
    return [np.concatenate([values, vectors * _phases(vectors)], -2)]


def of_singular_vectors(outputs: list[Any]) -> list[Any]:
    """Both vectors of a pair turn together; those beyond the pairs count by the space they span."""
    s, u, v = outputs
    count = s.shape[-1]
    phases = _phases(u[..., :count])
    pairs = [vectors[..., :count] * phases for vectors in (u, v)]
    rest = [vectors[..., count:] for vectors in (u, v)]
    spaces = [x @ np.conj(np.swapaxes(x, -1, -2)) for x in rest]
    # As many columns again as the outputs have, so that shapes are compared as they are.
    return [
        s,
        *(
            np.concatenate([pair, space[..., : x.shape[-1]]], -1)
            for pair, space, x in zip(pairs, spaces, rest, strict=True)
        ),
    ]


_SYMMETRIC = array([[2, 1, 0], [1, 3, 1], [0, 1, 5]], "float64")
_EMPTIES = np.zeros((2, 0, 0), "float64")
_NAN = array([[1, np.nan], [np.nan, 1]], "float64")

CASES = [
    Case(
        "SelfAdjointEig",
        (_SYMMETRIC,),
        expected=(
            np.concatenate([np.linalg.eigh(_SYMMETRIC)[0][None], np.linalg.eigh(_SYMMETRIC)[1]]),
        ),
        normalize=of_old_op,
        grad=False,
    ),
    Case("SelfAdjointEigV2", (_self_adjoint(f64(4, 4)),), normalize=of_eigenvectors),
    Case("SelfAdjointEigV2", (f64(2, 3, 3),), label="lower triangle", normalize=of_eigenvectors),
    Case(
        "SelfAdjointEigV2",
        (_self_adjoint(f32(2, 3, 3)),),
        label="single",
        normalize=of_eigenvectors,
        rtol=1e-4,
        atol=1e-5,
    ),
    Case(
        "SelfAdjointEigV2",
        (_self_adjoint(c128(3, 3)),),
        label="complex",
        normalize=of_eigenvectors,
        grad=False,
    ),
    Case(
        "SelfAdjointEigV2",
        (_self_adjoint(c64(2, 2, 2)),),
        label="complex single",
        normalize=of_eigenvectors,
        grad=False,
        atol=1e-5,
    ),
    Case(
        "SelfAdjointEigV2",
        (_self_adjoint(f64(2, 3, 3)),),
        {"compute_v": False},
        label="values",
        outputs=(0,),
    ),
    Case("SelfAdjointEigV2", (_EMPTIES,), label="of empty ones", grad=False),
    Case("SelfAdjointEigV2", (_NAN,), label="not a number", fails=True),
    Case("SelfAdjointEigV2", (f64(2, 3),), label="not square", fails=True),
    Case("Eig", (f64(4, 4),), {"Tout": "complex128"}, normalize=_sorted, grad=False),
    Case(
        "Eig",
        (c128(2, 3, 3),),
        {"Tout": "complex128"},
        label="complex",
        normalize=_sorted,
        grad=False,
    ),
    Case(
        "Eig",
        (f32(3, 3),),
        {"Tout": "complex64"},
        label="single",
        normalize=_sorted,
        grad=False,
        atol=1e-5,
        rtol=1e-4,
    ),
    Case(
        "Eig",
        (f64(2, 3, 3),),
        {"Tout": "complex128", "compute_v": False},
        label="values",
        outputs=(0,),
        normalize=_sorted,
        grad=False,
    ),
    Case("Eig", (f64(3),), {"Tout": "complex128"}, label="vector", fails=True),
    Case("Svd", (f64(3, 3),), normalize=of_singular_vectors),
    Case("Svd", (f64(2, 4, 3),), label="tall", normalize=of_singular_vectors),
    Case("Svd", (f64(3, 5),), label="wide", normalize=of_singular_vectors),
    # The vector beyond the pairs is open in sign: finite differences decide with ours.
    Case("Svd", (f64(4, 3),), _FULL, label="full", normalize=of_singular_vectors),
    Case("Svd", (f64(2, 5),), _FULL, label="full wide", normalize=of_singular_vectors, grad=False),
    Case(
        "Svd",
        (f32(2, 1, 3, 2),),
        label="single",
        normalize=of_singular_vectors,
        rtol=1e-4,
        atol=1e-5,
    ),
    Case("Svd", (c128(2, 4, 3),), label="complex", normalize=of_singular_vectors, grad=False),
    Case(
        "Svd",
        (c64(3, 4),),
        label="complex wide",
        normalize=of_singular_vectors,
        grad=False,
        atol=1e-5,
    ),
    Case("Svd", (f64(2, 3, 4),), _VALUES, label="values", outputs=(0,)),
    Case("Svd", (c128(3, 4),), _VALUES, label="complex values", outputs=(0,), grad=False),
    Case("Svd", (_EMPTIES,), label="of empty ones", grad=False),
    Case("Svd", (np.zeros((4, 0)),), _FULL, label="of no columns", grad=False),
    Case("Svd", (np.zeros((2, 0, 3)),), label="of no rows", grad=False),
    Case("Svd", (_NAN,), label="not a number", grad=False),
    Case("Svd", (_NAN,), _VALUES, label="values that are not numbers", outputs=(0,), grad=False),
    Case("Svd", (f64(3),), label="vector", fails=True),
]
