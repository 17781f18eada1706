"""Op types from OpDef messages, and what the API says about them."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

import penstock as tf
from penstock.internal_paths.c_api_objects import ApiDefMap
from penstock.internal_paths.op_def_library import OpDefLibrary
from penstock.ir import registry
from penstock.proto import OpDef

_T = "attr { name: 'T' type: 'type' }"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("input_arg { name: 'a' type_attr: 'T' }", "missing attr 'T'"),
        (
            "output_arg { name: 'a' type_attr: 'T' } attr { name: 'T' type: 'int' }",
            "Attr 'T' of 'Odd' used as a type_attr but has type int",
        ),
        (
            f"input_arg {{ name: 'a' type: DT_INT32 number_attr: 'T' }} {_T}",
            "Attr 'T' of 'Odd' used as a number_attr but has type type",
        ),
        (
            f"input_arg {{ name: 'a' type: DT_INT32 type_attr: 'T' }} {_T}",
            "must have one type field not 2",
        ),
        ("output_arg { name: 'a' }", "Arg 'a' of 'Odd' must have one type field not 0"),
    ],
)
def test_an_inconsistent_signature_is_refused(text: str, message: str) -> None:
    op_def = text_format.Parse(f"name: 'Odd' {text}", OpDef())
    with pytest.raises(TypeError, match=message):
        OpDefLibrary().add_op(op_def)


def test_an_added_op_type_makes_nodes() -> None:
    text = f"name: 'MadeHere' input_arg {{ name: 'a' type_attr: 'T' }} {_T}"
    library = OpDefLibrary()
    try:
        library.add_op(text_format.Parse(text, OpDef()))
        with tf.Graph().as_default():
            node = library.apply_op("MadeHere", a=1.5)
        assert node.get_attr("T") == tf.float32
    finally:
        registry.unregister("MadeHere")


def test_a_list_with_a_value_of_no_type_is_refused() -> None:
    with tf.Graph().as_default(), pytest.raises(TypeError) as error:
        OpDefLibrary().apply_op("IdentityN", input=[tf.constant(1), None])
    assert "have types [int32, <NOT CONVERTIBLE TO TENSOR>]" in str(error.value)


def test_the_api_says_what_signatures_and_texts_say() -> None:
    known = ApiDefMap()
    assert "MatMul" in known.op_names()
    assert known.get_op_def("MatMul").name == "MatMul"
    assert list(known.get_api_def("MatMul").arg_order) == ["a", "b"]
    known.put_api_def(
        'op {\n graph_op_name: "MatMul"\n summary: "A product."\n'
        " description: <<END\nOf `a`\nand b.\nEND\n}\n"
    )
    told = known.get_api_def("MatMul")
    assert (told.summary, told.description) == ("A product.", "Of `a`\nand b.")
    assert len(told.in_arg) == 2
    with pytest.raises(ValueError, match="No entry"):
        known.get_api_def("NoSuchOp")
