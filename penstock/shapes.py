"""Static shapes: raw tuples for the system's own use, and the public TensorShape and Dimension.

A raw shape is a tuple of sizes, None for a size not known; None alone is a shape of unknown rank.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Iterator
from typing import Any

from penstock import proto

Shape = tuple[int | None, ...] | None

# Whether entries are plain numbers; None until the program says. Tests of TensorFlow ask for it.
_TENSORSHAPE_V2_OVERRIDE: bool | None = None
LIVE_NAMES = ("_TENSORSHAPE_V2_OVERRIDE",)


def raw(shape: Any) -> Shape:
    """The raw shape of a TensorShape, a list or tuple of sizes, one size, a TensorShapeProto, or
    None.
    """
    if shape is None:
        return None
    kind = type(shape)
    if kind is TensorShape:
        return shape._dims
    if kind is tuple or kind is list:
        return tuple([_size(dim) for dim in shape])
    if kind is Dimension:
        return (shape._value,)
    if hasattr(shape, "unknown_rank"):
        return _from_proto(shape)
    if isinstance(shape, str) and shape:
        raise TypeError(
            "A string has ambiguous TensorShape, please wrap in a list or convert to an int: "
            f"{shape}"
        )
    try:
        sizes = iter(shape)
    except TypeError:
        return (_size(shape),)
    return tuple([_size(dim) for dim in sizes])


def _size(dim: Any) -> int | None:
    if dim is None:
        return None
    kind = type(dim)
    if kind is Dimension:
        return dim._value
    if kind is not int:
        dim = _whole(dim)
    if dim < 0:
        raise ValueError(f"Dimension {dim} must be >= 0")
    return dim


def _whole(value: Any) -> int:
    """The number that a size is given as: `units / 2` is a float, and "12" a text, of one."""
    try:
        return operator.index(value)
    except TypeError:
        pass
    if not isinstance(value, (numbers.Real, str, bytes)):
        raise TypeError(
            "Dimension value must be integer or None or have an __index__ method, got value "
            f"{value!r} with type {type(value)}"
        )
    number: Any = value  # a Real has __int__, which its type does not say
    whole = int(number)
    if isinstance(value, numbers.Real) and whole != value:
        raise ValueError(f"Ambiguous dimension: {value}")
    return whole


def _from_proto(shape: Any) -> Shape:
    if shape.unknown_rank:
        return None
    return tuple([None if dim.size < 0 else dim.size for dim in shape.dim])


def compatible(a: Shape, b: Shape) -> bool:
    """Whether one and the same tensor could have both shapes."""
    if a is None or b is None or a == b:
        return True
    if len(a) != len(b):
        return False
    return all(m is None or n is None or m == n for m, n in zip(a, b, strict=True))


def merge(a: Shape, b: Shape) -> Shape:
    """What two statements about one tensor's shape say together; ValueError if they differ."""
    if a is None or a == b:
        return b
    if b is None:
        return a
    if len(a) != len(b):
        raise ValueError(f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    for axis, (m, n) in enumerate(zip(a, b, strict=True)):
        if m is not None and n is not None and m != n:
            raise ValueError(
                f"Dimension {axis} in both shapes must be equal, but are {m} and {n}. Shapes are "
                f"{text(a)} and {text(b)}."
            )
    return tuple([n if m is None else m for m, n in zip(a, b, strict=True)])


def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape of an element-wise operation on two operands, by NumPy's rules."""
    if a is None or b is None:
        return None
    if a == b:
        return a
    if len(a) < len(b):
        a = (1,) * (len(b) - len(a)) + a
    else:
        b = (1,) * (len(a) - len(b)) + b
    return tuple([_broadcast_size(m, n) for m, n in zip(a, b, strict=True)])


def _broadcast_size(m: int | None, n: int | None) -> int | None:
    if m == n or n == 1:
        return m
    if m == 1:
        return n
    if m is None or n is None:
        # An unknown size meets n > 1: it is n, or 1 and stretched to n. Beside 0 it may be 0 or 1.
        known = n if m is None else m
        return known if known else None
    raise ValueError(f"Dimensions must be equal, but are {m} and {n}")


def num_elements(shape: Shape) -> int | None:
    """The number of elements; None if a size is unknown."""
    if shape is None or None in shape:
        return None
    return math.prod(shape)  # type: ignore[arg-type]


def is_full(shape: Shape) -> bool:
    """Whether the rank and every size are known."""
    return shape is not None and None not in shape


def text(shape: Shape) -> str:
    """The shape as error messages print it: `[2,?,3]`, or `<unknown>`."""
    if shape is None:
        return "<unknown>"
    return f"[{','.join('?' if size is None else str(size) for size in shape)}]"


class Dimension:
    """The size of one dimension of a shape; `value` is None where it is not known.

    Arithmetic with an unknown size gives an unknown one, a comparison with it gives None.
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = _size(value)

    @property
    def value(self) -> int | None:
        return self._value

    def is_compatible_with(self, other: Any) -> bool:
        other = _size(other)
        return self._value is None or other is None or self._value == other

    def assert_is_compatible_with(self, other: Any) -> None:
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {as_dimension(other)} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """The known one of two sizes; ValueError if both are known and differ."""
        self.assert_is_compatible_with(other)
        return Dimension(other if self._value is None else self._value)

    def _arithmetic(
        self, other: Any, apply: Callable[[int, int], int], swapped: bool = False
    ) -> Dimension:
        try:
            size = _size(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or size is None:
            return Dimension(None)
        return Dimension(apply(size, self._value) if swapped else apply(self._value, size))

    def __add__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.add)

    def __radd__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.add)

    def __sub__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.sub)

    def __rsub__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.sub, swapped=True)

    def __mul__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.mul)

    def __rmul__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.mul)

    def __floordiv__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.floordiv)

    def __rfloordiv__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.floordiv, swapped=True)

    def __mod__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.mod)

    def __rmod__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.mod, swapped=True)

    def __truediv__(self, other: Any) -> Dimension:
        raise TypeError(
            f"unsupported operand type(s) for /: 'Dimension' and '{type(other).__name__}', please "
            "use // instead"
        )

    def __rtruediv__(self, other: Any) -> Dimension:
        raise TypeError(
            f"unsupported operand type(s) for /: '{type(other).__name__}' and 'Dimension', please "
            "use // instead"
        )

    def _compare(self, other: Any, compare: Callable[[int, int], bool]) -> Any:
        size = _size(other)
        if self._value is None or size is None:
            return None
        return compare(self._value, size)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, operator.ge)

    def __eq__(self, other: object) -> Any:
        try:
            return self._compare(other, operator.eq)
        except (TypeError, ValueError):
            return NotImplemented

    def __ne__(self, other: object) -> Any:
        try:
            return self._compare(other, operator.ne)
        except (TypeError, ValueError):
            return NotImplemented

    # Equality with an unknown size is undecided, so a hash could not agree with it.
    __hash__ = None  # type: ignore[assignment]

    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]

    def __index__(self) -> int:
        return self._value  # type: ignore[return-value]

    def __bool__(self) -> bool:
        return bool(self._value)

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Dimension, (self._value,)


class TensorShape:
    """The static shape of a tensor: of unknown rank, partly known, or fully known.

    Args:
      dims: None for unknown rank, one size, or an iterable of sizes (int, None or `Dimension`).
    """

    __slots__ = ("__weakref__", "_dims")

    _dims: Shape

    def __init__(self, dims: Any) -> None:
        self._dims = raw(dims)

    @classmethod
    def _of(cls, dims: Shape) -> TensorShape:
        """Wraps a raw shape without checking it."""
        self = cls.__new__(cls)
        self._dims = dims
        return self

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None if unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        """The number of dimensions; None if unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def dims(self) -> list[Dimension] | None:
        """The dimensions; None if the rank is unknown."""
        return None if self._dims is None else [Dimension(size) for size in self._dims]

    def as_list(self) -> list[int | None]:
        """The sizes, None for unknown ones; ValueError if the rank is unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> int | None:
        """The number of elements; None if a size is unknown."""
        return num_elements(self._dims)

    def is_fully_defined(self) -> bool:
        """Whether the rank and every size are known."""
        return is_full(self._dims)

    def assert_is_fully_defined(self) -> None:
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other: Any) -> bool:
        """Whether one and the same tensor could have both shapes."""
        return compatible(self._dims, raw(other))

    def assert_is_compatible_with(self, other: Any) -> None:
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {as_shape(other)} are incompatible")

    def merge_with(self, other: Any) -> TensorShape:
        """What the two shapes say together; ValueError if they differ."""
        other = as_shape(other)
        if not compatible(self._dims, other._dims):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape._of(merge(self._dims, other._dims))

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The narrowest shape that both shapes are instances of."""
        theirs = raw(other)
        if self._dims is None or theirs is None or len(self._dims) != len(theirs):
            return TensorShape._of(None)
        pairs = zip(self._dims, theirs, strict=True)
        return TensorShape._of(tuple([m if m == n else None for m, n in pairs]))

    def concatenate(self, other: Any) -> TensorShape:
        """This shape's dimensions followed by the other's."""
        theirs = raw(other)
        if self._dims is None or theirs is None:
            return TensorShape._of(None)
        return TensorShape._of(self._dims + theirs)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def with_rank(self, rank: int | None) -> TensorShape:
        """This shape, known to have `rank` dimensions; ValueError if it has not."""
        try:
            return self.merge_with(unknown_shape(rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape; ValueError if it is known to have fewer than `rank` dimensions."""
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape; ValueError if it is known to have more than `rank` dimensions."""
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        if self._dims is not None and len(self._dims) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: Any) -> None:
        other = as_shape(other)
        if self._dims is not None and other._dims is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def as_proto(self) -> Any:
        """This shape as a TensorShapeProto."""
        if self._dims is None:
            return proto.TensorShapeProto(unknown_rank=True)
        dim = proto.TensorShapeProto.Dim
        sizes = [dim(size=-1 if size is None else size) for size in self._dims]
        return proto.TensorShapeProto(dim=sizes)

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __iter__(self) -> Iterator[Any]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims) if _TENSORSHAPE_V2_OVERRIDE else map(Dimension, self._dims)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            if self._dims is None:
                return _slice_of_unknown(key)
            return TensorShape._of(self._dims[key])
        size = None if self._dims is None else self._dims[key]
        return size if _TENSORSHAPE_V2_OVERRIDE else Dimension(size)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == raw(other)
        except TypeError:
            return NotImplemented

    def __ne__(self, other: object) -> bool:
        if self is other and self._dims is not None:
            return False
        try:
            dims = raw(other)
        except TypeError:
            return True
        if self._dims is None or dims is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        # An unknown size may be any: it is not known to be equal to another one.
        return None in self._dims or self._dims != dims

    def __hash__(self) -> int:
        return hash(self._dims)

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        unknown = "None" if _TENSORSHAPE_V2_OVERRIDE else "?"
        sizes = [unknown if size is None else str(size) for size in self._dims]
        return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"

    def __repr__(self) -> str:
        if _TENSORSHAPE_V2_OVERRIDE:
            return f"TensorShape({None if self._dims is None else list(self._dims)})"
        return f"TensorShape({self.dims})"

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self._dims,)


def enable_v2_tensorshape() -> None:
    """Lets the entries of shapes be plain numbers, None if unknown, and not `tf.Dimension`s."""
    global _TENSORSHAPE_V2_OVERRIDE
    _TENSORSHAPE_V2_OVERRIDE = True


def disable_v2_tensorshape() -> None:
    """Lets the entries of shapes be `tf.Dimension`s."""
    global _TENSORSHAPE_V2_OVERRIDE
    _TENSORSHAPE_V2_OVERRIDE = False


def _slice_of_unknown(key: slice) -> TensorShape:
    if key.step is not None:
        raise ValueError("Steps are not yet handled")
    if key.stop is None:
        return TensorShape._of(None)
    start = operator.index(key.start or 0)
    stop = operator.index(key.stop)
    if start < 0 or stop < 0:
        return TensorShape._of(None)
    return unknown_shape(max(0, stop - start))


def as_shape(shape: Any) -> TensorShape:
    """The argument as a TensorShape; one that is a TensorShape already is returned itself."""
    return shape if type(shape) is TensorShape else TensorShape(shape)


def as_dimension(value: Any) -> Dimension:
    """The argument as a Dimension; one that is a Dimension already is returned itself."""
    return value if type(value) is Dimension else Dimension(value)


def unknown_shape(rank: int | None = None, *, ndims: int | None = None) -> TensorShape:
    """A shape of unknown sizes; of unknown rank too unless `rank` (or its old name) is given."""
    rank = ndims if rank is None else rank
    return TensorShape._of(None if rank is None else (None,) * rank)


def scalar() -> TensorShape:
    """The shape of a scalar."""
    return TensorShape._of(())


def vector(length: Any) -> TensorShape:
    """The shape of a vector of `length` elements."""
    return TensorShape([length])


def matrix(rows: Any, cols: Any) -> TensorShape:
    """The shape of a matrix of `rows` by `cols`."""
    return TensorShape([rows, cols])


def dimension_value(dimension: Dimension | int | None) -> Any:
    """The size that a Dimension, an int or None stands for."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """The dimension at `index`; unknown if the rank is."""
    return Dimension(None) if shape._dims is None else Dimension(shape._dims[index])
