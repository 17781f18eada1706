"""Dense tensors with values at given positions."""

from tests.ops.case import Case, array, bools, f32, f64, i64, string, strings

ZERO = array(0, "float32")


def _at(positions: object, dtype: str = "int32") -> object:
    return array(positions, dtype)


CASES = [
    Case("SparseToDense", (_at(3), _at([5]), f32(), ZERO), label="one position", grad=False),
    Case("SparseToDense", (_at([1, 3]), _at([5]), f32(2), f32()), label="vector", grad=False),
    Case("SparseToDense", (_at([[0, 1], [1, 0]]), _at([2, 2]), f64(2), f64()), label="matrix"),
    Case("SparseToDense", (_at([[0], [2]], "int64"), _at([4], "int64"), f32(2), f32())),
    Case("SparseToDense", (_at([1, 3]), _at([5]), f32(), ZERO), label="one value", grad=False),
    Case("SparseToDense", (_at([1]), _at([3]), strings("a"), string("b")), label="strings"),
    Case("SparseToDense", (_at([1]), _at([3]), bools(1), array(False, "bool")), label="bools"),
    Case("SparseToDense", (i64(0, 1, 0, 2), _at([2, 3], "int64"), f32(0), f32()), label="empty"),
    Case(
        "SparseToDense",
        (_at([3, 1]), _at([5]), f32(2), ZERO),
        {"validate_indices": False},
        label="in any order",
        grad=False,
    ),
    Case("SparseToDense", (_at([3, 1]), _at([5]), f32(2), ZERO), label="out of order", fails=True),
    Case("SparseToDense", (_at([1, 1]), _at([5]), f32(2), ZERO), label="repeated", fails=True),
    Case("SparseToDense", (_at([5]), _at([5]), f32(1), ZERO), label="beyond the end", fails=True),
    Case("SparseToDense", (_at([-1]), _at([5]), f32(1), ZERO), label="negative", fails=True),
    Case("SparseToDense", (_at([[0, 1]]), _at([5]), f32(1), ZERO), label="rank", fails=True),
    Case("SparseToDense", (_at([0, 1]), _at([5]), f32(3), ZERO), label="count", fails=True),
]
