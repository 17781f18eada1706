"""Assertions about arrays, tensors and nests of them: the numeric half of `tf.test.TestCase`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
from absl.testing import absltest

from penstock.ir.convert import CompositeTensor
from penstock.ir.tensor import Tensor
from penstock.ops.variables import Variable
from penstock.testing.deferred_assertions import py_func_if_in_function

_PRINTED_SIZE = 500  # elements of an array of many dimensions that a message shows


def _is_ragged(value: Any) -> bool:
    return hasattr(value, "ragged_rank") and hasattr(value, "row_splits")


def _contents_for_message(array: np.ndarray) -> bool:
    return array.ndim <= 3 or array.size < _PRINTED_SIZE


def _comparable(array: np.ndarray) -> np.ndarray:
    """An array in a type that NumPy's functions on tolerances know."""
    return array.astype(np.float32) if array.dtype == ml_dtypes.bfloat16 else array


def _where(mask: np.ndarray, *arrays: np.ndarray) -> list[np.ndarray]:
    return [array[mask] if array.ndim else array for array in arrays]


class ArrayAssertions(absltest.TestCase):
    """What a test case asserts about values; tensors among them are evaluated first."""

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors."""
        raise NotImplementedError

    # NumPy 2 subtracts a Python number from a float32 in float32, whose rounding is no difference.

    def assertAlmostEqual(
        self, first: Any, second: Any, places: int | None = None, msg: Any = None, delta: Any = None
    ) -> None:
        """Numbers agree to 7 places, or as many as given."""
        super().assertAlmostEqual(_number(first), _number(second), places, msg, delta)

    def assertNotAlmostEqual(
        self, first: Any, second: Any, places: int | None = None, msg: Any = None, delta: Any = None
    ) -> None:
        """Numbers differ within 7 places, or as many as given."""
        super().assertNotAlmostEqual(_number(first), _number(second), places, msg, delta)

    # Conversions ------------------------------------------------------------------------------

    def _GetNdArray(self, a: Any) -> np.ndarray:
        if isinstance(a, (Tensor, Variable)):
            a = self.evaluate(a)
        if isinstance(a, (list, tuple)) and any(_is_symbolic(each) for each in a):
            objects = np.empty(len(a), object)
            for number, each in enumerate(a):
                objects[number] = each
            return objects
        return a if isinstance(a, np.ndarray) else np.array(a)

    def _GetPyList(self, a: Any) -> Any:
        if isinstance(a, (Tensor, Variable, CompositeTensor)):
            a = self.evaluate(a)
        if hasattr(a, "to_list"):
            value = a.to_list()
            return self.evaluate(value) if isinstance(value, Tensor) else value
        if isinstance(a, (list, tuple)):  # of rows that may differ in length
            return [self._GetPyList(each) for each in a]
        return np.array(a).tolist()

    # Near -------------------------------------------------------------------------------------

    @py_func_if_in_function
    def assertNear(self, f1: Any, f2: Any, err: float, msg: str | None = None) -> None:
        """Two numbers differ by `err` at most."""
        f1, f2 = np.asarray(f1).item(), np.asarray(f2).item()  # an array of one number is one
        # Equal infinities have no difference.
        near = f1 == f2 or math.fabs(f1 - f2) <= err
        self.assertTrue(near, f"{f1:f} != {f2:f} +/- {err:f}{f' ({msg})' if msg else ''}")

    @py_func_if_in_function
    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: Any = None) -> None:
        """Two sequences of numbers differ by `err` at most, each from each."""
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg=msg)

    def _NDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float) -> bool:
        return bool(np.linalg.norm(ndarray1 - ndarray2) < err)

    @py_func_if_in_function
    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: Any = None) -> None:
        """The norm of the difference of two arrays is below `err`."""
        self.assertTrue(self._NDArrayNear(ndarray1, ndarray2, err), msg=msg)

    # Close ------------------------------------------------------------------------------------

    @py_func_if_in_function
    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None
    ) -> None:
        """Two arrays, tensors or nests of them are close: |a - b| <= atol + rtol * |b|."""
        if _is_ragged(a) or _is_ragged(b):
            self._assertRaggedClose(a, b, rtol, atol, msg)
        else:
            self._assertAllCloseRecursive(a, b, rtol=rtol, atol=atol, msg=msg)

    @py_func_if_in_function
    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: Any = None,
    ) -> None:
        """As `assertAllClose`, with the widest tolerance that the types of the arrays ask for."""
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        tolerances = (
            ({np.dtype(np.float32), np.dtype(np.complex64)}, float_rtol, float_atol),
            ({np.dtype(np.float16)}, half_rtol, half_atol),
            ({np.dtype(ml_dtypes.bfloat16)}, bfloat16_rtol, bfloat16_atol),
        )
        for types, type_rtol, type_atol in tolerances:
            if a.dtype in types or b.dtype in types:
                rtol, atol = max(rtol, type_rtol), max(atol, type_atol)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    @py_func_if_in_function
    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:
        """Two values are not close somewhere."""
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        msg = f": {kwargs['msg']}" if kwargs.get("msg") else ""
        raise AssertionError(f"The two values are close at all elements{msg}")

    def _assertAllCloseRecursive(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        path: list[Any] | None = None,
        msg: Any = None,
    ) -> None:
        path = path or []
        where = "".join(f"[{step}]" for step in path)
        a, b = (each._asdict() if hasattr(each, "_asdict") else each for each in (a, b))
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            raise ValueError(f"Can't compare dict to non-dict, a{where} vs b{where}. {msg or ''}")
        text = f"Mismatched value: a{where} is different from b{where}. {msg or ''}"
        if isinstance(a, Mapping):
            keys = f"a{where} has keys {a.keys()}, but b{where} has keys {b.keys()}"
            self.assertCountEqual(a, b, msg=f"mismatched keys: {keys}. {msg or ''}")
            for key in a:
                self._assertAllCloseRecursive(a[key], b[key], rtol, atol, [*path, key], msg)
        elif isinstance(a, (list, tuple)):
            self._assertSequencesClose(a, b, rtol, atol, path, text, msg)
        else:
            try:
                self._assertArrayLikeAllClose(a, b, rtol=rtol, atol=atol, msg=text)
            except TypeError as error:
                kinds = f"a{where} has {type(a)}, but b{where} has {type(b)}"
                raise TypeError(f"{error} : Error: {kinds}. {msg or ''}") from error

    def _assertSequencesClose(
        self, a: Any, b: Any, rtol: float, atol: float, path: list[Any], text: str, msg: Any
    ) -> None:
        # As two arrays if they are any, else entry by entry.
        try:
            arrays = self._GetNdArray(a), self._GetNdArray(b)
            if any(array.dtype == object for array in arrays):
                raise TypeError("not arrays of numbers")
            self._assertArrayLikeAllClose(*arrays, rtol=rtol, atol=atol, msg=text)
        except (ValueError, TypeError, NotImplementedError):
            where = "".join(f"[{step}]" for step in path)
            if len(a) != len(b):
                raise ValueError(
                    f"Mismatched length: a{where} has {len(a)} items, but b{where} has {len(b)} "
                    f"items. {msg or ''}"
                ) from None
            for index, (x, y) in enumerate(zip(a, b, strict=True)):
                self._assertAllCloseRecursive(x, y, rtol, atol, [*path, index], msg)

    def _assertArrayLikeAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None
    ) -> None:
        a, b = _comparable(self._GetNdArray(a)), _comparable(self._GetNdArray(b))
        contents = f" with contents {b}" if a.shape != b.shape and _contents_for_message(b) else ""
        self.assertEqual(
            a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}{contents}."
        )
        if np.allclose(a, b, rtol=rtol, atol=atol):
            return
        with np.errstate(all="ignore"):
            far = (np.abs(a - b) > atol + rtol * np.abs(b)) | (np.isnan(a) != np.isnan(b))
            x, y = _where(far, a, b)
            lines = [
                str(msg),
                f"not close where = {np.where(far) if a.ndim else ()}",
                f"not close lhs = {x}",
                f"not close rhs = {y}",
                f"not close dif = {np.abs(x - y)}",
                f"not close tol = {atol + rtol * np.abs(y)}",
                f"dtype = {a.dtype}, shape = {a.shape}",
            ]
        np.testing.assert_allclose(
            a, b, rtol=rtol, atol=atol, err_msg="\n".join(lines), equal_nan=True
        )

    # Equal ------------------------------------------------------------------------------------

    @py_func_if_in_function
    def assertAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """Two arrays or tensors have the same shape and values; NaN equals NaN."""
        if _is_ragged(a) or _is_ragged(b):
            self._assertRaggedEqual(a, b, msg)
            return
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        contents = f" Contents: {b}. \n" if _contents_for_message(b) else " "
        shapes = f"Shape mismatch: expected {a.shape}, got {b.shape}.{contents}{msg or ''}"
        self.assertEqual(a.shape, b.shape, shapes)
        same = _equal_elements(a, b)
        if np.all(same):
            return
        differ = np.logical_not(same)
        x, y = _where(differ, a, b)
        lines = [
            str(msg or ""),
            f"not equal where = {np.where(differ) if a.ndim else ()}",
            f"not equal lhs = {x}",
            f"not equal rhs = {y}",
        ]
        raise AssertionError(f"Arrays are not equal\n{chr(10).join(lines)}\n x: {a!r}\n y: {b!r}")

    @py_func_if_in_function
    def assertNotAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """Two values differ somewhere."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    # Bounds -----------------------------------------------------------------------------------

    @py_func_if_in_function
    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """All elements are greater than a number."""
        self.assertGreater(np.min(self._GetNdArray(a)), comparison_target)

    @py_func_if_in_function
    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """All elements are less than a number."""
        self.assertLess(np.max(self._GetNdArray(a)), comparison_target)

    @py_func_if_in_function
    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """All elements are greater than or equal to a number."""
        self.assertGreaterEqual(np.min(self._GetNdArray(a)), comparison_target)

    @py_func_if_in_function
    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """All elements are less than or equal to a number."""
        self.assertLessEqual(np.max(self._GetNdArray(a)), comparison_target)

    @py_func_if_in_function
    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """All elements lie between two numbers; an open bound is not in the range itself."""
        target = self._GetNdArray(target)
        if target.dtype.kind not in "fiu":
            raise AssertionError(
                f"The value of {target} does not have an ordered numeric type, instead it has "
                f"type: {target.dtype}"
            )
        self._refuse(np.isnan(target), target, "are NaN")
        below = np.less_equal if open_lower_bound else np.less
        above = np.greater_equal if open_upper_bound else np.greater
        bounds = (
            f"{'(' if open_lower_bound else '['}{lower_bound}, "
            f"{upper_bound}{')' if open_upper_bound else ']'}"
        )
        outside = below(target, lower_bound) | above(target, upper_bound)
        self._refuse(outside, target, f"are outside the range {bounds}")

    def _refuse(self, mask: Any, target: np.ndarray, what: str) -> None:
        mask = np.asarray(mask)
        count = np.count_nonzero(mask)
        if count:
            subscripts = tuple(np.argwhere(mask).T) if mask.ndim else ()
            lines = self._format_subscripts(subscripts, target)
            raise AssertionError(
                f"{count} of the {target.size} element(s) {what}. Subscript(s) and value(s) of the "
                "offending elements:\n" + "\n".join(lines)
            )

    def _format_subscripts(
        self, subscripts: Any, value: np.ndarray, limit: int = 10, indent: int = 2
    ) -> list[str]:
        prefix = " " * indent
        rows = np.transpose(subscripts) if len(subscripts) else np.zeros((1, 0), int)
        lines = [f"{prefix}{row} : {value[tuple(row)]}" for row in itertools.islice(rows, limit)]
        return [*lines, f"{prefix}..."] if len(rows) > limit else lines

    @py_func_if_in_function
    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """All elements are members of a set."""
        strangers = np.setdiff1d(self._GetNdArray(target).flatten(), list(expected_set))
        if strangers.size:
            raise AssertionError(
                f"{strangers.size} unique element(s) are not in the set {expected_set}: {strangers}"
            )

    @py_func_if_in_function
    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """An array, or each of a list of them, has a type."""
        for each in target if isinstance(target, list) else [target]:
            self.assertEqual(self._GetNdArray(each).dtype, expected_dtype)

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: Any = None) -> None:
        """The static shape of a tensor is that of an array."""
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg=msg)

    # Ragged -----------------------------------------------------------------------------------

    def _assertRaggedEqual(self, a: Any, b: Any, msg: Any) -> None:
        self.assertEqual(self._GetPyList(a), self._GetPyList(b), msg)
        self._assertRaggedRanksEqual(a, b, msg)

    def _assertRaggedClose(self, a: Any, b: Any, rtol: float, atol: float, msg: Any = None) -> None:
        lists = self._GetPyList(a), self._GetPyList(b)
        self._assertListCloseRecursive(*lists, rtol, atol, msg)
        self._assertRaggedRanksEqual(a, b, msg)

    def _assertRaggedRanksEqual(self, a: Any, b: Any, msg: Any) -> None:
        if not isinstance(a, (list, tuple)) and not isinstance(b, (list, tuple)):
            first, second = (each.ragged_rank if _is_ragged(each) else 0 for each in (a, b))
            self.assertEqual(first, second, msg)

    def _assertListCloseRecursive(
        self, a: Any, b: Any, rtol: float, atol: float, msg: Any, path: str = "value"
    ) -> None:
        self.assertEqual(type(a), type(b))
        if not isinstance(a, (list, tuple)):
            self._assertAllCloseRecursive(a, b, rtol, atol, [path], msg)
            return
        self.assertEqual(len(a), len(b), f"Length differs for {path}")
        for index, (x, y) in enumerate(zip(a, b, strict=True)):
            self._assertListCloseRecursive(x, y, rtol, atol, msg, f"{path}[{index}]")


def _equal_elements(a: np.ndarray, b: np.ndarray) -> Any:
    try:
        same = a == b
    except TypeError:  # e.g. numbers and strings
        return np.zeros(a.shape, bool)
    if a.dtype.kind == "f" or a.dtype == ml_dtypes.bfloat16:
        same = same | (np.isnan(a) & np.isnan(np.asarray(b, dtype=a.dtype)))
    return same


def _is_symbolic(value: Any) -> bool:
    """Whether a value is a graph's tensor: as one of several it is compared as an object."""
    return isinstance(value, Tensor) and not value._op.graph.is_eager


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
