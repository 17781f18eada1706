"""`TransformGraph`: changes of a GraphDef that are named in a line of text."""

import numpy as np
import pytest

import penstock as tf
from penstock.tools.graph_transforms import TransformGraph
from penstock.tools.graph_transforms.request import requests

IMAGE = np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2) / 32


def scaled_convolution():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
        weights = tf.constant(
            np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 2, 2, 3), name="w"
        )
        conv = tf.nn.conv2d(x, weights, [1, 1, 1, 1], "SAME", name="conv")
        scaled = tf.multiply(conv, tf.constant([1.0, 2.0, 3.0], name="scale"), name="scaled")
        passed = tf.identity(tf.check_numerics(scaled, "x", name="check"), name="passed")
        factor = tf.constant(2.0, name="two") * tf.constant(3.0, name="three")
        with tf.device("/cpu:0"):
            tf.multiply(passed, factor, name="out")
        tf.constant(9.0, name="unused")
    return graph.as_graph_def()


def types(graph_def):
    return {node.name: node.op for node in graph_def.node}


def value(graph_def):
    with tf.Graph().as_default(), tf.Session() as session:
        (out,) = tf.import_graph_def(graph_def, return_elements=["out:0"], name="")
        return session.run(out, {"x:0": IMAGE})


@pytest.mark.parametrize(
    "transform",
    [
        "strip_unused_nodes",
        "remove_nodes(op=Identity, op=CheckNumerics)",
        "fold_constants(ignore_errors=true)",
        "fold_batch_norms",
        "merge_duplicate_nodes",
        "obfuscate_names",
        "sort_by_execution_order",
        "insert_logging(op=Print)",
        "remove_device remove_control_dependencies add_default_attributes",
        "fold_constants fold_batch_norms sort_by_execution_order strip_unused_nodes",
    ],
)
def test_the_result_stays(transform):
    before = scaled_convolution()
    after = TransformGraph(before, ["x"], ["out"], [transform])
    np.testing.assert_allclose(value(after), value(before), rtol=1e-5)


def test_what_is_not_between_inputs_and_outputs_is_left_out():
    transform = 'strip_unused_nodes(type=float, shape="1,4,4,3")'
    after = TransformGraph(scaled_convolution(), ["scaled"], ["out"], [transform])
    assert "conv" not in types(after)
    assert "unused" not in types(after)
    scaled = next(node for node in after.node if node.name == "scaled")
    assert scaled.op == "Placeholder"
    assert [dim.size for dim in scaled.attr["shape"].shape.dim] == [1, 4, 4, 3]


def test_nodes_that_pass_something_on_are_removed():
    after = TransformGraph(scaled_convolution(), ["x"], ["out"], ["remove_nodes(op=Identity)"])
    assert "passed" not in types(after)
    out = next(node for node in after.node if node.name == "out")
    assert out.input[0] == "check"


def test_constants_are_computed():
    after = TransformGraph(scaled_convolution(), ["x"], ["out"], ["fold_constants"])
    assert "mul" not in types(after)
    out = next(node for node in after.node if node.name == "out")
    (folded,) = [node for node in after.node if node.name == out.input[1]]
    assert tf.make_ndarray(folded.attr["value"].tensor) == 6.0


def test_shapes_that_are_known_are_constants():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        tf.reshape(x, tf.concat([tf.shape(tf.abs(x)), [1]], 0), name="out")
    after = TransformGraph(graph.as_graph_def(), ["x"], ["out"], ["fold_constants"])
    assert sorted(types(after).values()) == ["Const", "Placeholder", "Reshape"]


def test_scales_are_multiplied_into_weights():
    after = TransformGraph(scaled_convolution(), ["x"], ["out"], ["fold_batch_norms"])
    assert types(after)["scaled"] == "Conv2D"
    assert not {"conv", "scale"} & types(after).keys()


def test_normalizations_are_folded():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
        weights = tf.constant(np.ones([2, 2, 2, 3], np.float32), name="w")
        conv = tf.nn.conv2d(x, weights, [1, 1, 1, 1], "SAME")
        parameters = [tf.constant([start, 2.0, 3.0]) for start in (1.0, 0.5, 0.25, 4.0)]
        norm, _, _ = tf.nn.fused_batch_norm(conv, *parameters, is_training=False)
        tf.identity(norm, name="out")
    before = graph.as_graph_def()
    after = TransformGraph(before, ["x"], ["out"], ["fold_old_batch_norms"])
    assert "BiasAdd" in types(after).values()
    np.testing.assert_allclose(value(after), value(before), rtol=1e-5)


def test_weights_of_few_values_and_of_eight_bits():
    before = scaled_convolution()
    rounded = TransformGraph(before, ["x"], ["out"], ["round_weights(num_steps=4)"])
    weights = next(node for node in rounded.node if node.name == "w")
    np.testing.assert_allclose(
        np.unique(tf.make_ndarray(weights.attr["value"].tensor)),
        [-0.75, -0.25, 0.25, 0.75, 1.25],
        atol=1e-6,
    )
    small = TransformGraph(before, ["x"], ["out"], ["quantize_weights(minimum_size=4)"])
    assert types(small)["w"] == "Dequantize"
    assert {f"w_quantized_{part}" for part in ("const", "min", "max")} <= types(small).keys()
    np.testing.assert_allclose(value(small), value(before), atol=0.2)
    assert types(TransformGraph(before, ["x"], ["out"], ["quantize_weights"]))["w"] == "Const"


def test_equal_nodes_become_one():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
        halves = [tf.multiply(x, tf.constant(0.5)) for _ in range(2)]
        noise = [tf.random_normal([1, 4, 4, 2]) for _ in range(2)]
        tf.add_n([*halves, *noise], name="out")
    after = TransformGraph(graph.as_graph_def(), ["x"], ["out"], ["merge_duplicate_nodes"])
    found = list(types(after).values())
    assert (found.count("Mul"), found.count("RandomStandardNormal")) == (3, 2)


def test_names():
    before = scaled_convolution()
    short = TransformGraph(before, ["x"], ["out"], ["obfuscate_names"])
    assert [node.name for node in short.node][:3] == ["x", "0", "1"]
    assert "out" in types(short)
    other = "rename_op(old_op_name=Conv2D, new_op_name=Other)"
    assert types(TransformGraph(before, ["x"], ["out"], [other]))["conv"] == "Other"
    renamed = "rename_attribute(old_attribute_name=T, new_attribute_name=U, op_name=Identity)"
    after = TransformGraph(before, ["x"], ["out"], [renamed, "remove_attribute(attribute_name=T)"])
    attrs = {node.name: set(node.attr) for node in after.node}
    assert attrs["passed"] == {"U"}
    assert attrs["out"] == set()


def test_devices():
    before = scaled_convolution()
    transforms = ['set_device(device="/gpu:0", if_default=true)']
    after = {n.name: n.device for n in TransformGraph(before, ["x"], ["out"], transforms).node}
    assert (after["conv"], after["out"]) == ("/gpu:0", "/device:CPU:0")
    after = TransformGraph(before, ["x"], ["out"], ["remove_device"])
    assert {node.device for node in after.node} == {""}


def test_what_nodes_give_is_printed(capfd):
    transforms = ['insert_logging(op=Mul, show_op=true, show_name=true, message="seen ")']
    after = TransformGraph(scaled_convolution(), ["x"], ["out"], transforms)
    printed = next(node for node in after.node if node.name == "scaled__print__")
    assert list(printed.input) == ["scaled:0", "scaled:0"]
    assert next(n for n in after.node if n.name == "check").input == ["scaled__print__:0"]
    value(after)
    assert ";Mul;;scaled__print__;seen [" in capfd.readouterr().err


def test_old_concatenations_take_the_dimension_first():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 2], name="x")
        tf.concat([x, x], 1, name="out")
    after = TransformGraph(graph.as_graph_def(), ["x"], ["out"], ["backport_concatv2"])
    out = next(node for node in after.node if node.name == "out")
    assert (out.op, list(out.input)) == ("Concat", ["out/axis", "x", "x"])


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        ("nonsense", "Transform 'nonsense' not recognized"),
        ("rename_op(old_op_name=a)", "rename_op expects exactly one 'old_op_name'"),
        ("remove_nodes", "remove_nodes expects at least one 'op'argument"),
        ("round_weights(num_steps=a)", "Couldn't interpret the num_steps argument as a number:a"),
        ("round_weights(num_steps=1, num_steps=2)", "but found 2 occurrences"),
        ("fold_constants(clear_output_shapes=x)", "as a boolean:x"),
        ("remove_nodes(op Identity)", "Looking for =, but found"),
        ("remove_nodes(op=a,)", "Looking for parameter name, but found"),
        ("remove_device,remove_device", "Looking for transform name, but found"),
    ],
)
def test_what_is_wrong_with_a_transform(transform, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        TransformGraph(scaled_convolution(), ["x"], ["out"], [transform])


def test_an_output_that_is_not_there():
    graph_def = scaled_convolution()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input node other not found"):
        TransformGraph(graph_def, ["x"], ["other"], ["strip_unused_nodes"])
    same = TransformGraph(graph_def, ["x"], ["other"], ["strip_unused_nodes(ignore_errors=true)"])
    assert same == graph_def


def test_the_text_of_transforms():
    found = requests('a b(c=1, d="x y", c=-2.5) e()f(', ["x"], ["y"])
    assert [(each.name, each.arguments) for each in found] == [
        ("a", {}),
        ("b", {"c": ["1", "-2.5"], "d": ["x y"]}),
        ("e", {}),
    ]
