"""What is said of inputs and attrs that do not fit an op type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf
from penstock.internal_paths.op_def_library import apply_op
from penstock.ops.functions import Defun
from penstock.testing import test_ops  # noqa: F401 - registers the op types


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _refused(kind: type[Exception], op_type: str, message: str, **keywords: Any) -> None:
    with pytest.raises(kind) as raised:
        apply_op(op_type, **keywords)
    assert message in str(raised.value)


def test_lists_of_one_type() -> None:
    prefix = "Tensors in list passed to 'a' of '{}' Op have types "
    _refused(
        TypeError,
        "NIntsIn",
        prefix.format("NIntsIn") + "[string, string] that do not match expected type int32.",
        a=["foo", "bar"],
    )
    _refused(
        TypeError,
        "NPolymorphicIn",
        prefix.format("NPolymorphicIn")
        + "[int32, <NOT CONVERTIBLE TO TENSOR>] that don't all match.",
        a=[38, None],
    )
    _refused(
        TypeError,
        "NInPolymorphicTwice",
        "[string, string] that do not match type int32 inferred from earlier arguments.",
        a=[1, 2],
        b=["one", "two"],
    )
    _refused(
        ValueError,
        "NInTwice",
        "List argument 'b' to 'NInTwice' Op with length 1 must match length 3 of argument 'a'.",
        a=[1, 2, 3],
        b=["too short"],
    )


def test_lists_of_several_types() -> None:
    _refused(
        TypeError,
        "TypeListTwice",
        "Input 'b' of 'TypeListTwice' Op has type list of int32, int32 that does not match type "
        "list int32, bool of argument 'a'.",
        a=[10, True],
        b=[20, 30],
    )
    _refused(
        TypeError,
        "TypeListRestrict",
        "Value passed to parameter 'a' has DataType int32 not in list of allowed values: "
        "string, bool",
        a=[True, 12],
    )


def test_attrs() -> None:
    _refused(TypeError, "Attr", "No argument for attr a")
    _refused(TypeError, "Attr", "Expected int for argument 'a' not None.", a=None)
    _refused(TypeError, "AttrBoolList", "Expected bool for argument 'a' not 0.", a=[0])
    _refused(TypeError, "OutTypeList", "Expected list for attr T", T=tf.int32)
    _refused(
        TypeError,
        "PolymorphicOut",
        "Expected DataType for argument 'T' not [tf.int32].",
        T=[tf.int32],
    )
    _refused(TypeError, "Polymorphic", "Should not specify value for inferred attr 'T'.", a=1, T=1)
    _refused(TypeError, "Simple", "No argument for input a", wrong=7)
    _refused(TypeError, "Simple", "got unexpected keyword arguments: x, y", a=6, x=1, y=2)


def test_functions_are_attrs_by_name_or_as_they_are() -> None:
    plus = Defun(tf.int32, tf.int32)(lambda x, y: x + y)
    assert apply_op("FuncAttr", f=plus).get_attr("f").name == plus.name
    assert apply_op("FuncAttr", f=plus.name).get_attr("f").name == plus.name
    _refused(TypeError, "FuncAttr", "Don't know how to convert 3 to a func for argument f", f=3)
