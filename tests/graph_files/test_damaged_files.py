"""Graph files that are cut, changed or something else: an error that says so, never more."""

import pytest
from google.protobuf.message import DecodeError

import penstock as tf

EXPECTED = (ValueError, TypeError, KeyError, OSError, RuntimeError, DecodeError, tf.errors.OpError)


@pytest.fixture
def small_model(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.identity(x * tf.Variable([2.0], name="v"), name="y")
        session.run(tf.global_variables_initializer())
        tf.train.export_meta_graph(str(tmp_path / "model.meta"))
        tf.saved_model.simple_save(session, str(tmp_path / "saved"), {"x": x}, {"y": y})
        content = session.graph.as_graph_def().SerializeToString()
    return tmp_path, content


def test_every_byte_of_a_graph_def_changed(small_model):
    """What can still be parsed is either refused or another graph, all of whose nodes are whole."""
    _, content = small_model
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= 1 << (position % 8)
        with tf.Graph().as_default() as graph:
            try:
                tf.import_graph_def(tf.GraphDef.FromString(bytes(changed)), name="")
            except EXPECTED:
                assert graph.get_operations() == []
            else:
                graph.as_graph_def()


def test_every_length_of_a_graph_def(small_model):
    _, content = small_model
    for length in range(len(content)):
        with tf.Graph().as_default() as graph:
            try:
                tf.import_graph_def(tf.GraphDef.FromString(content[:length]), name="")
            except EXPECTED:
                assert graph.get_operations() == []


@pytest.mark.parametrize("content", [b"\xff\xfe not a graph", b"\x0a\xff\xff\xff\xff\x0f"])
def test_foreign_meta_graphs_are_named(small_model, content):
    folder, _ = small_model
    (folder / "model.meta").write_bytes(content)
    with tf.Graph().as_default(), pytest.raises(OSError, match=r"Cannot parse file .*model\.meta"):
        tf.train.import_meta_graph(str(folder / "model.meta"))


@pytest.mark.parametrize("name", ["saved_model.pb", "saved_model.pbtxt"])
def test_foreign_saved_models_are_named(small_model, name):
    folder, _ = small_model
    (folder / "saved" / "saved_model.pb").unlink()
    (folder / "saved" / name).write_bytes(b"\x0a\xff\xff\xff\xff\x0f")
    refused = pytest.raises(OSError, match=f"Cannot parse file .*{name}")
    with tf.Graph().as_default(), tf.Session() as session, refused:
        tf.saved_model.loader.load(session, ["serve"], str(folder / "saved"))


def test_a_meta_graph_whose_nodes_are_wrong_is_named(small_model):
    folder, _ = small_model
    file = folder / "model.meta"
    message = tf.MetaGraphDef.FromString(file.read_bytes())
    message.graph_def.node[-1].input[0] = "nowhere"
    file.write_bytes(message.SerializeToString())
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"'nowhere'.*model\.meta"):
        tf.train.import_meta_graph(str(file))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(OSError, match=r"nowhere\.meta does not exist"):
        tf.train.import_meta_graph(str(tmp_path / "nowhere.meta"))
