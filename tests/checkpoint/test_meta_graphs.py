"""Graphs with their collections, contexts and savers, to files and back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ir.collection_protos import (
    get_collection_proto_type,
    get_from_proto_function,
    get_to_proto_function,
    register_proto_function,
)
from penstock.proto import CollectionDef, SaverDef


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def _model() -> Any:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", [2, 3])
    b = tf.get_variable("b", [3], use_resource=True, trainable=False)
    return tf.add(tf.matmul(x, w), b, name="y")


@pytest.mark.parametrize("as_text", [False, True])
def test_a_model_goes_on_in_another_graph(tmp_path: Path, as_text: bool) -> None:
    y = _model()
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "model"))
        saver.export_meta_graph(f"{path}.meta", as_text=as_text)
        expected = session.run(y, {"x:0": [[1.0, 2.0]]})
    with tf.Graph().as_default(), tf.Session() as session:
        imported = tf.train.import_meta_graph(f"{path}.meta")
        assert [v.name for v in tf.global_variables()] == ["w:0", "b:0"]
        assert [v.name for v in tf.trainable_variables()] == ["w:0"]
        assert tf.trainable_variables()[0] is tf.global_variables()[0]
        imported.restore(session, path)
        np.testing.assert_array_equal(session.run("y:0", {"x:0": [[1.0, 2.0]]}), expected)


def test_gradients_of_an_imported_loop() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    result = tf.while_loop(
        lambda i, a: i < 3,
        lambda i, a: (i + 1, tf.cond(a > 1, lambda: a * 2, lambda: a + 1)),
        [0, x],
    )[1]
    message = tf.train.export_meta_graph()
    with tf.Session() as session:
        expected = session.run([result, tf.gradients(result, x)[0]], {x: 0.5})
    with tf.Graph().as_default() as graph, tf.Session() as session:
        for scope in ("one", "two"):
            tf.train.import_meta_graph(message, import_scope=scope)
        for scope in ("one", "two"):
            x = graph.get_tensor_by_name(f"{scope}/x:0")
            result = graph.get_tensor_by_name(f"{scope}/while/Exit_1:0")
            got = session.run([result, tf.gradients(result, x)[0]], {x: 0.5})
            assert got == expected


def test_collections_of_plain_values() -> None:
    tf.add_to_collection("numbers", 3)
    tf.add_to_collection("fractions", 1.5)
    tf.add_to_collection("texts", "text")
    tf.add_to_collection("nodes", tf.constant(1.0, name="c"))
    tf.add_to_collection("nodes", tf.no_op(name="n"))
    tf.add_to_collection("anything", object())
    message = tf.train.export_meta_graph()
    assert "anything" not in message.collection_def
    assert message.collection_def["nodes"] == CollectionDef(
        node_list=CollectionDef.NodeList(value=["c:0", "n"])
    )
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(message)
        assert graph.get_collection("numbers") == [3]
        assert graph.get_collection("fractions") == [1.5]
        assert graph.get_collection("texts") == [b"text"]
        assert [member.name for member in graph.get_collection("nodes")] == ["c:0", "n"]


def test_other_savers_are_left_out() -> None:
    _model()
    kept = tf.train.Saver(name="kept")
    tf.train.Saver(name="other")
    everything = kept.export_meta_graph()
    cleared = kept.export_meta_graph(clear_extraneous_savers=True)
    names = {node.name for node in cleared.graph_def.node}
    assert not any(name.startswith("other/") for name in names)
    assert any(name.startswith("kept/") for name in names)
    assert len(names) < len(everything.graph_def.node)


def test_unbound_inputs_must_be_given() -> None:
    x = tf.constant([1.0, 2.0], name="x")
    with tf.name_scope("inside"):
        tf.square(x, name="y")
    message = tf.train.export_meta_graph(export_scope="inside")
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="unbound inputs: .*unbound_inputs_x"):
            tf.train.import_meta_graph(message)
        with pytest.raises(ValueError, match="_output_shapes attribute inconsistent"):
            tf.train.import_meta_graph(message, input_map={"$unbound_inputs_x": tf.constant([3.0])})
    with tf.Graph().as_default(), tf.Session() as session:
        mine = tf.constant([3.0, 4.0], name="mine")
        tf.train.import_meta_graph(message, input_map={"$unbound_inputs_x": mine})
        np.testing.assert_array_equal(session.run("y:0"), [9.0, 16.0])


def test_variables_of_a_partitioned_one(tmp_path: Path) -> None:
    tf.get_variable("p", [4, 2], partitioner=tf.fixed_size_partitioner(2))
    tf.add_to_collection("wholes", tf.constant(0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(f"{path}.meta").restore(session, path)
        infos = [v._get_save_slice_info() for v in tf.global_variables()]
        assert [(info.full_name, info.var_offset) for info in infos if info] == [
            ("p", [0, 0]),
            ("p", [2, 0]),
        ]


def test_stripped_ops_and_versions() -> None:
    _model()
    message = tf.train.export_meta_graph(strip_default_attrs=True)
    assert message.meta_info_def.stripped_default_attrs
    assert message.meta_info_def.tensorflow_version
    assert "MatMul" in [op.name for op in message.meta_info_def.stripped_op_list.op]
    matmul = next(node for node in message.graph_def.node if node.op == "MatMul")
    assert "transpose_a" not in matmul.attr


def test_files_that_are_no_meta_graphs(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="does not exist"):
        tf.train.import_meta_graph(str(tmp_path / "nothing"))
    (tmp_path / "bad").write_bytes(b"\xff\xfe nonsense")
    with pytest.raises(OSError, match="Cannot parse file"):
        tf.train.import_meta_graph(str(tmp_path / "bad"))


def test_collections_of_ones_own() -> None:
    key = "test_meta_graphs"
    register_proto_function(
        key,
        proto_type=SaverDef,
        to_proto=lambda member, export_scope=None: SaverDef(save_tensor_name=member),
        from_proto=lambda message, import_scope=None: message.save_tensor_name,
    )
    with pytest.raises(KeyError, match="two proto_fns"):
        register_proto_function(key)
    assert get_collection_proto_type(key) is SaverDef
    assert get_to_proto_function(key) is not None
    assert get_from_proto_function("another") is None
    tf.add_to_collection(key, "mine")
    message = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(message)
        assert graph.get_collection(key) == ["mine"]


def test_writing_a_graph(tmp_path: Path) -> None:
    _model()
    path = tf.train.write_graph(
        tf.get_default_graph(), str(tmp_path / "new"), "g.pb", as_text=False
    )
    read = tf.GraphDef.FromString(Path(path).read_bytes())
    assert [node.name for node in read.node] == [
        op.name for op in tf.get_default_graph().get_operations()
    ]
    path = tf.train.write_graph(read, str(tmp_path), "g.pbtxt")
    assert 'op: "MatMul"' in Path(path).read_text()


def test_freezing() -> None:
    y = _model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(
            session, session.graph.as_graph_def(), ["y"]
        )
        expected = session.run(y, {"x:0": [[1.0, 2.0]]})
    assert not any("Var" in node.op for node in frozen.node)
    slim = tf.graph_util.remove_training_nodes(frozen)
    assert len(slim.node) < len(frozen.node)
    with tf.Graph().as_default(), tf.Session() as session:
        (result,) = tf.import_graph_def(slim, return_elements=["y:0"])
        found = session.run(result, {"import/x:0": [[1.0, 2.0]]})
    # A frozen bias is added inside the product, one that is read after it in a step of its own.
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_freezing_some() -> None:
    _model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        graph_def = session.graph.as_graph_def()
        freeze = tf.graph_util.convert_variables_to_constants
        ops = {node.name: node.op for node in freeze(session, graph_def, ["y"], ["w"]).node}
        assert ops["w"] == "Const"
        assert ops["b"] == "VarHandleOp"
        ops = {
            node.name: node.op
            for node in freeze(session, graph_def, ["y"], variable_names_blacklist=["w"]).node
        }
        assert ops["w"] == "VariableV2"
        assert ops["b"] == "Const"


def test_parts_of_a_graph_def() -> None:
    _model()
    graph_def = tf.get_default_graph().as_graph_def()
    part = tf.graph_util.extract_sub_graph(graph_def, ["MatMul"])
    assert [node.name for node in part.node] == ["x", "w", "w/read", "MatMul"]
    with pytest.raises(AssertionError, match="is not in graph"):
        tf.graph_util.extract_sub_graph(graph_def, ["nothing"])
    with pytest.raises(TypeError, match="must be a list"):
        tf.graph_util.extract_sub_graph(graph_def, "MatMul")
    shape = tf.graph_util.tensor_shape_from_node_def_name(tf.get_default_graph(), "y")
    assert shape.as_list() == [None, 3]
    assert tf.graph_util.must_run_on_cpu(tf.constant(1).op)
    assert not tf.graph_util.must_run_on_cpu(tf.constant(1.0).op)
