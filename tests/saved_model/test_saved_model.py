"""SavedModels: written, loaded, and refused where they are not what they should be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.saved_model.loader import SavedModelLoader


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def _model() -> tuple[Any, Any]:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=tf.constant([[1.0], [2.0]]))
    return x, tf.matmul(x, w, name="y")


def _save(directory: Path, as_text: bool = False, **options: Any) -> None:
    x, y = _model()
    builder = tf.saved_model.builder.SavedModelBuilder(str(directory))
    signature = tf.saved_model.signature_def_utils.predict_signature_def({"a": x}, {"b": y})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        builder.add_meta_graph_and_variables(
            session, ["serve"], signature_def_map={"mine": signature}, **options
        )
    with tf.Graph().as_default():
        _model()
        builder.add_meta_graph(["serve", "gpu"])
    path = builder.save(as_text)
    assert Path(path.decode()).parent == directory


@pytest.mark.parametrize("as_text", [False, True])
def test_saved_and_loaded(tmp_path: Path, as_text: bool) -> None:
    _save(tmp_path / "model", as_text)
    assert tf.saved_model.loader.maybe_saved_model_directory(str(tmp_path / "model"))
    assert not tf.saved_model.contains_saved_model(str(tmp_path))
    for scope in (None, "inner"):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            message = tf.saved_model.loader.load(
                session, ["serve"], str(tmp_path / "model"), import_scope=scope
            )
            signature = message.signature_def["mine"]
            find = tf.saved_model.utils.get_tensor_from_tensor_info
            x = find(signature.inputs["a"], import_scope=scope)
            y = find(signature.outputs["b"], graph, scope)
            np.testing.assert_array_equal(session.run(y, {x: [[3.0, 4.0]]}), [[11.0]])


def test_the_graph_of_other_tags(tmp_path: Path) -> None:
    _save(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        message = tf.saved_model.load(session, {"gpu", "serve"}, str(tmp_path / "model"))
        assert sorted(message.meta_info_def.tags) == ["gpu", "serve"]
        with pytest.raises(RuntimeError, match="MetaGraphDef associated with tags 'train' could"):
            tf.saved_model.load(session, ["train"], str(tmp_path / "model"))


def test_assets_and_the_main_op(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("one")
    other = tmp_path / "other" / "words.txt"
    other.parent.mkdir()
    other.write_text("two")
    paths = [tf.constant(str(path)) for path in (words, other, words)]
    seen = tf.Variable(["", "", ""], collections=[tf.GraphKeys.LOCAL_VARIABLES], name="seen")
    main = tf.group(tf.assign(seen, tf.stack(paths)))
    _save(tmp_path / "model", assets_collection=paths, main_op=main)
    assets = tmp_path / "model" / "assets"
    assert {path.name: path.read_text() for path in assets.iterdir()} == {
        "words.txt": "one",
        "words.txt_1": "two",
    }
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["serve"], str(tmp_path / "model"))
        names = [Path(path.decode()) for path in session.run("seen:0")]
        assert names == [assets / "words.txt", assets / "words.txt_1", assets / "words.txt"]


def test_what_is_refused_when_saving(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AssertionError, match="already exists, and isn't empty"):
        tf.saved_model.Builder(str(tmp_path))
    builder = tf.saved_model.Builder(str(tmp_path / "model"))
    _model()
    with pytest.raises(AssertionError, match="has not been saved yet"):
        builder.add_meta_graph(["serve"])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        empty = tf.saved_model.build_signature_def({"a": tf.TensorInfo()})
        for signatures, error, words in (
            ({"s": empty}, AssertionError, "one of the 'encoding' fields"),
            ({"__saved_model_init_op": tf.saved_model.build_signature_def()}, KeyError, "reserved"),
        ):
            with pytest.raises(error, match=words):
                builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        with pytest.raises(TypeError, match="main_op needs to be an Operation"):
            builder.add_meta_graph_and_variables(session, ["serve"], main_op=tf.constant(1))
        with pytest.raises(TypeError, match="must be of dtype string"):
            builder.add_meta_graph_and_variables(
                session, ["serve"], assets_collection=[tf.constant(1)]
            )
        builder.add_meta_graph_and_variables(session, ["serve"])
        with pytest.raises(AssertionError, match="has already been saved"):
            builder.add_meta_graph_and_variables(session, ["serve"])


def test_what_is_refused_when_loading(tmp_path: Path) -> None:
    with tf.Session() as session:
        with pytest.raises(OSError, match="SavedModel file does not exist at"):
            tf.saved_model.load(session, ["serve"], str(tmp_path))
        (tmp_path / "saved_model.pbtxt").write_text("nonsense")
        with pytest.raises(OSError, match="Cannot parse file"):
            tf.saved_model.load(session, ["serve"], str(tmp_path))
        (tmp_path / "saved_model.pb").write_bytes(b"\xff\xff")
        with pytest.raises(OSError, match="Cannot parse file"):
            tf.saved_model.load(session, ["serve"], str(tmp_path))


def test_loading_step_by_step(tmp_path: Path) -> None:
    _save(tmp_path / "model")
    loader = SavedModelLoader(str(tmp_path / "model"))
    graph = tf.Graph()
    saver, elements = loader.load_graph(graph, ["serve"], return_elements=["y:0"])
    with tf.Session(graph=graph) as session:
        with pytest.raises(ValueError, match="a saver is required"):
            loader.restore_variables(session, None)
        loader.restore_variables(session, saver)
        np.testing.assert_array_equal(session.run(elements[0], {"x:0": [[1.0, 1.0]]}), [[3.0]])


def test_signatures() -> None:
    utils = tf.saved_model.signature_def_utils
    text = tf.placeholder(tf.string, [None])
    number = tf.placeholder(tf.float32, [None])
    good = [
        utils.regression_signature_def(text, number),
        utils.classification_signature_def(text, text, number),
        utils.classification_signature_def(text, None, number),
        utils.predict_signature_def({"x": number}, {"y": number}),
    ]
    assert [utils.is_valid_signature(signature) for signature in good] == [True] * 4
    good[0].method_name = "tensorflow/serving/classify"
    assert not utils.is_valid_signature(good[0])
    assert not utils.is_valid_signature(None)
    for make, words in (
        (lambda: utils.regression_signature_def(None, number), "examples cannot be None"),
        (lambda: utils.regression_signature_def(number, number), "must be a string Tensor"),
        (lambda: utils.regression_signature_def(text, text), "must be a float Tensor"),
        (lambda: utils.classification_signature_def(text, None, None), "cannot both be None"),
        (lambda: utils.predict_signature_def({}, {"y": number}), "inputs cannot be None or empty"),
    ):
        with pytest.raises(ValueError, match=words):
            make()


def test_sparse_tensors_in_signatures() -> None:
    sparse = tf.SparseTensor([[0, 0]], [1.0], [2, 2])
    info = tf.saved_model.build_tensor_info(sparse)
    back = tf.saved_model.get_tensor_from_tensor_info(info)
    assert back.values.name == sparse.values.name
    assert back.dense_shape.name == sparse.dense_shape.name


def test_the_operation_that_initializes_all() -> None:
    v = tf.Variable(3.0)
    main = tf.saved_model.main_op.main_op()
    with tf.Session() as session:
        session.run(main)
        assert session.run(v) == 3.0
