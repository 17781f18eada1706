"""`tensorflow.python.tools`: freezing, stripping and looking into files."""

import pytest

import penstock as tf
from penstock.tools import freeze_graph, inspect_checkpoint, strip_unused_lib


@pytest.fixture
def saved(tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.add(x * tf.Variable(3.0, name="w"), 1.0, name="y")
        session.run(tf.global_variables_initializer())
        prefix = tf.train.Saver().save(session, str(tmp_path / "model"))
        tf.train.write_graph(graph, str(tmp_path), "graph.pbtxt")
        tf.train.write_graph(graph, str(tmp_path), "graph.pb", as_text=False)
    return tmp_path, prefix


def _value(graph_def, feed):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        return session.run("y:0", {"x:0": feed})


@pytest.mark.parametrize(("name", "binary"), [("graph.pbtxt", False), ("graph.pb", True)])
def test_freeze_graph(saved, name, binary):
    folder, prefix = saved
    frozen_file = str(folder / "frozen.pb")
    freeze_graph.freeze_graph(
        str(folder / name), "", binary, prefix, "y", "save/restore_all", "save/Const:0",
        frozen_file, True, "",
    )  # fmt: skip
    with open(frozen_file, "rb") as file:
        frozen = tf.GraphDef.FromString(file.read())
    assert not any(node.op.startswith("Variable") for node in frozen.node)
    assert _value(frozen, 2.0) == 7.0


def test_freezing_without_a_checkpoint_is_refused(saved):
    folder, prefix = saved
    arguments = ["", True, str(folder / "nowhere"), "y", "", "", "", True, ""]
    with pytest.raises(ValueError, match="nowhere' doesn't exist"):
        freeze_graph.freeze_graph(str(folder / "graph.pb"), *arguments)
    arguments[2] = prefix
    with pytest.raises(OSError, match="graph.pbtxt as a binary GraphDef"):
        freeze_graph.freeze_graph(str(folder / "graph.pbtxt"), *arguments)


def test_inspect_checkpoint(saved, capsys):
    inspect_checkpoint.print_tensors_in_checkpoint_file(saved[1], None, True)
    assert capsys.readouterr().out == "tensor_name:  w\n3.0\n# Total number of params: 1\n"


def test_strip_unused(saved):
    graph_def = tf.GraphDef.FromString((saved[0] / "graph.pb").read_bytes())
    stripped = strip_unused_lib.strip_unused(graph_def, ["mul"], ["y"], tf.float32)
    assert [node.op for node in stripped.node] == ["Placeholder", "Const", "AddV2"] or {
        node.name for node in stripped.node
    } == {"mul", "y", "y/y"}
    with pytest.raises(KeyError, match="not found"):
        strip_unused_lib.strip_unused(graph_def, ["nowhere"], ["y"], tf.float32)
