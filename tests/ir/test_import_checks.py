"""What an imported GraphDef may be: names, versions, devices, attrs, and what is refused how."""

import pytest
from google.protobuf import text_format

import penstock as tf
from penstock.ir import registry
from penstock.proto import OpList, TensorProto


def graph_def(text, **versions):
    message = text_format.Parse(text, tf.GraphDef())
    for key, value in versions.items():
        setattr(message.versions, key, value)
    return message


def node(name, op="NoOp", *inputs, device="", **attrs):
    lines = [f"name: '{name}' op: '{op}' device: '{device}'"]
    lines += [f"input: '{text}'" for text in inputs]
    lines += [f"attr {{ key: '{key}' value {{ {value} }} }}" for key, value in attrs.items()]
    return "node { " + " ".join(lines) + " }\n"


FLOAT = {"T": "type: DT_FLOAT"}
VECTOR = "shape { dim { size: 3 } }"
PLACEHOLDER = node("A", "Placeholder", dtype="type: DT_INT32")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def imported(text, names, **kwargs):
    return tf.import_graph_def(graph_def(text), return_elements=names, **kwargs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (node("A") + node("A"), "Node 'A' is not unique"),
        (node("a b"), "Node 'a b': Node name contains invalid characters"),
        (node("B", "NoOp", "^A"), r"Node 'B': Unknown input node '\^A'"),
        (node("B", "Neg", "A:0", **FLOAT), "Node 'B': Unknown input node 'A:0'"),
        (PLACEHOLDER + node("B", "Neg", "A:1", **FLOAT), "invalid output 1 of source node A which"),
        (
            PLACEHOLDER + node("B", "Neg", "A", **FLOAT),
            "Input 0 of node import/B was passed int32 from import/A:0 incompatible with expected "
            "float.",
        ),
        (
            PLACEHOLDER + node("B", "NoOp", "A"),
            "expected inputs '' do not match 1 inputs specified",
        ),
        (PLACEHOLDER + node("B", "Neg", "A"), "NodeDef missing attr 'T' from Op<name=Neg"),
        (
            PLACEHOLDER + node("B", "Neg", "A", T="type: DT_STRING"),
            "Value for attr 'T' of string is not in the list of allowed values: bfloat16, half",
        ),
        (node("B", "NoOp", future="i: 3"), "NodeDef mentions attr 'future' not in Op NoOp"),
        (
            PLACEHOLDER + node("B", "Neg", "^A", "A", T="type: DT_INT32"),
            "Control dependencies must come after regular dependencies",
        ),
        (
            node("B", "Neg", "C", **FLOAT) + node("C", "Neg", "B", **FLOAT),
            "2 nodes in a cycle",
        ),
        (
            node("B", _class="list { s: 'loc:@A' }"),
            "Node 'B' expects to be colocated with unknown node 'A'",
        ),
        (
            node("A", "Placeholder", dtype="type: DT_FLOAT")
            + node(
                "B", "L2Loss", "A", _output_shapes="list { shape { dim { size: 3 } } }", **FLOAT
            ),
            r"Node 'import/B' has an _output_shapes attribute inconsistent with the GraphDef for "
            r"output #0",
        ),
    ],
)
def test_what_is_refused_leaves_the_graph_as_it_was(graph, text, message):
    kept = tf.constant(1, name="kept")
    with pytest.raises(ValueError, match=message):
        tf.import_graph_def(graph_def(text))
    assert graph.get_operations() == [kept.op]
    assert kept.consumers() == []


def test_return_elements():
    for names, message in (
        (["B"], "Requested return node 'B' not found in graph def"),
        (["B:0"], "Requested return tensor 'B:0' not found in graph def"),
        (["A:1"], r"Invalid return output 1 of node 'A', which has 1 output\(s\)"),
        (["A:b:0"], "Cannot convert 'A:b:0' to a tensor name."),
    ):
        with pytest.raises(ValueError, match=message):
            imported(PLACEHOLDER, names)
    other = tf.constant(1)
    assert imported(PLACEHOLDER, ["A:0"], input_map={"A:0": other}) == [other]


def test_names_in_use_get_a_suffix(graph):
    both = node("A") + node("A/B", "NoOp", "^A")
    names = [op.name for op in imported(both, ["A", "A/B"], name="")]
    assert names == ["A", "A/B"]
    again = imported(both, ["A", "A/B"], name="")
    assert [op.name for op in again] == ["A_1", "A/B_1"]
    assert again[1].control_inputs == [again[0]]
    with tf.name_scope("scope"):
        tf.no_op()
    assert imported(node("scope"), ["scope"], name="")[0].name == "scope_1"
    with tf.name_scope("unused"):
        pass
    assert imported(node("unused"), ["unused"], name="")[0].name == "unused"
    assert imported(both, ["A"], name="A")[0].name == "A_2/A"


def test_colocation_follows_new_names():
    text = node("A") + node("B", _class="list { s: 'loc:@A' }")
    imported(text, None, name="")
    assert imported(text, ["B"], name="")[0].colocation_groups() == [b"loc:@A_1"]


def test_devices():
    text = node("A") + node("B", device="/cpu:0") + node("C", _class="list { s: 'loc:@B' }")
    with tf.device("/job:ps"):
        found = imported(text, ["A", "B", "C"])
    assert [op.device for op in found] == ["/job:ps", *["/job:ps/device:CPU:0"] * 2]
    with tf.device(lambda op: "/gpu:0" if op.name.endswith("C") else ""):
        found = imported(text, ["A", "B", "C"])
    assert [op.device for op in found] == ["", "", ""]


def test_versions(graph):
    for versions, message in (
        ({"producer": -1}, "producer version -1 below min producer 0 supported by TensorFlow"),
        ({"min_consumer": 9999}, "min consumer version 9999 above current version"),
    ):
        with pytest.raises(ValueError, match=message):
            tf.import_graph_def(graph_def("", **versions))
    tf.import_graph_def(graph_def(node("A"), producer=20, min_consumer=5))
    assert graph.graph_def_versions.producer == 20
    assert graph.as_graph_def().versions.min_consumer == 5


def test_attrs_of_a_later_release_that_hold_their_default():
    ops = text_format.Parse(
        "op { name: 'NoOp' attr { name: 'future' type: 'int' default_value { i: 3 } } }", OpList()
    )
    (op,) = imported(node("A", future="i: 3"), ["A"], producer_op_list=ops)
    assert "future" not in op.node_def.attr
    with pytest.raises(ValueError, match="mentions attr 'future'"):
        imported(node("A", future="i: 4"), ["A"], producer_op_list=ops)


def test_values_that_are_no_tensors_need_a_scope():
    with pytest.raises(ValueError, match="requires a non-empty `name`"):
        imported(PLACEHOLDER, None, input_map={"A:0": 3}, name="")
    copy = PLACEHOLDER + node("B", "Identity", "A", T="type: DT_INT32")
    (b,) = imported(copy, ["B:0"], input_map={"A:0": 3})
    with tf.Session() as session:
        assert session.run(b) == 3


def test_nodes_are_written_without_attrs_that_1_15_does_not_know(graph):
    product = tf.matmul(tf.ones([2, 2]), tf.ones([2, 2]))
    tf.gradients(product, product.op.inputs[0])
    tf.get_variable("v", [], use_resource=True)
    for made in graph.as_graph_def().node:
        assert not {"grad_a", "grad_b", "debug_name", "allowed_devices"} & set(made.attr), made.name
    with tf.Graph().as_default() as other:
        tf.import_graph_def(graph.as_graph_def(), name="")
        assert other.get_operation_by_name("MatMul").get_attr("grad_a") is False


def test_every_later_attr_is_one():
    from penstock.ir.later_attrs import LATER_ATTRS

    for op_type, key in LATER_ATTRS:
        spec = registry.find(op_type)
        assert spec is not None and spec.attrs[key].has_default, (op_type, key)


def test_lists_that_a_few_bytes_make_long(graph):
    text = PLACEHOLDER + node("B", "AddN", "A", "A", T="type: DT_INT32", N="i: {}")
    with pytest.raises(ValueError, match=r"inputs 'int32.*, … \(200 in all\)' do not match 2 inp"):
        imported(text.replace("{}", "200"), ["B"])
    with pytest.raises(ValueError, match="1048576 tensors at most"):
        imported(text.replace("{}", str(2**40)), ["B"])
    assert graph.get_operations() == []


def test_values_that_a_few_bytes_make_large():
    value = text_format.Parse(
        "dtype: DT_FLOAT tensor_shape { dim { size: 1048576 } dim { size: 1048576 } }",
        TensorProto(),
    )
    with pytest.raises(ValueError, match=r"\[1048576, 1048576\] has 0 values, .* 4398046511104 by"):
        tf.make_ndarray(value)


_TYPE = "attr { key: 'T' value { type: DT_FLOAT } }"
FUNCTION = """
    library { function {
      signature { name: 'F' input_arg { name: 'x' type: DT_FLOAT }
                  output_arg { name: 'y' type: DT_FLOAT } }
      node_def { name: 'z' op: '%s' input: '%s' %s }
      ret { key: 'y' value: '%s' }
    } }
"""


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("F", "x", "", "z:y:0"), "The function 'F' calls itself"),
        (("Neg", "w:y:0", _TYPE, "z:y:0"), "The definition of the function 'F' names 'w"),
        (("Neg", "x", _TYPE, "w:y:0"), "The definition of the function 'F' names 'w"),
        (("Neg", "x", _TYPE, "z:y:7"), "Invalid return output 7 of node 'z'"),
    ],
)
def test_functions_that_are_wrong(parts, message):
    text = FUNCTION % parts + node("A", "Placeholder", dtype="type: DT_FLOAT") + node("B", "F", "A")
    with pytest.raises(ValueError, match=message):
        imported(text, ["B:0"])
