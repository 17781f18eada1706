"""Files that TensorFlow 1.15 wrote (`record.py`): loaded, run and compared with its values."""

import json
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import text_format

import penstock as tf

DATA = Path(__file__).parent / "data"
OUTPUTS = json.loads((DATA / "outputs.json").read_text())


def graph_def(name):
    content = (DATA / name).read_bytes()
    if name.endswith(".pbtxt"):
        return text_format.Parse(content.decode(), tf.GraphDef())
    return tf.GraphDef.FromString(content)


def check_recorded(session, name):
    recorded = OUTPUTS[name]
    for key, expected in recorded["fetches"].items():
        value = session.run(key, recorded["feeds"])
        np.testing.assert_allclose(value, expected, rtol=2e-5, atol=1e-6, err_msg=key)


@pytest.mark.parametrize("name", ["image_model.pb", "image_model.pbtxt", "functions.pb"])
def test_graphs(name):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def(name), name="")
        check_recorded(session, name.partition(".")[0])


def test_exporting_an_imported_graph_changes_nothing():
    message = graph_def("image_model.pb")
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(message, name="")
        again = graph.as_graph_def()
    for node, other in zip(message.node, again.node, strict=True):
        attrs = {key: value for key, value in other.attr.items() if key in node.attr}
        assert (node.name, node.op, list(node.input)) == (other.name, other.op, list(other.input))
        assert attrs == dict(node.attr.items())


def test_gradient_functions():
    message = graph_def("functions.pb")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        y, x = tf.import_graph_def(message, name="", return_elements=["y:0", "x:0"])
        (gradient,) = tf.gradients(y, x)
        feeds = OUTPUTS["functions"]["feeds"]
        expected = OUTPUTS["functions"]["fetches"]["dy:0"]
        assert session.run(gradient, feeds).tolist() == expected
        library = graph.as_graph_def().library
    assert [each.function_name for each in library.gradient] == ["Cube"]


def test_meta_graph_trains_on():
    recorded = OUTPUTS["meta"]
    prefix = str(DATA / "meta" / "model")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        saver = tf.train.import_meta_graph(f"{prefix}.meta")
        saver.restore(session, prefix)
        assert sorted(v.name for v in tf.global_variables()) == recorded["variables"]
        assert tf.get_collection("note") == [b"recorded"]
        assert tf.get_collection("x") == [graph.get_tensor_by_name("x:0")]
        (train,) = tf.get_collection("train")
        (runner,) = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        assert runner.queue.name == "queue"
        loss, _ = session.run(["loss:0", train], recorded["feeds"])
        after = session.run("loss:0", recorded["feeds"])
        np.testing.assert_allclose([loss, after], recorded["losses"], rtol=1e-4)


def test_new_gradients_through_the_loops_of_a_meta_graph():
    recorded = OUTPUTS["meta"]
    prefix = str(DATA / "meta" / "model")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.train.import_meta_graph(f"{prefix}.meta").restore(session, prefix)
        loss, x = graph.get_tensor_by_name("loss:0"), graph.get_tensor_by_name("x:0")
        (gradient,) = tf.gradients(loss, x)
        point = np.array(recorded["feeds"]["x:0"])
        direction = np.cos(np.arange(point.size)).reshape(point.shape)
        eps = 1e-3
        rise = session.run(loss, {x: point + eps * direction}) - session.run(
            loss, {x: point - eps * direction}
        )
        slope = np.sum(session.run(gradient, {x: point}) * direction)
        np.testing.assert_allclose(slope, rise / (2 * eps), rtol=2e-2)


def examples(words):
    return [
        tf.train.Example(
            features=tf.train.Features(
                feature={"word": tf.train.Feature(bytes_list=tf.train.BytesList(value=[word]))}
            )
        ).SerializeToString()
        for word in (each.encode() for each in words)
    ]


@pytest.mark.parametrize("tags", [["serve"], ["train", "gpu"]])
def test_saved_model(tags):
    recorded = OUTPUTS["saved_model"]
    with tf.Graph().as_default(), tf.Session() as session:
        message = tf.saved_model.loader.load(session, tags, str(DATA / "saved_model"))
        signature = message.signature_def["serving_default"]
        feeds = {signature.inputs["examples"].name: examples(recorded["words"])}
        for key in ("scores", "ids"):
            value = session.run(signature.outputs[key].name, feeds)
            np.testing.assert_allclose(value, recorded[key], rtol=1e-6)


def test_predictor():
    recorded = OUTPUTS["saved_model"]
    predict = tf.contrib.predictor.from_saved_model(str(DATA / "saved_model"))
    try:
        values = predict({"examples": examples(recorded["words"])})
    finally:
        predict.session.close()
    assert values["ids"].tolist() == recorded["ids"]


def test_unknown_tags():
    refused = pytest.raises(RuntimeError, match="could not be found in SavedModel")
    with tf.Graph().as_default(), tf.Session() as session, refused:
        tf.saved_model.loader.load(session, ["train"], str(DATA / "saved_model"))
